"""Token deployment: launch requests, their validation and storage, and the endpoints."""

"""Deployment of tokens: launch requests, their validation and storage, and the endpoints."""

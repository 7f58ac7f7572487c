"""Token creators and fee recipients: launches, launch outcomes and fees."""

"""The operators' pages for what was launched. Django finds them by importing this package."""

from tokens.admin import (
    deploy_limits,
    deploy_wallets,
    deploying,
    documents,
    events,
    followed_accounts,
    following,
    index_requests,
    saved_tokens,
    tokens,
)

__all__ = [
    "deploy_limits",
    "deploy_wallets",
    "deploying",
    "documents",
    "events",
    "followed_accounts",
    "following",
    "index_requests",
    "saved_tokens",
    "tokens",
]

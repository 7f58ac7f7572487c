"""Admin for launched tokens, deployments and the follower. Django loads it by importing this package."""

from tokens.admin import (
    chain_progress,
    deploy_limits,
    deploy_wallets,
    deployments,
    index_queue,
    launched_tokens,
    partner_uploads,
    saved_trees_page,
    solana_accounts,
    token_documents,
    token_events,
    user_saved_tokens,
)

__all__ = [
    "chain_progress",
    "deploy_limits",
    "deploy_wallets",
    "deployments",
    "index_queue",
    "launched_tokens",
    "partner_uploads",
    "saved_trees_page",
    "solana_accounts",
    "token_documents",
    "token_events",
    "user_saved_tokens",
]

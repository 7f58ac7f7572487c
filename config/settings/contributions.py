"""Contributions by the apps to shared code in `config`, by dotted path.

Readiness, authentication, partitions, events, backup facts and restore steps. The apps' modules `metrics`, `dashboard`
and `diagnostics` register metrics, panels and checks.
"""

# Optional parts of `GET /readyz`, by query parameter.
READINESS_DETAILS = {"chain": "tokens.following.chain_status.chain_readiness"}

# Ids of chains that parameters may name.
KNOWN_CHAINS = "tokens.installation.installed_registry.known_chain_ids"

# An EVM chain's nodes by its id, which decide the signatures of contract wallets; None for a chain without a node.
EVM_NODES = "tokens.installation.installed_chains.find_evm_nodes"

# Authentication for `/mcp`, by an optional key with `scopes`.
MCP_AUTHENTICATION = "accounts.authentication.OptionalPartnerKeyAuthentication"

# Tables with weekly partitions (`config.postgresql.partitions`).
PARTITIONED_TABLES = (
    "tokens.trades.retention.TRADES",
    "tokens.trades.retention.MINUTE_CANDLES",
    "config.events.outbox.EVENTS",
)

# Event types (`config.events.event_types`).
EVENT_TYPES = (
    "tokens.indexing.launch_events.TOKEN_EVENTS",
    "tokens.deploying.deployment_events.DEPLOYMENT_EVENTS",
    "accounts.subscriptions.endpoint_events.ENDPOINT_EVENTS",
)

# Facts in a backup's manifest, by name (`config.backups.backing_up`).
BACKUP_FACTS = {"chains": "tokens.following.chain_status.followed_blocks"}
# Steps that change restored rows, in sequence (`config.backups.restoring`).
RESTORE_STEPS = (
    "config.backups.restored_rows.advance_sequences",
    "config.backups.restored_rows.release_leases",
    "accounts.restored_callers.end_sessions",
    "accounts.restored_callers.report_keys",
    "accounts.restored_callers.resume_endpoints",
    "tokens.following.chain_heads.forget_followers",
    "tokens.deploying.sending.pause_flags.pause_restored_chains",
)

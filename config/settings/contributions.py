"""What the apps contribute to the shared code of `config`, by dotted path.

Readiness, authentication, partitions, events, and facts and steps of backups. The apps' modules `metrics`, `dashboard`
and `diagnostics` register metrics, panels and checks.
"""

# Optional parts of `GET /readyz`, by query parameter.
READINESS_DETAILS = {"chain": "tokens.following.chain_status.chain_readiness"}

# The ids of the chains that parameters may name.
KNOWN_CHAINS = "tokens.installation.installed_registry.known_chain_ids"

# Authentication of callers of `/mcp`, by an optional key with `scopes`.
MCP_AUTHENTICATION = "accounts.authentication.OptionalPartnerKeyAuthentication"

# Tables with weekly partitions (`config.postgresql.partitions`).
PARTITIONED_TABLES = (
    "tokens.trades.retention.TRADES",
    "tokens.trades.retention.MINUTE_CANDLES",
    "config.events.outbox.EVENTS",
)

# Types of events (`config.events.event_types`).
EVENT_TYPES = (
    "tokens.indexing.launch_events.TOKEN_EVENTS",
    "tokens.deploying.deployment_events.DEPLOYMENT_EVENTS",
    "accounts.subscriptions.endpoint_events.ENDPOINT_EVENTS",
)

# Facts in the manifest of a backup, by name (`config.backups.backing_up`).
BACKUP_FACTS = {"chains": "tokens.following.chain_status.followed_blocks"}
# Changes of restored rows, in sequence (`config.backups.restoring`).
RESTORE_STEPS = (
    "config.backups.restored_rows.advance_sequences",
    "config.backups.restored_rows.release_leases",
    "accounts.restored_callers.end_sessions",
    "accounts.restored_callers.report_keys",
    "accounts.restored_callers.resume_endpoints",
    "tokens.following.chain_heads.forget_followers",
    "tokens.deploying.sending.wallets.pause_restored_chains",
)

"""What the apps contribute to the shared code of `config`, by dotted path.

Metrics, authentication, partitions, events, panels, facts and steps of backups, and checks of the doctor.
"""

# Metrics collectors.
METRICS_COLLECTORS = (
    "config.watching.metrics.queues",
    "config.watching.metrics.periodic_tasks",
    "config.watching.metrics.read_replica",
    "config.watching.process_metrics.process_sums",
    "accounts.subscriptions.metrics.events",
    "accounts.subscriptions.metrics.webhooks",
    "tokens.following.metrics.following",
    "tokens.following.metrics.coverage",
    "tokens.trades.metrics.reference_prices",
    "tokens.indexing.metrics.indexing",
    "tokens.trades.metrics.stored_trades",
    "tokens.trades.metrics.recent_trades",
    "tokens.catalogue.metrics.listed",
    "tokens.market.metrics.price_differences",
    "tokens.deploying.metrics.deployment_metrics",
    "tokens.deploying.metrics.wallet_metrics",
    "leaderboard.ranking.metrics.ranking_metrics",
)
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

# Checks of `manage.py doctor`: name, function, and the check without which it can't run (`config.doctor.findings`).
DOCTOR_CHECKS = (
    ("versions", "config.doctor.machine_checks.versions", ""),
    ("settings", "config.doctor.machine_checks.settings_in_use", ""),
    ("disk", "config.doctor.machine_checks.disk_space", ""),
    ("heartbeats", "config.doctor.machine_checks.heartbeats", ""),
    ("postgresql", "config.doctor.postgresql_checks.server", ""),
    ("pooler", "config.doctor.postgresql_checks.pooler", "postgresql"),
    ("schema", "config.doctor.postgresql_checks.schema", "postgresql"),
    ("connections", "config.doctor.postgresql_checks.connections_in_use", "postgresql"),
    ("clock", "config.doctor.postgresql_checks.clock", "postgresql"),
    ("migrations", "config.doctor.postgresql_checks.migrations", "postgresql"),
    ("redis", "config.doctor.redis_checks.server", ""),
    ("workers", "config.doctor.worker_checks.workers", "redis"),
    ("nodes", "tokens.installation.diagnostics.nodes", ""),
    ("uploads", "tokens.uploads.diagnostics.storage", ""),
    ("queues", "config.doctor.worker_checks.queues", "migrations"),
    ("partitions", "config.doctor.postgresql_checks.partitions", "migrations"),
    ("following", "tokens.following.diagnostics.following", "migrations"),
    ("coverage", "tokens.following.diagnostics.coverage", "migrations"),
    ("wallets", "tokens.deploying.diagnostics.wallets", "migrations"),
    ("keys", "accounts.keys.diagnostics.partner_keys", "migrations"),
    ("dashboard", "config.doctor.dashboard_checks.panels", "migrations"),
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

# Panels of the dashboard in order: required permission, and function (config/operators/dashboard.py).
DASHBOARD_PANELS = (
    ("tokens.view_token", "tokens.admin.dashboard.launches"),
    ("tokens.view_token", "tokens.admin.dashboard.launchpads"),
    ("tokens.view_deployment", "tokens.admin.deploying_dashboard.deployments"),
    ("tokens.view_chainhead", "tokens.admin.following_dashboard.following"),
    ("tokens.view_chainhead", "config.operators.replica_panel.read_replica"),
    ("tokens.view_indexrequest", "config.operators.periodic_panel.periodic_tasks"),
    ("tokens.view_indexrequest", "tokens.admin.dashboard.indexing"),
    ("tokens.view_tokendocument", "tokens.admin.dashboard.documents"),
    ("tokens.view_chainhead", "tokens.admin.trades.trades_dashboard.trades"),
    ("tokens.view_token", "tokens.admin.dashboard.market_data"),
    ("leaderboard.view_standing", "leaderboard.admin.dashboard.ranking_panels"),
    ("accounts.view_webhookendpoint", "accounts.admin.events_dashboard.events"),
    ("accounts.view_socialprofile", "accounts.admin.dashboard.profiles"),
    ("accounts.view_partnerkey", "accounts.admin.dashboard.partner_keys"),
)

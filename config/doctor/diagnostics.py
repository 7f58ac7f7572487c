"""Checks for what all apps share: this machine, the servers, workers and the dashboard."""

from config.doctor import machine_checks, postgresql_checks, redis_checks, worker_checks
from config.doctor.dashboard_checks import panels
from config.doctor.findings import Check, register_checks

register_checks(
    Check(sort_key=10, name="versions", run=machine_checks.versions),
    Check(sort_key=20, name="settings", run=machine_checks.settings_in_use),
    Check(sort_key=30, name="disk", run=machine_checks.disk_space),
    Check(sort_key=40, name="heartbeats", run=machine_checks.heartbeats),
    Check(sort_key=50, name="postgresql", run=postgresql_checks.server),
    Check(sort_key=60, name="pooler", run=postgresql_checks.pooler, needs="postgresql"),
    Check(sort_key=70, name="schema", run=postgresql_checks.schema, needs="postgresql"),
    Check(sort_key=80, name="connections", run=postgresql_checks.connections_in_use, needs="postgresql"),
    Check(sort_key=90, name="clock", run=postgresql_checks.clock, needs="postgresql"),
    Check(sort_key=100, name="migrations", run=postgresql_checks.migrations, needs="postgresql"),
    Check(sort_key=110, name="redis", run=redis_checks.server),
    Check(sort_key=120, name="workers", run=worker_checks.workers, needs="redis"),
    Check(sort_key=150, name="queues", run=worker_checks.queues, needs="migrations"),
    Check(sort_key=160, name="partitions", run=postgresql_checks.partitions, needs="migrations"),
    Check(sort_key=210, name="dashboard", run=panels, needs="migrations"),
)

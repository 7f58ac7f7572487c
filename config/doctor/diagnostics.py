"""Checks for what all apps share: this machine, the servers, workers and the dashboard."""

from config.doctor import machine_checks, postgresql_checks, redis_checks, worker_checks
from config.doctor.dashboard_checks import panels
from config.doctor.findings import Check, register_checks

register_checks(
    Check(place=10, name="versions", run=machine_checks.versions),
    Check(place=20, name="settings", run=machine_checks.settings_in_use),
    Check(place=30, name="disk", run=machine_checks.disk_space),
    Check(place=40, name="heartbeats", run=machine_checks.heartbeats),
    Check(place=50, name="postgresql", run=postgresql_checks.server),
    Check(place=60, name="pooler", run=postgresql_checks.pooler, needs="postgresql"),
    Check(place=70, name="schema", run=postgresql_checks.schema, needs="postgresql"),
    Check(place=80, name="connections", run=postgresql_checks.connections_in_use, needs="postgresql"),
    Check(place=90, name="clock", run=postgresql_checks.clock, needs="postgresql"),
    Check(place=100, name="migrations", run=postgresql_checks.migrations, needs="postgresql"),
    Check(place=110, name="redis", run=redis_checks.server),
    Check(place=120, name="workers", run=worker_checks.workers, needs="redis"),
    Check(place=150, name="queues", run=worker_checks.queues, needs="migrations"),
    Check(place=160, name="partitions", run=postgresql_checks.partitions, needs="migrations"),
    Check(place=210, name="dashboard", run=panels, needs="migrations"),
)

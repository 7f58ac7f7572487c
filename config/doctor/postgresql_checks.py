"""PostgreSQL checks for `manage.py doctor`: server, schema, connections, clock and partitions."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, DatabaseError, ProgrammingError, connection
from django.utils import timezone

from config.backups.restoring import MARKER
from config.doctor.findings import Finding, Level, unreachable
from config.environment.server_urls import check_database
from config.postgresql import pooler as pooling
from config.postgresql import schema_state
from config.postgresql.base import role_without_tables
from config.postgresql.partitions import read_partition_state
from config.postgresql.replica import REPLICA, has_replica

_OLDEST = 15
# Share of connections in use.
_MANY, _TOO_MANY = 0.8, 0.95
_SMALL_SKEW, _LARGE_SKEW = timedelta(seconds=2), timedelta(seconds=30)
_SHOWN = 10
_RUNBOOK = "repairing.md#runbook-a-process-or-server-fails"

_SERVER = """
SELECT current_setting('server_version'), pg_encoding_to_char(encoding),
    coalesce(to_jsonb(pg_database) ->> 'datctype', ''), pg_size_pretty(pg_database_size(oid)), pg_is_in_recovery()
FROM pg_database WHERE datname = current_database()
"""
_CONNECTIONS = """
SELECT count(*) FILTER (WHERE backend_type = 'client backend'), count(*) FILTER (WHERE datname = current_database()),
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
FROM pg_stat_activity
"""


def server(now: datetime) -> Iterator[Finding]:
    """Yield whether the server responds, its version, encoding and size."""
    try:
        check_database(connection.get_connection_params())
    except ImproperlyConfigured as error:
        yield unreachable(error, action="Repair PostgreSQL or DATABASE_URL.", guide=_RUNBOOK)
        return
    with connection.cursor() as cursor:
        cursor.execute(_SERVER)
        version, encoding, letters, size, is_standby = cursor.fetchone()
        major = schema_state.server_major(cursor)
    wrong = [
        text
        for text, is_wrong in (
            (f"it is older than {_OLDEST}", major < _OLDEST),
            (f"its encoding is {encoding} and must be UTF8", encoding != "UTF8"),
            ("it is a standby, which takes no writes", is_standby),
        )
        if is_wrong
    ]
    yield Finding(
        level=Level.ERROR if wrong else Level.OK,
        summary=f"PostgreSQL {version} responds; the database has {size}{'; ' if wrong else ''}{', '.join(wrong)}.",
        action="Use a server that meets the requirements." if wrong else "",
        guide="running.md#requirements",
    )
    if letters in ("C", "POSIX"):
        yield Finding(
            level=Level.WARNING,
            summary=f"Its character type is {letters}: searches distinguish case outside ASCII, and are slow for CJK.",
            action="Restore a backup into a database with LC_CTYPE C.UTF-8.",
            guide="running.md#requirements",
        )


def pooler(now: datetime) -> Iterator[Finding]:
    """Yield connections through a pooler where a session is needed, and a direct URL to another server."""
    alias = pooling.DIRECT if pooling.has_direct_url() else DEFAULT_DB_ALIAS
    aliases = [(pooling.direct_url_name(), alias), *([("READ_REPLICA_URL", REPLICA)] if has_replica() else [])]
    errors = []
    for name, alias in aliases:
        try:
            if pooling.has_pooler(alias):
                errors.append(f"{name} leads to a pooler")
            elif alias == pooling.DIRECT and not pooling.is_same_server(alias):
                errors.append(f"{name} leads to another database than DATABASE_URL")
        except DatabaseError as error:
            errors.append(f"{name} can't be used ({' '.join(str(error).split())})")
    names = " and ".join(name for name, _ in aliases)
    yield Finding(
        level=Level.ERROR if errors else Level.OK,
        summary=f"{'; '.join(errors)}." if errors else f"Sessions of {names} are not shared.",
        action="Set DATABASE_DIRECT_URL and READ_REPLICA_URL to the servers themselves, and restart." if errors else "",
        guide="running.md#requirements",
    )


def schema(now: datetime) -> Iterator[Finding]:
    """Yield missing extensions and rights, invalid indexes and an unfinished restore."""
    with connection.cursor() as cursor:
        lacking = schema_state.missing_extensions(cursor)
        indexes = schema_state.invalid_indexes(cursor)
        role = role_without_tables(cursor)
        cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [MARKER])
        (is_restoring,) = cursor.fetchone()
    yield _listed(
        "missing extensions", lacking, "As the database's administrator: CREATE EXTENSION.", "running.md#requirements"
    )
    if role:
        yield Finding(
            level=Level.ERROR,
            summary=f"The role {role} may not create tables in the schema public.",
            action=f"As the database's administrator: GRANT CREATE ON SCHEMA public TO {role}.",
            guide="running.md#requirements",
        )
    action = "DROP INDEX CONCURRENTLY each, and repeat manage.py migrate or create it again."
    yield _listed("invalid indexes", indexes, action, _RUNBOOK)
    if is_restoring:
        yield Finding(
            level=Level.ERROR,
            summary="A restore into this database did not end.",
            action="Drop the database, create it again, and repeat manage.py restore.",
            guide="repairing.md#backups",
        )


def migrations(now: datetime) -> Iterator[Finding]:
    """Yield migrations that are not applied, and migrations from a newer release."""
    try:
        with connection.cursor() as cursor:
            applied = schema_state.applied_migrations(cursor)
    except ProgrammingError:
        text = "The database was never migrated."
        yield Finding(
            level=Level.ERROR, summary=text, action="manage.py migrate", guide="running.md#requirements", blocks=True
        )
        return
    missing = sorted(".".join(name) for name in schema_state.known_migrations() - applied)
    finding = _listed("unapplied migrations", missing, "manage.py migrate", "running.md#upgrade")
    # This release's queries may fail.
    yield replace(finding, blocks=bool(missing))
    if later := schema_state.newer_migrations(applied):
        yield Finding(
            level=Level.WARNING,
            summary=f"The database has migrations that this version lacks: {', '.join(later[:_SHOWN])}.",
            action="Run the version that migrated the database.",
            guide="running.md#upgrade",
        )


def connections_in_use(now: datetime) -> Iterator[Finding]:
    """Yield the number of connections against the server's limit."""
    with connection.cursor() as cursor:
        cursor.execute(_CONNECTIONS)
        used_count, own_count, limit = cursor.fetchone()
    level = Level.ERROR if used_count > _TOO_MANY * limit else Level.WARNING if used_count > _MANY * limit else Level.OK
    yield Finding(
        level=level,
        summary=f"{used_count:,} of {limit:,} connections are in use, {own_count:,} of them by this database.",
        action="" if level == Level.OK else "Raise max_connections, or pool by session.",
        guide="running.md#requirements",
    )


def clock(now: datetime) -> Iterator[Finding]:
    """Yield the difference between this machine's clock and the database server's."""
    with connection.cursor() as cursor:
        before = timezone.now()
        cursor.execute("SELECT clock_timestamp()")
        (server_time,) = cursor.fetchone()
        after = timezone.now()
    # The server's time lies between both.
    skew = max(before - server_time, server_time - after, timedelta(0))
    level = Level.ERROR if skew > _LARGE_SKEW else Level.WARNING if skew > _SMALL_SKEW else Level.OK
    yield Finding(
        level=level,
        summary=f"The clocks of this machine and of PostgreSQL differ by {skew.total_seconds():.1f} s.",
        action="" if level == Level.OK else "Run NTP on both: leases, tokens and webhooks depend on the time.",
        guide=_RUNBOOK,
    )


def partitions(now: datetime) -> Iterator[Finding]:
    """Yield partitions that are missing, after their retention, or left detached by an interrupted removal."""
    state = read_partition_state(now)
    action = "manage.py partitions --maintain; start worker and beat."
    detached = [partition.name for partition in state.partitions if not partition.is_attached or partition.is_detaching]
    yield _listed("missing partitions", list(state.missing), action, "trades")
    for text, names in (("after their retention", list(state.expired)), ("detached", detached)):
        if names:
            yield Finding(
                level=Level.WARNING,
                summary=f"Partitions {text}: {', '.join(names[:_SHOWN])}.",
                action=action,
                guide="repairing.md#trades",
            )


def _listed(title: str, names: list[str], action: str, guide: str) -> Finding:
    """Return an error with the first names, or that there are none."""
    if not names:
        return Finding(level=Level.OK, summary=f"No {title}.", guide=guide)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    text = f"{title[0].upper()}{title[1:]}: {', '.join(names[:_SHOWN])}{more}."
    return Finding(level=Level.ERROR, summary=text, action=action, guide=guide)

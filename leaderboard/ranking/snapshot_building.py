"""Building ranking snapshots from an interval's facts, one at a time, with an atomic switch to the new snapshot."""

import logging
import time
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from config.postgresql.advisory_locks import advisory_lock_key, session_lock, take_transaction_lock
from config.postgresql.bulk_load import copy_into, format_copy_rows
from leaderboard.facts.loading import load_facts, repeatable_read
from leaderboard.models import Interval, Snapshot, Standing
from leaderboard.ranking import scoring, standing_rows
from leaderboard.ranking.schedule import RANKING_LOCK

logger = logging.getLogger(__name__)

# Standings encoded per COPY statement.
_ROWS_AT_ONCE = 5_000


def build_snapshot(interval: Interval, *, computed_at: datetime | None = None) -> Snapshot:
    """Rank the agents by the interval that ends at `computed_at`, by default now.

    Returns the ranking that is current afterwards, which is another one if that has a later time. Nothing is visible
    before the snapshot is complete, and a failure leaves nothing behind. Only one ranking is built at a time, whatever
    its interval, to limit memory and CPU. Raises LockHeldError while another process builds one.
    """
    with session_lock(RANKING_LOCK):
        return _build(interval, (computed_at or timezone.now()).replace(microsecond=0))


def _build(interval: Interval, computed_at: datetime) -> Snapshot:
    started = time.monotonic()
    with repeatable_read() as cursor:
        agents = standing_rows.read_agents(cursor)
        facts = load_facts(cursor, computed_at=computed_at, interval=interval)
    scores = scoring.score_agents(facts)
    # Frees the memory for writing.
    del facts
    with transaction.atomic():
        current = _replace_current(interval, computed_at)
        if current is not None:
            return current
        snapshot = Snapshot.objects.create(
            interval=interval,
            computed_at=computed_at,
            scoring_version=scoring.VERSION,
            ranked=sum(agent.is_ranked for agent in agents),
            large_audience=standing_rows.large_audience(agents, scores),
            took_seconds=0.0,
            is_current=True,
        )
        _write_standings(standing_rows.build_standing_rows(agents, scores, snapshot_id=snapshot.pk))
        snapshot.took_seconds = time.monotonic() - started
        snapshot.save(update_fields=["took_seconds"])
    logger.info("ranked %s of %s agents by %s in %.1f s", snapshot.ranked, len(agents), interval, snapshot.took_seconds)
    return snapshot


def _replace_current(interval: Interval, computed_at: datetime) -> Snapshot | None:
    """Retire the interval's current ranking; return it instead if its time is later.

    The lock serialises this with a process that has taken over the build because this process lost its session lock.
    """
    take_transaction_lock(advisory_lock_key(f"ranking switching {interval}"))
    current = Snapshot.objects.filter(interval=interval, is_current=True)
    later = current.filter(computed_at__gt=computed_at).first()
    if later is None:
        current.update(is_current=False, replaced_at=timezone.now())
    return later


def _write_standings(rows: Iterator[dict[str, Any]]) -> None:
    with connection.cursor() as cursor:
        while batch := list(islice(rows, _ROWS_AT_ONCE)):
            copy_into(cursor, Standing._meta.db_table, format_copy_rows(batch))

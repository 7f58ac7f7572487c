"""Rankings: made of an interval's facts, one at a time, and switched to when they are whole."""

import logging
import time
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from config.postgresql.advisory_locks import held, lock_number, take
from config.postgresql.bulk_load import copy_into, copy_text
from leaderboard.facts.loading import at_one_moment, read_facts
from leaderboard.models import Interval, Snapshot, Standing
from leaderboard.ranking import scoring, standing_rows

logger = logging.getLogger(__name__)

# So many standings are text at a time.
_ROWS_AT_ONCE = 5_000


# Held by who makes a ranking.
LOCK = lock_number("ranking making")


def compute(interval: Interval, *, computed_at: datetime | None = None) -> Snapshot:
    """Rank the agents by what happened in the interval that ends at a time, by default now.

    Returns the ranking that is current then: another one where there is one of a later time. Nobody sees anything
    before all is written, and what breaks this off leaves nothing behind. Raises HeldElsewhere while another process
    makes a ranking: they take memory and processors, so that one is made at a time, whatever its interval.
    """
    with held(LOCK):
        return _compute(interval, (computed_at or timezone.now()).replace(microsecond=0))


def _compute(interval: Interval, computed_at: datetime) -> Snapshot:
    began = time.monotonic()
    with at_one_moment() as cursor:
        agents = standing_rows.read_agents(cursor)
        facts = read_facts(cursor, computed_at=computed_at, interval=interval)
    judgement = scoring.judge(facts)
    # They take memory that writing has a use for.
    del facts
    with transaction.atomic():
        current = _take_place(interval, computed_at)
        if current is not None:
            return current
        snapshot = Snapshot.objects.create(
            interval=interval,
            computed_at=computed_at,
            scoring_version=scoring.VERSION,
            ranked=sum(agent.is_ranked for agent in agents),
            took_seconds=0.0,
            is_current=True,
        )
        _write(standing_rows.standing_rows(agents, judgement, snapshot_id=snapshot.pk))
        snapshot.took_seconds = time.monotonic() - began
        snapshot.save(update_fields=["took_seconds"])
    logger.info("ranked %s of %s agents by %s in %.1f s", snapshot.ranked, len(agents), interval, snapshot.took_seconds)
    return snapshot


def _take_place(interval: Interval, computed_at: datetime) -> Snapshot | None:
    """Make room for another current ranking of the interval; the one that stays where it is of a later time.

    Whoever had lost the lock on his way here waits for the one who got it then.
    """
    take(lock_number(f"ranking switching {interval}"))
    current = Snapshot.objects.filter(interval=interval, is_current=True)
    later = current.filter(computed_at__gt=computed_at).first()
    if later is None:
        current.update(is_current=False, replaced_at=timezone.now())
    return later


def _write(rows: Iterator[dict[str, Any]]) -> None:
    with connection.cursor() as cursor:
        while some := list(islice(rows, _ROWS_AT_ONCE)):
            copy_into(cursor, Standing._meta.db_table, copy_text(some))

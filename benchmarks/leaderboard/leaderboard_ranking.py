"""One ranking made in its own process, and the plain aggregates that it is compared with."""

import json
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from psycopg import Connection

from benchmarks.leaderboard.agent_population import COMPUTED_AT
from benchmarks.lists import dataset
from benchmarks.process_costs import Costs, run_measured
from config.environment.variables import BASE_DIR
from development.servers import bundled

# A week's interactions count in each ranking (docs/leaderboard.md).
_JUDGED_DAYS = 7
_START = "import django; django.setup(); from benchmarks.leaderboard.leaderboard_process import main; main()"
_COUNTS = """
SELECT agent_id, sum(interactions), sum(casts), sum(succeeded), sum(failed), sum(trades), max(latest) FROM (
    SELECT agent_id, count(*) AS interactions, 0 AS casts, 0 AS succeeded, 0 AS failed, 0 AS trades, max(at) AS latest
    FROM leaderboard_interaction WHERE at > %(judged_after)s AND at <= %(until)s GROUP BY agent_id
    UNION ALL
    SELECT agent_id, 0, count(*), 0, 0, 0, max(at)
    FROM leaderboard_action WHERE at > %(after)s AND at <= %(until)s GROUP BY agent_id
    UNION ALL
    SELECT agent_id, 0, 0, count(*) FILTER (WHERE succeeded), count(*) FILTER (WHERE NOT succeeded), 0, max(finished_at)
    FROM leaderboard_run WHERE finished_at > %(after)s AND finished_at <= %(until)s GROUP BY agent_id
    UNION ALL
    SELECT agent_id, 0, 0, 0, 0, count(*), max(at)
    FROM leaderboard_trade WHERE at > %(after)s AND at <= %(until)s GROUP BY agent_id
) AS counted GROUP BY agent_id
"""
_AUDIENCES = """
SELECT agent_id, count(*), sum(coalesce(score, 0.1)) FROM (
    SELECT DISTINCT agent_id, actor_fid FROM leaderboard_interaction WHERE at > %(judged_after)s AND at <= %(until)s
) AS pairs LEFT JOIN (
    SELECT DISTINCT ON (fid) fid, score FROM leaderboard_socialscore ORDER BY fid, at DESC
) AS newest ON newest.fid = actor_fid GROUP BY agent_id
"""
_READ = """
SELECT coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0)::bigint FROM pg_stat_user_tables
WHERE relname IN ('leaderboard_interaction', 'leaderboard_action', 'leaderboard_run', 'leaderboard_trade')
"""


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """A ranking's cost; `seconds` is compute() only, `costs` the whole process."""

    seconds: float
    ranked: int
    facts_read: int
    costs: Costs

    def row(self) -> tuple[str, ...]:
        costs = self.costs
        figures = (self.seconds, costs.seconds, costs.cpu_seconds, costs.database_cpu_seconds)
        return (*(f"{figure:.1f}" for figure in figures), f"{self.facts_read:,}", f"{costs.peak_mb:,.0f}")

    def recorded(self) -> dict[str, float]:
        """Return the figures for the result file."""
        return {
            "seconds": round(self.seconds, 1),
            "peak MB": round(self.costs.peak_mb),
            "CPU": round(self.costs.cpu_seconds, 1),
            "PostgreSQL CPU": round(self.costs.database_cpu_seconds, 1),
            "facts read": self.facts_read,
            "ranked": self.ranked,
        }


@dataclass(frozen=True)
class Floor:
    """The plain aggregates' seconds, and how many facts the interval's ranking needs."""

    plain: float
    weighed: float
    facts: int

    def recorded(self) -> dict[str, float]:
        """Return the figures for the result file."""
        return {"counts": round(self.plain, 1), "and accounts": round(self.weighed, 1), "facts": self.facts}


def rank(database: str, interval: str) -> Ranking:
    """Make a ranking in its own process."""
    log = bundled.local_directory() / "log" / "leaderboard_ranking.log"
    with dataset.connect(database) as connection:
        before = _facts_read(connection)
        costs = run_measured(
            [sys.executable, "-c", _START, interval],
            directory=BASE_DIR,
            environment=dataset.environment(database),
            log=log,
        )
        read = _facts_read(connection) - before
    recorded = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])
    return Ranking(seconds=recorded["seconds"], ranked=recorded["ranked"], facts_read=read, costs=costs)


def aggregate(database: str, *, days: int) -> Floor:
    """Count the same facts by SQL only; rows are fetched and dropped.

    They are the interval's runs and casts. Interactions are those that judge accounts, which may begin earlier.
    """
    until = datetime.fromtimestamp(COMPUTED_AT, UTC)
    after, judged_after = (until - timedelta(days=length) for length in (days, max(days, _JUDGED_DAYS)))
    window = {"after": after, "judged_after": judged_after, "until": until}
    with dataset.connect(database) as connection:
        started = time.monotonic()
        counted = connection.execute(_COUNTS, window).fetchall()
        plain = time.monotonic() - started
        connection.execute(_AUDIENCES, window).fetchall()
        weighed = time.monotonic() - started
    return Floor(plain, weighed, sum(int(number) for row in counted for number in row[1:6]))


def _facts_read(connection: "Connection[tuple[object, ...]]") -> int:
    (read,) = connection.execute(_READ).fetchone() or (0,)
    assert isinstance(read, int)
    return read

"""The database that leaderboard benchmarks run on: invented agents with tokens, loaded once and kept.

    python -m benchmarks.leaderboard.leaderboard_dataset [AGENTS] [FACTS]

loads it, where it is missing; the benchmark does so, too. 100,000 agents with 10,000,000 facts take some 4 GB.
"""

import os
import sys
import time

from benchmarks.leaderboard.agent_population import COMPUTED_AT, StoredFacts, populate
from benchmarks.leaderboard.agent_rows import fill
from benchmarks.lists import dataset

DAYS = 30
SEED = 1
# So many facts an agent has in thirty days at a volume of 1; seven in ten are interactions.
_FACTS_AT_ONE = 1212


def name(agents: int, facts: int) -> str:
    """Return the name of the database with so many agents and about so many facts."""
    return f"agents_{agents}_{facts}"


def open_server(agents: int, facts: int) -> str:
    """Start the server, load the database where it is missing, and connect this process to it; return its name."""
    dataset.open_server(agents)
    database = name(agents, facts)
    with dataset.connect("postgres") as connection:
        found = connection.execute("SELECT FROM pg_database WHERE datname = %s", [database]).rowcount
    if not found:
        dataset.make_empty(database, template=dataset.name(agents))
    with dataset.connect(database) as connection:
        (is_empty,) = connection.execute("SELECT NOT EXISTS (SELECT FROM leaderboard_interaction)").fetchone() or (
            True,
        )
    if is_empty:
        _load(database, agents, facts)
    os.environ["DATABASE_URL"] = dataset.database_url(database)
    return database


def invent(agents: int, facts: int) -> StoredFacts:
    """Draw so many agents with about so many facts over thirty days."""
    return populate(seed=SEED, agents=agents, seconds=DAYS * 86_400, volume=facts / agents / _FACTS_AT_ONE)


def _load(database: str, agents: int, facts: int) -> None:
    print(f"inventing {agents:,} agents with about {facts:,} facts; they are kept for the next time", flush=True)
    invented = invent(agents, facts)
    started = time.monotonic()
    with dataset.connect(database) as connection:
        written = fill(connection, invented, seed=SEED)
    print(f"{written:,} facts in {time.monotonic() - started:.0f} s, indexes included", flush=True)


if __name__ == "__main__":
    open_server(*map(int, sys.argv[1:])) if len(sys.argv) == 3 else open_server(100_000, 10_000_000)
    print(f"they end at {COMPUTED_AT}")

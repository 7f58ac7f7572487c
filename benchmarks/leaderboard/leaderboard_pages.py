"""A ranking page's costs, by its offset: in the database, and through HTTP."""

import base64
import json
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from benchmarks.http_load import fetch, open_connection, percentile
from benchmarks.lists import dataset
from benchmarks.lists.statements import statements_of, usual_times
from benchmarks.processes import web_server

_PATH = "/api/droid/leaderboard"
_ROUNDS = 200
_INTERVAL = "30d"


def in_database(database: str, offsets: Sequence[int]) -> Mapping[int, float]:
    """Return offset -> seconds that all page statements take PostgreSQL."""
    times = dict.fromkeys(offsets, 0.0)
    with dataset.connect(database) as connection:
        statements = {
            f"{offset} {place}": (connection, sql)
            for offset in offsets
            for place, sql in enumerate(statements_of(_parameters(offset), _PATH))
        }
        for name, seconds in usual_times(statements, rounds=_ROUNDS).items():
            times[int(name.split()[0])] += seconds
    return times


def over_http(database: str, offsets: Sequence[int]) -> Mapping[int, tuple[float, float]]:
    """Return offset -> seconds for half the responses, and for 99 %; without the public response cache."""
    times: dict[int, list[float]] = {offset: [] for offset in offsets}
    with web_server(dataset.environment(database), EDGE_CACHE_SECONDS="0", WEB_WORKERS="1") as port:
        connection = open_connection(port)
        for number in range(_ROUNDS + 20):
            for offset in offsets:
                spent, answer = fetch(f"{_PATH}?{urlencode(_parameters(offset))}", connection)
                if answer[9:12] != b"200":
                    raise RuntimeError(answer[:300].decode(errors="replace"))
                # A process's first requests import and compile.
                if number >= 20:
                    times[offset].append(spent)
    return {offset: (percentile(sorted(spent), 50), percentile(sorted(spent), 99)) for offset, spent in times.items()}


def _parameters(offset: int) -> dict[str, str]:
    cursor = json.dumps({"offset": offset, "interval": _INTERVAL}).encode()
    return {"interval": _INTERVAL, "limit": "25", "cursor": base64.urlsafe_b64encode(cursor).decode().rstrip("=")}

"""Figures for docs/scaling.md: a read replica, two followers and two workers on this machine.

    python -m benchmarks.scaling [--only replica|followers|workers]

Exits with code 1 where a read fails while the replica is killed, or a launch is missing in the end. A part that is not
run keeps its figures in `benchmarks/results/scaling.json`.
"""

import argparse
import json
import os
import sys
from typing import Any

from benchmarks.harness import RESULTS, keep
from benchmarks.lists import dataset
from benchmarks.scaling.follower_takeover import measure_followers
from benchmarks.scaling.replica_load import measure_replica_load
from benchmarks.scaling.worker_share import measure_workers

_PARTS = {"replica": measure_replica_load, "followers": measure_followers, "workers": measure_workers}
_RESULT = RESULTS / "scaling.json"


def main() -> int:
    """Run the parts and store their figures; return 1 if one is wrong."""
    parser = argparse.ArgumentParser(description="Measure installations with more than one server.")
    parser.add_argument("--only", choices=_PARTS)
    only = parser.parse_args().only
    dataset.start_server()
    os.environ["REDIS_URL"] = os.environ["REDIS_URL"].partition("?")[0] + "?db=11"
    result: dict[str, Any] = json.loads(_RESULT.read_text(encoding="utf-8")) if _RESULT.exists() else {}
    for name in [only] if only else _PARTS:
        result[name] = {"load at start": round(os.getloadavg()[0], 1)} | _PARTS[name]()
        print(json.dumps({name: result[name]}, indent=2), flush=True)
    keep("scaling", {name: figures for name, figures in result.items() if name != "on"})
    return 0 if all(figures["missing or failed"] == 0 for name, figures in result.items() if name != "on") else 1


if __name__ == "__main__":
    sys.exit(main())

"""Upgrade from a former version to this one under load, and the way back: no request fails, and nothing is lost.

    python -m benchmarks.chaos.upgrade_under_load [--from REF] [--tokens 1000000] [--launches 280] [--trades 300]

The former version is a commit, by default the last tag, and runs from its own directory with its
own requirements. All Procfile processes run behind nginx by docs/nginx.conf, with a PostgreSQL, a Valkey and
their own node. Exits with code 1 where a request failed, something is missing or was made twice, or a lock that
blocks a table was held or waited for longer than a second. The processes' output is in `.local/upgrade.log`.
"""

import argparse
import json
import os
import sys
from dataclasses import asdict

from benchmarks.chaos.deploy_chaos import run_logged
from benchmarks.harness import keep
from tests.upgrade.upgrade_run import Plan, run

_LONGEST_LOCK_SECONDS = 1.0
# Errors that are printed.
_PRINTED = 50


def main() -> None:
    """Run it, print the outcome, and store it with `--keep`."""
    options = _options()
    plan = Plan(
        ref=options.ref,
        tokens=options.tokens,
        launches=options.launches,
        trades=options.trades,
        readers=options.readers,
        streams=options.streams,
        receivers=options.receivers,
        pause=options.pause,
        interval=options.interval,
        timeout=options.timeout,
    )
    load = os.getloadavg()[0]
    outcome = run_logged("upgrade", lambda place: run(place, plan))
    result = asdict(outcome) | {"wrong": len(outcome.wrong)}
    print(json.dumps(result, indent=2))
    print("\n".join(outcome.wrong[:_PRINTED]) or "no request failed, and nothing was lost or made twice")
    if options.keep:
        keep(f"upgrade_{outcome.former}", {"options": " ".join(sys.argv[1:]), "load at start": round(load, 1)} | result)
    locked = max(outcome.locks.longest, outcome.locks.longest_wait)
    sys.exit(1 if outcome.wrong or locked > _LONGEST_LOCK_SECONDS else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="ref", default="", help="commit of the former version")
    parser.add_argument("--tokens", type=int, default=1_000_000, help="sample tokens in the database")
    parser.add_argument("--launches", type=int, default=280)
    parser.add_argument("--trades", type=int, default=300, help="blocks of trades, at least")
    parser.add_argument("--readers", type=int, default=4)
    parser.add_argument("--streams", type=int, default=10)
    parser.add_argument("--receivers", type=int, default=6)
    parser.add_argument("--pause", type=int, default=50, help="requests of each kind between two steps")
    parser.add_argument("--interval", type=float, default=0.1, help="seconds between two requests of a client")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds without which it has failed")
    parser.add_argument("--keep", action="store_true", help="store the outcome in benchmarks/results")
    return parser.parse_args()


if __name__ == "__main__":
    main()

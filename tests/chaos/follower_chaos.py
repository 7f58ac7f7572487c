"""Follower chaos run: launches and trades on a reorganising node, while its follower is killed at random."""

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import psycopg

from config.environment.variables import BASE_DIR
from development.devchain.anvil import CHAIN_ID, LAUNCHPADS_FILE
from development.servers.processes import die_with_parent
from tests.chaos import harness
from tests.chaos.chain_driver import FINALITY_DEPTH, ChainDriver, Plan, past_launchpad
from tests.nodes.devchain_launches import Launchpad
from tests.processes.waiting import wait_for

# Timeout for a follower's start, before it is killed in any case.
_STARTS_SECONDS = 20.0
_SUMMED = "INSERT INTO tokens_feesumprogress VALUES (%s, 9223372036854775807) ON CONFLICT DO NOTHING"
# Markets with an ether rate that the follower replaces in the next full minute, or when it starts.
_STALE_MARKETS = """
    SELECT FROM tokens_market JOIN tokens_token AS token ON token.id = token_id
    JOIN (SELECT * FROM tokens_referenceprice ORDER BY block_number DESC LIMIT 1) AS newest ON currency = paired_token
    WHERE NOT unindexed AND price_quote IS NOT NULL
        AND (quote_price_usd IS NULL OR abs(quote_price_usd / usd - 1) > 0.01)
"""


@contextmanager
def run(directory: Path, plan: Plan, servers: Mapping[str, str]) -> Iterator[tuple[harness.Result, str]]:
    """Launch as many tokens as planned, compare all rows, and yield the result and the node's URL.

    `servers` is an environment with a migrated database.
    """
    with past_launchpad(directory) as launchpad:
        url = launchpad.deployment.rpc_url
        registry_files = (directory / "chains.toml", directory / "finality.toml", LAUNCHPADS_FILE)
        following = {f"RPC_WS_URL_{CHAIN_ID}": url.replace("http", "ws"), f"LAUNCHPADS_{CHAIN_ID}": "clanker,plain"}
        environment = dict(servers) | harness.chain_settings(url, *registry_files) | following | {"LOG_LEVEL": "ERROR"}
        with connect(environment["DATABASE_URL"]) as connection:
            # As the worker does before there are events. Later ones are summed as they are written.
            connection.execute(_SUMMED, [launchpad.web3.eth.chain_id])
        with harness.Processes(environment).at_work("follower") as processes:
            result = harness.kill_and_compare(_FollowerRun(plan, processes, launchpad), faults=plan.kills)
        yield result, url


class _FollowerRun(harness.Run):
    def __init__(self, plan: Plan, processes: harness.Processes, launchpad: Launchpad) -> None:
        self._plan, self._launchpad, self._rng = plan, launchpad, random.Random(plan.seed)
        self._database_url = processes.environment["DATABASE_URL"]
        self._follower = processes.running["follower"]
        self.driver, self._blocks = ChainDriver(launchpad, plan), 0
        self.faults = {"follower": harness.Fault(self._kill)}

    def load(self) -> AbstractContextManager[None]:
        return self.driver.at_work()

    def done(self) -> float:
        return self.driver.done

    def _kill(self) -> None:
        """End the follower after a random life; some end while they start."""
        end = time.monotonic()
        if self._rng.random() < 0.8:
            harness.wait_at_most(self._follows, _STARTS_SECONDS)
            end = time.monotonic()
        end += self._rng.uniform(0.0, self._plan.longest_life)
        wait_for(lambda: time.monotonic() >= end)
        harness.restart(self._follower)

    def _follows(self) -> bool:
        with connect(self._database_url) as connection:
            row = connection.execute("SELECT follower FROM tokens_chainhead").fetchone()
        return bool(row) and str(row[0]).endswith(f":{self._follower.process.pid}")

    def wait_until_quiet(self) -> None:
        self._blocks = finish_chain(self._launchpad, self._database_url, lambda: harness.restart(self._follower))
        # It writes nothing while rows are compared.
        self._follower.kill()

    def compare(self) -> list[str]:
        errors, self._counts = check(self._launchpad.deployment.rpc_url, self._database_url)
        if self._counts.get("tokens") != self._plan.launches:
            errors.append(f"{self._plan.launches} tokens were launched: {self._counts}")
        return errors

    def figures(self, spans: Sequence[harness.Span]) -> dict[str, Any]:
        driver = self.driver
        return self._counts | {
            "blocks": self._blocks,
            "reorgs": len(driver.depths),
            "depths": [min(driver.depths, default=0), max(driver.depths, default=0)],
            "launches orphaned": driver.lost,
        }


def finish_chain(launchpad: Launchpad, database_url: str, restart_follower: Callable[[], None]) -> int:
    """Make all blocks final, wait until they are followed and verified, and return the newest one's number."""
    launchpad.mine(FINALITY_DEPTH + 1)
    head = int(launchpad.web3.eth.block_number)
    wait_for(lambda: _is_verified(database_url, head))
    if _has_stale_markets(database_url):
        # A follower prices markets when it starts: no run waits for the next full minute.
        restart_follower()
        wait_for(lambda: not _has_stale_markets(database_url))
    return head


def connect(database_url: str) -> "psycopg.Connection[Any]":
    """Connect to the service's database without the service; every statement commits."""
    return psycopg.connect(database_url, autocommit=True)


def _is_verified(database_url: str, head: int) -> bool:
    with connect(database_url) as connection:
        rows = connection.execute("SELECT followed_to, summed_to, verified_to FROM tokens_coverage").fetchall()
    return bool(rows) and all(row == (head, head, head - FINALITY_DEPTH) for row in rows)


def _has_stale_markets(database_url: str) -> bool:
    with connect(database_url) as connection:
        return bool(connection.execute(_STALE_MARKETS).rowcount)


def check(rpc_url: str, database_url: str) -> tuple[list[str], dict[str, Any]]:
    """Return what the independent check finds wrong, a line each, and what it counted."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos.independent_check", rpc_url, database_url],
        cwd=BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=die_with_parent(signal.SIGTERM),
    )
    *errors, counts = done.stdout.strip().splitlines() or [""]
    if not counts.startswith("{"):
        return [*errors, counts, *done.stderr.splitlines()], {}
    return errors, json.loads(counts)

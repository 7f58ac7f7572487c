"""Follower chaos run: launches and trades on a reorganising node, while its follower is killed at random."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import requests
from web3.logs import DISCARD
from web3.types import RPCEndpoint

from config.environment.variables import BASE_DIR
from development.devchain import node_client
from development.devchain.deploy_contracts import deploy_contracts
from development.devchain.launch_transactions import (
    BPS,
    FEE_PREFERENCES,
    DevLaunchConfig,
    LaunchPurchase,
    Recipient,
)
from development.servers.processes import die_with_parent
from tests.chaos.chaos_traders import OLDEST, ChaosTraders, TradedPool
from tests.nodes.devchain_launches import SENDER, Launchpad
from tests.nodes.devchain_tests import OTHER
from tests.processes.waiting import wait_for

FINALITY_DEPTH = 40
DEEPEST = 30
# Most launches in a launching transaction.
_BATCH = 8
_KEY = ("currency0", "currency1", "fee", "tickSpacing", "hooks")
# The interval between two token changes while there is nothing to launch.
_PAUSE_SECONDS = 0.1
# Approximate follower lifetime, its start included.
_LIFE_SECONDS = 4.0
# Timeout for a reorganisation, which runs the transactions that come back; on a busy machine it exceeds the usual 30 s.
_REORG_SECONDS = 300.0
# The chain's time from the first block to the last: more than the longest rolling sum period.
_SPAN_SECONDS = 26 * 3600
# Timeout for a follower's start, before it is killed in any case.
_STARTS_SECONDS = 20.0


_SUMMED = "INSERT INTO tokens_feesumprogress VALUES (%s, 9223372036854775807) ON CONFLICT DO NOTHING"
_STALE_MARKETS = """
    SELECT FROM tokens_market JOIN tokens_token AS token ON token.id = token_id
    JOIN (SELECT * FROM tokens_referenceprice ORDER BY block_number DESC LIMIT 1) AS newest ON currency = paired_token
    WHERE NOT unindexed AND price_quote IS NOT NULL
        AND (quote_price_usd IS NULL OR abs(quote_price_usd / usd - 1) > 0.01)
"""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A run's quantities; `longest_life` is a running follower's longest lifetime, in seconds."""

    launches: int
    # Blocks that consist of trades, at least.
    trades: int
    kills: int
    reorgs: int
    # The share of launching transactions by the declared launchpad, with one launch each.
    declared: float = 0.0
    seed: int = 1
    # The driver's pause while no launch is due.
    pause_seconds: float = _PAUSE_SECONDS
    longest_life: float = 3.0
    # Timeout for the follower's end.
    timeout: float = 120.0


@dataclass
class Outcome:
    """A run's outcome."""

    kills: int = 0
    reorgs: int = 0
    depths: list[int] = field(default_factory=list)
    lost: int = 0
    blocks: int = 0
    seconds: float = 0.0
    # The share of launches that existed already, at most.
    done: float = 0.0


def write_finality(path: Path, chain_id: int) -> None:
    """Write a registry file that gives the development chain as much finality as its reorganisations need."""
    path.write_text(f"[chains.{chain_id}]\nfinality_depth = {FINALITY_DEPTH}\n", encoding="utf-8")


def deploy_in_the_past(rpc_url: str, chains_file: Path) -> Launchpad:
    """Deploy the contracts on a new node whose clock is a run's span behind.

    The clock can't be set back later: a chain's block times only increase, and the service relies on that.
    """
    began_at = int(time.time()) - _SPAN_SECONDS
    node_client.connect(rpc_url).manager.request_blocking(RPCEndpoint("evm_setTime"), [began_at])
    return Launchpad(deploy_contracts(rpc_url, chains_file=chains_file))


def run(launchpad: Launchpad, environment: Mapping[str, str], plan: Plan) -> Outcome:
    """Launch as many tokens as planned, which are all on the chain in the end, followed and verified."""
    outcome, started = Outcome(), time.monotonic()
    with connect(environment["DATABASE_URL"]) as connection:
        # As the worker does before there are events. Later ones are summed as they are written.
        connection.execute(_SUMMED, [launchpad.web3.eth.chain_id])
    with _killing(environment, plan, outcome) as killed_enough:
        ChainDriver(launchpad, plan, outcome).drive(killed_enough)
        outcome.blocks = finish_chain(launchpad, environment["DATABASE_URL"])
    outcome.seconds = time.monotonic() - started
    return outcome


def finish_chain(launchpad: Launchpad, database_url: str) -> int:
    """Make all blocks final, wait until they are followed and verified, and return the newest one's number."""
    launchpad.mine(FINALITY_DEPTH + 1)
    head = int(launchpad.web3.eth.block_number)
    wait_for(lambda: _is_verified(database_url, head))
    wait_for(lambda: not _has_stale_markets(database_url))
    return head


class ChainDriver:
    """A driver that launches, changes tokens and reorganises, until all that is planned has happened.

    The launchpad is one of `deploy_in_the_past`.
    """

    def __init__(self, launchpad: Launchpad, plan: Plan, outcome: Outcome) -> None:
        self.launchpad, self.plan, self.outcome = launchpad, plan, outcome
        self.rng = random.Random(plan.seed)
        self.started, self.begins_at = time.monotonic(), int(time.time()) - _SPAN_SECONDS
        self.traders = ChaosTraders(launchpad, self.rng)
        # The contracts stay.
        self.first = self.highest = self.head
        # Blocks with trades.
        self.traded = 0
        # Block number -> its launched tokens' pools.
        self.blocks: dict[int, list[TradedPool]] = {}
        # The snapshot to revert to, and the block after which that happens.
        self.mark: tuple[str, int] | None = None

    @property
    def launched(self) -> int:
        return sum(map(len, self.blocks.values()))

    @property
    def pools(self) -> list[TradedPool]:
        return [pool for number in sorted(self.blocks) for pool in self.blocks[number]]

    def drive(self, killed_enough: threading.Event) -> None:
        """Run until all that is planned has happened."""
        plan = self.plan
        while (
            self.launched < plan.launches
            or self.traded < plan.trades
            or self.outcome.reorgs < plan.reorgs
            or not killed_enough.is_set()
        ):
            self.outcome.done = done = max(self.outcome.done, self.launched / plan.launches)
            if self.mark and self.head >= self.mark[1]:
                self._revert()
            elif not self.mark and self.outcome.reorgs < plan.reorgs * done:
                self._begin_reorg()
            self._move_clock()
            self._act()
            self.highest = max(self.highest, self.head)
        self._top_up()

    def share_due(self) -> float:
        """Return the due share of launches: evenly over the followers' lives, starts included."""
        return (time.monotonic() - self.started) / (self.plan.kills * _LIFE_SECONDS) if self.plan.kills else 1.0

    def _act(self) -> None:
        due = int(self.plan.launches * min(1.0, self.share_due()))
        if self.launched < due:
            self._launch(min(self.rng.randrange(1, _BATCH + 1), due - self.launched))
        else:
            time.sleep(self.plan.pause_seconds)
        if self.rng.random() < 0.3:
            self._change()
        if self.blocks and self.rng.random() < 0.7:
            self.traders.trade(self.pools)
            self.traded += 1

    def _move_clock(self) -> None:
        """Have the chain's time follow what has been done."""
        now = self.launchpad.web3.eth.get_block("latest")["timestamp"]
        behind = self.begins_at + int(_SPAN_SECONDS * self.outcome.done) - now
        if behind > 0:
            self.launchpad.rpc("evm_increaseTime", behind)

    def _top_up(self) -> None:
        """Launch what the last reorganisations orphaned."""
        while missing := self.plan.launches - self.launched:
            self._launch(min(_BATCH, missing))

    @property
    def head(self) -> int:
        return int(self.launchpad.web3.eth.block_number)

    def _launch(self, count: int) -> None:
        if self.rng.random() < self.plan.declared:
            name, (paired, tick) = f"Plain {self.rng.randrange(10**9)}", self._draw_quote(of_launched=0.2)
            terms = (name, name[-4:], f"ipfs://{name}")
            self.note_launch(self.launchpad.launch_plain(terms, paired=paired, tick=tick))
        else:
            self.note_launch(self.launchpad.launch_batch(*(self._draw_launch() for _ in range(count))))

    def _draw_quote(self, *, of_launched: float) -> tuple[str, int]:
        """Return ether, dollars or a launched token, and the tick to start at."""
        at, rng = self.launchpad.deployment, self.rng
        if self.blocks and rng.random() < of_launched:
            return rng.choice(self.pools[:OLDEST]).token, -23_000
        return rng.choice(((at.wrapped_native, -230_400), (at.usd, -424_400)))

    def _draw_launch(self) -> DevLaunchConfig:
        """Return a launch that buys a part itself."""
        rng, name = self.rng, f"Chaos {self.rng.randrange(10**9)}"
        buys = rng.random() < 0.3
        paired, tick = self._draw_quote(of_launched=0.0 if buys else 0.2)
        recipient = Recipient(admin=SENDER, recipient=SENDER, bps=BPS, wants=rng.choice(list(FEE_PREFERENCES)))
        return DevLaunchConfig(
            name=name,
            symbol=name[-4:],
            admin=SENDER,
            paired_token=paired,
            tick=tick,
            recipients=(recipient,),
            own_buy=LaunchPurchase(recipient=SENDER, value=rng.randrange(1, 10**16)) if buys else None,
        )

    def note_launch(self, tx_hash: str) -> None:
        """Store a launching transaction's pools."""
        receipt = self.launchpad.web3.eth.get_transaction_receipt(tx_hash)
        at = self.launchpad.deployment
        placed = node_client.bind_contract(at.rpc_url, "Locker", at.locker).events.TokenRewardAdded()
        launched = [event["args"] for event in placed.process_receipt(receipt, errors=DISCARD)]
        pools = node_client.bind_contract(at.rpc_url, "PoolManager", at.pool_manager).events.Initialize()
        keys = {
            event["args"]["id"]: tuple(event["args"][name] for name in _KEY)
            for event in pools.process_receipt(receipt, errors=DISCARD)
        }
        plain = node_client.bind_contract(at.rpc_url, "PlainLaunchpad", at.plain_launchpad).events.Launched()
        self.blocks[receipt["blockNumber"]] = [
            *(TradedPool(args["token"], tuple(args["poolKey"].values())) for args in launched),
            *(
                TradedPool(event["args"]["token"], keys[event["args"]["poolId"]])
                for event in plain.process_receipt(receipt, errors=DISCARD)
            ),
        ]

    def _change(self) -> None:
        """Change a token of any age."""
        pools = self.pools
        if not pools:
            return
        url, token = self.launchpad.deployment.rpc_url, self.rng.choice(pools).token
        locker = self.launchpad.deployment.locker
        name, contract, function, arguments = self.rng.choice(
            (
                ("Token", token, "updateImage", [f"ipfs://{self.rng.randrange(10**9)}"]),
                ("Token", token, "verify", []),
                ("Locker", locker, "updateRewardRecipient", [token, 0, self.rng.choice((SENDER, OTHER))]),
                ("Locker", locker, "updateFeePreference", [token, 0, self.rng.randrange(3)]),
                ("Locker", locker, "collectRewards", [token]),
            )
        )
        data = node_client.bind_contract(url, name, contract).encode_abi(function, arguments)
        # A token that is verified can't be once more.
        with suppress(node_client.TransactionRevertedError):
            node_client.wait_for_receipt(url, node_client.send_transaction(url, sender=SENDER, to=contract, data=data))

    def _begin_reorg(self) -> None:
        depth = self.rng.randrange(1, DEEPEST + 1)
        if self.rng.random() < 0.5:
            self.mark = (self.launchpad.snapshot(), self.head + depth)
        else:
            # Followers may have seen a higher head than there is now, below which nothing final is dropped.
            lowest = max(self.first, self.highest - FINALITY_DEPTH + 1)
            if self.head > lowest:
                self._reorganise(min(depth, self.head - lowest))

    def _revert(self) -> None:
        assert self.mark
        before = self.head
        mark, self.mark = self.mark[0], None
        self.launchpad.revert(mark)
        self._dropped(down_to=self.head - 1, before=before)

    def _reorganise(self, depth: int) -> None:
        """Reorganise; some transactions come back, in other blocks."""
        before = self.head
        entries = [
            entry
            for number in range(before - depth + 1, before + 1)
            for entry in self.launchpad.web3.eth.get_block(number, full_transactions=True)["transactions"]
            if self.rng.random() < 0.5
        ]
        # In their sequence: each has its sender's next nonce.
        places = sorted(self.rng.randrange(depth) for _ in entries)
        back = [[_as_request(entry), place] for entry, place in zip(entries, places, strict=True)]
        self._request_reorg(depth, back)
        self._dropped(down_to=before - depth, before=before)
        for number in range(before - depth + 1, self.head + 1):
            for tx_hash in self.launchpad.web3.eth.get_block(number)["transactions"]:
                pools = self.blocks.pop(number, [])
                self.note_launch(tx_hash.to_0x_hex())
                self.blocks[number] = pools + self.blocks[number]

    def _request_reorg(self, depth: int, back: list[Any]) -> None:
        request = {"jsonrpc": "2.0", "id": 1, "method": "anvil_reorg", "params": [depth, back]}
        answer = requests.post(self.launchpad.deployment.rpc_url, json=request, timeout=_REORG_SECONDS).json()
        assert "error" not in answer, answer

    def _dropped(self, *, down_to: int, before: int) -> None:
        doomed = [number for number in self.blocks if number > down_to]
        self.outcome.lost += sum(len(self.blocks.pop(number)) for number in doomed)
        self.outcome.reorgs += 1
        self.outcome.depths.append(before - down_to)


def _as_request(entry: Mapping[str, Any]) -> dict[str, str]:
    again = {"from": entry["from"], "to": entry["to"], "input": entry["input"].to_0x_hex()}
    return again | {"gas": hex(entry["gas"]), "gasPrice": hex(10**10), "value": hex(entry["value"])}


@contextmanager
def _killing(environment: Mapping[str, str], plan: Plan, outcome: Outcome) -> Iterator[threading.Event]:
    """Kill and restart a follower as often as planned, and then let it run until the block ends."""
    enough, over, rng = threading.Event(), threading.Event(), random.Random(plan.seed)

    def follow() -> None:
        # The kernel ends what this thread has started when it ends itself, however that happens.
        process = _start(environment)
        while outcome.kills < plan.kills and not over.is_set():
            if outcome.kills > plan.kills * outcome.done:
                # Kills go on until the last launch.
                over.wait(_PAUSE_SECONDS)
                continue
            if rng.random() < 0.8:
                _wait_until_it_follows(process, environment["DATABASE_URL"], over)
            # Others end while they start.
            over.wait(rng.uniform(0.0, plan.longest_life))
            _end(process)
            outcome.kills += 1
            process = _start(environment)
        enough.set()
        over.wait()
        _end(process)

    follower = threading.Thread(target=follow)
    follower.start()
    try:
        yield enough
    finally:
        over.set()
        follower.join()


def _start(environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "manage.py", "follow"],
        cwd=BASE_DIR,
        env=dict(environment),
        preexec_fn=die_with_parent(signal.SIGKILL),
    )


def _wait_until_it_follows(process: "subprocess.Popen[bytes]", database_url: str, over: threading.Event) -> None:
    deadline = time.monotonic() + _STARTS_SECONDS
    with connect(database_url) as connection:
        while not over.wait(0.05) and time.monotonic() < deadline:
            found = connection.execute("SELECT follower FROM tokens_chainhead").fetchone()
            if found and found[0].endswith(f":{process.pid}"):
                return


def _end(process: "subprocess.Popen[bytes]") -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def connect(database_url: str) -> "psycopg.Connection[Any]":
    """Connect to the service's database without the service; every statement commits."""
    return psycopg.connect(database_url, autocommit=True)


def _is_verified(database_url: str, head: int) -> bool:
    with connect(database_url) as connection:
        rows = connection.execute("SELECT followed_to, summed_to, verified_to FROM tokens_coverage").fetchall()
    return bool(rows) and all(row == (head, head, head - FINALITY_DEPTH) for row in rows)


def _has_stale_markets(database_url: str) -> bool:
    """Return whether a market has an ether rate that the follower replaces in the next full minute."""
    with connect(database_url) as connection:
        return bool(connection.execute(_STALE_MARKETS).rowcount)


def check(rpc_url: str, database_url: str) -> tuple[bool, dict[str, Any], str]:
    """Return whether the independent check finds every row right, what it counted, and its output."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos.independent_check", rpc_url, database_url],
        cwd=BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=die_with_parent(signal.SIGTERM),
    )
    words = done.stdout.strip().splitlines()
    counted = json.loads(words[-1]) if words and words[-1].startswith("{") else {}
    return done.returncode == 0, counted, done.stdout + done.stderr

"""Driver for a development chain: launches, trades, changes of tokens and reorganisations, all by a seed."""

import random
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import requests
from web3.logs import DISCARD
from web3.types import RPCEndpoint

from development.devchain import node_client
from development.devchain.anvil import CHAIN_ID, run_anvil
from development.devchain.deploy_contracts import deploy_contracts
from development.devchain.launch_transactions import (
    BPS,
    FEE_PREFERENCES,
    DevLaunchConfig,
    LaunchPurchase,
    Recipient,
)
from tests.chaos.chaos_traders import OLDEST, ChaosTraders, TradedPool
from tests.nodes.devchain_launches import SENDER, Launchpad
from tests.nodes.devchain_tests import OTHER

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
# How many blocks' states the node keeps: orphaned blocks are among them.
_STATES = 200


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A run's quantities; `longest_life` is a running follower's longest lifetime, in seconds."""

    launches: int = 5000
    # Blocks that consist of trades, at least.
    trades: int = 1500
    kills: int = 50
    reorgs: int = 50
    # The share of launching transactions by the declared launchpad, with one launch each.
    declared: float = 0.5
    seed: int = 1
    # The driver's pause while no launch is due.
    pause_seconds: float = _PAUSE_SECONDS
    longest_life: float = 3.0


@contextmanager
def past_launchpad(directory: Path) -> Iterator[Launchpad]:
    """Run a node with the contracts whose clock is a run's span behind, and write its registry files.

    The clock can't be set back later: a chain's block times only increase, and the service relies on that. The
    second file gives it as much finality as its reorganisations need.
    """
    with run_anvil(states=_STATES) as rpc_url:
        began_at = int(time.time()) - _SPAN_SECONDS
        node_client.connect(rpc_url).manager.request_blocking(RPCEndpoint("evm_setTime"), [began_at])
        finality = f"[chains.{CHAIN_ID}]\nfinality_depth = {FINALITY_DEPTH}\n"
        (directory / "finality.toml").write_text(finality, encoding="utf-8")
        yield Launchpad(deploy_contracts(rpc_url, chains_file=directory / "chains.toml"))


class ChainDriver:
    """A driver that launches, changes tokens and reorganises, until all that is planned has happened.

    The launchpad is one of `past_launchpad`.
    """

    def __init__(self, launchpad: Launchpad, plan: Plan) -> None:
        self.launchpad, self.plan = launchpad, plan
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
        # The share of launches that existed already, at most; reorganisations' depths; the launches that they dropped.
        self.done, self.depths, self.lost = 0.0, list[int](), 0
        self.may_end = False

    @property
    def launched(self) -> int:
        return sum(map(len, self.blocks.values()))

    @property
    def pools(self) -> list[TradedPool]:
        return [pool for number in sorted(self.blocks) for pool in self.blocks[number]]

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Drive the chain in a thread while the block runs, and until all that is planned has happened."""
        with ThreadPoolExecutor(1) as pool:
            driving = pool.submit(self._drive)
            try:
                yield
            finally:
                self.may_end = True
            driving.result()

    def _drive(self) -> None:
        try:
            while (
                self.launched < self.plan.launches
                or self.traded < self.plan.trades
                or len(self.depths) < self.plan.reorgs
                or not self.may_end
            ):
                self._step()
            # What the last reorganisations orphaned.
            while missing := self.plan.launches - self.launched:
                self._launch(min(_BATCH, missing))
        finally:
            # A failed driver keeps no fault from being caused.
            self.done = 1.0

    def _step(self) -> None:
        self.done = max(self.done, self.launched / self.plan.launches)
        if self.mark and self.head >= self.mark[1]:
            self._revert()
        elif not self.mark and len(self.depths) < self.plan.reorgs * self.done:
            self._begin_reorg()
        self._move_clock()
        self._act()
        self.highest = max(self.highest, self.head)

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
        behind = self.begins_at + int(_SPAN_SECONDS * self.done) - now
        if behind > 0:
            self.launchpad.rpc("evm_increaseTime", behind)

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
        contracts = self.launchpad.deployment
        bind = partial(node_client.bind_contract, contracts.rpc_url)
        placed = bind("Locker", contracts.locker).events.TokenRewardAdded()
        launched = [event["args"] for event in placed.process_receipt(receipt, errors=DISCARD)]
        pools = bind("PoolManager", contracts.pool_manager).events.Initialize()
        keys = {
            event["args"]["id"]: tuple(event["args"][name] for name in _KEY)
            for event in pools.process_receipt(receipt, errors=DISCARD)
        }
        plain = bind("PlainLaunchpad", contracts.plain_launchpad).events.Launched()
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
        self.lost += sum(len(self.blocks.pop(number)) for number in doomed)
        self.depths.append(before - down_to)


def _as_request(entry: Mapping[str, Any]) -> dict[str, str]:
    again = {"from": entry["from"], "to": entry["to"], "input": entry["input"].to_0x_hex()}
    return again | {"gas": hex(entry["gas"]), "gasPrice": hex(10**10), "value": hex(entry["value"])}

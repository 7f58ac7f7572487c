"""A simulated chain's transactions: launches with one or several tokens, events after them, noise and failures."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.nodes.log_encoding import LogEntry, keccak
from tests.simulator import addresses, declared_launches, legacy_launches
from tests.simulator.happenings import Emitted, HappeningMaker
from tests.simulator.launches import Launched, LaunchMaker
from tests.simulator.pool_traffic import PoolEmitted, PoolTrafficMaker
from tests.simulator.truth import Happening, LiquidityTruth, SwapTruth


@dataclass(frozen=True, kw_only=True, eq=False)
class Transaction:
    """A transaction that is in no block, or in one on each of several branches."""

    hash: str
    sender: str
    to: str
    value: int
    # Builds the calldata.
    calldata: Callable[[], str] | None
    succeeded: bool
    logs: tuple[LogEntry, ...]
    # (log index, expected event)
    launches: tuple[tuple[int, Launched], ...] = ()
    happenings: tuple[tuple[int, Happening], ...] = ()
    pool_logs: tuple[tuple[int, SwapTruth | LiquidityTruth], ...] = ()
    # Tokens that must have been launched before it.
    needs: frozenset[str] = frozenset()

    @property
    def launched(self) -> frozenset[str]:
        return frozenset(token.address for _, token in self.launches)


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """The mean transaction count per block for each kind."""

    launches: float = 0.3
    events: float = 0.6
    noise: float = 0.4
    # With none, launches have no v4 pool logs.
    swaps: float = 0.0
    # Launch shares: by a declared launchpad, in older generations, with several tokens, reverted.
    declared: float = 0.0
    legacy: float = 0.06
    several: float = 0.08
    reverted: float = 0.04


class TransactionMaker:
    """Generator for transactions; the same seed makes the same ones."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.launches = LaunchMaker(rng)
        self.happenings = HappeningMaker(rng, self.launches)
        self.pools = PoolTrafficMaker(rng, self.launches)

    def block(self, traffic: Traffic, alive: Sequence[Launched]) -> list[Transaction]:
        """Return a block's transactions; `alive` are the earlier tokens that they may be about."""
        found = [self.launch(traffic, alive) for _ in range(self._count(traffic.launches))]
        fresh = [token for transaction in found for _, token in transaction.launches]
        known = [*alive, *fresh]
        found += [self.event(known) for _ in range(self._count(traffic.events))]
        found += [self.noise(known) for _ in range(self._count(traffic.noise))]
        if traffic.swaps:
            found += [self.swaps(known) for _ in range(self._count(traffic.swaps))]
        return found

    def launch(self, traffic: Traffic, alive: Sequence[Launched] = ()) -> Transaction:
        """Return a launch with one token or several."""
        rng, sender, draw = self.rng, self.launches.address(), self.rng.random()
        is_traded = traffic.swaps > 0
        if draw < traffic.legacy:
            make = rng.choice((legacy_launches.v31, legacy_launches.v0))
            return self._of([make(self.launches, sender=sender)], sender, is_traded, to=addresses.BATCH)
        if draw < traffic.legacy + traffic.several:
            several = [
                declared_launches.declared(self.launches, sender=sender)
                if self._is_declared(traffic)
                else self._v4(sender, addresses.BATCH, alive)
                for _ in range(rng.randrange(2, 5))
            ]
            return self._of(several, sender, is_traded, to=addresses.BATCH)
        if self._is_declared(traffic):
            one = declared_launches.declared(self.launches, sender=sender)
            return self._of([one], sender, is_traded, to=addresses.BATCH)
        if rng.random() < 0.05:
            return self._of([self._v4(sender, addresses.PRESALE, alive)], sender, is_traded, to=addresses.PRESALE)
        one = self._v4(sender, None, alive)
        found = self._of([one], sender, is_traded, to=addresses.FACTORY, calldata=one.calldata, value=one.value)
        return revert(found) if rng.random() < traffic.reverted else found

    def event(self, alive: Sequence[Launched]) -> Transaction:
        """Return events after launch for one token or several, and noise between them."""
        emitted = []
        needs = set()
        for _ in range(self.rng.choice((1, 1, 1, 2, 3))):
            token = self.rng.choice(alive) if alive and self.rng.random() < 0.9 else None
            emitted.append(self.happenings.of(token) if token else self.happenings.currency_claim())
            if token:
                needs.add(token.address)
            if self.rng.random() < 0.2:
                emitted.append(self.happenings.noise(token))
        return self._emitting(emitted, needs)

    def noise(self, alive: Sequence[Launched]) -> Transaction:
        """Return a transaction without relevant logs."""
        token = self.rng.choice(alive) if alive else None
        needs = {token.address} if token else set()
        return self._emitting([self.happenings.noise(token) for _ in range(self.rng.randrange(3))], needs)

    def swaps(self, alive: Sequence[Launched]) -> Transaction:
        """Return swaps and liquidity changes in launched tokens' pools, and in foreign ones."""
        emitted, needs = list[PoolEmitted](), set[str]()
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            # A few tokens have most trades.
            token = self.rng.choice(alive[: self.rng.choice((3, len(alive)))]) if alive else None
            if token is None or self.rng.random() < 0.15:
                emitted.append(self.pools.foreign())
            else:
                emitted.append(self.pools.of(token))
                needs.add(token.address)
        logs, pool_logs = list[LogEntry](), list[tuple[int, SwapTruth | LiquidityTruth]]()
        for one in emitted:
            _add_pool_log(one, logs, pool_logs)
        return self._transaction(
            logs,
            sender=self.launches.address(),
            to=self.launches.address(),
            pool_logs=tuple(pool_logs),
            needs=frozenset(needs),
        )

    def again(self, transaction: Transaction) -> Transaction:
        """Return a transaction with the same effect and another hash, as a sender makes it after a lost one."""
        return replace(transaction, hash=self._hash())

    def _is_declared(self, traffic: Traffic) -> bool:
        # Without such launches nothing is drawn, so that chains without them stay as they are.
        return traffic.declared > 0 and self.rng.random() < traffic.declared

    def _v4(self, sender: str, caller: str | None, alive: Sequence[Launched]) -> Launched:
        paired = None
        if alive and self.rng.random() < 0.04:
            other = self.rng.choice(alive)
            paired = (other.address, "PAIR")
        return self.launches.v4(sender=sender, caller=caller, paired=paired)

    def _of(self, launched: Sequence[Launched], sender: str, is_traded: bool, *, to: str, **call: Any) -> Transaction:
        logs: list[LogEntry] = []
        launches, happenings, pool_logs = [], [], []
        for token in launched:
            start = len(logs)
            logs += token.logs
            launches.append((len(logs) - 1, token))
            pool_logs += [(start + place, change) for place, change in token.minted]
            for place, kind, arguments in token.collected:
                event = Happening(
                    kind=kind, emitter=token.columns["locker_address"], token=token.address, arguments=arguments
                )
                happenings.append((start + place, event))
        if self.rng.random() < 0.06:
            # Logs from any contract that launches: its token is updated in the same transaction.
            emitted = self.happenings.of(launched[-1])
            if emitted.happening:
                happenings.append((len(logs), emitted.happening))
            logs.append(emitted.log)
        for token in launched if is_traded else ():
            # Its liquidity, and its creator's purchase.
            for one in (self.pools.liquidity(token), self.pools.swap(token)):
                _add_pool_log(one, logs, pool_logs)
        return self._transaction(
            logs,
            sender=sender,
            to=to,
            launches=tuple(launches),
            happenings=tuple(happenings),
            pool_logs=tuple(pool_logs),
            **call,
        )

    def _emitting(self, emitted: Sequence[Emitted], needs: set[str]) -> Transaction:
        happenings = tuple((place, one.happening) for place, one in enumerate(emitted) if one.happening)
        logs = [one.log for one in emitted]
        sender, to = self.launches.address(), self.launches.address()
        return self._transaction(logs, sender=sender, to=to, happenings=happenings, needs=frozenset(needs))

    def _transaction(self, logs: Sequence[LogEntry], **parts: Any) -> Transaction:
        defaults: Mapping[str, Any] = {"value": 0, "calldata": None, "succeeded": True}
        return Transaction(hash=self._hash(), logs=tuple(logs), **defaults | parts)

    def _hash(self) -> str:
        return "0x" + keccak(self.rng.randbytes(32)).hex()

    def _count(self, mean: float) -> int:
        """Return a random whole number with that mean."""
        whole = int(mean)
        return whole + (self.rng.random() < mean - whole)


def revert(transaction: Transaction) -> Transaction:
    """Return the same transaction, mined and failed: it has no logs."""
    return replace(transaction, succeeded=False, logs=(), launches=(), happenings=(), pool_logs=())


def _add_pool_log(one: PoolEmitted, logs: list[LogEntry], truths: list[tuple[int, SwapTruth | LiquidityTruth]]) -> None:
    """Add a pool's log with the logs beside it, and its expected swap or liquidity change with its index."""
    if one.truth:
        truths.append((len(logs) + len(one.before), one.truth))
    logs += [*one.before, one.log, *one.after]

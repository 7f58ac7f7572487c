"""Uniswap pools that a transaction creates, from its logs. Pure."""

from collections.abc import Iterator
from typing import NamedTuple

from tokens.chains.abi.codec import AbiEvent, Log
from tokens.chains.addresses import ZERO_ADDRESS, checksum_address
from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.generations.declared_launches import PAIR_CREATED, POOL_CREATED, V3_INITIALIZED
from tokens.chains.evm.generations.mined_transactions import POOL_INITIALIZED, MinedTransaction
from tokens.chains.registry.chains import ChainInfo


class NewPoolEvent(NamedTuple):
    """The event about a new pool, for one pool kind."""

    event: AbiEvent
    # The emitter's key in the chain's entry.
    emitter: str
    # The arguments with the pool's id and its currencies.
    id: str
    currencies: tuple[str, str]

    @property
    def name(self) -> str:
        """The event's name."""
        return self.event.signature.partition("(")[0]

    def trusted(self, chain: ChainInfo) -> str | None:
        """Return the chain's own contract that emits it; None if the registry has none."""
        address: str | None = getattr(chain, self.emitter)
        return address


POOL_EVENTS = {
    "v4": NewPoolEvent(POOL_INITIALIZED, "v4_pool_manager", "id", ("currency0", "currency1")),
    "v3": NewPoolEvent(POOL_CREATED, "v3_factory", "pool", ("token0", "token1")),
    "v2": NewPoolEvent(PAIR_CREATED, "v2_factory", "pair", ("token0", "token1")),
}


class MadePool(NamedTuple):
    """A new pool."""

    kind: str
    id: str
    currencies: tuple[str, str]
    # EIP-55; None where the pool has none.
    hook: str | None
    log: Log
    # Whether the chain's own contract reports it: any contract can emit the log.
    is_trusted: bool

    @property
    def text(self) -> str:
        """The log in words."""
        return pool_log_text(self.log, POOL_EVENTS[self.kind].event)


def find_made_pools(mined: MinedTransaction) -> Iterator[MadePool]:
    """Yield the pools that contracts report, in log order; without malformed logs."""
    kinds = {pool.event.topic0: kind for kind, pool in POOL_EVENTS.items()}
    for log in mined.logs:
        if kind := kinds.get(next(iter(log["topics"]), "")):
            declared = POOL_EVENTS[kind]
            try:
                values = declared.event.decode(log)
            except LogDecodingError:
                continue
            first, second = (values[currency] for currency in declared.currencies)
            hook = values.get("hooks", ZERO_ADDRESS)
            is_trusted = log["address"].lower() == (declared.trusted(mined.chain) or "").lower()
            yield MadePool(
                kind, values[declared.id], (first, second), None if hook == ZERO_ADDRESS else hook, log, is_trusted
            )


def first_price_text(mined: MinedTransaction, pool: MadePool) -> str:
    """Return the log with the pool's first price, in words."""
    started = next(iter(mined.emitted(V3_INITIALIZED, by=pool.id)), None) if pool.kind == "v3" else None
    return pool_log_text(started, V3_INITIALIZED) if started else pool.text


def pool_log_text(log: Log, event: AbiEvent) -> str:
    """Return the event about a new pool, in words."""
    name = event.signature.partition("(")[0]
    return f"{name} by {checksum_address(log['address'])} (log {int(log['logIndex'], 16)})"

"""Decoder for launches on declared launchpads, with the values that the registry's declarations name. Pure.

A declared factory is trusted like a compiled layout's factory. Another log's value counts only if the declaration names
the log's emitter: any contract can emit any log in the same transaction.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.abi.codec import Log
from tokens.chains.abi.paths import find_part, part_at
from tokens.chains.addresses import ZERO_ADDRESS, checksum_address
from tokens.chains.evm.generations.launch_views import is_usable, with_known_quote, with_reserves
from tokens.chains.evm.generations.mined_transactions import POOL_INITIALIZED, MinedTransaction
from tokens.chains.pool_types import PAIR_FEE
from tokens.chains.registry.launchpads import (
    Argument,
    Constant,
    LaunchDeclaration,
    Launchpad,
    OtherLog,
    PoolKind,
    Sender,
    Value,
    View,
)
from tokens.chains.types import Launch, LiquidityFees, MissingValue, Pool, to_bps

PAIR_CREATED = codec.load_abi("uniswap_v2").event("PairCreated")
_V3 = codec.load_abi("uniswap_v3")
POOL_CREATED, V3_INITIALIZED = _V3.event("PoolCreated"), _V3.event("Initialize")
# The fee of a v4 pool whose hook sets a fee per swap.
_DYNAMIC_FEE = 0x800000


@dataclass(frozen=True, kw_only=True, slots=True)
class DeclaredLaunch:
    """Decoder of one declared launch event."""

    launchpad: Launchpad
    declaration: LaunchDeclaration

    def decode(self, mined: MinedTransaction, log: Log) -> Launch | None:
        """Decode the launch, without the results of views; None if a condition does not hold.

        Raises LogDecodingError, and FullTransactionRequiredError if the available logs are insufficient.
        """
        declaration = self.declaration
        scope = self.scope(mined, log)
        token, missing = scope.token, []
        for condition in declaration.conditions:
            actual = scope.read(condition.value)
            if isinstance(actual, MissingValue):
                missing.append(actual._replace(expected=condition.expected))
            elif actual not in condition.expected:
                return None
        values = dict[str, Any]()
        for name, alternatives in declaration.fields.items():
            values[name], views = scope.first_usable(name, alternatives)
            missing += views
        pool, fees = _find_pool(mined, declaration.pool, token, values)
        factory = checksum_address(log["address"])
        return Launch(
            chain_id=mined.chain.chain_id,
            generation=self.launchpad.name,
            token=token,
            tx_hash=mined.hash,
            log_index=int(log["logIndex"], 16),
            block_number=mined.block_number,
            block_hash=mined.block_hash,
            block_time=mined.block_time,
            factory=factory,
            name=values.get("name") or "",
            symbol=values.get("symbol") or "",
            supply=None,
            admin=values.get("creator"),
            msg_sender=None,
            # As on Solana: ledgers and creator lists find a launch by the account that requested it.
            requestor_address=values.get("creator"),
            image=values.get("image"),
            uri=values.get("uri"),
            pool=pool,
            fees=fees,
            is_declared=True,
            # For a contract without the optional `decimals()`: its amounts count smallest units.
            decimals=0,
            curve_config=values.get("pool_id") or factory if declaration.pool == "curve" else None,
            next_pool=_next_pair(mined, token) if self.launchpad.graduates_into_pair else None,
            nft=self._nft(scope, log),
            missing=tuple(missing),
        )

    def _nft(self, scope: "LaunchScope", log: Log) -> str | None:
        nft = self.declaration.nft
        contract = nft and nft.contracts.get(log["address"].lower())
        return f"{contract}/{part_at(scope.created, nft.id)}" if nft and contract else None

    def scope(self, mined: MinedTransaction, log: Log) -> "LaunchScope":
        """Return the source that the launch's values are read from. Raises LogDecodingError."""
        created = self.declaration.event.decode(log)
        return LaunchScope(mined=mined, created=created, token=part_at(created, self.declaration.token))


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchScope:
    """Source of one launch's values: the transaction, the launch event's arguments, and the token."""

    mined: MinedTransaction
    created: Mapping[str, Any]
    token: str

    def first_usable(self, field: str, values: Sequence[Value]) -> tuple[Any, list[MissingValue]]:
        """Return the first usable value that needs no view, and the views before it."""
        views = []
        for value in values:
            actual = self.read(value)
            if isinstance(actual, MissingValue):
                views.append(actual._replace(field=field))
            elif is_usable(field, actual):
                return actual, views
        return None, views

    def read(self, value: Value) -> Any:
        """Return the value, None where there is none; for a view, return the call that is needed."""
        match value:
            case Argument():
                return find_part(self.created, value.path)
            case Sender():
                return self.mined.sender
            case Constant():
                return value.value
            case OtherLog():
                logs = map(value.event.decode, self.mined.emitted(value.event, by=self.target(value.emitter)))
                matching = [log for log in logs if not value.having or find_part(log, value.having) == self.token]
                if not matching:
                    self.mined.require_full_transaction(value.event.signature)
                return find_part(matching[-1], value.result) if matching else None
            case View():
                contract, *arguments = map(self.target, (value.contract, *value.arguments))
                if contract is None or None in arguments:
                    return None
                return MissingValue(
                    field="",
                    contract=contract,
                    function=value.function,
                    arguments=tuple(arguments),
                    result=value.result,
                )

    def target(self, target: Argument | str) -> Any:
        """Return the address or argument that a declaration names; without a path, the token."""
        if isinstance(target, str):
            return target
        return find_part(self.created, target.path) if target.path else self.token


def _find_pool(
    mined: MinedTransaction, kind: PoolKind, token: str, values: Mapping[str, Any]
) -> tuple[Pool | None, LiquidityFees | None]:
    """Return the curve, or the pool that the chain's own Uniswap contracts created for the token in this transaction.

    A declared "pool_id" identifies the pool. Without it, several pools count as none: anyone can create pools for any
    token, even before its launch, so that the launch's sender may have created one of them.
    """
    if kind == "curve":
        # Where one contract is the curve of all its tokens, the token's address stands for the pool's. Only a view may
        # have the quote token.
        quote = values.get("quote") or ""
        curve = _pool(mined, values.get("pool_id") or token, quote, tick=None, spacing=None, hook=None)
        return with_reserves(curve, values), None
    read_pools = {"v2": _v2_pools, "v3": _v3_pools, "v4": _v4_pools}[kind]
    pools = [each for each in read_pools(mined, token) if each[0].address == values.get("pool_id", each[0].address)]
    if not pools:
        # The node may have omitted the pool's log.
        mined.require_full_transaction("the pool")
    return pools[0] if len(pools) == 1 else (None, None)


def _v4_pools(mined: MinedTransaction, token: str) -> Iterator[tuple[Pool, LiquidityFees | None]]:
    for log in mined.emitted(POOL_INITIALIZED, by=mined.chain.v4_pool_manager):
        pool = POOL_INITIALIZED.decode(log)
        if token in (pool["currency0"], pool["currency1"]):
            fees = None if pool["fee"] == _DYNAMIC_FEE else _static_fees(pool["fee"])
            pair, tick = _orient(token, pool["currency0"], pool["currency1"], pool["tick"])
            hook = None if pool["hooks"] == ZERO_ADDRESS else pool["hooks"]
            yield _pool(mined, pool["id"], pair, tick=tick, spacing=pool["tickSpacing"], hook=hook), fees


def _v2_pools(mined: MinedTransaction, token: str) -> Iterator[tuple[Pool, LiquidityFees]]:
    for paired in _pairs_of(mined, token):
        pair, _ = _orient(token, paired["token0"], paired["token1"], None)
        yield _pool(mined, paired["pair"], pair, tick=None, spacing=None, hook=None), _static_fees(PAIR_FEE)


def _v3_pools(mined: MinedTransaction, token: str) -> Iterator[tuple[Pool, LiquidityFees]]:
    for log in mined.emitted(POOL_CREATED, by=mined.chain.v3_factory):
        created = POOL_CREATED.decode(log)
        if token in (created["token0"], created["token1"]):
            started = [V3_INITIALIZED.decode(each) for each in mined.emitted(V3_INITIALIZED, by=created["pool"])]
            pair, tick = _orient(token, created["token0"], created["token1"], started[0]["tick"] if started else None)
            pool = _pool(mined, created["pool"], pair, tick=tick, spacing=created["tickSpacing"], hook=None)
            yield pool, _static_fees(created["fee"])


def _pairs_of(mined: MinedTransaction, token: str) -> Iterator[dict[str, Any]]:
    """Yield the decoded PairCreated events for the token's pairs, which the chain's Uniswap v2 factory emitted."""
    for log in mined.emitted(PAIR_CREATED, by=mined.chain.v2_factory):
        paired = PAIR_CREATED.decode(log)
        if token in (paired["token0"], paired["token1"]):
            yield paired


def _next_pair(mined: MinedTransaction, token: str) -> str | None:
    pairs = [paired["pair"] for paired in _pairs_of(mined, token)]
    return pairs[0] if len(pairs) == 1 else None


def _orient(token: str, currency0: str, currency1: str, tick: int | None) -> tuple[str, int | None]:
    """Return a pool's other currency, and its tick as if the token were currency 0."""
    if token == currency0:
        return currency1, tick
    return currency0, None if tick is None else -tick


def _static_fees(parts_per_million: int) -> LiquidityFees:
    fee = to_bps(parts_per_million)
    return LiquidityFees(type="static", clanker_fee=fee, paired_fee=fee)


def _pool(
    mined: MinedTransaction, address: str, paired: str, *, tick: int | None, spacing: int | None, hook: str | None
) -> Pool:
    pool = Pool(
        address=address,
        paired_token=paired,
        pair_symbol=None,
        pair_decimals=None,
        tick=tick,
        tick_spacing=spacing,
        hook=hook,
    )
    return with_known_quote(pool, mined.chain)

"""Decoder from Uniswap v2 pair logs to swaps and liquidity changes. Pure.

A pair emits its reserves right before each swap, deposit or withdrawal: UniswapV2Pair calls `_update` first.
"""

from math import isqrt

from tokens.chains.abi import codec
from tokens.chains.abi.codec import Log
from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.logs.log_places import LogPlace
from tokens.chains.pool_types import PAIR_FEE, LiquidityChange, Swap
from tokens.chains.registry.entry_rules import MAX_TICK
from tokens.chains.rpc.quantities import MalformedResponseError

_PAIR = codec.load_abi("uniswap_v2")
_SWAP, _SYNC, _MINT, _BURN = (_PAIR.event(name) for name in ("Swap", "Sync", "Mint", "Burn"))
PAIR_TOPICS = frozenset(event.topic0 for event in (_SWAP, _SYNC, _MINT, _BURN))
# Twice the binary digits after the point in `Swap.sqrt_price`.
_SHIFT = 192


class PairReader:
    """Decoder for pair logs in chain order, which remembers each pair's last reserves."""

    def __init__(self) -> None:
        # Pair -> transaction, and reserves in both currencies.
        self._reserves: dict[str, tuple[str, int, int]] = {}

    def read(self, log: Log, log_place: LogPlace) -> Swap | LiquidityChange | None:
        """Decode a log with `PAIR_TOPICS`; None for reserves, or if a reserve is 0. Raises MalformedResponseError."""
        topic0 = log["topics"][0]
        try:
            if topic0 == _SYNC.topic0:
                reserves = _SYNC.decode(log)
                self._reserves[log_place.emitter] = (log_place.tx_hash, reserves["reserve0"], reserves["reserve1"])
                return None
            tx_hash, reserve0, reserve1 = self._reserves.get(log_place.emitter, ("", 0, 0))
            if tx_hash != log_place.tx_hash:
                raise MalformedResponseError("a pair that does not emit its reserves")
            if not (reserve0 and reserve1):
                # A token may take its own balance from a pair, which then has no price.
                return None
            if topic0 == _SWAP.topic0:
                return _swap(log, log_place, root=isqrt((reserve1 << _SHIFT) // reserve0))
            return _change(log, log_place, reserve0, reserve1)
        except LogDecodingError as error:
            raise MalformedResponseError(str(error)) from error


def _swap(log: Log, log_place: LogPlace, *, root: int) -> Swap:
    values = _SWAP.decode(log)
    amount0, amount1 = (values[f"amount{side}In"] - values[f"amount{side}Out"] for side in (0, 1))
    sender = values["sender"]
    return Swap(*log_place[:5], amount0, amount1, root, sender, log_place.trader, log_place.tx_index, PAIR_FEE)


def _change(log: Log, log_place: LogPlace, reserve0: int, reserve1: int) -> LiquidityChange:
    """Return a deposit or a withdrawal as liquidity at all prices: a share of sqrt(reserve0 * reserve1)."""
    is_mint = log["topics"][0] == _MINT.topic0
    values = (_MINT if is_mint else _BURN).decode(log)
    liquidity = isqrt(reserve0 * reserve1) * values["amount0"] // reserve0
    amounts = values["amount0"], values["amount1"]
    signed = liquidity if is_mint else -liquidity
    return LiquidityChange(*log_place[:5], -MAX_TICK, MAX_TICK, signed, log_place.trader, log_place.tx_index, *amounts)

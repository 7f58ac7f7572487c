"""The development chain's trades and candles, computed anew by fractions; for `independent_check`."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from web3.types import EventData

from development.devchain.deploy_contracts import DevelopmentContracts

Row = dict[str, Any]

MINUTE, HOUR, DAY = 60, 3600, 86_400
# Significant digits in prices, and in USD per quote token.
_PRICE_DIGITS, _USD_DIGITS = 24, 15
_TOKEN_DECIMALS, USD_DECIMALS = 18, 6


@dataclass(frozen=True, kw_only=True)
class TokenPool:
    """A launched token's pool."""

    token: str
    quote: str
    quote_decimals: int
    # The starting tick as if the token were currency 0.
    tick: int
    # Unix seconds.
    launched_at: int
    # Whole tokens.
    supply: int

    @property
    def is_first(self) -> bool:
        """Return whether the token is currency 0."""
        return int(self.token, 16) < int(self.quote, 16)

    @property
    def starting_price(self) -> float:
        """Return whole quote tokens for a whole token."""
        return float(1.0001**self.tick * 10.0 ** (_TOKEN_DECIMALS - self.quote_decimals))


@dataclass(frozen=True, kw_only=True)
class ChainTrade:
    """A swap in a token's pool, as the rows should have it."""

    token: str
    position: int
    # Unix seconds.
    at: int
    tx_hash: str
    trader: str
    is_buy: bool
    is_conversion: bool
    # Smallest units.
    amount_token: int
    amount_quote: int
    price: Decimal
    quote_usd: Decimal | None
    # USD, in millionths rounded half up.
    value_usd: Fraction | None
    # The transaction's index in its block, and parts per million.
    tx_index: int
    fee: int

    @property
    def price_usd(self) -> float | None:
        """Return the price in USD."""
        return None if self.quote_usd is None else float(Context(prec=100).multiply(self.price, self.quote_usd))


@dataclass(kw_only=True)
class ChainTrades:
    """All trades and liquidity changes, in chain order, and the rates after the last one."""

    pools: Mapping[str, TokenPool]
    trades: list[ChainTrade] = field(default_factory=list)
    # (token, position) -> row.
    liquidity: dict[tuple[str, int], Row] = field(default_factory=dict)
    # USD per whole quote token, for quote tokens that were not launched.
    rates: dict[str, Decimal] = field(default_factory=dict)
    # Unix seconds and USD for quote tokens whose rates change, in chain order.
    rate_changes: dict[str, list[tuple[int, Decimal]]] = field(default_factory=lambda: defaultdict(list))

    def rate_at(self, quote: str, at: int) -> Decimal | None:
        """Return USD per whole quote token before a second, for one that no launchpad launched; None if unknown."""
        earlier = [rate for changed_at, rate in self.rate_changes[quote] if changed_at < at]
        return earlier[-1] if earlier else None if self.rate_changes[quote] else self.rates.get(quote)

    def by_token(self) -> dict[str, list[ChainTrade]]:
        """Return token -> its trades."""
        found = defaultdict(list)
        for trade in self.trades:
            found[trade.token].append(trade)
        return found


class TradeReader:
    """A reader for pools by id, from decoded events and the blocks that they are in."""

    def __init__(
        self, pools: Mapping[str, TokenPool], *, deployment: DevelopmentContracts, block_of: Callable[[int], Row]
    ) -> None:
        self._by_id, self._at, self._block_of = pools, deployment, block_of
        self._found = ChainTrades(
            pools={pool.token: pool for pool in pools.values()}, rates={deployment.usd: Decimal(1)}
        )
        # Token -> the price after its last trade.
        self._last: dict[str, Decimal] = {}

    def read(self, swaps: Iterable[EventData], changes: Iterable[EventData]) -> ChainTrades:
        """Return what follows from the PoolManager's events, which are in chain order."""
        for event in swaps:
            pool_id = "0x" + event["args"]["id"].hex()
            if pool_id == self._at.dollar_pool_id:
                self._set_rate(event)
            elif pool_id in self._by_id:
                self._add_trade(event, self._by_id[pool_id])
        for event in changes:
            args, pool = event["args"], self._by_id.get("0x" + event["args"]["id"].hex())
            # Fees are collected by an empty change.
            if pool and args["liquidityDelta"]:
                ticks = {"tick_lower": args["tickLower"], "tick_upper": args["tickUpper"]}
                at = self._block_of(event["blockNumber"])["timestamp"]
                row = ticks | {"liquidity": args["liquidityDelta"], "at": at, "tx_index": event["transactionIndex"]}
                self._found.liquidity[pool.token, _position(event)] = row
        return self._found

    def _set_rate(self, event: EventData) -> None:
        """Set the wrapped native coin's price, in the pool that the registry names."""
        is_first = int(self._at.wrapped_native, 16) < int(self._at.usd, 16)
        price = _pool_price(event["args"]["sqrtPriceX96"], is_first, USD_DECIMALS)
        rate, at = _rounded(price, _USD_DIGITS), self._block_of(event["blockNumber"])["timestamp"]
        self._found.rates[self._at.wrapped_native] = rate
        self._found.rate_changes[self._at.wrapped_native].append((at, rate))

    def _add_trade(self, event: EventData, pool: TokenPool) -> None:
        args = event["args"]
        amounts = (args["amount0"], args["amount1"])
        # What the swapper receives (positive) and pays.
        token, quote = amounts if pool.is_first else amounts[::-1]
        # An amount that was rounded to nothing makes no trade.
        if 0 in amounts:
            return
        block, usd = self._block_of(event["blockNumber"]), self._usd_of(pool.quote)
        quote_usd = None if usd is None else _rounded(usd, _USD_DIGITS)
        tx_hash = event["transactionHash"].to_0x_hex()
        price = _rounded(_pool_price(args["sqrtPriceX96"], pool.is_first, pool.quote_decimals), _PRICE_DIGITS)
        trade = ChainTrade(
            token=pool.token,
            position=_position(event),
            at=block["timestamp"],
            tx_hash=tx_hash,
            trader=block["senders"][tx_hash],
            is_buy=token > 0,
            # Here only the locker's own collections convert fees, by its router.
            is_conversion=block["recipients"][tx_hash] == self._at.locker,
            amount_token=abs(token),
            amount_quote=abs(quote),
            price=price,
            quote_usd=quote_usd,
            value_usd=None if quote_usd is None else value_of(abs(quote), pool.quote_decimals, quote_usd),
            tx_index=event["transactionIndex"],
            fee=args["fee"],
        )
        self._last[pool.token] = price
        self._found.trades.append(trade)

    def _usd_of(self, quote: str) -> Fraction | None:
        """Return USD for a whole unit at this position: for a launched token, by its own last trade."""
        if quote not in self._found.pools:
            rate = self._found.rates.get(quote)
            return None if rate is None else Fraction(rate)
        price, usd = self._last.get(quote), self._usd_of(self._found.pools[quote].quote)
        return None if price is None or usd is None else Fraction(price) * usd


def fold(trades: Iterable[ChainTrade]) -> dict[tuple[str, int, int], Row]:
    """Return (token, seconds, beginning) -> candle, from trades in chain order."""
    periods = defaultdict(list)
    for trade in trades:
        for seconds in (MINUTE, HOUR, DAY):
            periods[trade.token, seconds, trade.at // seconds * seconds].append(trade)
    return {key: _candle(found) for key, found in periods.items()}


def sum_up(trades: Iterable[ChainTrade]) -> Row:
    """Return trade volumes and counts, without conversions."""
    demand = [trade for trade in trades if not trade.is_conversion]
    return {
        "volume_quote": sum(trade.amount_quote for trade in demand),
        "volume_usd": sum((trade.value_usd for trade in demand if trade.value_usd is not None), Fraction(0)),
        "buys": sum(trade.is_buy for trade in demand),
        "sells": sum(not trade.is_buy for trade in demand),
    }


def _candle(trades: list[ChainTrade]) -> Row:
    prices = [trade.price for trade in trades]
    candle = sum_up(trades) | {"first_position": trades[0].position, "last_position": trades[-1].position}
    known: list[float] = [usd for trade in trades if (usd := trade.price_usd) is not None]
    for suffix, values in (("", prices), ("_usd", known)):
        is_known = len(values) == len(trades)
        candle |= {
            f"{name}{suffix}": value if is_known else None
            for name, value in zip(("open", "high", "low", "close"), _extremes(values), strict=True)
        }
    return candle


def _extremes(values: Any) -> Iterator[Any]:
    yield from (values[0], max(values), min(values), values[-1]) if values else (None,) * 4


def _position(event: EventData) -> int:
    return int(event["blockNumber"] * 2**20 + event["logIndex"])


def _pool_price(sqrt_price: int, is_first: bool, quote_decimals: int) -> Fraction:
    """Return whole quote tokens for a whole token."""
    ratio = Fraction(sqrt_price, 2**96) ** 2
    return (ratio if is_first else 1 / ratio) * Fraction(10) ** (_TOKEN_DECIMALS - quote_decimals)


def _rounded(value: Fraction, digits: int) -> Decimal:
    return Context(prec=digits).divide(Decimal(value.numerator), Decimal(value.denominator))


def value_of(amount: int, decimals: int, usd: Decimal) -> Fraction:
    """Return an amount in USD in the quote token's smallest unit, in millionths rounded half up."""
    millionths = Fraction(amount, 10**decimals) * Fraction(usd) * 10**6
    return Fraction((2 * millionths.numerator + millionths.denominator) // (2 * millionths.denominator), 10**6)

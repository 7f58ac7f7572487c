"""Rows of trades, computed from swaps. Pure."""

from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import NamedTuple

from solders.pubkey import Pubkey
from solders.signature import Signature

from tokens.chains.pool_types import Conversion, Swap, chain_position
from tokens.trades.pool_prices import is_exchange, pool_price
from tokens.trades.pool_tokens import PoolToken
from tokens.trades.protocol_fees import find_fees
from tokens.trades.quote_rates import QuoteRates

# More digits than a product of an amount and a rate has, so that only `quantize` rounds.
_EXACT = Context(prec=200, rounding=ROUND_HALF_UP)
_MICRO_USD = Decimal("0.000001")
# `trade_value` of a stored trade in SQL, beside its token's row `launch`. Products of numerics are exact, and quotients
# are not.
STORED_VALUE = "round(amount_quote * quote_usd * ('1e-' || (launch.facts #>> '{pool,pair_decimals}'))::numeric, 6)"


class TradeRow(NamedTuple):
    """A row of `PoolTrade`, with the value that sums and candles add up."""

    token_id: int
    # Unix seconds.
    at: int
    position: int
    tx_hash: bytes
    trader: bytes | None
    is_buy: bool
    is_conversion: bool
    # Smallest units.
    amount_token: int
    amount_quote: int
    price: Decimal
    quote_usd: Decimal | None
    # USD, rounded half up to 6 decimals; None where `quote_usd` is, and in a history.
    value_usd: Decimal | None
    tx_index: int | None = None
    # Parts per million.
    fee: int | None = None
    protocol_fee: int | None = None
    token_fee: int | None = None


def make_trade_rows(
    swaps: Iterable[Swap], tokens: Mapping[str, PoolToken], rates: QuoteRates, *, valued: bool = True
) -> list[TradeRow]:
    """Return the trades among swaps; `tokens` are by pool.

    Swaps in other pools are left out, those for a quote token of unknown decimals, and those that exchange nothing: an
    amount that was rounded to zero has no execution price and is no demand, and the next trade has the pool's price.
    Without `valued`, no row has a `value_usd`: a history is summed up from its stored trades.
    """
    rows = []
    for swap in swaps:
        # Unpacked once, because a backfill converts millions.
        pool, block, at, tx_hash, log_index, amount0, amount1, sqrt_price, _, trader, tx_index, fee, *_ = swap
        token = tokens.get(pool)
        if token is None or token.quote_decimals is None or not is_exchange(swap):
            continue
        price = pool_price(
            sqrt_price,
            decimals=token.decimals,
            quote_decimals=token.quote_decimals,
            is_currency0=token.is_currency0,
        )
        if price is None:
            continue
        in_token, in_quote = (amount0, amount1) if token.is_currency0 else (amount1, amount0)
        position = chain_position(block, log_index)
        quote_usd = rates.usd_at(token.quote, position)
        amount_quote, is_buy = abs(in_quote), in_token < 0
        protocol_fee, token_fee = None, None
        if token.hook or swap.reported_fees:
            protocol_fee, token_fee = find_fees(swap, token, amount_quote=amount_quote, is_buy=is_buy)
        rows.append(
            TradeRow(
                token.token_id,
                at,
                position,
                transaction_bytes(tx_hash),
                None if trader is None else address_bytes(trader),
                is_buy,
                is_conversion(swap, token),
                abs(in_token),
                amount_quote,
                price,
                quote_usd,
                trade_value(amount_quote, token.quote_decimals, quote_usd)
                if valued and quote_usd is not None
                else None,
                tx_index,
                fee,
                protocol_fee,
                token_fee,
            )
        )
    return rows


def is_conversion(swap: Swap, token: PoolToken) -> bool:
    """Return whether the launchpad itself exchanged fees: its locker reports it, or one of its contracts swapped."""
    reported = swap.conversions and Conversion(token.locker, token.address) in swap.conversions
    return bool(reported) or swap.sender in token.internal_senders


def trade_value(amount_quote: int, quote_decimals: int, quote_usd: Decimal) -> Decimal:
    """Return the USD of an amount in smallest units, as PostgreSQL's `round(numeric, 6)` of the exact product."""
    value = _EXACT.multiply(Decimal(amount_quote), quote_usd).scaleb(-quote_decimals, _EXACT)
    # Faster than the method, to which the context is a named argument.
    return _EXACT.quantize(value, _MICRO_USD)


def transaction_bytes(tx_hash: str) -> bytes:
    """Return the stored form of a transaction's hash or signature."""
    return bytes.fromhex(tx_hash[2:]) if tx_hash.startswith("0x") else bytes(Signature.from_string(tx_hash))


def address_bytes(address: str) -> bytes:
    """Return the stored form of a trader."""
    return bytes.fromhex(address[2:]) if address.startswith("0x") else bytes(Pubkey.from_string(address))

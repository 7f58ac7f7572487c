"""Trade rows computed from swaps. Pure."""

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

# More digits than amount times rate has, so that only `quantize` rounds.
_EXACT = Context(prec=200, rounding=ROUND_HALF_UP)
_MICRO_USD = Decimal("0.000001")
# `trade_value` in SQL, for a stored trade joined with its token's row `launch`. Numeric products are exact, quotients
# are not.
STORED_VALUE = "round(amount_quote * quote_usd * ('1e-' || (launch.facts #>> '{pool,pair_decimals}'))::numeric, 6)"


class TradeRow(NamedTuple):
    """A `PoolTrade` row, with the value that sums and candles add up."""

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
    # USD, rounded half up to 6 decimals; None without `quote_usd`, and during a historical sync.
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

    Left out are swaps in other pools, swaps for a quote token with unknown decimals, and swaps that exchange nothing:
    an amount rounded to zero has no execution price and is no demand, and the next trade has the pool's price. Without
    `valued`, rows lack `value_usd`: a historical sync sums up stored trades.
    """
    rows = []
    for swap in swaps:
        # Unpacked once, because a backfill converts millions.
        pool, block, block_time, tx_hash, log_index, amount0, amount1, sqrt_price, _, trader, tx_index, fee, *_ = swap
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
                block_time,
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
    """Return the USD value of an amount in smallest units, as PostgreSQL's `round(numeric, 6)` on the exact product."""
    value = _EXACT.multiply(Decimal(amount_quote), quote_usd).scaleb(-quote_decimals, _EXACT)
    # Faster than `Decimal.quantize`, which takes the context as a named argument.
    return _EXACT.quantize(value, _MICRO_USD)


def transaction_bytes(tx_hash: str) -> bytes:
    """Return a transaction hash or signature in stored form."""
    return bytes.fromhex(tx_hash[2:]) if tx_hash.startswith("0x") else bytes(Signature.from_string(tx_hash))


def address_bytes(address: str) -> bytes:
    """Return a trader's address in stored form."""
    return bytes.fromhex(address[2:]) if address.startswith("0x") else bytes(Pubkey.from_string(address))

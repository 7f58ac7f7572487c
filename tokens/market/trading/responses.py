"""Responses of the endpoints for a token's trades and candles."""

from datetime import datetime
from typing import Annotated, Literal, TypedDict

from config.parsing.response_types import Wei
from tokens.catalogue.responses import Cursor


class TradeJson(TypedDict):
    """A swap in the token's pool."""

    id: Annotated[int, "Unique for the token, and greater for later trades."]
    at: Annotated[datetime, "Block time."]
    block: Annotated[int, "On Solana the slot."]
    txHash: Annotated[str, "On Solana the signature."]
    logIndex: Annotated[int, "Index of the log in its block."]
    side: Literal["buy", "sell"]
    amountToken: Annotated[Wei, "What the trader got or sold, in the token's smallest unit."]
    amountQuote: Annotated[
        Wei,
        "What the trader paid or got, with the fees of pool and hook, in the paired token's smallest unit. Router fees,"
        " auction bids and gas are not in it.",
    ]
    poolAmountQuote: Annotated[
        Wei,
        "What the pool got or paid, without the protocol fee. Volumes, candles, trending, ledgers, feeds and days use"
        " it.",
    ]
    protocolFee: Annotated[
        str | None,
        "What a v4 pool's hook or a bonding curve took beside `poolAmountQuote`. Null where no log proves it, as of"
        " trades stored before version 0.3.0: `amountQuote` is then the pool's.",
    ]
    tokenFee: Annotated[
        str | None,
        "What a declared launchpad's hook took in the launched token: `amountToken` is so much less than the pool paid"
        " in a purchase, or more than the pool got in a sale. Null where no event reports it.",
    ]
    priceQuote: Annotated[float, "Price paid: `amountQuote` for `amountToken`, in whole units."]
    priceUsd: Annotated[float | None, "Null if no source has a price of the paired token."]
    valueUsd: Annotated[
        float | None, "Of `amountQuote`, to 6 decimals; null if no source has a price of the paired token."
    ]
    trader: Annotated[
        str | None,
        "Sender of the transaction; on Solana its payer. Null if only logs were read, as in a backfill and after a gap"
        " of more than 20 blocks. The token's locker for each conversion of fees: these count in no volume.",
    ]


class Trades(TypedDict):
    data: list[TradeJson]
    cursor: Cursor


# The linter refuses a name `l`, which looks like 1.
class CandleJson(TypedDict("_Low", {"l": Annotated[float, "At most `o`."]})):
    """The pool's prices and the trades of an interval. Prices include conversions of fees by the token's locker."""

    t: Annotated[datetime, "Beginning of the interval."]
    o: Annotated[
        float,
        "Price before the first trade: the close before, and of the first candle the launch's starting price.",
    ]
    h: Annotated[float, "At least `o`."]
    c: Annotated[float, "Price after the last trade."]
    volumeQuote: Annotated[
        Wei,
        "What the pool got and paid, in the paired token's smallest unit, without protocol fees and without"
        " conversions.",
    ]
    volumeUsd: Annotated[
        float | None,
        "Without conversions; null if the price of the paired token was unknown at one of the trades.",
    ]
    trades: Annotated[int, "Buys and sells, without conversions."]
    buys: int
    sells: int


class Candles(TypedDict):
    data: list[CandleJson]

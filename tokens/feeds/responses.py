"""Response bodies for the feeds, by their formats' names."""

from typing import Annotated, Literal, NotRequired, TypedDict

Decimals = Annotated[str, "Whole units, with a point."]
UnixSeconds = Annotated[int, "Unix seconds."]
ChangeAmount = Annotated[str, "Only for joins and exits."]
UsdSum = Annotated[str, "To 6 decimals."]


class FeedBlock(TypedDict):
    """A block."""

    blockNumber: int
    blockTimestamp: UnixSeconds


class FeedBlockAnswer(TypedDict):
    block: FeedBlock


class FeedAssetJson(TypedDict):
    """A launched token, or a quote token, which has no supply here."""

    id: str
    name: str
    symbol: str
    totalSupply: NotRequired[Decimals]
    circulatingSupply: NotRequired[
        Annotated[str, "The total supply. Absent if a vault, airdrop or presale got a part."]
    ]


class FeedAssetAnswer(TypedDict):
    asset: FeedAssetJson


class FeedHolder(TypedDict):
    address: str
    quantity: Annotated[int, "Whole tokens: a fraction is dropped."]


class AssetHolders(TypedDict):
    id: str
    totalHoldersCount: int
    holders: Annotated[list[FeedHolder], "Largest balance first."]


class ToolsHoldersAnswer(TypedDict):
    asset: AssetHolders


class FeedPairJson(TypedDict):
    id: Annotated[str, "A v3 pool's address, or a v4 pool's id."]
    asset0Id: Annotated[str, "The launched token."]
    asset1Id: Annotated[str, "The paired token."]
    createdAtBlockNumber: int
    createdAtBlockTimestamp: UnixSeconds
    createdAtTxnId: str


class PairMetadata(TypedDict):
    """Further facts about a pair in DEX Screener's format."""

    launchpad: Annotated[str, "Name of the token's launchpad."]
    launchpadTitle: str


class PairDetails(TypedDict, total=False):
    creator: str
    feeBps: Annotated[int, "Absent where it changes, or differs by direction."]


class ScreenerPair(FeedPairJson, PairDetails):
    """A pair in DEX Screener's format."""

    dexKey: Annotated[str, "FEED_DEX_KEY."]
    metadata: PairMetadata


class ScreenerPairAnswer(TypedDict):
    pair: ScreenerPair


class ToolsPair(FeedPairJson):
    """A pair in DEXTools' format."""

    factoryAddress: str


class ToolsPairAnswer(TypedDict):
    pair: ToolsPair


class ToolsExchange(TypedDict):
    factoryAddress: str
    name: Annotated[str, "FEED_DEX_NAME, or the launchpad's title."]


class ToolsExchangeAnswer(TypedDict):
    exchange: ToolsExchange


class FeedReserves(TypedDict):
    asset0: Decimals
    asset1: Decimals


class FeedEvent(TypedDict):
    """A swap, or liquidity that was added (join) or removed (exit)."""

    block: FeedBlock
    eventType: Literal["swap", "join", "exit"]
    txnId: str
    txnIndex: Annotated[int, "Index of the transaction in its block."]
    eventIndex: Annotated[int, "Index of the log in its block."]
    maker: Annotated[
        str, "Sender of the transaction; the locker of a conversion. The zero address if only logs were read."
    ]
    pairId: str
    asset0In: NotRequired[Decimals]
    asset1In: NotRequired[Decimals]
    asset0Out: NotRequired[Decimals]
    asset1Out: NotRequired[Decimals]
    amount0: NotRequired[ChangeAmount]
    amount1: NotRequired[ChangeAmount]
    reserves: NotRequired[Annotated[FeedReserves, "After the event, without uncollected fees."]]


class ToolsEventsAnswer(TypedDict):
    events: list[FeedEvent]


class ScreenerEvent(FeedEvent):
    """An event in DEX Screener's format."""

    priceNative: NotRequired[Annotated[str, "Only for swaps: the pool's price after the swap, in asset 1 per asset 0."]]


class ScreenerEventsAnswer(TypedDict):
    events: list[ScreenerEvent]


class QuoteDay(TypedDict):
    quote: Annotated[str, "The paired token."]
    symbol: str
    trades: int
    tradesWithoutFee: int
    tradesWithoutUsd: int
    volume: Decimals
    fees: Decimals
    volumeUsd: str
    feesUsd: str


class Day(TypedDict):
    """Volume and fees on a UTC day, in the pool's amounts: without protocol fees and fee conversions."""

    chainId: int
    day: str
    start: Annotated[int, "Unix seconds at which the day begins."]
    end: Annotated[int, "Unix seconds at which it ends."]
    firstBlock: Annotated[int, "First block of the day."]
    lastBlock: Annotated[int, "Last block of the day."]
    trades: int
    tradesWithoutFee: Annotated[int, "Trades whose fee is unknown: they are in no sum of fees."]
    tradesWithoutUsd: Annotated[int, "Trades whose value is unknown: they are in no sum in USD."]
    volumeUsd: UsdSum
    feesUsd: UsdSum
    quotes: Annotated[list[QuoteDay], "By paired token."]


class ChartExchange(TypedDict):
    value: str
    name: str
    desc: str


class ChartType(TypedDict):
    name: str
    value: str


class ChartConfig(TypedDict):
    """Datafeed configuration."""

    supports_search: bool
    supports_group_request: bool
    supports_marks: bool
    supports_timescale_marks: bool
    supports_time: bool
    exchanges: Annotated[list[ChartExchange], "The chains."]
    symbols_types: list[ChartType]
    supported_resolutions: list[str]


class ChartSymbolJson(TypedDict):
    """LibrarySymbolInfo for a token in USD or in its paired token."""

    name: str
    ticker: str
    description: str
    type: str
    session: str
    timezone: str
    exchange: str
    listed_exchange: str
    format: str
    minmov: int
    pricescale: Annotated[int, "10 to the number of decimals on the price axis."]
    has_intraday: bool
    has_daily: bool
    has_weekly_and_monthly: bool
    intraday_multipliers: list[str]
    supported_resolutions: list[str]
    visible_plots_set: str
    volume_precision: int
    data_status: str
    currency_code: str


class ChartMatch(TypedDict):
    """A found symbol."""

    symbol: str
    full_name: str
    ticker: str
    description: str
    exchange: str
    type: str


class ChartBars(
    # In this form, since the linter refuses a name `l`, which looks like 1.
    TypedDict(
        "_Columns",
        {
            "t": Annotated[list[int], "Beginnings, Unix seconds."],
            "o": list[float],
            "h": list[float],
            "l": list[float],
            "c": list[float],
            "v": Annotated[list[float], "USD, or whole units of the paired token."],
        },
        total=False,
    )
):
    """Bars as columns, oldest first; none with `no_data`."""

    s: Literal["ok", "no_data"]
    nextTime: NotRequired[Annotated[int, "With `no_data`: the newest bar before `from`."]]

"""Parameters and response bodies for the feeds, by their formats' names."""

import re
from datetime import date
from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from config.api.fields import ChainIdField, PriceBarSerializer, ShapedField, TextField, WholeNumberField
from tokens.catalogue.list_parameters import UnixTimeField
from tokens.catalogue.text_search import MAX_QUERY_LENGTH
from tokens.feeds.charts.chart_symbols import MOST_BARS, RESOLUTION_NAMES, SYMBOL_RULE
from tokens.feeds.pool_events import MOST_BLOCKS, MOST_EVENTS
from tokens.installation.chain_fields import EvmAddressField, PoolAddressField

# A trade's position is a 64-bit integer that has the log index in its lowest 20 bits.
_MAX_BLOCK = 2**43 - 2
_DECIMAL = "Whole units, with a point."


class BlockNumberField(WholeNumberField):
    """Block number."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=0, max_value=_MAX_BLOCK, **options)


class BlockRangeQuery(serializers.Serializer[Any]):
    """A range of blocks, both included."""

    fromBlock = BlockNumberField(help_text="First block: at least the first one that is indexed with trades.")
    toBlock = BlockNumberField(
        help_text=f"Last block, up to the one in /latest-block. At most {MOST_BLOCKS} blocks, and {MOST_EVENTS} events."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Compare the blocks. Raises ValidationError."""
        first, last = attrs["fromBlock"], attrs["toBlock"]
        if last < first:
            raise serializers.ValidationError({"toBlock": ["must be at least fromBlock"]})
        if last - first >= MOST_BLOCKS:
            raise serializers.ValidationError({"toBlock": [f"must be less than {MOST_BLOCKS} blocks after fromBlock"]})
        return attrs


class BlockQuery(serializers.Serializer[Any]):
    """Block number or time."""

    number = BlockNumberField(required=False, help_text="Up to the one in /latest-block. `timestamp` is then ignored.")
    timestamp = UnixTimeField(
        required=False,
        trim_whitespace=False,
        help_text="Unix seconds: the youngest block at or before this time. A served block must be younger.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require one of the parameters. Raises ValidationError."""
        if not attrs:
            raise serializers.ValidationError({"number": ["must be given, or timestamp"]})
        return attrs


class AssetQuery(serializers.Serializer[Any]):
    """Token address."""

    id = EvmAddressField(lacking="feed", help_text="A launched token, or a quote token of the registry.")


class HoldersQuery(AssetQuery):
    """A page of an asset's holders."""

    page = WholeNumberField(min_value=0, max_value=10_000, default=0, help_text="0 for the first.")
    pageSize = WholeNumberField(min_value=10, max_value=50, default=10)


class PairQuery(serializers.Serializer[Any]):
    """Pair id."""

    id = PoolAddressField(help_text="A v3 pool's address, or a v4 pool's id of 32 bytes.")


class ExchangeQuery(serializers.Serializer[Any]):
    """Factory address."""

    id = EvmAddressField(lacking="feed", help_text="A factory of launches of this chain, as in a pair.")


class DayField(ShapedField):
    """Day in UTC."""

    rule = "must be a day as YYYY-MM-DD, from 2010 to 2099"
    shape = {"type": "string", "pattern": "^20[1-9][0-9]-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"}

    def parse(self, text: str) -> date:
        """Return the day. Raises ValueError."""
        # Python's parser also accepts weeks.
        if not re.fullmatch(self.shape["pattern"], text):
            raise ValueError(self.rule)
        try:
            return date.fromisoformat(text)
        except ValueError as error:
            raise ValueError(self.rule) from error


class DayQuery(serializers.Serializer[Any]):
    """A day."""

    day = DayField(trim_whitespace=False, help_text="A day that has ended, in UTC, as YYYY-MM-DD.")


class SymbolField(ShapedField):
    """Chart symbol."""

    rule = SYMBOL_RULE
    shape = {"type": "string", "pattern": "^[1-9][0-9]{0,17}:0[xX][0-9a-fA-F]{40}(\\.[qQ][uU][oO][tT][eE])?$"}

    def parse(self, text: str) -> str:
        """Return the text, which `find_symbol` parses."""
        return text


class SymbolQuery(serializers.Serializer[Any]):
    """A symbol."""

    symbol = SymbolField(trim_whitespace=False, help_text="`<chain id>:<address>`, or with `.QUOTE` after it.")


class FirstTimeField(UnixTimeField):
    """Unix seconds, which charts that reach far back begin before 1970."""

    shape = UnixTimeField.shape | {"minimum": -UnixTimeField.shape["maximum"]}

    def parse(self, text: str) -> int:
        """Return the seconds, 0 for a negative number. Raises ValueError."""
        try:
            return min(super().parse(text.removeprefix("-")), 0) if text.startswith("-") else super().parse(text)
        except ValueError as error:
            least, most = self.shape["minimum"], self.shape["maximum"]
            raise ValueError(f"must be Unix seconds, a whole number from {least} to {most}") from error


class HistoryQuery(SymbolQuery):
    """A symbol's bars."""

    resolution = serializers.ChoiceField(
        list(RESOLUTION_NAMES),
        error_messages={"invalid_choice": f"must be one of {', '.join(RESOLUTION_NAMES)}"},
        help_text="Minutes, or a day.",
    )
    to = UnixTimeField(trim_whitespace=False, help_text="Only bars that begin before these Unix seconds.")
    countback = WholeNumberField(
        min_value=1,
        max_value=100_000,
        required=False,
        help_text=f"Bars before `to`; `from` is then ignored. At most the newest {MOST_BARS} are returned.",
    )

    def get_fields(self) -> dict[str, Any]:
        """Return the fields with `from`, which is no name in Python."""
        help_text = "Only bars that begin at or after these Unix seconds."
        since = FirstTimeField(required=False, trim_whitespace=False, help_text=help_text)
        return {"from": since} | super().get_fields()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Compare the times. Raises ValidationError."""
        if "countback" not in attrs and attrs.get("from", 0) > attrs["to"]:
            raise serializers.ValidationError({"from": ["must be at most to, unless countback is given"]})
        return attrs


class SymbolSearchQuery(serializers.Serializer[Any]):
    """A search for symbols."""

    query = TextField(longest=MAX_QUERY_LENGTH, required=False, help_text="As `q` of GET /api/tokens.")
    exchange = ChainIdField(required=False, help_text="Chain id.")
    type = serializers.ChoiceField(
        ["crypto"], required=False, error_messages={"invalid_choice": "must be crypto"}, help_text="Only tokens."
    )
    limit = WholeNumberField(min_value=1, max_value=50, default=30)


class FeedBlockSerializer(serializers.Serializer[Any]):
    """A block."""

    blockNumber = serializers.IntegerField()
    blockTimestamp = serializers.IntegerField(help_text="Unix seconds.")


class FeedAssetSerializer(serializers.Serializer[Any]):
    """A launched token, or a quote token, which has no supply here."""

    id = serializers.CharField()
    name = serializers.CharField()
    symbol = serializers.CharField()
    totalSupply = serializers.CharField(required=False, help_text=_DECIMAL)
    circulatingSupply = serializers.CharField(
        required=False, help_text="The total supply. Absent if a vault, airdrop or presale got a part."
    )


class _HolderSerializer(serializers.Serializer[Any]):
    address = serializers.CharField()
    quantity = serializers.IntegerField(help_text="Whole tokens: a fraction is dropped.")


class _AssetHoldersSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    totalHoldersCount = serializers.IntegerField()
    holders = _HolderSerializer(many=True, help_text="Largest balance first.")


class _FeedPairSerializer(serializers.Serializer[Any]):
    id = serializers.CharField(help_text="A v3 pool's address, or a v4 pool's id.")
    asset0Id = serializers.CharField(help_text="The launched token.")
    asset1Id = serializers.CharField(help_text="The paired token.")
    createdAtBlockNumber = serializers.IntegerField()
    createdAtBlockTimestamp = serializers.IntegerField(help_text="Unix seconds.")
    createdAtTxnId = serializers.CharField()


class PairMetadataSerializer(serializers.Serializer[Any]):
    """Further facts about a pair in DEX Screener's format."""

    launchpad = serializers.CharField(help_text="Name of the token's launchpad.")
    launchpadTitle = serializers.CharField()


class ScreenerPairSerializer(_FeedPairSerializer):
    """A pair in DEX Screener's format."""

    dexKey = serializers.CharField(help_text="FEED_DEX_KEY.")
    creator = serializers.CharField(required=False)
    feeBps = serializers.IntegerField(required=False, help_text="Absent where it changes, or differs by direction.")
    metadata = PairMetadataSerializer()


class ToolsPairSerializer(_FeedPairSerializer):
    """A pair in DEXTools' format."""

    factoryAddress = serializers.CharField()


class _ReservesSerializer(serializers.Serializer[Any]):
    asset0 = serializers.CharField(help_text=_DECIMAL)
    asset1 = serializers.CharField(help_text=_DECIMAL)


class FeedEventSerializer(serializers.Serializer[Any]):
    """A swap, or liquidity that was added (join) or removed (exit)."""

    block = FeedBlockSerializer()
    eventType = serializers.ChoiceField(["swap", "join", "exit"])
    txnId = serializers.CharField()
    txnIndex = serializers.IntegerField(help_text="Index of the transaction in its block.")
    eventIndex = serializers.IntegerField(help_text="Index of the log in its block.")
    maker = serializers.CharField(
        help_text="Sender of the transaction; the locker of a conversion. The zero address if only logs were read."
    )
    pairId = serializers.CharField()
    asset0In = serializers.CharField(required=False, help_text=_DECIMAL)
    asset1In = serializers.CharField(required=False, help_text=_DECIMAL)
    asset0Out = serializers.CharField(required=False, help_text=_DECIMAL)
    asset1Out = serializers.CharField(required=False, help_text=_DECIMAL)
    amount0 = serializers.CharField(required=False, help_text="Only for joins and exits.")
    amount1 = serializers.CharField(required=False, help_text="Only for joins and exits.")
    reserves = _ReservesSerializer(required=False, help_text="After the event, without uncollected fees.")


class ScreenerEventSerializer(FeedEventSerializer):
    """An event in DEX Screener's format."""

    priceNative = serializers.CharField(
        required=False, help_text="Only for swaps: the pool's price after the swap, in asset 1 per asset 0."
    )


class _QuoteDaySerializer(serializers.Serializer[Any]):
    quote = serializers.CharField(help_text="The paired token.")
    symbol = serializers.CharField()
    trades = serializers.IntegerField()
    tradesWithoutFee = serializers.IntegerField()
    tradesWithoutUsd = serializers.IntegerField()
    volume = serializers.CharField(help_text=_DECIMAL)
    fees = serializers.CharField(help_text=_DECIMAL)
    volumeUsd = serializers.CharField()
    feesUsd = serializers.CharField()


class DaySerializer(serializers.Serializer[Any]):
    """Volume and fees on a UTC day, in the pool's amounts: without protocol fees and fee conversions."""

    chainId = serializers.IntegerField()
    day = serializers.CharField()
    start = serializers.IntegerField(help_text="Unix seconds at which the day begins.")
    end = serializers.IntegerField(help_text="Unix seconds at which it ends.")
    firstBlock = serializers.IntegerField(help_text="First block of the day.")
    lastBlock = serializers.IntegerField(help_text="Last block of the day.")
    trades = serializers.IntegerField()
    tradesWithoutFee = serializers.IntegerField(help_text="Trades whose fee is unknown: they are in no sum of fees.")
    tradesWithoutUsd = serializers.IntegerField(help_text="Trades whose value is unknown: they are in no sum in USD.")
    volumeUsd = serializers.CharField(help_text="To 6 decimals.")
    feesUsd = serializers.CharField(help_text="To 6 decimals.")
    quotes = _QuoteDaySerializer(many=True, help_text="By paired token.")


class _ChartExchangeSerializer(serializers.Serializer[Any]):
    value = serializers.CharField()
    name = serializers.CharField()
    desc = serializers.CharField()


class _ChartTypeSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    value = serializers.CharField()


class ChartConfigSerializer(serializers.Serializer[Any]):
    """Datafeed configuration."""

    supports_search = serializers.BooleanField()
    supports_group_request = serializers.BooleanField()
    supports_marks = serializers.BooleanField()
    supports_timescale_marks = serializers.BooleanField()
    supports_time = serializers.BooleanField()
    exchanges = _ChartExchangeSerializer(many=True, help_text="The chains.")
    symbols_types = _ChartTypeSerializer(many=True)
    supported_resolutions = serializers.ListField(child=serializers.CharField())


class ChartSymbolSerializer(serializers.Serializer[Any]):
    """LibrarySymbolInfo for a token in USD or in its paired token."""

    name = serializers.CharField()
    ticker = serializers.CharField()
    description = serializers.CharField()
    type = serializers.CharField()
    session = serializers.CharField()
    timezone = serializers.CharField()
    exchange = serializers.CharField()
    listed_exchange = serializers.CharField()
    format = serializers.CharField()
    minmov = serializers.IntegerField()
    pricescale = serializers.IntegerField(help_text="10 to the number of decimals on the price axis.")
    has_intraday = serializers.BooleanField()
    has_daily = serializers.BooleanField()
    has_weekly_and_monthly = serializers.BooleanField()
    intraday_multipliers = serializers.ListField(child=serializers.CharField())
    supported_resolutions = serializers.ListField(child=serializers.CharField())
    visible_plots_set = serializers.CharField()
    volume_precision = serializers.IntegerField()
    data_status = serializers.CharField()
    currency_code = serializers.CharField()


class ChartMatchSerializer(serializers.Serializer[Any]):
    """A found symbol."""

    symbol = serializers.CharField()
    full_name = serializers.CharField()
    ticker = serializers.CharField()
    description = serializers.CharField()
    exchange = serializers.CharField()
    type = serializers.CharField()


class ChartBarsSerializer(PriceBarSerializer):
    """Bars as columns, oldest first; none with `no_data`."""

    s = serializers.ChoiceField(["ok", "no_data"])
    nextTime = serializers.IntegerField(required=False, help_text="With `no_data`: the newest bar before `from`.")
    t = serializers.ListField(child=serializers.IntegerField(), required=False, help_text="Beginnings, Unix seconds.")
    o = serializers.ListField(child=serializers.FloatField(), required=False)
    h = serializers.ListField(child=serializers.FloatField(), required=False)
    low = serializers.ListField(child=serializers.FloatField(), required=False)
    c = serializers.ListField(child=serializers.FloatField(), required=False)
    v = serializers.ListField(
        child=serializers.FloatField(), required=False, help_text="USD, or whole units of the paired token."
    )


BLOCK_ANSWER = inline_serializer("FeedBlockAnswer", {"block": FeedBlockSerializer()})
ASSET_ANSWER = inline_serializer("FeedAssetAnswer", {"asset": FeedAssetSerializer()})
HOLDERS_ANSWER = inline_serializer("ToolsHoldersAnswer", {"asset": _AssetHoldersSerializer()})
SCREENER_PAIR_ANSWER = inline_serializer("ScreenerPairAnswer", {"pair": ScreenerPairSerializer()})
SCREENER_EVENTS_ANSWER = inline_serializer("ScreenerEventsAnswer", {"events": ScreenerEventSerializer(many=True)})
TOOLS_PAIR_ANSWER = inline_serializer("ToolsPairAnswer", {"pair": ToolsPairSerializer()})
TOOLS_EVENTS_ANSWER = inline_serializer("ToolsEventsAnswer", {"events": FeedEventSerializer(many=True)})
EXCHANGE_ANSWER = inline_serializer(
    "ToolsExchangeAnswer",
    {
        "exchange": inline_serializer(
            "ToolsExchange",
            {
                "factoryAddress": serializers.CharField(),
                "name": serializers.CharField(help_text="FEED_DEX_NAME, or the launchpad's title."),
            },
        )
    },
)

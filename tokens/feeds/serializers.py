"""Parameters for the feeds, by their formats' names."""

import re
from datetime import date
from typing import Any

from rest_framework import serializers

from config.api.fields import ChainIdField, ShapedField, TextField, WholeNumberField
from tokens.catalogue.list_parameters import UnixTimeField
from tokens.catalogue.text_search import MAX_QUERY_LENGTH
from tokens.feeds.charts.chart_symbols import MOST_BARS, RESOLUTION_NAMES, SYMBOL_RULE
from tokens.feeds.pool_events import MOST_BLOCKS, MOST_EVENTS
from tokens.installation.chain_fields import EvmAddressField, PoolAddressField

# A trade's position is a 64-bit integer that has the log index in its lowest 20 bits.
_MAX_BLOCK = 2**43 - 2


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

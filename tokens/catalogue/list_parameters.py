"""Token list query parameters, by the API contract's names.

A filter's `source`, or its own name, is the condition in `Selection` that it sets.
"""

import re
from typing import Any

from rest_framework import serializers

from config.api.fields import ChainIdField, FidsField, FlagField, IdField, ShapedField, TextField, WholeNumberField
from config.events.stream import stream_query
from tokens.catalogue import text_search
from tokens.catalogue.selections import WARNING_CHOICES
from tokens.chains.registry.entry_rules import LAUNCHPAD_PATTERN
from tokens.installation.chain_fields import AddressField, PoolAddressField
from tokens.installation.installed_launchpads import MAX_LAUNCHPADS, parse_launchpads
from tokens.models.expressions import MAX_INTERFACE_LENGTH
from tokens.models.sorts import DEPLOYED_AT, SORTS

MAX_OFFSET = 10_000
_MAX_PAIR = 100
# Numbers up to it are exact in JSON.
MAX_USD = 10**15
# The last second of 9999.
_LAST_SECOND = 253_402_300_799
_NUMBER = re.compile(r"[0-9]{1,19}")


class PairField(TextField):
    """A paired token's symbol; `all` is no condition."""

    def parse(self, text: str) -> str:
        """Return the symbol, empty for `all`. Raises ValueError."""
        symbol = super().parse(text)
        return "" if symbol.lower() == "all" else symbol


class LaunchpadsField(ShapedField):
    """Comma-separated launchpad names from the registry, indexed or not."""

    shape = {
        "type": "array",
        "items": {"type": "string", "pattern": f"^{LAUNCHPAD_PATTERN}$"},
        "minItems": 1,
        "maxItems": MAX_LAUNCHPADS,
    }

    def parse(self, text: str) -> tuple[str, ...]:
        """Return the names, each once and sorted, so that equal filters share a total. Raises ValueError."""
        return parse_launchpads(text)


class UnixTimeField(ShapedField):
    """Unix seconds."""

    shape = {"type": "integer", "format": "int64", "minimum": 0, "maximum": _LAST_SECOND}

    def parse(self, text: str) -> int:
        """Return the seconds. Raises ValueError."""
        if not _NUMBER.fullmatch(text) or int(text) > _LAST_SECOND:
            raise ValueError(f"must be Unix seconds, a whole number from 0 to {_LAST_SECOND}")
        return int(text)


class WalletField(AddressField):
    """EVM address in any case, or a base58 one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_mint=True, trim_whitespace=False, **options)


class PageQuery(serializers.Serializer[Any]):
    """Page query parameters."""

    cursor = serializers.CharField(required=False, help_text="Opaque cursor of the previous response.")


class SearchQuery(PageQuery):
    """Parameters for the deprecated search."""

    q = TextField(
        required=False,
        longest=text_search.MAX_QUERY_LENGTH,
        # An empty search box sends blanks.
        may_be_blank=True,
        help_text="Part of a name or symbol in any case; or a whole address, mint, pool, transaction hash or "
        "signature. Base58 is case-sensitive.",
    )
    fids = FidsField(required=False, trim_whitespace=False, help_text="Requestor FIDs, at most 100, by comma.")


class DeployedByFidQuery(PageQuery):
    """Parameters for a list by the user that requested the launch."""

    fid = IdField(help_text="Requestor FID.")


class DeployedByAddressQuery(PageQuery):
    """Parameters for a list by the wallet that sent or requested the launch."""

    address = WalletField(source="deployer", help_text="Sender or requestor.")


class TokenFilters(SearchQuery):
    """Token list filters."""

    fid = IdField(required=False, help_text="Requestor FID.")
    msgSender = WalletField(source="msg_sender", required=False, help_text="Deployer wallet.")
    # Paired token addresses have the same format as pools.
    pairAddress = PoolAddressField(
        source="pool_or_pair", required=False, trim_whitespace=False, help_text="Pool address or id, or paired token."
    )
    pair = PairField(
        required=False,
        longest=_MAX_PAIR,
        help_text="Symbol of the paired token in any case; `all` disables the filter.",
    )
    socialInterface = TextField(
        source="interface",
        required=False,
        longest=MAX_INTERFACE_LENGTH,
        help_text="Interface of the launch, in any case.",
    )
    startDate = UnixTimeField(
        source="launched_after",
        required=False,
        trim_whitespace=False,
        help_text="Launched after these Unix seconds.",
    )
    launchpad = LaunchpadsField(
        source="launchpads",
        required=False,
        help_text="Names of launchpads.",
    )
    champagne = FlagField(required=False, help_text="Only champagne tokens.")
    verified = FlagField(source="trusted", required=False, help_text="Only tokens with `trust.verified`.")
    warnings = serializers.ChoiceField(
        WARNING_CHOICES,
        required=False,
        error_messages={"invalid_choice": f"must be {' or '.join(WARNING_CHOICES)}"},
        help_text="none: only tokens without warnings. any: only tokens with a warning other than POSSIBLE_COPY and"
        " UNSUPPORTED_PRICE.",
    )
    minMarketCap = WholeNumberField(
        source="min_market_cap",
        min_value=0,
        max_value=MAX_USD,
        required=False,
        help_text="Only tokens with a known market cap of at least so many USD.",
    )
    minVolume24h = WholeNumberField(
        source="min_volume_24h",
        min_value=0,
        max_value=MAX_USD,
        required=False,
        help_text="Only tokens with a known volume of the last 24 hours of at least so many USD.",
    )
    chainId = ChainIdField(source="chain_id", required=False, help_text="Chain id.")


class RelatedDataQuery(serializers.Serializer[Any]):
    """Related data that a list may include."""

    includeUser = FlagField(default=False, help_text="Include related.user, the user who requested the launch.")
    includeMarket = FlagField(default=False, help_text="Include related.market and priceUsd.")


class ListQuery(TokenFilters, RelatedDataQuery):
    """Filters, sort, pagination and related data for a public list."""

    sortBy = serializers.ChoiceField(
        list(SORTS),
        default=DEPLOYED_AT.name,
        error_messages={"invalid_choice": f"must be one of {', '.join(SORTS)}"},
        help_text="Tokens without a value come last in both directions.",
    )
    sort = serializers.ChoiceField(
        ["desc", "asc"], default="desc", error_messages={"invalid_choice": "must be desc or asc"}
    )
    limit = WholeNumberField(min_value=0, max_value=20, default=10, help_text="With 0 only the counts.")
    offset = WholeNumberField(
        min_value=0,
        max_value=MAX_OFFSET,
        default=0,
        help_text="Number of tokens to skip, counted from the cursor if present.",
    )


class PartnerListQuery(ListQuery):
    """Query parameters for a partner list, with longer pages."""

    limit = WholeNumberField(min_value=0, max_value=200, default=10, help_text="With 0 only the counts.")


class AdminListQuery(PageQuery, RelatedDataQuery):
    """Query parameters for a partner list by token admin."""

    admin = WalletField(help_text="Current admin of the tokens.")
    chainId = ChainIdField(source="chain_id", required=False, help_text="Chain id.")
    limit = WholeNumberField(min_value=1, max_value=200, default=10)


# The header Last-Event-ID has the same schema.
EVENT_ID_SCHEMA = {"type": "integer", "format": "int64", "minimum": 0, "maximum": stream_query.MAX_BIGINT}


class StreamField(ShapedField):
    """Stream parameter, parsed as the stream's process does; `shape` describes it."""

    def __init__(self, name: str, shape: dict[str, Any], **options: Any) -> None:
        super().__init__(required=False, trim_whitespace=False, **options)
        self._parse = stream_query.PARSERS[name]
        self.shape = shape

    def parse(self, text: str) -> Any:
        """Return the value. Raises ValueError."""
        return self._parse(text)


class StreamParameters(serializers.Serializer[Any]):
    """Event stream filters, and the event after which to continue."""

    chainId = StreamField(
        "chainId",
        {"type": "integer", "format": "int64", "minimum": 1, "maximum": stream_query.MAX_BIGINT},
        help_text="Chain id.",
    )
    type = StreamField(
        "type",
        {
            "type": "array",
            "items": {"type": "string", "enum": stream_query.streamed_types()},
            "minItems": 1,
            "maxItems": len(stream_query.streamed_types()),
        },
        help_text="Types of events, by comma; without it those that start with `token.`.",
    )
    creator = StreamField(
        "creator",
        {"type": "string", "pattern": f"^(?:{stream_query.CREATOR_PATTERN})$"},
        help_text="Address or FID of the token's sender, requestor or admin. Base58 is case-sensitive.",
    )
    lastEventId = StreamField(
        "lastEventId",
        EVENT_ID_SCHEMA,
        help_text="Id of the last event that the client has, such as X-Last-Event-Id of a list: all later ones follow."
        " The header Last-Event-ID, which browsers send when they reconnect, replaces it.",
    )

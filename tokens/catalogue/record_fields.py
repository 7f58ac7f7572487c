"""Token record fields: name, column, conversion and type, one line for each.

The columns that a page reads, the records and their OpenAPI description derive from this table.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

import orjson

from config.parsing.json_rules import Component, Schema
from config.parsing.response_types import Timestamp, Wei, type_schema
from config.parsing.timestamps import format_timestamp
from tokens.indexing.launch_rows import DeployConfig, Extensions, PoolConfig
from tokens.indexing.metadata import SocialContext, TokenMetadata
from tokens.installation.installed_registry import generation_label


def _wei_text(amount: Decimal | None) -> str | None:
    # A string, because JavaScript rounds large numbers.
    return None if amount is None else str(int(amount))


@dataclass(frozen=True, slots=True)
class FieldKind:
    """A value's type, and the function that converts the column's value; None if no conversion is needed."""

    type: Any
    convert: Callable[[Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class RecordField:
    """A token record field that is read from one column."""

    name: str
    kind: FieldKind
    help_text: str = ""
    # The column, if it has another name.
    source: str = ""

    @property
    def column(self) -> str:
        """Return the column's name."""
        return self.source or self.name

    @property
    def schema(self) -> Schema | Component:
        """Return the value's JSON Schema."""
        return type_schema(Annotated[self.kind.type, self.help_text] if self.help_text else self.kind.type)


_INTEGER = FieldKind(int)
_MAYBE_INTEGER = FieldKind(int | None)
_MAYBE_NUMBER = FieldKind(float | None)
_TEXT = FieldKind(str)
# Unknown text is empty in the database and null in responses.
MAYBE_TEXT = FieldKind(str | None)
_TIME = FieldKind(Timestamp, format_timestamp)
_WEI = FieldKind(Wei | None, _wei_text)
_LABEL = FieldKind(str, generation_label)


def _stored(json_type: Any) -> FieldKind:
    """Return the kind for JSON that is stored as the response has it."""
    return FieldKind(json_type, orjson.Fragment)


RECORD_FIELDS = (
    RecordField("id", _INTEGER),
    RecordField("created_at", _TIME, "Creation time of the row."),
    RecordField("last_indexed", _TIME, "Time of the last read of the launch from the chain."),
    RecordField("deployed_at", _TIME, "Block time of the launch."),
    RecordField("tx_hash", _TEXT, "On Solana the signature of the launch."),
    RecordField("contract_address", _TEXT, "EIP-55 checksum address; on Solana the mint."),
    RecordField("chain_id", _INTEGER),
    RecordField(
        "type", _LABEL, "Label of the generation, such as clanker_v4, or the launchpad's name.", source="generation"
    ),
    RecordField("name", _TEXT),
    RecordField("symbol", _TEXT),
    RecordField("description", MAYBE_TEXT),
    RecordField("img_url", MAYBE_TEXT, "An http, https or ipfs URL."),
    RecordField("supply", _WEI, "Total supply at launch, in wei; on Solana of the mint, in its smallest unit."),
    RecordField("admin", MAYBE_TEXT),
    RecordField("msg_sender", MAYBE_TEXT, "Sender of the launch call."),
    RecordField("requestor_fid", _MAYBE_INTEGER),
    RecordField("requestor_address", MAYBE_TEXT),
    RecordField("cast_hash", MAYBE_TEXT),
    RecordField(
        "pool_address", MAYBE_TEXT, "20 bytes up to generation v3.1, the 32-byte pool id for v4, base58 on Solana."
    ),
    RecordField("pair", MAYBE_TEXT, "Symbol of the paired token."),
    RecordField("factory_address", _TEXT),
    RecordField("locker_address", MAYBE_TEXT),
    RecordField("position_id", MAYBE_TEXT, "LP NFT id up to v3.1."),
    RecordField("presale_id", MAYBE_TEXT),
    RecordField("metadata", _stored(TokenMetadata)),
    RecordField("deploy_config", _stored(DeployConfig)),
    RecordField("social_context", _stored(SocialContext)),
    RecordField("pool_config", _stored(PoolConfig)),
    RecordField("starting_market_cap", _MAYBE_NUMBER, "In whole units of the paired token."),
    RecordField("extensions", _stored(Extensions), "Null for each extension that the launch does not have."),
)

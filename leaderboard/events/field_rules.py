"""Validation rules for event fields: each returns the parsed value or raises ValueError with the rule as text."""

import re
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any

from config.parsing import json_rules
from config.parsing.json_rules import Schema, described, refined
from leaderboard.facts import short_keys
from leaderboard.models.agents import MAX_AGENT_ID, MAX_NAME
from leaderboard.models.facts import ActionKind, InteractionKind
from tokens.chains.addresses import (
    ADDRESS_OR_MINT_SHAPE,
    TRANSACTION_SHAPE,
    parse_address,
    parse_transaction_hash,
)

MAX_TEXT = 10_000
MAX_RUN_KIND = 50
MAX_EVENT_ID = 100
# A reporter's clock may be ahead of this server's by this much.
_MAX_CLOCK_SKEW = timedelta(minutes=10)
FUTURE_RULE = "must not be more than 10 minutes in the future"

_MAX_BIGINT = 2**63 - 1
# Letters and a symbol that fonts draw as blank: Hangul fillers, and the Braille pattern without a dot.
_INVISIBLE = "\u115f\u1160\u3164\uffa0\u2800"
# Epoch of the social protocol; there were no agents before.
_EARLIEST_TIME = datetime(2021, 1, 1, tzinfo=UTC)
_LATEST_UTC = datetime.max.replace(tzinfo=UTC)

_TIME_PATTERN = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})"
_ID, _TIME = re.compile(f"[!-~]{{1,{MAX_EVENT_ID}}}"), re.compile(_TIME_PATTERN)
_CAST, _AMOUNT = re.compile("0[xX][0-9a-fA-F]{40}"), re.compile("[1-9][0-9]{0,77}")
_TIME_RULE = "must be a time with its zone, such as 2026-02-07T12:00:00Z"
_CAST_RULE = "must be the hash of a cast, 0x followed by 40 hex digits"
_ADDRESS_RULE = "must be an address, 0x followed by 40 hex digits, or a base58 address of 32 bytes"

run_kind = json_rules.text(most=MAX_RUN_KIND)
_ACTION_KINDS = {kind.name.lower(): kind for kind in ActionKind}
_INTERACTION_KINDS = {kind.name.lower(): kind for kind in InteractionKind}


def _matching(pattern: re.Pattern[str]) -> Schema:
    return {"type": "string", "pattern": f"^{pattern.pattern}$"}


def latest_accepted_time(now: datetime) -> datetime:
    """Return the latest time that is accepted in an event reported at `now`."""
    return now + _MAX_CLOCK_SKEW


def _require_visible_character(parsed: str) -> str:
    """Return a text with at least one visible letter, digit, punctuation mark or symbol. Raises ValueError."""
    if not any(unicodedata.category(character)[0] in "LNPS" and character not in _INVISIBLE for character in parsed):
        raise ValueError("must have a visible character")
    return parsed


agent_id = refined(json_rules.text(least=1, most=MAX_AGENT_ID))(_require_visible_character)
name = refined(json_rules.text(least=1, most=MAX_NAME))(_require_visible_character)


def not_after_report(event_time: datetime, *, latest: datetime) -> datetime:
    """Return `event_time`, or the report's time if that is earlier.

    `latest` is the result of `latest_accepted_time`.
    """
    return min(event_time, latest - _MAX_CLOCK_SKEW)


@described(_matching(_ID))
def event_id(value: Any) -> str:
    """Validate an event id: 1 to 100 visible ASCII characters."""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise ValueError(f"must be a text of 1 to {MAX_EVENT_ID} visible ASCII characters")
    return value


@described(
    {
        "type": "string",
        "format": "date-time",
        "description": f"With its zone and at most 9 decimals of a second; not before {_EARLIEST_TIME:%Y-%m-%d}.",
    }
)
def time(value: Any) -> datetime:
    """Parse an ISO 8601 time with a zone, not before 2021, into UTC."""
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        raise ValueError(_TIME_RULE)
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError as error:
        # For example a thirteenth month.
        raise ValueError(_TIME_RULE) from error
    if parsed < _EARLIEST_TIME:
        raise ValueError(f"must not be before {_EARLIEST_TIME:%Y-%m-%d}")
    # PostgreSQL accepts no zone of 16 hours or more, and UTC has no time after the last one.
    return min(parsed, _LATEST_UTC).astimezone(UTC)


@described(_matching(_CAST))
def cast_hash(value: Any) -> str:
    """Validate the hash of a cast, in any case, and return it in lower case."""
    if not isinstance(value, str) or not _CAST.fullmatch(value):
        raise ValueError(_CAST_RULE)
    return value.lower()


@described(_matching(_CAST))
def cast_key(value: Any) -> int:
    """Validate the hash of a cast and return its `short_keys.cast_key`."""
    if not isinstance(value, str) or not _CAST.fullmatch(value):
        raise ValueError(_CAST_RULE)
    return short_keys.cast_key(value)


text_key = refined(json_rules.text(most=MAX_TEXT))(short_keys.text_key)


# User number of the social protocol.
fid = json_rules.integer(least=1, most=_MAX_BIGINT)
# The chain may be one that is not followed.
chain_id = json_rules.integer(least=1, most=_MAX_BIGINT)
# Index within the transaction's block.
log_index = json_rules.integer(least=0, most=2**31 - 1)


@described(ADDRESS_OR_MINT_SHAPE)
def address(value: Any) -> str:
    """Validate an address: EVM in any case is returned in EIP-55, base58 unchanged."""
    try:
        return parse_address(value if isinstance(value, str) else "", allow_mint=True)
    except ValueError as error:
        raise ValueError(_ADDRESS_RULE) from error


@described(TRANSACTION_SHAPE)
def tx_hash(value: Any) -> str:
    """Validate a transaction: an EVM hash is returned in lower case, a base58 signature unchanged."""
    return parse_transaction_hash(value if isinstance(value, str) else "", allow_signature=True)


@described(_matching(_AMOUNT))
def amount(value: Any) -> int:
    """Parse an amount in decimal digits, which JavaScript cannot round."""
    if not isinstance(value, str) or not _AMOUNT.fullmatch(value):
        raise ValueError("must be a text of 1 to 78 digits, above 0, in the token's smallest unit")
    return int(value)


@refined(json_rules.choice("buy", "sell"))
def is_buy(side: str) -> bool:
    """Return whether the side of a trade is a purchase."""
    return side == "buy"


@described({"type": "number", "format": "double", "minimum": 0, "maximum": 1})
def score(value: Any) -> float:
    """Validate a social score from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError("must be a number from 0 to 1")
    return float(value)


action_kind = refined(json_rules.choice(*_ACTION_KINDS))(_ACTION_KINDS.__getitem__)
interaction_kind = refined(json_rules.choice(*_INTERACTION_KINDS))(_INTERACTION_KINDS.__getitem__)

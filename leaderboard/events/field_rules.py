"""Rules for the values of events about agents: each returns what it makes of one, or raises ValueError in words."""

import re
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any

from config.api.fields import parse_address, parse_transaction_hash
from config.json_rules import Rule
from leaderboard.facts import short_keys
from leaderboard.models.agents import MAX_AGENT_ID, MAX_NAME
from leaderboard.models.facts import ActionKind, InteractionKind
from tokens.deploying.rules import scalars

MAX_TEXT = 10_000
MAX_RUN_KIND = 50
MAX_EVENT_ID = 100
# How far a reporter's clock may be ahead of ours.
_AHEAD = timedelta(minutes=10)
FUTURE = "must not be more than 10 minutes in the future"

_LARGEST = 2**63 - 1
# Letters and a sign that fonts draw as nothing: fillers of Hangul, and the Braille pattern without a dot.
_BLANK = "\u115f\u1160\u3164\uffa0\u2800"
# The social protocol counts its time from here, and there were no agents before.
_EARLIEST = datetime(2021, 1, 1, tzinfo=UTC)
_LATEST = datetime.max.replace(tzinfo=UTC)

ID_PATTERN = f"[!-~]{{1,{MAX_EVENT_ID}}}"
TIME_PATTERN = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})"
CAST_PATTERN = "0[xX][0-9a-fA-F]{40}"
AMOUNT_PATTERN = "[1-9][0-9]{0,77}"

_ID, _TIME, _CAST, _AMOUNT = map(re.compile, (ID_PATTERN, TIME_PATTERN, CAST_PATTERN, AMOUNT_PATTERN))
_TIME_RULE = "must be a time with its zone, such as 2026-02-07T12:00:00Z"
_CAST_RULE = "must be the hash of a cast, 0x followed by 40 hex digits"
_ADDRESS_RULE = "must be an address, 0x followed by 40 hex digits, or a base58 address of 32 bytes"

_agent_id: Rule = scalars.text(least=1, most=MAX_AGENT_ID)
_name: Rule = scalars.text(least=1, most=MAX_NAME)
run_kind: Rule = scalars.text(most=MAX_RUN_KIND)
_text: Rule = scalars.text(most=MAX_TEXT)
_ACTION_KINDS = {kind.name.lower(): kind for kind in ActionKind}
_INTERACTION_KINDS = {kind.name.lower(): kind for kind in InteractionKind}
_action_name, _interaction_name = scalars.choice(*_ACTION_KINDS), scalars.choice(*_INTERACTION_KINDS)


def latest_time(now: datetime) -> datetime:
    """Up to when times are taken that are told at `now`."""
    return now + _AHEAD


def agent_id(value: Any) -> str:
    """What operators and callers can tell from nothing: with a letter, digit, mark or sign that is seen."""
    return _seen(str(_agent_id(value)))


def name(value: Any) -> str:
    """What everybody reads on the leaderboard: with a visible character as well."""
    return _seen(str(_name(value)))


def _seen(taken: str) -> str:
    if not any(unicodedata.category(character)[0] in "LNPS" and character not in _BLANK for character in taken):
        raise ValueError("must have a visible character")
    return taken


def reached(at: datetime, *, latest: datetime) -> datetime:
    """A time, or that of the telling where it is ahead of it; `latest` is that of `latest_time`."""
    return min(at, latest - _AHEAD)


def event_id(value: Any) -> str:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise ValueError(f"must be a text of 1 to {MAX_EVENT_ID} visible ASCII characters")
    return value


def time(value: Any) -> datetime:
    """ISO 8601 with a zone, and not before the protocol's beginning -> in UTC."""
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        raise ValueError(_TIME_RULE)
    try:
        taken = datetime.fromisoformat(value)
    except ValueError as error:
        # A thirteenth month, and the like.
        raise ValueError(_TIME_RULE) from error
    if taken < _EARLIEST:
        raise ValueError(f"must not be before {_EARLIEST:%Y-%m-%d}")
    # PostgreSQL takes no zone of 16 hours or more, and UTC has no time after the last one.
    return min(taken, _LATEST).astimezone(UTC)


def cast_hash(value: Any) -> str:
    """The hash of a cast in any case -> in lower case."""
    if not isinstance(value, str) or not _CAST.fullmatch(value):
        raise ValueError(_CAST_RULE)
    return value.lower()


def key_of_cast(value: Any) -> int:
    """The hash of a cast -> its `cast_key`."""
    if not isinstance(value, str) or not _CAST.fullmatch(value):
        raise ValueError(_CAST_RULE)
    return short_keys.cast_key(value)


def text_key(value: Any) -> int:
    """A text -> its key, 0 for one that says nothing."""
    return short_keys.text_key(_text(value))


def fid(value: Any) -> int:
    """A number of the social protocol."""
    return _whole(value, least=1, most=_LARGEST)


def chain_id(value: Any) -> int:
    """Of any chain, whether it is followed or not."""
    return _whole(value, least=1, most=_LARGEST)


def log_index(value: Any) -> int:
    return _whole(value, least=0, most=2**31 - 1)


def address(value: Any) -> str:
    """EVM in any case -> EIP-55; base58 as it is."""
    try:
        return parse_address(value if isinstance(value, str) else "", allow_mint=True)
    except ValueError as error:
        raise ValueError(_ADDRESS_RULE) from error


def tx_hash(value: Any) -> str:
    """An EVM hash in any case -> in lower case; a signature in base58 as it is."""
    return parse_transaction_hash(value if isinstance(value, str) else "", allow_signature=True)


def amount(value: Any) -> int:
    """Decimal digits, which JavaScript can't round."""
    if not isinstance(value, str) or not _AMOUNT.fullmatch(value):
        raise ValueError("must be a text of 1 to 78 digits, above 0, in the token's smallest unit")
    return int(value)


def score(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError("must be a number from 0 to 1")
    return float(value)


def truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def action_kind(value: Any) -> ActionKind:
    return _ACTION_KINDS[_action_name(value)]


def interaction_kind(value: Any) -> InteractionKind:
    return _INTERACTION_KINDS[_interaction_name(value)]


def _whole(value: Any, *, least: int, most: int) -> int:
    # A boolean is an int to Python, not to a caller.
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"must be a whole number from {least} to {most}")
    return value

"""Rules for single values of a configuration. Nothing is clamped, rounded or taken for something else.

Numbers are JSON numbers. Each factory names its unit in the rule that it makes, and what comes out is in the unit of
the contracts: wei, bps, parts per million, seconds.
"""

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

from config.api.fields import parse_address, parse_flag
from config.json_rules import Rule
from tokens.installation.chain_fields import mint_rule

ZERO_ADDRESS = "0x" + "00" * 20
# What Solana lacks.
LAUNCHING = "launch through this service"
WEI_PER_COIN = 10**18
BPS_PER_PERCENT = 100
# JSON's readers keep whole numbers up to 2^53; no token that a pool is paired with has so many units.
_LARGEST_MARKET_CAP = 10**15
SECONDS_PER_DAY = 86_400
# Nobody means a hundred years; and any number of seconds that lasts a day is above it, so that the two can't be mixed.
MAX_DAYS = 36_500
# Above all there is of any native coin; a number of wei in its place is refused by it.
MAX_COINS = 10**12

# Of a request key.
KEY_LENGTH = 32

_PERCENT_TO_BPS = 2
_PERCENT_TO_PPM = 4
_COIN_TO_WEI = 18
_VISIBLE_KEY = re.compile(f"[!-~]{{{KEY_LENGTH}}}")
# Controls, blanks, and what would end an attribute of a page.
_NOT_IN_URL = r"\s\x00-\x1f\x7f<>\"'`\\"
MAX_URL = 2_048


def number(value: Any, *, words: str) -> Decimal:
    """A JSON number, as it was written; `words` is the rule for what is none: text, a boolean, infinity.

    The parser of bodies lets no float in that reads otherwise than the caller wrote it.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(words)
    if isinstance(value, int):
        return Decimal(value)
    exact = Decimal(repr(value))
    if not exact.is_finite():
        raise ValueError(words)
    return exact


def whole(*, least: int, most: int, unit: str) -> Rule:
    """A whole number within two limits."""
    words = f"must be a whole number from {least} to {most}, in {unit}"

    def rule(value: Any) -> int:
        exact = number(value, words=words)
        if exact != exact.to_integral_value() or not least <= exact <= most:
            raise ValueError(words)
        return int(exact)

    return rule


def percent_in_bps(*, least: str = "0", most: str = "100") -> Rule:
    """Percent, with two decimals at most -> bps."""
    return _scaled(least=least, most=most, unit="percent", decimals=_PERCENT_TO_BPS)


def percent_in_ppm(*, least: str = "0", most: str) -> Rule:
    """Percent, with four decimals at most -> parts per million."""
    return _scaled(least=least, most=most, unit="percent", decimals=_PERCENT_TO_PPM)


def positive(rule: Rule, *, unit: str) -> Rule:
    """What the rule takes, but zero."""

    def above_zero(value: Any) -> Any:
        taken = rule(value)
        if taken <= 0:
            raise ValueError(f"must be a number above 0, in {unit}")
        return taken

    return above_zero


def ether_in_wei() -> Rule:
    """Native coins, which the body calls ETH on every chain: more than none, with 18 decimals at most -> wei."""
    return positive(_scaled(least="0", most=str(MAX_COINS), unit="ETH", decimals=_COIN_TO_WEI), unit="ETH")


def days_in_seconds(*, least: int) -> Rule:
    """Days, also parts of one that are whole seconds -> seconds."""
    words = f"must be a number from {least} to {MAX_DAYS}, in days"

    def rule(value: Any) -> int:
        exact = number(value, words=words)
        if exact >= SECONDS_PER_DAY:
            raise ValueError(f"{words}: this looks like seconds")
        if not least <= exact <= MAX_DAYS:
            raise ValueError(words)
        seconds = Fraction(exact) * SECONDS_PER_DAY
        if seconds.denominator != 1:
            raise ValueError(f"{words}, and a part of a day must be whole seconds")
        return int(seconds)

    return rule


def market_cap(value: Any) -> Decimal:
    """More than none, in whole units of the paired token, and no more than there are of any."""
    words = f"must be a number above 0 and at most {_LARGEST_MARKET_CAP}, in whole units of the paired token"
    exact = number(value, words=words)
    if not 0 < exact <= _LARGEST_MARKET_CAP:
        raise ValueError(words)
    return exact


def address(value: Any) -> str:
    """An EVM address in any case but that of zero -> EIP-55."""
    taken = parse_address(value if isinstance(value, str) else "", mint_rule=mint_rule(LAUNCHING))
    if taken == ZERO_ADDRESS:
        raise ValueError("must not be the zero address")
    return taken


def choice(*names: str) -> Rule:
    """One of these texts, letter by letter."""

    def rule(value: Any) -> str:
        if not isinstance(value, str) or value not in names:
            raise ValueError(f"must be {' or '.join(names)}")
        return value

    return rule


def text(*, most: int, least: int = 0) -> Rule:
    """Text of so many characters, kept as it is: blanks at its ends stay, and blanks alone are none."""

    def rule(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError("must be text")
        if least and not value.strip():
            raise ValueError("must not be blank")
        if not least <= len(value) <= most:
            raise ValueError(f"must have at most {most} characters")
        if "\0" in value:
            raise ValueError("must not hold NUL characters")
        if not value.isprintable() and any("\ud800" <= character <= "\udfff" for character in value):
            raise ValueError("must be text that UTF-8 can hold")
        return value

    return rule


def web_address(*schemes: str) -> Rule:
    """A URL of one of these schemes, kept as it is."""
    pattern = re.compile(rf"(?:{'|'.join(schemes)})://[^/?#{_NOT_IN_URL}][^{_NOT_IN_URL}]*", re.IGNORECASE)
    words = f"must be a URL that begins with {' or '.join(f'{scheme}://' for scheme in schemes)}"
    short = text(most=MAX_URL)

    def rule(value: Any) -> str:
        taken: str = short(value)
        if not pattern.fullmatch(taken):
            raise ValueError(words)
        return taken

    return rule


def request_key(value: Any) -> str:
    """The idempotency key."""
    if not is_request_key(value):
        raise ValueError(f"must be a text of {KEY_LENGTH} visible ASCII characters")
    return str(value)


def is_request_key(value: Any) -> bool:
    """Whether a value, of any type, is 32 visible ASCII characters: no blank, no control."""
    return isinstance(value, str) and _VISIBLE_KEY.fullmatch(value) is not None


def flag(value: Any) -> bool:
    """A boolean, as the contract takes them anywhere."""
    return parse_flag(str(value) if isinstance(value, str) or value in (0, 1) else "")


def in_units(amount: int | Decimal, unit: int) -> int | float:
    """The way back: how many units an amount is, as a whole JSON number where it is one.

    Exact for what a body gave, which had no more digits than a double.
    """
    exact = Fraction(amount) / unit
    return exact.numerator if exact.denominator == 1 else float(exact)


def _scaled(*, least: str, most: str, unit: str, decimals: int) -> Rule:
    """A number within two limits, as a whole one of the unit that has so many decimals less."""
    words = f"must be a number from {least} to {most}, in {unit} with at most {decimals} decimals"

    def rule(value: Any) -> int:
        exact = number(value, words=words)
        scaled = Fraction(exact) * 10**decimals
        if not Decimal(least) <= exact <= Decimal(most) or scaled.denominator != 1:
            raise ValueError(words)
        return int(scaled)

    return rule

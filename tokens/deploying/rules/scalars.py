"""Rules for single values in a launch request.

Nothing is clamped, rounded or coerced. Results are in the contracts' units: wei, bps, parts per million, seconds.
"""

from decimal import Decimal
from fractions import Fraction
from typing import Any

from config.parsing.json_rules import Rule, Schema, described, exact_number, sentence
from tokens.chains.addresses import ADDRESS_SHAPE, ZERO_ADDRESS, parse_address
from tokens.installation.address_formats import evm_address_rule

# What Solana does not support, for error texts.
LAUNCHING = "launch through this service"
WEI_PER_COIN = 10**18
BPS_PER_PERCENT = 100
# JSON parsers keep whole numbers up to 2^53; no paired token has that many units.
_LARGEST_MARKET_CAP = 10**15
SECONDS_PER_DAY = 86_400
# A hundred years is a mistake. One day in seconds is above it, so that the units can't be mixed up.
MAX_DAYS = 36_500
# Above each native coin's supply; it rejects an amount in wei.
MAX_COINS = 10**12


_PERCENT_TO_BPS = 2
_PERCENT_TO_PPM = 4
_COIN_TO_WEI = 18


def _number(**limits: Any) -> Schema:
    return {"type": "number", "format": "double", **limits}


def percent_in_bps(*, most: str = "100", above_zero: bool = False) -> Rule:
    """Return the rule for percent with at most two decimals; the result is in bps."""
    return _scaled(most=most, unit="percent", decimals=_PERCENT_TO_BPS, above_zero=above_zero)


def percent_in_ppm(*, least: str = "0", most: str) -> Rule:
    """Return the rule for percent with at most four decimals; the result is in parts per million."""
    return _scaled(least=least, most=most, unit="percent", decimals=_PERCENT_TO_PPM)


def ether_in_wei() -> Rule:
    """Return the rule for native coins (ETH on every chain): above 0, at most 18 decimals; the result is in wei."""
    return _scaled(most=str(MAX_COINS), unit="ETH", decimals=_COIN_TO_WEI, above_zero=True)


def days_in_seconds(*, least: int) -> Rule:
    """Return the rule for days, also fractions that are whole seconds; the result is in seconds."""
    message = f"must be a number from {least} to {MAX_DAYS}, in days"

    @described(_number(minimum=least, maximum=MAX_DAYS, description="Days."))
    def rule(value: Any) -> int:
        exact = exact_number(value, message=message)
        if exact >= SECONDS_PER_DAY:
            raise ValueError(f"{message}: this looks like seconds")
        if not least <= exact <= MAX_DAYS:
            raise ValueError(message)
        seconds = Fraction(exact) * SECONDS_PER_DAY
        if seconds.denominator != 1:
            raise ValueError(f"{message}, and a part of a day must be whole seconds")
        return int(seconds)

    return rule


@described(
    _number(exclusiveMinimum=0, maximum=_LARGEST_MARKET_CAP, description="In whole units of the paired token, above 0.")
)
def market_cap(value: Any) -> Decimal:
    """Parse a market cap in whole units of the paired token, above 0 and at most 10^15."""
    message = f"must be a number above 0 and at most {_LARGEST_MARKET_CAP}, in whole units of the paired token"
    exact = exact_number(value, message=message)
    if not 0 < exact <= _LARGEST_MARKET_CAP:
        raise ValueError(message)
    return exact


def evm_address(lacking: str) -> Rule:
    """Return the rule for an EVM address in any case, except the zero address; the result is EIP-55.

    `lacking` names what does not exist on Solana, for the error text.
    """

    @described(ADDRESS_SHAPE)
    def rule(value: Any) -> str:
        parsed = parse_address(value if isinstance(value, str) else "", mint_rule=evm_address_rule(lacking))
        if parsed == ZERO_ADDRESS:
            raise ValueError("must not be the zero address")
        return parsed

    return rule


address = evm_address(LAUNCHING)


def _scaled(*, least: str = "0", most: str, unit: str, decimals: int, above_zero: bool = False) -> Rule:
    """Return the rule for a number within two limits; the result is scaled by 10^decimals to a whole number."""
    words = f"{unit} with at most {decimals} decimals"
    limits = f"above 0 and at most {most}" if above_zero else f"from {least} to {most}"
    message = f"must be a number {limits}, in {words}"
    minimum = {"exclusiveMinimum": 0} if above_zero else {"minimum": _limit(least)}
    description = f"Above 0: {words}." if above_zero else sentence(words)

    @described(_number(**minimum, maximum=_limit(most), description=description))
    def rule(value: Any) -> int:
        exact = exact_number(value, message=message)
        scaled = Fraction(exact) * 10**decimals
        is_within = Decimal(least) <= exact <= Decimal(most) and not (above_zero and exact == 0)
        if not is_within or scaled.denominator != 1:
            raise ValueError(message)
        return int(scaled)

    return rule


def _limit(text: str) -> int | float:
    return int(text) if text.isdigit() else float(text)

"""Pool fee rules: percent in, parts per million out."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from config.parsing import json_rules
from config.parsing.json_rules import (
    Component,
    FieldRule,
    InvalidFieldsError,
    Rule,
    described,
    format_object,
    object_schema,
    parse_object,
    refined,
)
from tokens.chains.launching.launch_config import DynamicFee, StaticFee
from tokens.deploying.rules import scalars

MAX_FEE_PERCENT = "5"
# The dynamic hook's minimum.
MIN_BASE_FEE_PERCENT = "0.25"
_PPM_PER_PERCENT = 10_000
# Longer than any useful hook period: a swap has to occur within it.
_MAX_PERIOD = scalars.SECONDS_PER_DAY
# Uniswap's TickMath.MAX_TICK: no price moves further.
_MAX_TICKS = 887_272
# Multiplied by the squared volatility, it is far below 256 bits; a larger one could make swaps revert.
_MAX_NUMERATOR = 10**18

_FEE = scalars.percent_in_ppm(most=MAX_FEE_PERCENT)
_DYNAMIC_FEE = scalars.percent_in_ppm(least=MIN_BASE_FEE_PERCENT, most=MAX_FEE_PERCENT)


def _percent(rule: Rule, attribute: str, *, default: int = 1, alias: str = "", description: str = "") -> FieldRule:
    return FieldRule(
        rule=rule,
        attribute=attribute,
        unit=_PPM_PER_PERCENT,
        default=default * _PPM_PER_PERCENT,
        alias=alias,
        description=description,
    )


def _whole(attribute: str, *, most: int, unit: str, default: int) -> FieldRule:
    return FieldRule(rule=json_rules.whole_number(least=0, most=most, unit=unit), attribute=attribute, default=default)


_TYPE = FieldRule(rule=json_rules.choice("static", "dynamic"), default="static", attribute="kind")
_STATIC = {
    "type": _TYPE,
    "clankerFee": _percent(_FEE, "clanker", description="At most 4 decimals; default 1."),
    "pairedFee": _percent(_FEE, "paired", description="At most 4 decimals; default 1."),
}
# The SDK's defaults, partly under the name Dynamic5.
_DYNAMIC = {
    "type": _TYPE,
    "baseFee": _percent(_DYNAMIC_FEE, "base"),
    "maxLpFee": _percent(
        _DYNAMIC_FEE,
        "maximum",
        default=5,
        alias="maxFee",
        description="At most 4 decimals; older clients send it as `maxFee`.",
    ),
    "referenceTickFilterPeriod": _whole("reference_tick_filter_period", most=_MAX_PERIOD, unit="seconds", default=30),
    "resetPeriod": _whole("reset_period", most=_MAX_PERIOD, unit="seconds", default=120),
    "resetTickFilter": _whole("reset_tick_filter", most=_MAX_TICKS, unit="ticks", default=200),
    "feeControlNumerator": _whole(
        "fee_control_numerator", most=_MAX_NUMERATOR, unit="the hook's own scale", default=500_000_000
    ),
    "decayFilterBps": _whole("decay_filter_bps", most=10_000, unit="bps", default=7_500),
}


# A default for one type's keys would be sent with the other type.
_EITHER = {key: replace(rule, default=None) for key, rule in (_STATIC | _DYNAMIC).items()} | {"type": _TYPE}


@described(
    Component(
        "FeesShape",
        object_schema(
            _EITHER,
            description="Fees of the pool, in percent. Static fees have the first two fields, dynamic fees all others.",
        ),
    )
)
def pool_fees(value: Any) -> StaticFee | DynamicFee:
    """Parse the `fees` object; the other fee type's keys are problems."""
    kind = "dynamic" if isinstance(value, dict) and value.get("type") == "dynamic" else "static"
    keys, others = (_DYNAMIC, _STATIC) if kind == "dynamic" else (_STATIC, _DYNAMIC)
    parsed, problems = parse_object(value, keys)
    if {"base", "maximum"} <= parsed.keys() and parsed["base"] > parsed["maximum"]:
        problems.append(("maxLpFee", "must be at least baseFee, which is 1 percent where it isn't given"))
    if problems:
        foreign = {name for key, rule in others.items() for name in (key, rule.alias)} - {*keys, ""}
        raise InvalidFieldsError(
            [(path, f"is no key of {kind} fees" if path in foreign else message) for path, message in problems]
        )
    del parsed["kind"]
    return DynamicFee(**parsed) if kind == "dynamic" else StaticFee(**parsed)


STANDARD = pool_fees({})
_BY_KIND: Mapping[str, StaticFee | DynamicFee] = {"static": STANDARD, "dynamic": pool_fees({"type": "dynamic"})}


@refined(_TYPE.rule)
def fees_of_type(kind: str) -> StaticFee | DynamicFee:
    """Return a fee type's default fees, by its name."""
    return _BY_KIND[kind]


def fees_json(fees: StaticFee | DynamicFee) -> dict[str, Any]:
    """Return the fees in the keys and units that `pool_fees` parses."""
    return format_object(fees, _STATIC if isinstance(fees, StaticFee) else _DYNAMIC)

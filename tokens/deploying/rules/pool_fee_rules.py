"""Rules for the fees of a launch's pool: percent in, parts per million out."""

from typing import Any

from config import json_rules
from config.json_rules import FieldRule, InvalidFieldsError, parse_object
from tokens.chains.launching.launch_config import DynamicFee, StaticFee
from tokens.deploying.rules import scalars

MAX_FEE_PERCENT = "5"
# Minimum of the dynamic hook.
MIN_BASE_FEE_PERCENT = "0.25"
_PPM_PER_PERCENT = 10_000
# Longer than any useful period of the hook: a swap has to occur within it.
_MAX_PERIOD = scalars.SECONDS_PER_DAY
# Uniswap's TickMath.MAX_TICK: no price moves further.
_MAX_TICKS = 887_272
# Multiplied by the squared volatility, it is far below 256 bits; a larger one could make swaps revert.
_MAX_NUMERATOR = 10**18

_FEE = scalars.percent_in_ppm(most=MAX_FEE_PERCENT)
_DYNAMIC_FEE = scalars.percent_in_ppm(least=MIN_BASE_FEE_PERCENT, most=MAX_FEE_PERCENT)
_PERIOD = json_rules.whole_number(least=0, most=_MAX_PERIOD, unit="seconds")
_TYPE = FieldRule(rule=json_rules.choice("static", "dynamic"), default="static")
_STATIC = {
    "type": _TYPE,
    "clankerFee": FieldRule(rule=_FEE, default=_PPM_PER_PERCENT),
    "pairedFee": FieldRule(rule=_FEE, default=_PPM_PER_PERCENT),
}
# The defaults of the SDK, partly under the name Dynamic5.
_DYNAMIC = {
    "type": _TYPE,
    "baseFee": FieldRule(rule=_DYNAMIC_FEE, default=_PPM_PER_PERCENT),
    "maxLpFee": FieldRule(rule=_DYNAMIC_FEE, default=5 * _PPM_PER_PERCENT, alias="maxFee"),
    "referenceTickFilterPeriod": FieldRule(rule=_PERIOD, default=30),
    "resetPeriod": FieldRule(rule=_PERIOD, default=120),
    "resetTickFilter": FieldRule(rule=json_rules.whole_number(least=0, most=_MAX_TICKS, unit="ticks"), default=200),
    "feeControlNumerator": FieldRule(
        rule=json_rules.whole_number(least=0, most=_MAX_NUMERATOR, unit="the hook's own scale"), default=500_000_000
    ),
    "decayFilterBps": FieldRule(rule=json_rules.whole_number(least=0, most=10_000, unit="bps"), default=7_500),
}


def pool_fees(value: Any) -> StaticFee | DynamicFee:
    """Parse the `fees` object; keys of the other fee type are problems."""
    kind = "dynamic" if isinstance(value, dict) and value.get("type") == "dynamic" else "static"
    keys, others = (_DYNAMIC, _STATIC) if kind == "dynamic" else (_STATIC, _DYNAMIC)
    parsed, problems = parse_object(value, keys)
    if {"baseFee", "maxLpFee"} <= parsed.keys() and parsed["baseFee"] > parsed["maxLpFee"]:
        problems.append(("maxLpFee", "must be at least baseFee, which is 1 percent where it isn't given"))
    if problems:
        foreign = {name for key, rule in others.items() for name in (key, rule.alias)} - {*keys, ""}
        raise InvalidFieldsError(
            [(at, f"is no key of {kind} fees" if at in foreign else message) for at, message in problems]
        )
    if kind != "dynamic":
        return StaticFee(clanker=parsed["clankerFee"], paired=parsed["pairedFee"])
    return DynamicFee(
        base=parsed["baseFee"],
        maximum=parsed["maxLpFee"],
        reference_tick_filter_period=parsed["referenceTickFilterPeriod"],
        reset_period=parsed["resetPeriod"],
        reset_tick_filter=parsed["resetTickFilter"],
        fee_control_numerator=parsed["feeControlNumerator"],
        decay_filter_bps=parsed["decayFilterBps"],
    )


STANDARD = pool_fees({})
_BY_KIND = {"static": STANDARD, "dynamic": pool_fees({"type": "dynamic"})}


def fees_of_type(value: Any) -> StaticFee | DynamicFee:
    """Return the default fees of a type, by its name."""
    return _BY_KIND[_TYPE.rule(value)]


def fees_json(given: StaticFee | DynamicFee) -> dict[str, Any]:
    """Return the fees in the keys and units of `pool_fees`."""
    if isinstance(given, StaticFee):
        return {"type": "static", "clankerFee": _percent(given.clanker), "pairedFee": _percent(given.paired)}
    return {
        "type": "dynamic",
        "baseFee": _percent(given.base),
        "maxLpFee": _percent(given.maximum),
        "referenceTickFilterPeriod": given.reference_tick_filter_period,
        "resetPeriod": given.reset_period,
        "resetTickFilter": given.reset_tick_filter,
        "feeControlNumerator": given.fee_control_numerator,
        "decayFilterBps": given.decay_filter_bps,
    }


def _percent(ppm: int) -> int | float:
    return scalars.to_units(ppm, _PPM_PER_PERCENT)

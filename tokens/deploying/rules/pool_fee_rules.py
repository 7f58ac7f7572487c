"""The fees of a launch's pool: percent in, parts per million out."""

from typing import Any

from config.json_rules import Key, Refused, read_object
from tokens.chains.launching.launch_config import DynamicFee, StaticFee
from tokens.deploying.rules import scalars

MAX_FEE_PERCENT = "5"
# The dynamic hook takes no less.
MIN_BASE_FEE_PERCENT = "0.25"
_PPM_PER_PERCENT = 10_000
# Longer than any period of the hook makes sense; a swap has to come within it.
_MAX_PERIOD = scalars.SECONDS_PER_DAY
# Uniswap's TickMath.MAX_TICK: prices don't move by more.
_MAX_TICKS = 887_272
# With volatility, which the hook squares, it is far from what 256 bits hold: a larger one could make swaps fail.
_MAX_NUMERATOR = 10**18

_FEE = scalars.percent_in_ppm(most=MAX_FEE_PERCENT)
_DYNAMIC_FEE = scalars.percent_in_ppm(least=MIN_BASE_FEE_PERCENT, most=MAX_FEE_PERCENT)
_PERIOD = scalars.whole(least=0, most=_MAX_PERIOD, unit="seconds")
_TYPE = Key(rule=scalars.choice("static", "dynamic"), default="static")
_STATIC = {
    "type": _TYPE,
    "clankerFee": Key(rule=_FEE, default=_PPM_PER_PERCENT),
    "pairedFee": Key(rule=_FEE, default=_PPM_PER_PERCENT),
}
# The defaults are what the SDK calls Dynamic5 or launches with.
_DYNAMIC = {
    "type": _TYPE,
    "baseFee": Key(rule=_DYNAMIC_FEE, default=_PPM_PER_PERCENT),
    "maxLpFee": Key(rule=_DYNAMIC_FEE, default=5 * _PPM_PER_PERCENT, alias="maxFee"),
    "referenceTickFilterPeriod": Key(rule=_PERIOD, default=30),
    "resetPeriod": Key(rule=_PERIOD, default=120),
    "resetTickFilter": Key(rule=scalars.whole(least=0, most=_MAX_TICKS, unit="ticks"), default=200),
    "feeControlNumerator": Key(
        rule=scalars.whole(least=0, most=_MAX_NUMERATOR, unit="the hook's own scale"), default=500_000_000
    ),
    "decayFilterBps": Key(rule=scalars.whole(least=0, most=10_000, unit="bps"), default=7_500),
}


def fees(value: Any) -> StaticFee | DynamicFee:
    """What the rules of `fees` make of an object; those of the other type are refused."""
    kind = "dynamic" if isinstance(value, dict) and value.get("type") == "dynamic" else "static"
    keys, others = (_DYNAMIC, _STATIC) if kind == "dynamic" else (_STATIC, _DYNAMIC)
    taken, problems = read_object(value, keys)
    if {"baseFee", "maxLpFee"} <= taken.keys() and taken["baseFee"] > taken["maxLpFee"]:
        problems.append(("maxLpFee", "must be at least baseFee, which is 1 percent where it isn't given"))
    if problems:
        foreign = {name for key, rule in others.items() for name in (key, rule.alias)} - {*keys, ""}
        raise Refused([(at, f"is no key of {kind} fees" if at in foreign else words) for at, words in problems])
    if kind != "dynamic":
        return StaticFee(clanker=taken["clankerFee"], paired=taken["pairedFee"])
    return DynamicFee(
        base=taken["baseFee"],
        maximum=taken["maxLpFee"],
        reference_tick_filter_period=taken["referenceTickFilterPeriod"],
        reset_period=taken["resetPeriod"],
        reset_tick_filter=taken["resetTickFilter"],
        fee_control_numerator=taken["feeControlNumerator"],
        decay_filter_bps=taken["decayFilterBps"],
    )


STANDARD = fees({})
_BY_KIND = {"static": STANDARD, "dynamic": fees({"type": "dynamic"})}


def kind(value: Any) -> StaticFee | DynamicFee:
    """The fees of a type by its name, with its defaults."""
    return _BY_KIND[_TYPE.rule(value)]


def show(given: StaticFee | DynamicFee) -> dict[str, Any]:
    """The fees in the keys and units that `fees` takes."""
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
    return scalars.in_units(ppm, _PPM_PER_PERCENT)

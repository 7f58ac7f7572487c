"""Ground truth for honest tokens: persons' demand, known only to the generator.

The main measure is the mean of two ranks, by net buyers and by money held over the last 24 hours, because neither
alone is demand: one whale holds much, and a thousand buyers of a cent hold nothing. It has no decay and no square root.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.trending.sample_trades import SampleToken

_PERIOD_HOURS = 24.0


@dataclass(frozen=True)
class OrganicDemand:
    """Persons' demand for a token; bots and manipulators count nothing."""

    # Persons whose purchases exceed their sales in the last 24 hours, and by how many USD in total.
    net_buyers: int
    held_usd: float
    # Purchases less sales by all persons in the last 24 hours, in USD.
    inflow_usd: float
    # Persons whose purchases exceed their sales in the 6 hours after the ranking.
    next_buyers: int


def measure_demand(token: SampleToken) -> OrganicDemand:
    """Return the demand for a token."""
    now, later = _nets(token, -_PERIOD_HOURS, 0), _nets(token, 0, float("inf"))
    bought = [net for net in now.values() if net > 0]
    return OrganicDemand(len(bought), sum(bought), sum(now.values()), sum(net > 0 for net in later.values()))


def _nets(token: SampleToken, after: float, until: float) -> Mapping[str, float]:
    nets: dict[str, float] = defaultdict(float)
    for trade in token.trades:
        if trade.person is not None and after < trade.at <= until:
            nets[trade.person] += trade.signed_usd
    return nets


def demand_measures(tokens: Sequence[SampleToken]) -> dict[str, list[float]]:
    """Return each measure's values for these tokens, larger for more demand; `demand` is the main one."""
    found = [measure_demand(token) for token in tokens]
    buyers = [float(one.net_buyers) for one in found]
    held = [one.held_usd for one in found]
    both = zip(ranks(buyers), ranks(held), strict=True)
    return {
        "demand": [(first + second) / 2 for first, second in both],
        "net buyers": buyers,
        "held USD": held,
        "inflow USD": [one.inflow_usd for one in found],
        "next buyers": [float(one.next_buyers) for one in found],
    }


def ranks(values: Sequence[float]) -> list[float]:
    """Return ascending ranks from 1, ties with their mean rank."""
    places = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    first = 0
    while first < len(places):
        last = first
        while last + 1 < len(places) and values[places[last + 1]] == values[places[first]]:
            last += 1
        for place in places[first : last + 1]:
            result[place] = (first + last) / 2 + 1
        first = last + 1
    return result


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Spearman's rank correlation, from -1 to 1, ties with their mean rank; 0 where one is constant."""
    ours, theirs = ranks(first), ranks(second)
    mean = (len(ours) + 1) / 2
    above = sum((one - mean) * (other - mean) for one, other in zip(ours, theirs, strict=True))
    spread = sum((one - mean) ** 2 for one in ours) * sum((other - mean) ** 2 for other in theirs)
    return float(above / spread**0.5) if spread else 0.0

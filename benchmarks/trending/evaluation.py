"""What a sort does to one population: manipulated tokens' places, the first ten's costs, and honest demand."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from benchmarks.trending.organic_demand import demand_measures, rank_correlation
from benchmarks.trending.sample_trades import Costs, SampleToken
from benchmarks.trending.trending_database import SortedTokens

FIRST = 10
_NO_VALUE = float("-inf")


@dataclass(frozen=True)
class Outcome:
    """One sort's outcome for one seed."""

    # Manipulated tokens among the first ten, by kind.
    first: Counter[str]
    # Manipulated tokens' ranks in the population, from 1; a token without a value is last.
    ranks: Mapping[str, Sequence[int]]
    # For each kind with a ladder: the lowest budget's costs among the first ten beside honest tokens, or None.
    entries: Mapping[str, Costs | None]
    # Honest tokens' rank correlation with each demand measure.
    correlations: Mapping[str, float]
    # Tokens among the first ten, from the ten honest ones with most demand.
    demanded: int
    # By honest kind: rank among honest tokens less the rank by demand, positive where the sort places it too low.
    displaced: Mapping[str, Sequence[int]]


def evaluate(
    sort: SortedTokens,
    honest: Sequence[SampleToken],
    manipulated: Sequence[SampleToken],
    ladders: Sequence[SampleToken],
) -> Outcome:
    """Return what a sort does to all these tokens; ladders are compared with honest tokens only."""
    places = {key: place for place, key in enumerate(sort.keys)}
    population = {token.key: token for token in (*honest, *manipulated)}
    ranked = [key for key in sort.keys if key in population]
    rank = {key: place for place, key in enumerate(ranked, start=1)}
    ranks: dict[str, list[int]] = defaultdict(list)
    for token in manipulated:
        ranks[token.kind].append(rank.get(token.key, len(population)))
    first = Counter(population[key].kind for key in ranked[:FIRST] if not population[key].is_honest)
    measures = demand_measures(honest)
    values = [sort.values.get(token.key, _NO_VALUE) for token in honest]
    by_demand = _by_value(honest, measures["demand"])
    return Outcome(
        first=first,
        ranks=ranks,
        entries=_entries(places, honest, ladders),
        correlations={name: rank_correlation(values, measure) for name, measure in measures.items()},
        demanded=len({token.key for token in by_demand[:FIRST]} & set(ranked[:FIRST])),
        displaced=_displacements(_by_value(honest, values), by_demand),
    )


def _by_value(tokens: Sequence[SampleToken], values: Sequence[float]) -> list[SampleToken]:
    return [token for _, token in sorted(zip(values, tokens, strict=True), key=lambda pair: -pair[0])]


def _entries(
    places: Mapping[str, int], honest: Sequence[SampleToken], ladders: Sequence[SampleToken]
) -> dict[str, Costs | None]:
    before = sorted(places[token.key] for token in honest if token.key in places)
    last = before[FIRST - 1] if len(before) >= FIRST else float("inf")
    found: dict[str, Costs | None] = {}
    for token in sorted(ladders, key=lambda rung: rung.scale):
        found.setdefault(token.kind, None)
        if found[token.kind] is None and places.get(token.key, float("inf")) < last:
            found[token.kind] = token.costs()
    return found


def _displacements(by_value: Sequence[SampleToken], by_demand: Sequence[SampleToken]) -> dict[str, list[int]]:
    demanded = {token.key: place for place, token in enumerate(by_demand)}
    found: dict[str, list[int]] = defaultdict(list)
    for place, token in enumerate(by_value):
        found[token.kind].append(place - demanded[token.key])
    return found


def summarize(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return one sort's figures over all seeds, for results/trending.json."""
    first = sum((one.first for one in outcomes), Counter[str]())
    return {
        "manipulated share of first 10": round(first.total() / (FIRST * len(outcomes)), 4),
        "first 10 by kind": dict(first.most_common()),
        "most demanded in first 10": round(mean(one.demanded for one in outcomes), 2),
        "correlation": {
            name: round(mean(one.correlations[name] for one in outcomes), 4) for name in outcomes[0].correlations
        },
        "least correlation with demand": round(min(one.correlations["demand"] for one in outcomes), 4),
        "displaced": {
            kind: median(places for one in outcomes for places in one.displaced[kind])
            for kind in sorted(outcomes[0].displaced)
        },
        "kinds": {kind: _summarize_kind(outcomes, kind) for kind in outcomes[0].ranks},
    }


def _summarize_kind(outcomes: Sequence[Outcome], kind: str) -> dict[str, Any]:
    ranks = [rank for one in outcomes for rank in one.ranks[kind]]
    climbed = [one.entries[kind] for one in outcomes if kind in one.entries]
    entered = [costs for costs in climbed if costs is not None]
    result: dict[str, Any] = {
        "median rank": median(ranks),
        "among first 10": round(mean(rank <= FIRST for rank in ranks), 3),
        "ladders": len(climbed),
        "entered": len(entered),
    }
    # Most ladders must enter: those that never do have no cost, and a median over the few others would be too low.
    if entered and 2 * len(entered) >= len(climbed):
        for name in ("fees", "gas", "held", "at_risk"):
            result[f"{name} USD"] = round(median(getattr(costs, name) for costs in entered), 2)
    return result

"""One seed's run: its tokens into an empty database, and what each sort does."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.trending.documented_score import relative_error, stored_score
from benchmarks.trending.evaluation import FIRST, Outcome, evaluate, summarize
from benchmarks.trending.honest_tokens import invent_honest_tokens
from benchmarks.trending.manipulations import invent_ladders, invent_manipulated_tokens
from benchmarks.trending.trending_database import TRENDING, count_anew, make_tokens, read_sorts, write_trades

__all__ = ["SeedRun", "run_seed", "summarize"]


@dataclass(frozen=True)
class SeedRun:
    """A seed's outcomes."""

    # By sort.
    outcomes: Mapping[str, Outcome]
    trades: int
    # A stored score's difference from the formula, as a share.
    largest_error: float
    # Tokens among the population's first ten that are others after scores were computed from the last day only.
    moved_by_recount: int
    # The first and the tenth honest token's scores.
    honest_scores: tuple[float, float]


def run_seed(seed: int) -> SeedRun:
    """Run one seed in the current database, which has no tokens yet; its ranking is at the current minute."""
    ranked_at = int(time.time()) // 60 * 60
    honest, manipulated, ladders = invent_honest_tokens(seed), invent_manipulated_tokens(seed), invent_ladders(seed)
    samples = [*honest, *manipulated, *ladders]
    tokens = make_tokens(samples, seed=seed)
    write_trades(samples, tokens, ranked_at=ranked_at)
    sorts = read_sorts(tokens, ranked_at=ranked_at)
    stored = sorts[TRENDING].values
    population = {token.key for token in (*honest, *manipulated)}
    before = [key for key in sorts[TRENDING].keys if key in population][:FIRST]
    count_anew()
    recounted = read_sorts(tokens, ranked_at=ranked_at)[TRENDING]
    after = [key for key in recounted.keys if key in population][:FIRST]
    own_keys = {token.key for token in honest}
    honest_values = [stored[key] for key in sorts[TRENDING].keys if key in own_keys]
    return SeedRun(
        outcomes={name: evaluate(sort, honest, manipulated, ladders) for name, sort in sorts.items()},
        trades=sum(len(sample.past) for sample in samples),
        largest_error=max(relative_error(token, stored.get(token.key), ranked_at=ranked_at) for token in samples),
        moved_by_recount=len(set(before) - set(after)),
        honest_scores=(
            stored_score(honest_values[0], ranked_at=ranked_at),
            stored_score(honest_values[FIRST - 1], ranked_at=ranked_at),
        ),
    )

"""The network's accounts: people, one game's players, agents' own accounts, and sellers' accounts."""

from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard.worlds.world import DAY, END, FIRST_REGISTRATION, WorldBuilder
from leaderboard.facts.columns import Float64Array, Int64Array

HOUR = 3_600
COMMUNITIES = 80
# Offsets from UTC in hours, and the share of accounts there.
_ZONES = {-8: 0.15, -5: 0.25, 0: 0.15, 1: 0.2, 5: 0.08, 8: 0.1, 9: 0.07}
# The social score's beta parameters, and people's share: casual, regular and prominent accounts.
_TIERS = ((2.0, 5.0, 0.55), (5.0, 4.0, 0.35), (9.0, 2.0, 0.1))


@dataclass(frozen=True)
class OrchardCrowd:
    """Accounts: FID, score, activity, time zone and community."""

    fids: Int64Array
    # 0 to 1, NaN where unknown.
    scores: Float64Array
    # Relative agent count that the account interacts with.
    activity: Float64Array
    zones: Int64Array
    communities: Int64Array

    def __len__(self) -> int:
        return len(self.fids)

    def subset(self, chosen: Int64Array) -> "OrchardCrowd":
        """Return the accounts at these positions."""
        return OrchardCrowd(
            self.fids[chosen],
            self.scores[chosen],
            self.activity[chosen],
            self.zones[chosen],
            self.communities[chosen],
        )

    def sample(self, rng: np.random.Generator, size: int, weights: Float64Array | None = None) -> "OrchardCrowd":
        """Return so many different accounts, or all if there are fewer."""
        weights = self.activity if weights is None else weights
        size = min(size, int(np.count_nonzero(weights)))
        return self.subset(rng.choice(len(self), size, replace=False, p=weights / weights.sum()))


def join_crowds(*crowds: OrchardCrowd) -> OrchardCrowd:
    """Return all crowds' accounts."""
    return OrchardCrowd(
        np.concatenate([crowd.fids for crowd in crowds]),
        np.concatenate([crowd.scores for crowd in crowds]),
        np.concatenate([crowd.activity for crowd in crowds]),
        np.concatenate([crowd.zones for crowd in crowds]),
        np.concatenate([crowd.communities for crowd in crowds]),
    )


def register_people(builder: WorldBuilder, count: int) -> OrchardCrowd:
    """Register people's accounts; more joined in the last year than before."""
    rng = builder.rng
    tiers = rng.choice(len(_TIERS), count, p=[share for *_, share in _TIERS])
    parameters = np.array(_TIERS)[tiers]
    scores = rng.beta(parameters[:, 0], parameters[:, 1])
    # The provider has no score for some accounts, mostly casual ones.
    scores[rng.random(count) < np.where(tiers == 0, 0.12, 0.02)] = np.nan
    registered_at = FIRST_REGISTRATION + ((END - FIRST_REGISTRATION) * rng.random(count) ** 0.6).astype(np.int64)
    activity = rng.lognormal(0, 1.2, count) * np.array([0.5, 1.3, 2.5])[tiers]
    return _register(builder, registered_at, scores, activity)


def register_accounts(
    builder: WorldBuilder, count: int, *, scores: tuple[float, float], days: tuple[float, float], unknown: float = 0
) -> OrchardCrowd:
    """Register accounts with scores in a range, registered so many days before the end.

    unknown: share of accounts without a score.
    """
    rng = builder.rng
    values = rng.uniform(*scores, count)
    values[rng.random(count) < unknown] = np.nan
    registered_at = END - (DAY * rng.uniform(*days, count)).astype(np.int64)
    return _register(builder, registered_at, values, np.ones(count))


def _register(
    builder: WorldBuilder, registered_at: Int64Array, scores: Float64Array, activity: Float64Array
) -> OrchardCrowd:
    rng, count = builder.rng, len(scores)
    zones = rng.choice(list(_ZONES), count, p=list(_ZONES.values()))
    fids = builder.add_accounts(registered_at, scores)
    return OrchardCrowd(fids, scores, activity, zones.astype(np.int64), rng.integers(0, COMMUNITIES, count))


def delay_to_waking(rng: np.random.Generator, times: Int64Array, zones: Int64Array) -> Int64Array:
    """Return the times, local nights' times moved into the next morning."""
    hours = (times / HOUR + zones) % 24
    morning = 7 - hours + rng.exponential(1.5, len(times))
    return times + np.where(hours < 7, morning * HOUR, 0).astype(np.int64)

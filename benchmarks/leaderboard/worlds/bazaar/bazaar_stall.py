"""Agents with their casts, and interactions with them: human delays, waking hours and attention bursts."""

from dataclasses import dataclass, field

import numpy as np

from benchmarks.leaderboard.worlds.bazaar.bazaar_accounts import CIRCLES, BazaarCrowd
from benchmarks.leaderboard.worlds.bazaar.bazaar_plans import BazaarPlan
from benchmarks.leaderboard.worlds.world import DAY, LIKE, POST, QUOTE, RECAST, REPLY, WorldBuilder
from leaderboard.facts.columns import Float64Array, Int64Array

# Relative activity per local hour. Traders stay up late: the evening is the busiest time, and the night is never empty.
_AWAKE = np.array([4, 2.5, 1.5, 1, 0.8, 0.8, 1.5, 3, 5, 6, 6, 6, 7, 7, 6, 6, 7, 7, 8, 9, 10, 9.5, 8, 6]) / 10
# Shares for likes, recasts, replies and quotes.
Mix = tuple[float, float, float, float]
HUMAN_MIX: Mix = (0.6, 0.13, 0.23, 0.04)
Texts = Int64Array | None
# Cast rows, and reaction times.
Reactions = tuple[Int64Array, Float64Array]


@dataclass
class BazaarMarket:
    """A world's shared state. `phrases` are texts that everybody writes, `moves` times of price moves."""

    builder: WorldBuilder
    stealth: float
    people: BazaarCrowd
    programs: BazaarCrowd
    wallets: Int64Array
    phrases: Int64Array
    moves: Int64Array
    # Accounts that a vendor's clients, a ring or a family share, by its name.
    pools: dict[str, BazaarCrowd] = field(default_factory=dict)


class BazaarStall:
    """Agent that is open, with its casts and runs."""

    def __init__(self, market: BazaarMarket, plan: BazaarPlan, *, fid: int, creator_fid: int) -> None:
        self.market, self.plan, self.fid = market, plan, fid
        self.builder, self.rng = market.builder, market.builder.rng
        self.circle, self.zone = plan.owner % CIRCLES, int(market.people.zones[plan.owner])
        self.organic = round(plan.size * market.stealth) if plan.attack else plan.size
        self.bought = plan.size - self.organic
        self.organic_trades = 0
        # Trades' median amount, in the smallest unit.
        self.trade_scale = self.rng.lognormal(np.log(3e4), 1) * 1e18
        own_moves = self.rng.uniform(self.builder.start, self.builder.end, 1 + self.rng.poisson(3)).astype(np.int64)
        self.moves = np.concatenate([market.moves, own_moves])
        # Organic interactions, which are cover for bought ones.
        self._seen: Reactions = np.zeros(0, np.int64), np.zeros(0)
        ids = {"fid": fid, "creator_fid": creator_fid, "reporter": plan.reporter}
        self.agent = self.builder.add_agent(plan.kind, attack=plan.attack, framing=plan.framing, **ids)
        self._add_casts_and_runs()

    def pick_casts(self, count: int) -> Int64Array:
        """Return cast rows in the interval, each as likely."""
        return self.rng.choice(np.flatnonzero(self.cast_at > self.builder.start), count)

    def reactions(self, actors: BazaarCrowd, *, branching: float = 0.1, cover: float = 0) -> Reactions:
        """Return human reactions as a Hawkes process, whose share `cover` hides just after organic ones."""
        rng, count = self.rng, len(actors)
        roots, lags = excited_lags(rng, count, branching)
        rows = rng.choice(len(self.casts), count, p=self._attention)
        # Among four lognormal delays, the one in waking hours is the likeliest.
        at = self.cast_at[rows] + rng.lognormal(np.log(900), 1.7, (4, count)) * actors.haste
        chances = rng.random(at.shape) ** (1 / _AWAKE[(at.astype(np.int64) // 3_600 + actors.zones) % 24])
        chosen = at[chances.argmax(axis=0), np.arange(count)]
        rows, at = rows[roots], chosen[roots] + lags
        seen_rows, seen_at = self._seen
        hidden = np.flatnonzero(rng.random(count) < (cover if len(seen_rows) else 0))
        models = rng.integers(0, max(1, len(seen_rows)), len(hidden))
        rows[hidden], at[hidden] = seen_rows[models], seen_at[models] + rng.exponential(400, len(hidden))
        return rows, at

    def write_texts(self, count: int, phrases: Texts = None, share: float = 0.25) -> Int64Array:
        """Return text keys, a share of them phrases (by default the common ones) by Zipf's law."""
        phrases = self.market.phrases if phrases is None else phrases
        shares = 1 / np.arange(1, len(phrases) + 1)
        common = self.rng.choice(phrases, count, p=shares / shares.sum())
        return np.where(self.rng.random(count) < share, common, self.builder.new_keys(count))

    def engage(
        self, actors: BazaarCrowd, reactions: Reactions, mix: Mix = HUMAN_MIX, texts: Texts = None, **truth: int
    ) -> None:
        """Add interactions, which move by days into the interval. `truth` is as in the builder."""
        rows, at = reactions
        rng, start, end, count = self.rng, self.builder.start, self.builder.end, len(rows)
        at = np.where(at >= end, end - DAY + (at - end) % DAY, at)
        at = np.where(at <= start, start + 1 + (at - start) % DAY, at)
        cast_at = self.cast_at[rows]
        at = np.where(at < cast_at, rng.uniform(cast_at, end), at)
        kinds = rng.choice([LIKE, RECAST, REPLY, QUOTE], count, p=mix)
        # An account marks a cast once: a second like of it would be a reply.
        _, first = np.unique(np.stack([kinds, rows, actors.fids]), axis=1, return_index=True)
        kinds[~np.isin(np.arange(count), first) & (kinds < REPLY)] = REPLY
        texts = np.where(kinds >= REPLY, self.write_texts(count) if texts is None else texts, 0)
        self.builder.add_interactions(self.agent, self.casts[rows], actors.fids, at, kind=kinds, text=texts, **truth)
        if not truth.get("purpose"):
            self._seen = np.concatenate([self._seen[0], rows]), np.concatenate([self._seen[1], at])

    def _add_casts_and_runs(self) -> None:
        """Add casts, which get heavy-tailed attention, and up to eight times more after a move, and runs."""
        rng, builder = self.rng, self.builder
        self.cast_at = self._cast_times()
        ages = self.cast_at[:, None] - self.moves
        excitement = np.where(ages >= 0, np.exp(-ages.clip(0) / 2_700), 0).sum(axis=1)
        attention = rng.lognormal(0, 1.1, len(ages)) * (1 + 7 * excitement)
        self._attention = attention / attention.sum()
        shares = [0.2, 0.75, 0.05] if self.plan.kind == "command bot" else [0.75, 0.2, 0.05]
        kinds, texts = rng.choice([POST, 2, 3], len(ages), p=shares), self.write_texts(len(ages), share=0.05)
        self.casts = builder.add_casts(self.agent, self.cast_at, kind=kinds, text=texts)
        runs = rng.poisson(len(ages) * rng.lognormal(0, 0.6))
        is_success = rng.random(runs) < rng.beta(14, 1.5)
        builder.add_runs(self.agent, rng.uniform(builder.start, builder.end, runs), is_success)

    def _cast_times(self) -> Int64Array:
        """Return cast times, from two days before the interval on: by the clock, or partly after price moves."""
        rng, start, end = self.rng, self.builder.start, self.builder.end
        if self.plan.kind == "price bot":
            clock = np.arange(start - DAY, end - 900, rng.choice([1_800, 3_600, 7_200, 14_400])) + rng.integers(0, 600)
            return np.asarray(clock + rng.integers(0, 4, len(clock)), np.int64)
        count = int(np.clip(rng.lognormal(np.log(24), 0.9), 4, 400))
        after_moves = rng.choice(self.moves, count) + rng.exponential(900, count)
        is_after = rng.random(count) < (0.35 if self.plan.is_traded else 0.1)
        at = np.where(is_after, after_moves, rng.uniform(start - 2 * DAY, end, count))
        # At least two casts are in this week.
        at[:2] = rng.uniform(start + DAY, end - DAY, 2)
        return np.asarray(np.sort(at.clip(None, end - 300)), np.int64)


def excited_lags(rng: np.random.Generator, count: int, branching: float) -> Reactions:
    """Return, per Hawkes process event, its first ancestor's row, and the lag after it in seconds."""
    size = min(count, 1 + int(count * (1 - branching)))
    roots, lags, left = [np.arange(size)], [np.zeros(size)], count - size
    while left > 0:
        size = min(left, 1 + int(left * (1 - branching)))
        parents = rng.integers(0, len(roots[-1]), size)
        roots.append(roots[-1][parents])
        lags.append(lags[-1][parents] + rng.exponential(180, size))
        left -= size
    return np.concatenate(roots), np.concatenate(lags)

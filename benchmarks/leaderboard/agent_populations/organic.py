"""What people and honest machines do by themselves: casts, and the ways in which these are taken up."""

from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard.agent_populations.accounts import DAY, Pool, draw_weighted, wake
from benchmarks.leaderboard.agent_populations.rows import (
    LIKE,
    QUOTE,
    RECAST,
    REPLY,
    Pairs,
    StoredActions,
    StoredInteractions,
    confirmed_rows,
    draw_keys,
)
from leaderboard.facts.columns import BoolArray, Float64Array, Int8Array, Int32Array, Int64Array
from leaderboard.facts.short_keys import text_key

# How casts are spread over time.
BY_DAY, PERIODIC, IN_BURSTS = 0, 1, 2
# Casts on the day before the interval are still taken up in it.
LEAD = DAY
# Common texts, the more frequent first.
COMMON = np.array(
    [
        text_key(text)
        for text in (
            "gm", "lfg", "nice", "based", "wow", "great", "love this", "thanks", "let's go", "this is the way",
            "bullish", "amazing", "cool", "to the moon", "wen token", "good morning", "gn", "congrats", "done",
            "facts", "haha", "lol", "yes", "true", "wagmi", "great work", "nice one", "so cool", "agree",
            "what is this", "claimed", "hello", "how to buy", "interesting", "legend", "ser", "wen airdrop",
            "good project", "well said", "I'm in", "huge", "send it", "welcome", "happy friday", "very nice",
            "let's build", "keep going", "super", "yes please", "no way",
        )
    ],
    dtype=np.int64,
)  # fmt: skip
_COMMON_WEIGHTS = 1 / np.arange(1, COMMON.size + 1) ** 1.05


@dataclass(frozen=True)
class Habits:
    """Each agent's casting habits, and how its public takes it up; one array entry each."""

    # Casts in the interval and the day before it.
    casts: Int32Array
    schedule: Int8Array
    zone: Int8Array
    # Organic interactions, in the interval.
    interactions: Int32Array
    followers: Int32Array
    # How unequal followers are: 1 is all the same.
    loyalty: Float64Array
    # Shares: actors who don't follow, followers from the agent's zone, airdrop hunters among actors, ...
    discovery: Float64Array
    home: Float64Array
    hunters: Float64Array
    # ... replies among interactions, and common texts among replies.
    replies: Float64Array
    common: Float64Array
    # The share of interactions that one cast draws; 0 for most.
    viral: Float64Array


@dataclass(frozen=True)
class Casts:
    """All casts, sorted by agent; agent i's are `first[i]` up to `first[i + 1]`."""

    first: Int64Array
    agent: Int32Array
    at: Int64Array
    key: Int64Array
    # Running sum over how much those before each one are taken up, and all at the end.
    reach: Float64Array


def cast(rng: np.random.Generator, habits: Habits, *, after: int, until: int) -> Casts:
    """Draw all agents' casts, by their schedules; how much each is taken up is lognormal."""
    counts = habits.casts
    agent = np.repeat(np.arange(counts.size, dtype=np.int32), counts)
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    begin, span = after - LEAD, until - after + LEAD
    at = begin + rng.integers(1, span + 1, size=agent.size)
    for _ in range(2):
        again = ~wake(rng, at, habits.zone[agent])
        at = np.where(again, begin + rng.integers(1, span + 1, size=agent.size), at)
    at = np.where(habits.schedule[agent] == PERIODIC, _ticks(rng, counts, agent, first, begin, span), at)
    at = np.where(habits.schedule[agent] == IN_BURSTS, _bursts(rng, counts, agent, first, at), at)
    weight = np.exp(rng.standard_normal(agent.size))
    for one in np.flatnonzero(habits.viral > 0):
        mine = slice(first[one], first[one + 1])
        chosen = first[one] + np.argmin(np.abs(at[mine] - rng.integers(after, until - 12 * 3600)))
        weight[chosen] = 0
        weight[chosen] = weight[mine].sum() * habits.viral[one] / (1 - habits.viral[one])
    return Casts(
        first, agent, np.clip(at, begin, until), draw_keys(rng, agent.size), np.concatenate([[0.0], np.cumsum(weight)])
    )


def _ticks(
    rng: np.random.Generator, counts: Int32Array, agent: Int32Array, first: Int64Array, begin: int, span: int
) -> Int64Array:
    """Draw even times: a scheduler's, which is late by seconds to a minute."""
    step = span / np.maximum(counts, 1)
    jitter = np.exp(rng.uniform(0, 4, size=counts.size))
    turn = np.arange(agent.size) - first[agent]
    late = np.abs(rng.standard_normal(agent.size)) * jitter[agent]
    return (begin + (turn + rng.random(counts.size)[agent]) * step[agent] + late).astype(np.int64)


def _bursts(
    rng: np.random.Generator, counts: Int32Array, agent: Int32Array, first: Int64Array, at: Int64Array
) -> Int64Array:
    """Draw casts that follow, in series of some ten, seconds to minutes after a time that was drawn."""
    share = rng.uniform(0.5, 0.95, size=counts.size)
    leaders = np.maximum(counts // rng.integers(6, 20, size=counts.size), 1)
    follows = rng.random(agent.size) < share[agent]
    leader = first[agent] + (rng.random(agent.size) * leaders[agent]).astype(np.int64)
    pace = np.exp(rng.uniform(np.log(60), np.log(1500), size=counts.size))
    return np.where(follows, at[leader] + (rng.random(agent.size) * pace[agent]).astype(np.int64), at)


def actions_of(rng: np.random.Generator, casts: Casts, *, after: int, until: int) -> StoredActions:
    """Return casts in the interval as rows: one in three is a reply, and one in nine repeats an earlier text."""
    mine = np.flatnonzero((casts.at > after) & (casts.at <= until))
    kind = rng.choice(np.array([1, 2, 3], dtype=np.int8), size=mine.size, p=[0.62, 0.33, 0.05])
    text = draw_keys(rng, mine.size)
    again = rng.random(mine.size) < 0.11
    text[again] = casts.key[casts.first[casts.agent[mine[again]]]]
    return StoredActions(casts.agent[mine], casts.at[mine], kind, casts.key[mine], text)


def draw_actors(rng: np.random.Generator, pool: Pool, habits: Habits, hunters: Int32Array) -> Pairs:
    """Draw actors: followers, the first ones doing most; passers-by; and airdrop hunters."""
    followers = _draw_followers(rng, pool, habits)
    first = np.concatenate([[0], np.cumsum(habits.followers)]).astype(np.int64)
    agent = np.repeat(np.arange(habits.interactions.size, dtype=np.int32), habits.interactions)
    rank = rng.random(agent.size) ** habits.loyalty[agent] * habits.followers[agent]
    who = followers[first[agent] + rank.astype(np.int64)]
    chance = rng.random(agent.size)
    passing = chance < habits.discovery[agent]
    who[passing] = draw_weighted(rng, pool.activity, int(passing.sum()))
    hunting = chance > 1 - habits.hunters[agent]
    who[hunting] = rng.choice(hunters, size=int(hunting.sum()))
    return Pairs(agent, pool.fids[who], pool.zone[who])


def _draw_followers(rng: np.random.Generator, pool: Pool, habits: Habits) -> Int32Array:
    """Draw each agent's followers one after the other, by activity; a share from its zone."""
    agent = np.repeat(np.arange(habits.followers.size), habits.followers)
    found = draw_weighted(rng, pool.activity, agent.size)
    at_home = rng.random(agent.size) < habits.home[agent]
    for zone in np.unique(habits.zone):
        wanted = np.flatnonzero(at_home & (habits.zone[agent] == zone))
        there = np.flatnonzero(pool.zone == zone)
        found[wanted] = there[draw_weighted(rng, pool.activity[there], wanted.size)]
    return found


def take_up(rng: np.random.Generator, pairs: Pairs, casts: Casts, habits: Habits) -> StoredInteractions:
    """Draw each pair's cast, time and kind: after a lognormal pause, while the actor is awake."""
    chosen = choose_casts(rng, casts, pairs.agent)
    count = pairs.agent.size
    at = casts.at[chosen] + _pause(rng, count)
    for _ in range(3):
        again = np.flatnonzero(~wake(rng, at, pairs.zone))
        at[again] = casts.at[chosen[again]] + _pause(rng, again.size)
    kind = draw_kinds(rng, habits.replies[pairs.agent])
    text = draw_texts(rng, kind, habits.common[pairs.agent])
    return confirmed_rows(pairs.agent, at, kind, pairs.actor, casts.key[chosen], text)


def choose_casts(rng: np.random.Generator, casts: Casts, agent: Int32Array) -> Int64Array:
    """Choose for each entry that agent's cast, weighted by how much casts are taken up."""
    low, high = casts.reach[casts.first[agent]], casts.reach[casts.first[agent + 1]]
    found = np.searchsorted(casts.reach, low + rng.random(agent.size) * (high - low), side="right") - 1
    return np.clip(found, casts.first[agent], casts.first[agent + 1] - 1)


def draw_kinds(rng: np.random.Generator, replies: Float64Array) -> Int8Array:
    """Draw interaction kinds: replies by their share, and among the rest 82 % likes, 15 % recasts, 3 % quotes."""
    rest = rng.choice(np.array([LIKE, RECAST, QUOTE], dtype=np.int8), size=replies.size, p=[0.82, 0.15, 0.03])
    return np.where(rng.random(replies.size) < replies, np.int8(REPLY), rest)


def draw_texts(rng: np.random.Generator, kind: Int8Array, common: Float64Array) -> Int64Array:
    """Draw text keys for replies and quotes: common ones by their share, one in twelve without a word, else new."""
    text = draw_keys(rng, kind.size)
    chance = rng.random(kind.size)
    usual: BoolArray = chance < common
    text[usual] = COMMON[draw_weighted(rng, _COMMON_WEIGHTS, int(usual.sum()))]
    text[chance > 1 - 0.08] = 0
    text[kind <= RECAST] = 0
    return text


def _pause(rng: np.random.Generator, count: int) -> Int64Array:
    """Draw the seconds from a cast to its reply: half within 50 minutes, with a long tail."""
    return np.clip(np.exp(8.0 + 1.7 * rng.standard_normal(count)), 4, 20 * DAY).astype(np.int64)

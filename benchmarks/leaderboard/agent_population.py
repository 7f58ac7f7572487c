"""Invented agents with their public, as heavy-tailed as a social network: the facts that rankings are timed on.

Sizes of publics are lognormal, and activity of accounts is Pareto-like. An account follows the agents that it interacts
with, and the first followers do most; a quarter are passers-by. Half the interactions come within 50 minutes.
"""

from dataclasses import dataclass, fields

import numpy as np

from leaderboard.facts.columns import (
    Accounts,
    Actions,
    Agents,
    Float64Array,
    Int8Array,
    Int32Array,
    Int64Array,
    Interactions,
    IntervalFacts,
    Runs,
)

COMPUTED_AT = 1_767_225_600
WEEK = 604_800
# FIDs have been given out one after the other since registration opened to the public.
_OPENED_AT = 1_696_982_400
_KINDS, _SHARES = np.array([1, 2, 3, 4], dtype=np.int8), [0.57, 0.13, 0.28, 0.02]
_RECAST = 2


@dataclass(frozen=True)
class StoredActions(Actions):
    """Agents' casts with their texts; 0 without one."""

    text: Int64Array


@dataclass(frozen=True)
class StoredInteractions(Interactions):
    """Interactions with what identifies them; `kind` as InteractionKind, `text` is 0 without one."""

    at: Int64Array
    kind: Int8Array
    cast: Int64Array
    text: Int64Array


@dataclass(frozen=True)
class StoredAccounts(Accounts):
    """Accounts with their registrations; 0 where unknown."""

    registered_at: Int64Array


@dataclass(frozen=True)
class StoredFacts(IntervalFacts):
    """An interval's facts with the stored columns that no score reads."""

    actions: StoredActions
    interactions: StoredInteractions
    accounts: StoredAccounts


def populate(*, seed: int, agents: int, seconds: int, volume: float = 1.0) -> StoredFacts:
    """Return facts that are the same for the same arguments.

    seconds: the interval's length, up to COMPUTED_AT. volume: activity, 1 for a median of 64 interactions a week.
    """
    rng = np.random.default_rng(seed)
    scale, after, newest = volume * seconds / WEEK, COMPUTED_AT - seconds, max(2_000_000, 100 * agents)
    fids = rng.choice(newest, size=int(max(4000, 20_000 * (agents / 1000) ** 0.7)) + agents, replace=False) + 1
    own, public = fids[:agents].astype(np.int64), fids[agents:].astype(np.int64)
    activity = np.minimum((1 - rng.random(public.size)) ** (-1 / 1.15), 400.0)
    creators = public[_draw_weighted(rng, np.sqrt(activity), agents)]
    creators[rng.random(agents) < 0.1] = 0
    casts = _draw_casts(rng, agents=agents, scale=scale, after=after)
    interactions = _draw_interactions(rng, casts, public, activity, agents=agents, scale=scale, after=after)
    return StoredFacts(
        computed_at=COMPUTED_AT,
        seconds=seconds,
        agents=Agents(np.sort(rng.choice(4 * agents, size=agents, replace=False) + 1), own, creators),
        runs=_draw_runs(rng, agents=agents, scale=scale, after=after),
        actions=casts,
        interactions=interactions,
        accounts=_draw_accounts(rng, public, activity, np.union1d(interactions.actor, creators), newest=newest),
    )


def draw_keys(rng: np.random.Generator, count: int) -> Int64Array:
    """Draw keys for casts, texts or messages that nothing else has."""
    return rng.integers(-(2**63), 2**63 - 1, size=count, dtype=np.int64)


def _draw_runs(rng: np.random.Generator, *, agents: int, scale: float, after: int) -> Runs:
    """Draw some 50 runs a week, 7 in 8 successful."""
    counts = rng.poisson(25 * scale * np.exp(1.2 * rng.standard_normal(agents)))
    agent = np.repeat(np.arange(agents, dtype=np.int32), counts)
    times = rng.integers(after + 1, COMPUTED_AT + 1, size=agent.size)
    return Runs(agent, times, rng.random(agent.size) < 7 / 8)


def _draw_casts(rng: np.random.Generator, *, agents: int, scale: float, after: int) -> StoredActions:
    """Draw casts, sorted by agent; each agent has at least three."""
    casts = np.clip(25 * np.exp(0.8 * rng.standard_normal(agents)), 3, 600)
    counts = np.ceil(casts * np.maximum(scale, 0.2)).astype(np.int64)
    agent = np.repeat(np.arange(agents, dtype=np.int32), counts)
    times = rng.integers(after + 1, COMPUTED_AT + 1, size=agent.size)
    kind = rng.choice(_KINDS[:3], size=agent.size, p=[0.62, 0.33, 0.05])
    return StoredActions(agent, times, kind, draw_keys(rng, agent.size), draw_keys(rng, agent.size))


def _draw_interactions(
    rng: np.random.Generator,
    casts: StoredActions,
    public: Int64Array,
    activity: Float64Array,
    *,
    agents: int,
    scale: float,
    after: int,
) -> StoredInteractions:
    """Draw who interacts with which cast and when; an account likes or recasts a cast once."""
    sizes = 64 * np.exp(1.45 * rng.standard_normal(agents))
    followers = np.clip(2.2 * sizes**0.8, 6, 60_000).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(followers)])
    follower = _draw_weighted(rng, activity, int(first[-1]))
    agent = np.repeat(np.arange(agents, dtype=np.int32), rng.poisson(sizes * scale))
    actor = follower[first[agent] + (rng.random(agent.size) ** 2.2 * followers[agent]).astype(np.int64)]
    passing = rng.random(agent.size) < 0.25
    actor[passing] = _draw_weighted(rng, np.sqrt(activity), int(passing.sum()))
    counts = np.bincount(casts.agent, minlength=agents)
    begin = np.concatenate([[0], np.cumsum(counts)])[:-1]
    cast = begin[agent] + (rng.random(agent.size) * counts[agent]).astype(np.int64)
    times = casts.at[cast] + np.clip(np.exp(8.0 + 1.7 * rng.standard_normal(agent.size)), 4, WEEK).astype(np.int64)
    kind = rng.choice(_KINDS, size=agent.size, p=_SHARES)
    text = np.where(kind > _RECAST, draw_keys(rng, agent.size), 0)
    one = np.ones(agent.size, np.bool_)
    rows = StoredInteractions(agent, public[actor], one, one, times, kind, casts.cast[cast], text)
    marks = np.flatnonzero(kind <= _RECAST)
    _, earliest = np.unique(np.stack([cast, actor, kind])[:, marks], axis=1, return_index=True)
    is_kept = (kind > _RECAST) & (times <= COMPUTED_AT)
    is_kept[marks[earliest]] = times[marks[earliest]] <= COMPUTED_AT
    return StoredInteractions(*(getattr(rows, field.name)[is_kept] for field in fields(rows)))


def _draw_accounts(
    rng: np.random.Generator, public: Int64Array, activity: Float64Array, met: Int64Array, *, newest: int
) -> StoredAccounts:
    """Draw scores, which follow activity loosely, and registrations of the accounts that agents met."""
    scores = 1 / (1 + np.exp(0.9 - 0.75 * np.log(activity) - 0.9 * rng.standard_normal(public.size)))
    scores[rng.random(public.size) < 0.35] = np.nan
    registered_at = (_OPENED_AT + public / newest * (COMPUTED_AT - _OPENED_AT)).astype(np.int64)
    order = np.argsort(public)
    order = order[np.isin(public[order], met)]
    return StoredAccounts(public[order], scores[order], registered_at[order])


def _draw_weighted(rng: np.random.Generator, weights: Float64Array, count: int) -> Int32Array:
    """Draw indexes by weight, with repetitions."""
    reach = np.cumsum(weights)
    return np.searchsorted(reach, rng.random(count) * reach[-1], side="right").astype(np.int32)

"""Rows as they are made, in pieces, and the columns that they become: all that the fact tables store."""

from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from leaderboard.facts.columns import (
    Accounts,
    Actions,
    BoolArray,
    Int8Array,
    Int32Array,
    Int64Array,
    Interactions,
    IntervalFacts,
)

LIKE, RECAST, REPLY, QUOTE = 1, 2, 3, 4


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


@dataclass(frozen=True)
class Pairs:
    """Actors and the agents that they take up, without cast, time and kind. Zones are the actors' UTC offsets."""

    agent: Int32Array
    actor: Int64Array
    zone: Int8Array

    @classmethod
    def together(cls, parts: list[Self]) -> Self:
        """Return all, one after the other."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))


def confirmed_rows(
    agent: Int32Array, at: Int64Array, kind: Int8Array, actor: Int64Array, cast: Int64Array, text: Int64Array
) -> StoredInteractions:
    """Return interactions that the hub has."""
    return StoredInteractions(agent, actor, *np.ones((2, len(agent)), np.bool_), at, kind, cast, text)


def together(parts: list[StoredInteractions]) -> StoredInteractions:
    """Return all, one after the other."""
    names = [field.name for field in fields(StoredInteractions)]
    return StoredInteractions(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def choose(rows: StoredInteractions, which: BoolArray | Int32Array | Int64Array) -> StoredInteractions:
    """Return some rows."""
    return StoredInteractions(*(getattr(rows, field.name)[which] for field in fields(StoredInteractions)))


def once_each(rows: StoredInteractions) -> StoredInteractions:
    """Return the rows without an account's second like or recast for one cast; the first one stays."""
    is_mark = rows.kind <= RECAST
    marks = np.flatnonzero(is_mark)
    # Two different triples share a key once in some million populations, and then a like is lost.
    key = (rows.cast[marks].view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) ^ (
        (rows.actor[marks] * 4 + rows.kind[marks]).view(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    )
    _, first = np.unique(key, return_index=True)
    kept = ~is_mark
    kept[marks[first]] = True
    return choose(rows, kept)


def within(rows: StoredInteractions, *, after: int, until: int) -> StoredInteractions:
    """Return those in the interval."""
    return choose(rows, (rows.at > after) & (rows.at <= until))


def draw_keys(rng: np.random.Generator, count: int) -> Int64Array:
    """Draw keys for casts, texts or wallets that nothing else has."""
    return rng.integers(-(2**63), 2**63 - 1, size=count, dtype=np.int64)

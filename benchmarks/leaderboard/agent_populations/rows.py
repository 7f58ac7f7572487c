"""Rows as they are made, in pieces, and the columns that they become."""

from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from leaderboard.facts.columns import Index, Interactions, Small, Truth, Whole

LIKE, RECAST, REPLY, QUOTE = 1, 2, 3, 4


@dataclass(frozen=True)
class Pairs:
    """Who takes an agent up, before it is said which cast, when and how. Zones are UTC offsets of the actors."""

    agent: Index
    actor: Whole
    zone: Small

    @classmethod
    def together(cls, parts: list[Self]) -> Self:
        """All of them, one after the other."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))


def together(parts: list[Interactions]) -> Interactions:
    """All of them, one after the other."""
    names = [field.name for field in fields(Interactions)]
    return Interactions(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def choose(rows: Interactions, which: Truth | Index | Whole) -> Interactions:
    """Some of the rows."""
    return Interactions(*(getattr(rows, field.name)[which] for field in fields(Interactions)))


def once_each(rows: Interactions) -> Interactions:
    """Without a second like or recast of one cast by one account; the first that was made stays."""
    is_mark = rows.kind <= RECAST
    marks = np.flatnonzero(is_mark)
    # Two different triples share a key once in some millions of populations, and then a like is lost.
    key = (rows.cast[marks].view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) ^ (
        (rows.actor[marks] * 4 + rows.kind[marks]).view(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    )
    _, first = np.unique(key, return_index=True)
    kept = ~is_mark
    kept[marks[first]] = True
    return choose(rows, kept)


def within(rows: Interactions, *, after: int, until: int) -> Interactions:
    """Those of the interval."""
    return choose(rows, (rows.at > after) & (rows.at <= until))


def draw_keys(rng: np.random.Generator, count: int) -> Whole:
    """Keys of casts, texts or wallets that nothing else has."""
    return rng.integers(-(2**63), 2**63 - 1, size=count, dtype=np.int64)

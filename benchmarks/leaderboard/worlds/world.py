"""World with agents, accounts and their facts with the truth about each row, and its builder."""

from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from leaderboard.facts.columns import (
    Accounts,
    Actions,
    Agents,
    BoolArray,
    Float64Array,
    Int64Array,
    Interactions,
    IntervalFacts,
    Runs,
)

DAY = 86_400
WEEK = 7 * DAY
# The interval's end, and an account's first registration.
END = 1_767_225_600
FIRST_REGISTRATION = END - 1_700 * DAY
_NEWEST_FID = 1_200_000

POST = 1
LIKE, RECAST, REPLY, QUOTE = 1, 2, 3, 4

# Column's name -> its values.
Columns = dict[str, npt.NDArray[Any]]
Table = TypeVar("Table", Agents, Runs, Actions, Interactions, Accounts)


class Purpose(IntEnum):
    """Reason why a row exists."""

    ORGANIC = 0
    # Made or bought for the agent.
    BOUGHT = 1
    # Made by others to harm the agent.
    FRAMING = 2


@dataclass(frozen=True)
class World:
    """An interval's facts, and the truth about agents and rows."""

    facts: IntervalFacts
    # For each agent: what its public is like.
    kinds: tuple[str, ...]
    # For each agent: what was bought for it; empty for honest agents.
    attacks: tuple[str, ...]
    # For each agent: what was done against it; empty for none.
    framings: tuple[str, ...]
    # For each agent: whether its FID is proven; otherwise nothing about its audience is confirmed.
    is_proven: BoolArray
    # Table's name -> its rows: the facts, their purpose, and what no score reads, such as texts; trades are no facts.
    rows: dict[str, Columns]

    @property
    def is_planted(self) -> BoolArray:
        """Mask for the agents for which something was bought."""
        return np.array([bool(attack) for attack in self.attacks])

    def of_interval(self, interval: str) -> "World":
        """Return a week's world for a ranking's interval: its last day, or its facts spread over 30 days."""
        return {"24h": lambda: self.last(DAY), "7d": lambda: self, "30d": lambda: self.stretched(30 * DAY)}[interval]()

    def stretched(self, seconds: int) -> "World":
        """Return the world with the same rows, spread over an interval of so many seconds."""
        end, former = self.facts.computed_at, self.facts.seconds
        rows = {
            name: {
                column: end - (end - values) * seconds // former if column in ("at", "finished_at") else values
                for column, values in table.items()
            }
            for name, table in self.rows.items()
        }
        return replace(self, facts=_with_rows(replace(self.facts, seconds=seconds), rows), rows=rows)

    def last(self, seconds: int) -> "World":
        """Return the world with an interval of so many seconds up to its end; earlier interactions are kept."""
        start = self.facts.computed_at - seconds
        times = {"runs": "finished_at", "actions": "at", "trades": "at"}
        rows = {
            name: {column: values[table[times[name]] > start] for column, values in table.items()}
            for name, table in self.rows.items()
            if name in times
        }
        interactions = self.rows["interactions"]
        rows["interactions"] = interactions | {"is_current": interactions["at"] > start}
        return replace(self, facts=_with_rows(replace(self.facts, seconds=seconds), rows), rows=rows)

    def without(self, *purposes: Purpose) -> IntervalFacts:
        """Return the facts without these purposes' rows."""
        kept = {name: ~np.isin(self.rows[name]["purpose"], purposes) for name in ("runs", "actions", "interactions")}
        return replace(
            self.facts, **{name: choose_rows(getattr(self.facts, name), mask) for name, mask in kept.items()}
        )


def choose_rows(table: Table, chosen: BoolArray | Int64Array) -> Table:
    """Return some rows from a fact table."""
    return type(table)(*(getattr(table, field.name)[chosen] for field in fields(table)))


def join_rows(first: Table, second: Table) -> Table:
    """Return both tables' rows."""
    names = [field.name for field in fields(first)]
    return type(first)(*(np.concatenate([getattr(first, name), getattr(second, name)]) for name in names))


class WorldBuilder:
    """Collector for agents, accounts and rows. Times are seconds since 1970; rows outside the interval are left out.

    Arguments for rows are scalars or arrays with one length. All randomness is from `rng`.
    """

    def __init__(self, seed: int, *, seconds: int = WEEK) -> None:
        self.rng = np.random.default_rng(seed)
        self.start, self.end = END - seconds, END
        self._agents: list[dict[str, Any]] = []
        self._used_fids: set[int] = set()
        self._accounts: list[tuple[Int64Array, Float64Array]] = []
        self._rows: dict[str, list[Columns]] = {name: [] for name in ("runs", "actions", "interactions", "trades")}

    def add_accounts(self, registered_at: Int64Array, scores: Float64Array) -> Int64Array:
        """Add accounts and return their FIDs, which grow with the registration time.

        scores: 0 to 1, NaN where unknown. Accounts registered within a few minutes have neighbouring FIDs.
        """
        order = np.argsort(registered_at, kind="stable")
        fids = np.empty(len(order), np.int64)
        for place in order.tolist():
            age = np.clip((registered_at[place] - FIRST_REGISTRATION) / (END - FIRST_REGISTRATION), 0, 1)
            fid = 1 + int(_NEWEST_FID * age)
            while fid in self._used_fids:
                fid += 1
            self._used_fids.add(fid)
            fids[place] = fid
        self._accounts.append((fids, scores.astype(np.float64)))
        return fids

    def add_agent(
        self,
        kind: str,
        *,
        fid: int = 0,
        creator_fid: int = 0,
        reporter: int = 0,
        attack: str = "",
        framing: str = "",
        is_proven: bool = True,
    ) -> int:
        """Add an agent and return its index. `fid` and `creator_fid` name accounts, 0 where unknown.

        `reporter` is the partner key that reports the agent, 0 for the operator. No interaction with an agent that has
        not proved its FID (`is_proven`) is confirmed.
        """
        self._agents.append(
            {
                "kind": kind,
                "fid": fid,
                "creator": creator_fid,
                "reporter": reporter,
                "attack": attack,
                "framing": framing,
                "is_proven": is_proven,
            }
        )
        return len(self._agents) - 1

    def new_keys(self, count: int) -> Int64Array:
        """Return keys for casts, texts or wallets that nothing else has."""
        return self.rng.integers(1, 2**62, count)

    def add_runs(self, agent: Any, finished_at: Any, succeeded: Any, *, purpose: Any = Purpose.ORGANIC) -> None:
        """Add agents' runs."""
        self._add("runs", agent=agent, finished_at=finished_at, succeeded=succeeded, purpose=purpose)

    def add_casts(
        self, agent: Any, at: Any, *, kind: Any = POST, text: Any = 0, purpose: Any = Purpose.ORGANIC
    ) -> Int64Array:
        """Add agents' casts (`kind` is POST, REPLY or QUOTE of `ActionKind`) and return their keys.

        Casts before the interval are not in it, but interactions with them may be.
        """
        casts = self.new_keys(np.broadcast(agent, at).size)
        self._add("actions", agent=agent, at=at, kind=kind, cast=casts, text=text, purpose=purpose)
        return casts

    def add_interactions(
        self,
        agent: Any,
        cast: Any,
        actor: Any,
        at: Any,
        *,
        kind: Any = LIKE,
        text: Any = 0,
        purpose: Any = Purpose.ORGANIC,
        is_confirmed: Any = True,
    ) -> None:
        """Add accounts' interactions with agents' casts; an account likes or recasts a cast once.

        `kind` is LIKE, RECAST, REPLY or QUOTE; only the last two have a text; equal texts have equal keys.
        """
        self._add(
            "interactions",
            agent=agent,
            at=at,
            kind=kind,
            actor=actor,
            cast=cast,
            text=text,
            purpose=purpose,
            is_confirmed=is_confirmed,
        )

    def add_trades(
        self,
        agent: Any,
        at: Any,
        wallet: Any,
        *,
        is_own: Any,
        is_buy: Any,
        amount: Any,
        purpose: Any = Purpose.ORGANIC,
    ) -> None:
        """Add trades in agents' tokens; `amount` is in the token's smallest unit, `is_own` marks declared wallets."""
        self._add(
            "trades",
            agent=agent,
            at=at,
            wallet=wallet,
            is_own=is_own,
            is_buy=is_buy,
            amount=amount,
            purpose=purpose,
        )

    def build(self) -> World:
        """Return the world."""
        rows = {name: self._columns(name, "finished_at" if name == "runs" else "at") for name in self._rows}
        rows["interactions"] = _once_each(rows["interactions"])
        proven = np.array([agent["is_proven"] for agent in self._agents], np.bool_)
        rows["interactions"]["is_confirmed"] &= proven[rows["interactions"]["agent"]]
        rows["interactions"]["is_current"] = np.ones(len(rows["interactions"]["at"]), np.bool_)
        facts = IntervalFacts(
            computed_at=self.end,
            seconds=self.end - self.start,
            agents=Agents(
                ids=np.arange(1, len(self._agents) + 1),
                fids=self._of_agents("fid"),
                creator_fids=self._of_agents("creator"),
            ),
            runs=_as_facts(Runs, rows["runs"]),
            actions=_as_facts(Actions, rows["actions"]),
            interactions=_as_facts(Interactions, rows["interactions"]),
            accounts=self._sorted_accounts(),
            reporters=self._of_agents("reporter"),
        )
        return World(
            facts,
            kinds=tuple(agent["kind"] for agent in self._agents),
            attacks=tuple(agent["attack"] for agent in self._agents),
            framings=tuple(agent["framing"] for agent in self._agents),
            is_proven=proven,
            rows=rows,
        )

    def _add(self, name: str, **columns: Any) -> None:
        arrays = np.broadcast_arrays(*(np.atleast_1d(column) for column in columns.values()))
        self._rows[name].append(
            {column: each.astype(_TYPES[column]) for column, each in zip(columns, arrays, strict=True)}
        )

    def _columns(self, name: str, time_column: str) -> Columns:
        parts = self._rows[name]
        columns = {column: np.concatenate([part[column] for part in parts]) for column in parts[0]}
        inside = (columns[time_column] > self.start) & (columns[time_column] <= self.end)
        return {column: values[inside] for column, values in columns.items()}

    def _of_agents(self, key: str) -> Int64Array:
        return np.array([agent[key] for agent in self._agents], np.int64)

    def _sorted_accounts(self) -> Accounts:
        fids, scores = (np.concatenate(column) for column in zip(*self._accounts, strict=True))
        order = np.argsort(fids)
        return Accounts(fids[order], scores[order])


_TYPES: dict[str, type] = {
    "agent": np.int32,
    "kind": np.int8,
    "purpose": np.int8,
    "amount": np.float64,
    **dict.fromkeys(("succeeded", "is_own", "is_buy", "is_confirmed"), np.bool_),
    **dict.fromkeys(("at", "finished_at", "cast", "text", "actor", "wallet"), np.int64),
}


def _with_rows(facts: IntervalFacts, rows: dict[str, Columns]) -> IntervalFacts:
    """Return the facts with these runs, actions and interactions."""
    return replace(
        facts,
        runs=_as_facts(Runs, rows["runs"]),
        actions=_as_facts(Actions, rows["actions"]),
        interactions=_as_facts(Interactions, rows["interactions"]),
    )


def _as_facts(table: type[Table], columns: Columns) -> Table:
    """Return the columns that scores read."""
    return table(**{field.name: columns[field.name] for field in fields(table)})


def _once_each(interactions: Columns) -> Columns:
    """Return the interactions with only an account's first like and first recast for a cast."""
    order = np.argsort(interactions["at"], kind="stable")
    columns = {name: values[order] for name, values in interactions.items()}
    marks = np.flatnonzero(columns["kind"] <= RECAST)
    keys = np.stack([columns[name][marks].astype(np.int64) for name in ("cast", "actor", "kind")])
    _, first = np.unique(keys, axis=1, return_index=True)
    kept = columns["kind"] > RECAST
    kept[marks[first]] = True
    return {name: values[kept] for name, values in columns.items()}

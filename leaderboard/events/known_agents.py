"""A batch's agents with the changes that its descriptions make, written together at the end.

Each description part has its own time, so that arrival order makes no difference. A FID and a token belong to only
one agent: the first that names them, until it releases them or an operator decides otherwise.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Q

from leaderboard.events.reported_events import DescriptionEvent
from leaderboard.models import Agent, AgentWallet
from leaderboard.models.agents import DESCRIPTION_TIME_COLUMNS
from tokens.models.expressions import equals_any

_BATCH_SIZE = 1_000
# Columns that descriptions may change.
_CHANGED = (
    *DESCRIPTION_TIME_COLUMNS,
    *dict.fromkeys(DESCRIPTION_TIME_COLUMNS.values()),
    "wallets_told_at",
    "described_at",
)

# Values that only one agent may have: description key -> value.
Claims = Mapping[str, Any]


class KnownAgents:
    """Agents with the changes by the events so far; nothing is written before `save`."""

    def __init__(self, ids: Iterable[str], descriptions: Sequence[DescriptionEvent]) -> None:
        """Load the agents with these ids, and the current owners of the described FIDs and tokens."""
        is_involved = Q(equals_any("agent_id", ids))
        if fids := {fid for event in descriptions if (fid := event.changes.get("fid")) is not None}:
            is_involved |= Q(fid__in=fids)
        if addresses := {address for event in descriptions if (address := event.changes.get("token_address"))}:
            is_involved |= Q(equals_any("token_address", addresses))
        agents = list(Agent.objects.filter(is_involved))
        self.agents = {agent.agent_id: agent for agent in agents}
        self._before = {agent.agent_id: _claims(vars(agent)) for agent in agents}
        self._owners = {claim: agent_id for agent_id, claims in self._before.items() for claim in claims.items()}
        self._changed = dict[str, Agent]()
        with_wallets = {event.agent_id for event in descriptions if event.wallets is not None}
        self._wallets = {agent_id: set[str]() for agent_id in with_wallets}
        if with_wallets:
            rows = AgentWallet.objects.filter(equals_any("agent__agent_id", with_wallets))
            for agent_id, address in rows.values_list("agent__agent_id", "address"):
                self._wallets[agent_id].add(address)
        self._changed_wallets = set[str]()

    def conflicting_keys(self, event: DescriptionEvent) -> list[str]:
        """Return the event's keys whose values belong to another agent."""
        claims = _claims(self._current_changes(event)).items()
        return [claim[0] for claim in claims if self._owners.get(claim, event.agent_id) != event.agent_id]

    def apply(self, event: DescriptionEvent, *, partner_key_id: int | None) -> bool:
        """Apply the event to its agent, creating it if needed, and return whether anything changed."""
        agent = self.agents.get(event.agent_id)
        is_changed = agent is None
        changes = self._current_changes(event)
        if agent is None:
            agent = self.agents[event.agent_id] = Agent(agent_id=event.agent_id, partner_key_id=partner_key_id)
        owned = _claims(vars(agent))
        times = {DESCRIPTION_TIME_COLUMNS[column] for column in changes}
        if event.wallets is not None and not _is_outdated(agent, "wallets_told_at", event.at):
            times.add("wallets_told_at")
            is_changed |= self._set_wallets(event.agent_id, set(event.wallets))
        for column, value in changes.items():
            is_changed |= getattr(agent, column) != value
            setattr(agent, column, value)
        for column in (*times, "described_at"):
            before: datetime | None = getattr(agent, column)
            if before is None or before < event.at:
                is_changed = True
                setattr(agent, column, event.at)
        for claim in owned.items():
            del self._owners[claim]
        self._owners |= dict.fromkeys(_claims(vars(agent)).items(), event.agent_id)
        self._changed[event.agent_id] = agent
        return is_changed

    def save(self) -> None:
        """Write the changed agents and wallets."""
        # Another agent may get the value in this batch, and the unique constraints hold between statements, too.
        Agent.objects.filter(pk__in=self._lost("fid")).update(fid=None)
        Agent.objects.filter(pk__in=self._lost("token")).update(token_chain_id=None, token_address="")
        Agent.objects.bulk_create(
            self._changed.values(),
            batch_size=_BATCH_SIZE,
            update_conflicts=True,
            unique_fields=["agent_id"],
            update_fields=_CHANGED,
        )
        changed_wallets = {agent_id: self.agents[agent_id] for agent_id in sorted(self._changed_wallets)}
        AgentWallet.objects.filter(agent__in=changed_wallets.values()).delete()
        AgentWallet.objects.bulk_create(
            [
                AgentWallet(agent=agent, address=address)
                for agent_id, agent in changed_wallets.items()
                for address in sorted(self._wallets[agent_id])
            ],
            batch_size=_BATCH_SIZE,
        )

    def _current_changes(self, event: DescriptionEvent) -> dict[str, Any]:
        """Return the event's changes that no newer event has overridden."""
        agent = self.agents.get(event.agent_id)
        return {
            column: value
            for column, value in event.changes.items()
            if agent is None or not _is_outdated(agent, DESCRIPTION_TIME_COLUMNS[column], event.at)
        }

    def _set_wallets(self, agent_id: str, wallets: set[str]) -> bool:
        if wallets == self._wallets[agent_id]:
            return False
        self._wallets[agent_id] = wallets
        self._changed_wallets.add(agent_id)
        return True

    def _lost(self, key: str) -> list[int]:
        """Return the primary keys for agents that have lost the value stored under the key."""
        return [
            agent.pk
            for agent_id, agent in self._changed.items()
            if key in (before := self._before.get(agent_id, {})) and before[key] != _claims(vars(agent)).get(key)
        ]


def _claims(columns: Mapping[str, Any]) -> Claims:
    """Return the exclusive values among an agent's columns."""
    claims: dict[str, Any] = {}
    if columns.get("fid") is not None:
        claims["fid"] = columns["fid"]
    if columns.get("token_address"):
        claims["token"] = (columns["token_chain_id"], columns["token_address"])
    return claims


def _is_outdated(agent: Agent, column: str, changed_at: datetime) -> bool:
    """Return whether the column already has a time newer than `changed_at`."""
    last_change: datetime | None = getattr(agent, column)
    return last_change is not None and changed_at < last_change

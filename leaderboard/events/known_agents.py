"""The agents that a batch is about, as its descriptions change them one after the other; written at once at the end.

Each part of a description has its own time, so that it makes no difference in which order they come. A FID and a token
are one agent's alone: the first's that names them, until it lets go of them or an operator decides otherwise.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Q

from leaderboard.events.payloads import Described
from leaderboard.models import Agent, AgentWallet
from leaderboard.models.agents import TOLD_AT
from tokens.models.querysets import one_of

_BATCH = 1_000
# What descriptions may change of a row.
_CHANGED = (*TOLD_AT, *dict.fromkeys(TOLD_AT.values()), "wallets_told_at", "described_at")

# What is one agent's alone: the key of a description that names it, and its value.
Claims = Mapping[str, Any]


class KnownAgents:
    """Agents as they are after the events so far; nothing is written before `save`."""

    def __init__(self, ids: Iterable[str], descriptions: Sequence[Described]) -> None:
        """Find the agents with these ids, and whoever has what is described as theirs."""
        wanted = Q(one_of("agent_id", ids))
        if fids := {fid for event in descriptions if (fid := event.changes.get("fid")) is not None}:
            wanted |= Q(fid__in=fids)
        if addresses := {address for event in descriptions if (address := event.changes.get("token_address"))}:
            wanted |= Q(one_of("token_address", addresses))
        found = list(Agent.objects.filter(wanted))
        self.agents = {agent.agent_id: agent for agent in found}
        self._before = {agent.agent_id: _claims(vars(agent)) for agent in found}
        self._owners = {claim: agent_id for agent_id, claims in self._before.items() for claim in claims.items()}
        self._changed = dict[str, Agent]()
        told = {event.agent_id for event in descriptions if event.wallets is not None}
        self._wallets = {agent_id: set[str]() for agent_id in told}
        if told:
            rows = AgentWallet.objects.filter(one_of("agent__agent_id", told))
            for agent_id, address in rows.values_list("agent__agent_id", "address"):
                self._wallets[agent_id].add(address)
        self._rewired = set[str]()

    def wants_of_others(self, event: Described) -> list[str]:
        """The keys of what the event says its agent has, while another one has it."""
        claims = _claims(self._in_time(event)).items()
        return [claim[0] for claim in claims if self._owners.get(claim, event.agent_id) != event.agent_id]

    def describe(self, event: Described, *, partner_key_id: int | None) -> bool:
        """Change the agent as the event says, or make it; whether that told something new."""
        agent = self.agents.get(event.agent_id)
        tells = agent is None
        changes = self._in_time(event)
        if agent is None:
            agent = self.agents[event.agent_id] = Agent(agent_id=event.agent_id, partner_key_id=partner_key_id)
        held = _claims(vars(agent))
        times = {TOLD_AT[column] for column in changes}
        if event.wallets is not None and not _is_late(agent, "wallets_told_at", event.at):
            times.add("wallets_told_at")
            tells |= self._rewire(event.agent_id, set(event.wallets))
        for column, value in changes.items():
            tells |= getattr(agent, column) != value
            setattr(agent, column, value)
        for column in (*times, "described_at"):
            before: datetime | None = getattr(agent, column)
            if before is None or before < event.at:
                tells = True
                setattr(agent, column, event.at)
        for claim in held.items():
            del self._owners[claim]
        self._owners |= dict.fromkeys(_claims(vars(agent)).items(), event.agent_id)
        self._changed[event.agent_id] = agent
        return tells

    def save(self) -> None:
        """Write what was changed."""
        # Another agent may get what one loses, and no two rows may have it even in between.
        Agent.objects.filter(pk__in=self._losing("fid")).update(fid=None)
        Agent.objects.filter(pk__in=self._losing("token")).update(token_chain_id=None, token_address="")
        Agent.objects.bulk_create(
            self._changed.values(),
            batch_size=_BATCH,
            update_conflicts=True,
            unique_fields=["agent_id"],
            update_fields=_CHANGED,
        )
        rewired = {agent_id: self.agents[agent_id] for agent_id in sorted(self._rewired)}
        AgentWallet.objects.filter(agent__in=rewired.values()).delete()
        AgentWallet.objects.bulk_create(
            [
                AgentWallet(agent=agent, address=address)
                for agent_id, agent in rewired.items()
                for address in sorted(self._wallets[agent_id])
            ],
            batch_size=_BATCH,
        )

    def _in_time(self, event: Described) -> dict[str, Any]:
        """The columns with their values of which nothing newer is known."""
        agent = self.agents.get(event.agent_id)
        return {
            column: value
            for column, value in event.changes.items()
            if agent is None or not _is_late(agent, TOLD_AT[column], event.at)
        }

    def _rewire(self, agent_id: str, wallets: set[str]) -> bool:
        if wallets == self._wallets[agent_id]:
            return False
        self._wallets[agent_id] = wallets
        self._rewired.add(agent_id)
        return True

    def _losing(self, key: str) -> list[int]:
        """The primary keys of agents whose row has, under the key, what is not theirs any more."""
        return [
            agent.pk
            for agent_id, agent in self._changed.items()
            if key in (before := self._before.get(agent_id, {})) and before[key] != _claims(vars(agent)).get(key)
        ]


def _claims(columns: Mapping[str, Any]) -> Claims:
    """What these columns of an agent say is its alone."""
    claims: dict[str, Any] = {}
    if columns.get("fid") is not None:
        claims["fid"] = columns["fid"]
    if columns.get("token_address"):
        claims["token"] = (columns["token_chain_id"], columns["token_address"])
    return claims


def _is_late(agent: Agent, column: str, at: datetime) -> bool:
    """Whether something newer than `at` has been told of what the column has the time of."""
    told_at: datetime | None = getattr(agent, column)
    return told_at is not None and at < told_at

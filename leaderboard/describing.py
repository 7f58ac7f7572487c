"""The agents that events are about: found all at once, and described as events say."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Q

from leaderboard.events import Described, Event, Scored
from leaderboard.models import Agent, AgentWallet
from leaderboard.refusals import BadEvents, NotYours, Trouble
from tokens.querysets import one_of

_BATCH = 1_000
# What descriptions may change of a row.
_CHANGED = ("name", "fid", "token_chain_id", "token_address", "creator_fid", "described_at")


@dataclass(frozen=True)
class FoundAgents:
    """The primary keys of agents by what partners call them, and how many events told something new of them."""

    ids: Mapping[str, int]
    described: int


def find(events: Sequence[Event], *, partner_key_id: int | None) -> FoundAgents:
    """Find the agents of events, and describe those of which events of type agent tell; new ones are the key's.

    Events describe in the order of their times, and of two with the same time in their own; one that is older than
    what described the agent last changes nothing. To be called in a database transaction that writes facts alone
    (`recording.write_alone`). Raises NotYours, and BadEvents for agents that nobody made, FIDs that are others', and
    more agents than a key may have.
    """
    descriptions = [(index, event) for index, event in enumerate(events) if isinstance(event, Described)]
    ids = {event.agent_id for event in events if not isinstance(event, Scored)}
    known = _Known(ids, [event for _, event in descriptions])
    _refuse_foreign(events, known.agents, partner_key_id)
    described, refused = 0, set[str]()
    troubles = [] if partner_key_id is None else _too_many(descriptions, known.agents, partner_key_id)
    for index, event in sorted(descriptions, key=lambda each: each[1].at):
        if known.wants_anothers_fid(event):
            # Whose it is may be no business of this caller.
            troubles.append(Trouble(index, "fid", "must be its own: another agent has it"))
            refused.add(event.agent_id)
        else:
            described += known.describe(event, partner_key_id=partner_key_id)
    missing = ids - known.agents.keys() - refused
    troubles += _troubles(events, missing, "is that of no agent which is known, or described in the same batch")
    if troubles:
        raise BadEvents(troubles)
    known.save()
    return FoundAgents(ids={agent_id: agent.pk for agent_id, agent in known.agents.items()}, described=described)


class _Known:
    """Agents as they are after the events so far; nothing is written before `save`."""

    def __init__(self, ids: Iterable[str], descriptions: Sequence[Described]) -> None:
        fids = {fid for event in descriptions if (fid := event.changes.get("fid")) is not None}
        wanted = Q(one_of("agent_id", ids))
        found = list(Agent.objects.filter(wanted | Q(fid__in=fids) if fids else wanted))
        self.agents = {agent.agent_id: agent for agent in found}
        self._owners: dict[int | None, str] = {agent.fid: agent.agent_id for agent in found if agent.fid is not None}
        self._fids_before = {agent.agent_id: agent.fid for agent in found}
        self._changed = dict[str, Agent]()
        told = {event.agent_id for event in descriptions if event.wallets is not None}
        self._wallets = {agent_id: set[str]() for agent_id in told}
        if told:
            rows = AgentWallet.objects.filter(one_of("agent__agent_id", told))
            for agent_id, address in rows.values_list("agent__agent_id", "address"):
                self._wallets[agent_id].add(address)
        self._rewired = set[str]()

    def wants_anothers_fid(self, event: Described) -> bool:
        """Whether the event would give its agent the FID that another one has."""
        owner = self._owners.get(event.changes.get("fid"))
        return owner not in (None, event.agent_id) and not self._is_late(event)

    def describe(self, event: Described, *, partner_key_id: int | None) -> bool:
        """Change the agent as the event says, or make it; whether that told something new."""
        if self._is_late(event):
            return False
        agent = self.agents.get(event.agent_id)
        is_new = agent is None
        if agent is None:
            agent = self.agents[event.agent_id] = Agent(agent_id=event.agent_id, partner_key_id=partner_key_id)
        news = {column: value for column, value in event.changes.items() if getattr(agent, column) != value}
        if "fid" in news:
            self._owners.pop(agent.fid, None)
            if news["fid"] is not None:
                self._owners[news["fid"]] = event.agent_id
        is_rewired = event.wallets is not None and set(event.wallets) != self._wallets[event.agent_id]
        if event.wallets is not None and is_rewired:
            self._wallets[event.agent_id] = set(event.wallets)
            self._rewired.add(event.agent_id)
        is_newer = agent.described_at is None or event.at > agent.described_at
        for column, value in news.items():
            setattr(agent, column, value)
        agent.described_at = event.at
        self._changed[event.agent_id] = agent
        return is_new or is_newer or is_rewired or bool(news)

    def save(self) -> None:
        """Write what was changed."""
        moved = [pk for agent_id, agent in self._changed.items() if (pk := agent.pk) and self._loses_fid(agent_id)]
        if moved:
            # Another agent may get it, and no row may have it twice even in between.
            Agent.objects.filter(pk__in=moved).update(fid=None)
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

    def _is_late(self, event: Described) -> bool:
        agent = self.agents.get(event.agent_id)
        return agent is not None and agent.described_at is not None and event.at < agent.described_at

    def _loses_fid(self, agent_id: str) -> bool:
        before = self._fids_before.get(agent_id)
        return before is not None and before != self.agents[agent_id].fid


def _refuse_foreign(events: Iterable[Event], agents: Mapping[str, Agent], partner_key_id: int | None) -> None:
    """A key tells of its own agents alone: neither of another's, nor of those that operators made."""
    if partner_key_id is None:
        return
    foreign = {agent_id for agent_id, agent in agents.items() if agent.partner_key_id != partner_key_id}
    troubles = _troubles(events, foreign, "is that of an agent which others report about")
    if troubles:
        raise NotYours(troubles)


def _too_many(
    descriptions: Iterable[tuple[int, Described]], agents: Mapping[str, Agent], partner_key_id: int
) -> list[Trouble]:
    """What to say of the events that would make more agents than one key may have."""
    first_told = dict[str, int]()
    for index, event in descriptions:
        if event.agent_id not in agents:
            first_told.setdefault(event.agent_id, index)
    if not first_told:
        return []
    most = settings.LEADERBOARD_AGENTS_PER_KEY
    room = max(0, most - Agent.objects.filter(partner_key_id=partner_key_id).count())
    rule = f"would be one more than the {most} agents that a key may have"
    return [Trouble(index, "agentId", rule) for index in list(first_told.values())[room:]]


def _troubles(events: Iterable[Event], agent_ids: Set[str], rule: str) -> list[Trouble]:
    """What to say of the events that are about these agents."""
    if not agent_ids:
        return []
    return [
        Trouble(index, "agentId", f"{rule}: {event.agent_id}")
        for index, event in enumerate(events)
        if not isinstance(event, Scored) and event.agent_id in agent_ids
    ]

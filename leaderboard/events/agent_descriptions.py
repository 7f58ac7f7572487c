"""The agents that events are about: found all at once, and described as events say."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from django.conf import settings

from leaderboard.events.errors import BadEvents, NotYours, Trouble
from leaderboard.events.known_agents import KnownAgents
from leaderboard.events.payloads import Described, Event, Scored
from leaderboard.models import Agent

# Whose it is may be no business of the caller.
_TAKEN = "must be its own: another agent has it"


@dataclass(frozen=True)
class FoundAgents:
    """The primary keys of agents by what partners call them, and how many events told something new of them."""

    ids: Mapping[str, int]
    described: int


def find(events: Sequence[Event], *, partner_key_id: int | None) -> FoundAgents:
    """Find the agents of events, and describe those of which events of type agent tell; new ones are the key's.

    Of each part of a description the newest event's word counts, and of two with the same time the later one's; what is
    older changes nothing. To be called in a database transaction that writes facts alone (`recording.write_alone`).
    Raises NotYours, and BadEvents for agents that nobody made, FIDs and tokens that are others', and more agents than a
    key may have.
    """
    descriptions = [(index, event) for index, event in enumerate(events) if isinstance(event, Described)]
    ids = {event.agent_id for event in events if not isinstance(event, Scored)}
    known = KnownAgents(ids, [event for _, event in descriptions])
    _refuse_foreign(events, known.agents, partner_key_id)
    described, refused = 0, set[str]()
    troubles = [] if partner_key_id is None else _too_many(descriptions, known.agents, partner_key_id)
    for index, event in sorted(descriptions, key=lambda each: each[1].at):
        if taken := known.wants_of_others(event):
            troubles += [Trouble(index, key, _TAKEN) for key in taken]
            refused.add(event.agent_id)
        else:
            described += known.describe(event, partner_key_id=partner_key_id)
    missing = ids - known.agents.keys() - refused
    troubles += _troubles(events, missing, "is that of no agent which is known, or described in the same batch")
    if troubles:
        raise BadEvents(troubles)
    known.save()
    return FoundAgents(ids={agent_id: agent.pk for agent_id, agent in known.agents.items()}, described=described)


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

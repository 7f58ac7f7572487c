"""Resolution of the agents in a batch, and of the descriptions in it, in one query."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from django.conf import settings

from leaderboard.events.errors import EventProblem, ForeignAgentError, InvalidEventsError
from leaderboard.events.known_agents import KnownAgents
from leaderboard.events.reported_events import DescriptionEvent, Event, ScoreEvent
from leaderboard.models import Agent

# Does not name the other agent, which may belong to another partner.
_ALREADY_USED = "is already used by another agent"


@dataclass(frozen=True)
class ResolvedAgents:
    """Primary keys of agents by public id, and the number of events that changed a description."""

    ids: Mapping[str, int]
    described: int


def resolve_agents(events: Sequence[Event], *, partner_key_id: int | None) -> ResolvedAgents:
    """Find the agents of events, and apply the descriptions among these; new agents belong to the key.

    For each part of a description the newest event is kept; of two with the same time, the later in the batch. Older
    events change nothing. The caller must hold the write lock in a transaction (`recording.lock_fact_writes`).
    Raises ForeignAgentError, and InvalidEventsError for unknown agents, for FIDs and tokens of other agents, and for
    more agents than a key may have.
    """
    descriptions = [(index, event) for index, event in enumerate(events) if isinstance(event, DescriptionEvent)]
    ids = {event.agent_id for event in events if not isinstance(event, ScoreEvent)}
    known = KnownAgents(ids, [event for _, event in descriptions])
    _reject_foreign(events, known.agents, partner_key_id)
    described, rejected = 0, set[str]()
    problems = [] if partner_key_id is None else _over_limit(descriptions, known.agents, partner_key_id)
    for index, event in sorted(descriptions, key=lambda entry: entry[1].at):
        if conflicts := known.conflicting_keys(event):
            problems += [EventProblem(index, key, _ALREADY_USED) for key in conflicts]
            rejected.add(event.agent_id)
        else:
            described += known.apply(event, partner_key_id=partner_key_id)
    missing = ids - known.agents.keys() - rejected
    problems += _problems_about(events, missing, "is neither a known agent nor described in the same batch")
    if problems:
        raise InvalidEventsError(problems)
    known.save()
    return ResolvedAgents(ids={agent_id: agent.pk for agent_id, agent in known.agents.items()}, described=described)


def _reject_foreign(events: Iterable[Event], agents: Mapping[str, Agent], partner_key_id: int | None) -> None:
    """Reject events about another key's or an operator's agents: a key reports on its own agents only."""
    if partner_key_id is None:
        return
    foreign = {agent_id for agent_id, agent in agents.items() if agent.partner_key_id != partner_key_id}
    problems = _problems_about(events, foreign, "belongs to an agent of another reporter")
    if problems:
        raise ForeignAgentError(problems)


def _over_limit(
    descriptions: Iterable[tuple[int, DescriptionEvent]], agents: Mapping[str, Agent], partner_key_id: int
) -> list[EventProblem]:
    """Return a problem for each event that would exceed the number of agents per key."""
    first_described = dict[str, int]()
    for index, event in descriptions:
        if event.agent_id not in agents:
            first_described.setdefault(event.agent_id, index)
    if not first_described:
        return []
    limit = settings.LEADERBOARD_AGENTS_PER_KEY
    available = max(0, limit - Agent.objects.filter(partner_key_id=partner_key_id).count())
    rule = f"exceeds the limit of {limit} agents per key"
    return [EventProblem(index, "agentId", rule) for index in list(first_described.values())[available:]]


def _problems_about(events: Iterable[Event], agent_ids: Set[str], rule: str) -> list[EventProblem]:
    """Return a problem for each event about one of these agents."""
    if not agent_ids:
        return []
    return [
        EventProblem(index, "agentId", f"{rule}: {event.agent_id}")
        for index, event in enumerate(events)
        if not isinstance(event, ScoreEvent) and event.agent_id in agent_ids
    ]

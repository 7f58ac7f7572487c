"""Resolution of a batch's agents and descriptions, in one query."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from django.conf import settings

from leaderboard.events.errors import EventProblem, ForeignAgentError, InvalidEventsError
from leaderboard.events.known_agents import KnownAgents
from leaderboard.events.reported_events import DescriptionEvent, Event, ScoreEvent
from leaderboard.models import Agent

# The rule does not name the other agent, which may belong to another partner.
_ALREADY_USED = "is already used by another agent"


@dataclass(frozen=True)
class ResolvedAgents:
    """Agents' primary keys by public id, and the number of events that changed a description."""

    ids: Mapping[str, int]
    described: int


def resolve_agents(events: Sequence[Event], *, partner_key_id: int | None) -> ResolvedAgents:
    """Find the events' agents, and apply the descriptions among the events; new agents belong to the key.

    For each description part the newest event wins; with equal times, the later event in the batch. Older events
    change nothing. The caller must hold the write lock in a transaction (`recording.lock_fact_writes`).
    Raises ForeignAgentError, and InvalidEventsError for unknown agents, for FIDs and tokens that belong to other
    agents, and for more agents than a key may have.
    """
    descriptions = [(index, event) for index, event in enumerate(events) if isinstance(event, DescriptionEvent)]
    ids = {event.agent_id for event in events if not isinstance(event, ScoreEvent)}
    batch_agents = KnownAgents(ids, [event for _, event in descriptions])
    _reject_foreign(events, batch_agents.agents, partner_key_id)
    described, rejected = 0, set[str]()
    problems = [] if partner_key_id is None else _over_limit(descriptions, batch_agents.agents, partner_key_id)
    for index, event in sorted(descriptions, key=lambda entry: entry[1].at):
        if conflicts := batch_agents.conflicting_keys(event):
            problems += [EventProblem(index, key, _ALREADY_USED) for key in conflicts]
            rejected.add(event.agent_id)
        else:
            described += batch_agents.apply(event, partner_key_id=partner_key_id)
    missing = ids - batch_agents.agents.keys() - rejected
    problems += _problems_about(events, missing, "is neither a known agent nor described in the same batch")
    if problems:
        raise InvalidEventsError(problems)
    batch_agents.save()
    return ResolvedAgents(
        ids={agent_id: agent.pk for agent_id, agent in batch_agents.agents.items()}, described=described
    )


def _reject_foreign(events: Iterable[Event], agents: Mapping[str, Agent], partner_key_id: int | None) -> None:
    """Reject events about another key's or an operator's agents: a key reports only on its own agents."""
    if partner_key_id is None:
        return
    foreign = {agent_id for agent_id, agent in agents.items() if agent.partner_key_id != partner_key_id}
    problems = _problems_about(events, foreign, "belongs to an agent of another reporter")
    if problems:
        raise ForeignAgentError(problems)


def _over_limit(
    descriptions: Iterable[tuple[int, DescriptionEvent]], agents: Mapping[str, Agent], partner_key_id: int
) -> list[EventProblem]:
    """Return a problem for each event that would exceed the agent limit per key."""
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

"""Errors for rejected event batches, with the event, the path and the rule."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EventProblem:
    """Broken rule: the event's index in its batch, from 0; a path in the event, empty for the whole event; the rule."""

    index: int
    path: str
    rule: str


class InvalidEventsError(ValueError):
    """Batch rejected as a whole; `problems` lists all problems, sorted by event."""

    def __init__(self, problems: Sequence[EventProblem]) -> None:
        super().__init__(*problems[:1])
        self.problems = tuple(sorted(problems, key=lambda problem: problem.index))


class ForeignAgentError(InvalidEventsError):
    """Batch with events about agents that belong to another partner key or to operators."""


class MissingScoresScopeError(InvalidEventsError):
    """Batch with social scores from a partner key without the scope `scores`."""

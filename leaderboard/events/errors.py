"""Why events are not taken: which one of a batch, where in it, and the rule."""

from collections.abc import Sequence
from dataclasses import dataclass

from config.json_rules import Refused


@dataclass(frozen=True, slots=True)
class Trouble:
    """The event's place in its batch, from 0; a path in the event, empty for all of it; and the rule in words."""

    index: int
    path: str
    rule: str


class BadEvents(ValueError):
    """Nothing of the batch is taken; `troubles` is all that was found, in the order of the events."""

    def __init__(self, troubles: Sequence[Trouble]) -> None:
        super().__init__(*troubles[:1])
        self.troubles = tuple(sorted(troubles, key=lambda trouble: trouble.index))


class NotYours(BadEvents):
    """Events are about agents of another partner key, or of operators."""


class LacksScores(BadEvents):
    """Events tell scores of accounts, and their partner key has no scope for that."""


def troubles_of(index: int, error: Refused) -> list[Trouble]:
    """What a rule of an event refused, with the event's place."""
    return [Trouble(index, path, rule) for path, rule in error.problems]

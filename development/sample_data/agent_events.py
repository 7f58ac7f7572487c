"""Invented agents' sample events. The same period always has the same events.

Most agents have an audience as real agents do: few accounts interact often, many rarely. One agent has a farm instead:
the same new accounts reply to each of its casts at once, with the same text.
"""

import hashlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any

Event = dict[str, Any]

DAY = 86_400
# FIDs far above the assigned ones.
_AGENTS_FROM, _CREATORS_FROM, _PEOPLE_FROM, _FARM_FROM = 900_000_001, 900_001_001, 900_100_001, 900_200_001
_PEOPLE, _FARM = 1_500, 6
# Exponent of the Pareto distribution for activity.
_TAIL = 0.8
# Recent casts that still get interactions; newer casts get more.
_RECENT = 40


@dataclass(frozen=True, kw_only=True)
class Character:
    """Invented agent: casts and runs per day, and their success and reach."""

    name: str
    pace: float
    success: float
    # Mean interactions per cast.
    echo: float
    creator_score: float
    has_token: bool = True
    has_farm: bool = False

    @property
    def id(self) -> str:
        return f"sample-{self.name.lower()}"


CHARACTERS = (
    Character(name="Beacon", pace=5, success=0.97, echo=5, creator_score=0.93),
    Character(name="Pump", pace=4, success=0.9, echo=0.3, creator_score=0.2, has_farm=True),
    Character(name="Ledger", pace=3, success=0.99, echo=3, creator_score=0.8),
    Character(name="Sparrow", pace=6, success=0.85, echo=2.5, creator_score=0.7),
    Character(name="Drifter", pace=1.5, success=0.6, echo=2.5, creator_score=0.45),
    Character(name="Newcomer", pace=0.4, success=0.75, echo=1, creator_score=0.5),
    Character(name="Loner", pace=2, success=0.9, echo=1.5, creator_score=0.6, has_token=False),
)


def introduction_events(began: int) -> list[Event]:
    """Return events that describe the agents, and all accounts' scores, as of the Unix time `began`."""
    events = []
    for index, agent in enumerate(CHARACTERS):
        creator = _CREATORS_FROM + index
        about = {"name": f"{agent.name} (sample)", "fid": _AGENTS_FROM + index, "creatorFid": creator}
        events.append(_event(agent, "agent", "is", began, **about))
        events.append(_score(creator, agent.creator_score, began, age_days=900))
    for person in range(_PEOPLE):
        random = Random(person)
        score = round(random.betavariate(5, 2), 2)
        events.append(_score(_PEOPLE_FROM + person, score, began, age_days=random.randrange(100, 1500)))
    return events + [_score(_FARM_FROM + number, 0.04, began, age_days=3 + number) for number in range(_FARM)]


def token_event(agent: Character, *, chain_id: int, address: str, now: int) -> Event:
    """Return the event that links a token to the agent."""
    return _event(agent, "agent", f"has-{address}", now, token={"chainId": chain_id, "address": address})


class AgentSimulation:
    """Agents' activity, period after period; it stores their latest casts."""

    def __init__(self) -> None:
        # Time and hash, newest last.
        self._casts: dict[str, deque[tuple[int, str]]] = {agent.id: deque(maxlen=_RECENT) for agent in CHARACTERS}

    def advance(self, begin: int, *, seconds: int, hurry: float = 1.0) -> list[Event]:
        """Return a period's events from the Unix time `begin` on, at `hurry` times the usual rate, sorted by agent."""
        events: list[Event] = []
        for agent in CHARACTERS:
            stretch = f"{begin}-{seconds}"
            # A count with the given mean: the mean plus a random fraction, rounded down.
            random = Random(f"{agent.id}/{stretch}")
            pace = agent.pace * hurry * seconds / DAY
            for number in range(int(pace + random.random())):
                events += self._work(agent, random, f"{stretch}-{number}", begin + random.randrange(seconds))
            if self._casts[agent.id]:
                answers = int(pace * agent.echo + random.random())
                events += [self._interact(agent, random, f"{stretch}-by-{n}", begin, seconds) for n in range(answers)]
        return events

    def _work(self, agent: Character, random: Random, stretch: str, at: int) -> Iterator[Event]:
        """Yield a run, and the cast that it wrote."""
        took, well = random.randrange(1, 60), random.random() < agent.success
        times = {"startedAt": _time(at - took), "finishedAt": _time(at)}
        yield {"id": f"{agent.id}-{stretch}-run", "type": "run", "agentId": agent.id, "succeeded": well, **times}
        cast = _hash(f"{agent.id}/{stretch}")
        self._casts[agent.id].append((at, cast))
        kind = random.choice(("post", "post", "post", "reply", "quote"))
        text = f"Sample {kind} of {agent.name}, {stretch}"
        yield _event(agent, "action", f"{stretch}-cast", at, kind=kind, castHash=cast, text=text)
        for number in range(_FARM if agent.has_farm else 0):
            answer = {"kind": "reply", "messageHash": _hash(f"{cast}/{number}"), "text": "Great project, to the moon!"}
            fan = {"castHash": cast, "actorFid": _FARM_FROM + number}
            yield _event(agent, "interaction", f"{stretch}-fan-{number}", at + 2 + number, **answer, **fan)

    def _interact(self, agent: Character, random: Random, stretch: str, begin: int, seconds: int) -> Event:
        """Return a person's interaction with an earlier cast."""
        casts = self._casts[agent.id]
        cast_at, cast = casts[-min(int(random.paretovariate(_TAIL)), len(casts))]
        interacted_at = random.randrange(max(begin, cast_at), begin + seconds)
        kind = random.choice(("like", "like", "like", "recast", "reply"))
        # Each agent's audience begins at another offset among the people.
        offset = int(random.paretovariate(_TAIL) * 150) + len(agent.name) * 131
        about = {"kind": kind, "castHash": cast, "actorFid": _PEOPLE_FROM + offset % _PEOPLE}
        if kind == "reply":
            about |= {"messageHash": _hash(f"{agent.id}/{stretch}"), "text": f"Sample answer {stretch}"}
        return _event(agent, "interaction", stretch, interacted_at, **about)


def _event(agent: Character, kind_of_event: str, word: str, at: int, **facts: Any) -> Event:
    about = {"id": f"{agent.id}-{word}", "type": kind_of_event, "at": _time(at), "agentId": agent.id}
    return about | facts


def _score(fid: int, score: float, at: int, *, age_days: int) -> Event:
    about = {"id": f"sample-{fid}", "type": "score", "at": _time(at), "fid": fid, "score": score}
    return about | {"registeredAt": _time(at - age_days * DAY)}


def _hash(text: str) -> str:
    return "0x" + hashlib.sha256(text.encode()).hexdigest()[:40]


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()

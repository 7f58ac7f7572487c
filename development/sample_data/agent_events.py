"""What made-up agents did: sample data, the same for the same stretch of time whoever asks when.

Most have an audience in which few take up much and many a little, as people do. One has a farm instead: the same new
accounts answer each of its casts at once, with the same words.
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
# Of the social protocol's numbers far above those that are given out.
_AGENTS_FROM, _CREATORS_FROM, _PEOPLE_FROM, _FARM_FROM = 900_000_001, 900_001_001, 900_100_001, 900_200_001
_PEOPLE, _FARM = 1_500, 6
# How few of them do most of what is done (the exponent of a Pareto distribution).
_TAIL = 0.8
# Casts that people still take up, the newer the more.
_RECENT = 40


@dataclass(frozen=True, kw_only=True)
class Character:
    """A made-up agent: how often it casts and runs (a day), and how its runs and casts fare."""

    name: str
    pace: float
    success: float
    # Interactions with a cast, on average.
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


def introduce(began: int) -> list[Event]:
    """Who the agents are, and what is thought of all who appear, as of the Unix time `began`."""
    events = []
    for place, agent in enumerate(CHARACTERS):
        creator = _CREATORS_FROM + place
        about = {"name": f"{agent.name} (sample)", "fid": _AGENTS_FROM + place, "creatorFid": creator}
        events.append(_event(agent, "agent", "is", began, **about))
        events.append(_score(creator, agent.creator_score, began, age_days=900))
    for person in range(_PEOPLE):
        random = Random(person)
        score = round(random.betavariate(5, 2), 2)
        events.append(_score(_PEOPLE_FROM + person, score, began, age_days=random.randrange(100, 1500)))
    return events + [_score(_FARM_FROM + number, 0.04, began, age_days=3 + number) for number in range(_FARM)]


def own(agent: Character, *, chain_id: int, address: str, now: int) -> Event:
    """That the agent has this token."""
    return _event(agent, "agent", f"has-{address}", now, token={"chainId": chain_id, "address": address})


class Life:
    """All that the agents do, one stretch of time after another; it remembers what they cast last."""

    def __init__(self) -> None:
        # Time and hash, the newest last.
        self._casts: dict[str, deque[tuple[int, str]]] = {agent.id: deque(maxlen=_RECENT) for agent in CHARACTERS}

    def go_on(self, begin: int, *, seconds: int, hurry: float = 1.0) -> list[Event]:
        """What they do from the Unix time `begin` on, so many times as much as usual; ordered by agent."""
        events: list[Event] = []
        for agent in CHARACTERS:
            stretch = f"{begin}-{seconds}"
            # A whole number of things, as many as the mean on average, is the mean and a random part of one, cut.
            random = Random(f"{agent.id}/{stretch}")
            pace = agent.pace * hurry * seconds / DAY
            for number in range(int(pace + random.random())):
                events += self._work(agent, random, f"{stretch}-{number}", begin + random.randrange(seconds))
            if self._casts[agent.id]:
                answers = int(pace * agent.echo + random.random())
                events += [self._take_up(agent, random, f"{stretch}-by-{n}", begin, seconds) for n in range(answers)]
        return events

    def _work(self, agent: Character, random: Random, stretch: str, at: int) -> Iterator[Event]:
        """A run, and the cast that came of it."""
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

    def _take_up(self, agent: Character, random: Random, stretch: str, begin: int, seconds: int) -> Event:
        """One of the people likes, passes on or answers a cast, after it was made."""
        casts = self._casts[agent.id]
        cast_at, cast = casts[-min(int(random.paretovariate(_TAIL)), len(casts))]
        at = random.randrange(max(begin, cast_at), begin + seconds)
        kind = random.choice(("like", "like", "like", "recast", "reply"))
        # Each agent's audience begins somewhere else among the people.
        place = int(random.paretovariate(_TAIL) * 150) + len(agent.name) * 131
        about = {"kind": kind, "castHash": cast, "actorFid": _PEOPLE_FROM + place % _PEOPLE}
        if kind == "reply":
            about |= {"messageHash": _hash(f"{agent.id}/{stretch}"), "text": f"Sample answer {stretch}"}
        return _event(agent, "interaction", stretch, at, **about)


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

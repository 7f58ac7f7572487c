"""Simulated agents of `make run`."""

from collections import Counter
from datetime import UTC, datetime

from development.sample_data.agent_events import CHARACTERS, DAY, AgentSimulation, introduction_events, token_event
from leaderboard.events import payloads

BEGAN = 1_790_000_000 // DAY * DAY
PART = DAY // 4


def month(began=BEGAN):
    life = AgentSimulation()
    return [event for part in range(30 * 4) for event in life.advance(began + part * PART, seconds=PART)]


def test_it_is_deterministic():
    assert month() == month()
    assert introduction_events(BEGAN) == introduction_events(BEGAN)
    # A start on the next day has the same event ids for the days of both.
    later = {event["id"] for event in month(BEGAN + DAY)}
    assert {event["id"] for event in month() if f"-{BEGAN + 20 * DAY}-" in event["id"]} <= later


def test_each_event_has_an_id_of_its_own_and_is_one_that_the_service_takes():
    token = token_event(CHARACTERS[0], chain_id=31337, address="0x" + "ab" * 20, now=BEGAN)
    events = [*introduction_events(BEGAN), token, *month()]
    latest = datetime.fromtimestamp(BEGAN + 31 * DAY, UTC)
    assert len({payloads.parse_event(event, latest=latest).id for event in events}) == len(events)
    assert {event["type"] for event in events} == {"agent", "score", "run", "action", "interaction"}


def test_few_do_much_and_many_a_little_and_the_farm_answers_only_one_agent():
    actors = Counter((event["agentId"], event["actorFid"]) for event in month() if event["type"] == "interaction")
    of_beacon = sorted((count for (agent, _), count in actors.items() if agent == "sample-beacon"), reverse=True)
    assert of_beacon[0] >= 5 and of_beacon.count(1) > 100
    farmed = {agent for (agent, fid), _ in actors.items() if fid >= 900_200_001}
    assert farmed == {"sample-pump"}

"""What the made-up agents of `make run` do."""

from collections import Counter
from datetime import UTC, datetime

from development.sample_data.agent_events import CHARACTERS, DAY, Life, introduce, own
from leaderboard.events import payloads

BEGAN = 1_790_000_000 // DAY * DAY
PART = DAY // 4


def month(began=BEGAN):
    life = Life()
    return [event for part in range(30 * 4) for event in life.go_on(began + part * PART, seconds=PART)]


def test_it_is_the_same_whenever_it_is_told():
    assert month() == month()
    assert introduce(BEGAN) == introduce(BEGAN)
    # A start on the next day tells of the days that both know under the same ids.
    later = {event["id"] for event in month(BEGAN + DAY)}
    assert {event["id"] for event in month() if f"-{BEGAN + 20 * DAY}-" in event["id"]} <= later


def test_each_event_has_an_id_of_its_own_and_is_one_that_the_service_takes():
    token = own(CHARACTERS[0], chain_id=31337, address="0x" + "ab" * 20, now=BEGAN)
    told = [*introduce(BEGAN), token, *month()]
    latest = datetime.fromtimestamp(BEGAN + 31 * DAY, UTC)
    assert len({payloads.read(event, latest=latest).id for event in told}) == len(told)
    assert {event["type"] for event in told} == {"agent", "score", "run", "action", "interaction"}


def test_few_do_much_and_many_a_little_and_the_farm_answers_one_agent_alone():
    actors = Counter((event["agentId"], event["actorFid"]) for event in month() if event["type"] == "interaction")
    of_beacon = sorted((count for (agent, _), count in actors.items() if agent == "sample-beacon"), reverse=True)
    assert of_beacon[0] >= 5 and of_beacon.count(1) > 100
    farmed = {agent for (agent, fid), _ in actors.items() if fid >= 900_200_001}
    assert farmed == {"sample-pump"}

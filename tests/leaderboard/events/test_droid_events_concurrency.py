"""Partners that report the same facts concurrently: each fact is stored once, and no request is refused."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from threading import Event

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.keys import credentials
from accounts.models import Scope
from config.processes.concurrency_limits import SLOTS, node_slot, write_slot
from leaderboard.events import payloads, recording
from leaderboard.events.errors import InvalidEventsError
from leaderboard.events.field_rules import latest_accepted_time
from leaderboard.events.recording import Reporter
from leaderboard.models import Action, Agent, Interaction, Run
from tests.processes.at_once import blocked_sessions, call_at_once, own_connection
from tests.processes.waiting import wait_for
from tests.rows import agent_events as reported

pytestmark = pytest.mark.django_db(transaction=True)

CALLERS, FACTS = 4, 300


def batch():
    """Return an agent event, and FACTS casts, likes and runs about it."""
    values = [reported.agent(name="One", fid=7)]
    for number in range(FACTS):
        cast = f"0x{number * 7_919 % 65_536:04x}" + "00" * 18
        values += [reported.action(f"c{number}", castHash=cast), reported.like(f"l{number}", castHash=cast)]
        values.append(reported.run(f"r{number}"))
    latest = latest_accepted_time(timezone.now() + timedelta(days=1))
    return [payloads.parse_event(value, latest=latest) for value in values]


def test_each_fact_is_kept_once_in_any_sequence_of_reports():
    read = batch()

    def call(number):
        # Half the callers are one partner that retries, the others report the same under their own ids.
        reporter = Reporter(source="one" if number % 2 else str(number))
        return recording.record_events(read if number < 2 else read[::-1], reporter=reporter)

    answers = call_at_once([partial(call, number) for number in range(CALLERS)])
    assert (Agent.objects.count(), Action.objects.count(), Interaction.objects.count()) == (1, FACTS, FACTS)
    assert Run.objects.count() == FACTS
    assert sum(answer.added for answer in answers) == 1 + 3 * FACTS
    assert {answer.added + answer.known for answer in answers} == {len(read)}


def test_half_of_a_process_threads_wait_to_write_and_no_more(client):
    headers = {"x-api-key": credentials.issue_key("Agency", scopes=[Scope.AGENTS])}

    def call():
        return client.post(
            "/api/droid/events",
            json.dumps({"events": [reported.agent()]}),
            content_type="application/json",
            headers=headers,
        )

    with ExitStack() as taken:
        for _ in range(SLOTS):
            taken.enter_context(write_slot())
        answer = call()
        assert (answer.status_code, answer["Retry-After"]) == (503, "1")
        assert answer.json() == {"error": "Too many concurrent writes"}
        assert not Agent.objects.exists()
        # Node queries have their own slots.
        with node_slot():
            pass
    assert call().status_code == 200


def test_a_call_waits_a_while_for_another_writer_and_is_then_refused_with_a_retry_delay(client, caplog):
    headers = {"x-api-key": credentials.issue_key("Agency", scopes=[Scope.AGENTS])}
    body = {"events": [reported.agent()]}

    @own_connection
    def hold():
        with transaction.atomic():
            recording.lock_fact_writes()
            held.set()
            assert over.wait(120)

    held, over = Event(), Event()
    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(hold)
        assert held.wait(120)
        answer = client.post("/api/droid/events", json.dumps(body), content_type="application/json", headers=headers)
        over.set()
        holding.result()
    assert answer.status_code == 503 and int(answer["Retry-After"]) > 0
    # Its lock timeout is shorter than the statement timeout.
    assert "due to lock timeout" in caplog.text
    answer = client.post("/api/droid/events", json.dumps(body), content_type="application/json", headers=headers)
    assert answer.json() == {"success": True, "added": 1, "known": 0}


def give_fid_away():
    Agent.objects.create(agent_id="other", fid=7)


def give_token_away():
    Agent.objects.create(agent_id="other", token_chain_id=8453, token_address=reported.WALLET)


def delete_agent():
    Agent.objects.get(agent_id="two").delete()


@pytest.mark.parametrize(
    ("act", "path", "rule"),
    [
        (give_fid_away, "fid", "is already used by another agent"),
        (give_token_away, "token", "is already used by another agent"),
        (delete_agent, "agentId", "is neither a known agent nor described in the same batch: two"),
    ],
)
def test_what_an_operator_does_meanwhile_is_seen(act, path, rule):
    Agent.objects.create(agent_id="two")
    latest = latest_accepted_time(timezone.now())
    described = reported.agent(fid=7, token={"chainId": 8453, "address": reported.WALLET})
    reported_errors = [payloads.parse_event(event, latest=latest) for event in (described, reported.run(agentId="two"))]

    # As a file's chunk is imported, whose progress commits with it.
    @own_connection
    @transaction.atomic
    def call():
        return recording.record_events(reported_errors, reporter=Reporter(source="one"))

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            act()
            answer = pool.submit(call)
            wait_for(blocked_sessions)
        with pytest.raises(InvalidEventsError) as refused:
            answer.result()
    (problem,) = refused.value.problems
    assert (problem.path, problem.rule) == (path, rule)

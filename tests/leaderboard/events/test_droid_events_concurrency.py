"""Partners that tell of the same facts at the same time: each fact is kept once, and nobody is turned away."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from threading import Barrier, Event

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.keys import credentials
from accounts.models import Scope
from config.api.concurrency_limits import SEATS, seat, writing_seat
from leaderboard.events import payloads, recording
from leaderboard.events.errors import BadEvents
from leaderboard.events.field_rules import latest_time
from leaderboard.events.recording import Reporter
from leaderboard.models import Action, Agent, Interaction, Run
from tests.processes.waiting import wait_for
from tests.rows import agent_events as told

pytestmark = pytest.mark.django_db(transaction=True)

CALLERS, FACTS = 4, 300


def batch():
    """An agent, and of each kind of fact with two keys so many that each is told under two ids."""
    values = [told.agent(name="One", fid=7)]
    for number in range(FACTS):
        cast = f"0x{number * 7_919 % 65_536:04x}" + "00" * 18
        values += [told.action(f"c{number}", castHash=cast), told.like(f"l{number}", castHash=cast)]
        values.append(told.run(f"r{number}"))
    latest = latest_time(timezone.now() + timedelta(days=1))
    return [payloads.read(value, latest=latest) for value in values]


def test_each_fact_is_kept_once_in_whatever_order_it_is_told():
    read, barrier = batch(), Barrier(CALLERS)

    def call(number):
        # Half of them are one partner that tries again, the others tell of the same under ids of their own.
        reporter = Reporter(source="one" if number % 2 else str(number))
        mine = read if number < 2 else read[::-1]
        barrier.wait()
        try:
            return recording.record(mine, reporter=reporter)
        finally:
            connection.close()

    with ThreadPoolExecutor(CALLERS) as pool:
        answers = list(pool.map(call, range(CALLERS)))
    assert (Agent.objects.count(), Action.objects.count(), Interaction.objects.count()) == (1, FACTS, FACTS)
    assert Run.objects.count() == FACTS
    assert sum(answer.added for answer in answers) == 1 + 3 * FACTS
    assert {answer.added + answer.known for answer in answers} == {len(read)}


def test_half_of_a_process_threads_wait_to_write_and_no_more(client):
    headers = {"x-api-key": credentials.issue("Agency", scopes=[Scope.AGENTS])}

    def call():
        return client.post(
            "/api/droid/events",
            json.dumps({"events": [told.agent()]}),
            content_type="application/json",
            headers=headers,
        )

    with ExitStack() as taken:
        for _ in range(SEATS):
            taken.enter_context(writing_seat())
        answer = call()
        assert (answer.status_code, answer["Retry-After"]) == (503, "1")
        assert answer.json() == {"error": "Too many calls wait to be written"}
        assert not Agent.objects.exists()
        # Who asks a node is not who writes.
        with seat():
            pass
    assert call().status_code == 200


def test_a_call_waits_a_while_for_who_else_writes_and_is_then_told_to_come_again(client, caplog):
    headers = {"x-api-key": credentials.issue("Agency", scopes=[Scope.AGENTS])}
    body = {"events": [told.agent()]}

    def hold():
        with transaction.atomic():
            recording.write_alone()
            held.set()
            assert over.wait(30)
        connection.close()

    held, over = Event(), Event()
    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(hold)
        assert held.wait(10)
        answer = client.post("/api/droid/events", json.dumps(body), content_type="application/json", headers=headers)
        over.set()
        holding.result()
    assert answer.status_code == 503 and int(answer["Retry-After"]) > 0
    # It waits for a lock less long than a statement may take.
    assert "due to lock timeout" in caplog.text
    answer = client.post("/api/droid/events", json.dumps(body), content_type="application/json", headers=headers)
    assert answer.json() == {"success": True, "added": 1, "known": 0}


def give_fid_away():
    Agent.objects.create(agent_id="other", fid=7)


def give_token_away():
    Agent.objects.create(agent_id="other", token_chain_id=8453, token_address=told.WALLET)


def delete_agent():
    Agent.objects.get(agent_id="two").delete()


@pytest.mark.parametrize(
    ("act", "path", "rule"),
    [
        (give_fid_away, "fid", "must be its own: another agent has it"),
        (give_token_away, "token", "must be its own: another agent has it"),
        (delete_agent, "agentId", "is that of no agent which is known, or described in the same batch: two"),
    ],
)
def test_what_an_operator_does_meanwhile_is_seen(act, path, rule):
    Agent.objects.create(agent_id="two")
    latest = latest_time(timezone.now())
    described = told.agent(fid=7, token={"chainId": 8453, "address": told.WALLET})
    told_of = [payloads.read(event, latest=latest) for event in (described, told.run(agentId="two"))]

    def call():
        try:
            # As in a part of a file, whose progress goes with it.
            with transaction.atomic():
                return recording.record(told_of, reporter=Reporter(source="one"))
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            act()
            answer = pool.submit(call)
            wait_for(somebody_waits)
        with pytest.raises(BadEvents) as refused:
            answer.result()
    (trouble,) = refused.value.troubles
    assert (trouble.path, trouble.rule) == (path, rule)


def somebody_waits():
    with connection.cursor() as cursor:
        # Of another's transaction to end.
        cursor.execute("SELECT FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted")
        return cursor.rowcount

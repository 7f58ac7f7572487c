"""config/workers/broker.py and consumption.py: closed connections, credits, and the worker's heartbeat."""

from functools import partial
from typing import Any

import pytest
from kombu import Connection, Exchange, Queue
from kombu.transport.redis import Channel
from redis import Redis

from config.celery import app
from config.workers.broker import count_waiting, is_waiting, release_failed_credits
from config.workers.consumption import STUCK_SECONDS, Consumption
from tests.config.watching.test_watching_apps import app_broker
from tests.processes.own_valkey import OwnServer
from tests.processes.service_processes import service
from tests.processes.waiting import wait_for

SWEEP = "tokens.tasks.sweep_index_requests"


def client_of(server: OwnServer) -> "Redis":
    return Redis(unix_socket_path=server.url.removeprefix("unix://").partition("?")[0])


@pytest.mark.parametrize("settle", ["ack", "reject"])
def test_a_failed_acknowledgement_releases_its_credit(own_server, monkeypatch, settle):
    # For the tests after this one, which have kombu's own again.
    monkeypatch.setattr(Channel, "QoS", Channel.QoS)
    release_failed_credits()
    options = {"socket_timeout": 0.2}
    messages: list[Any] = []
    with Connection(app_broker(own_server.url), transport_options=options) as connection:
        channel = connection.channel()
        channel.basic_qos(0, 1, False)
        queue = Queue("one", Exchange("one"), routing_key="one")
        with connection.Consumer(queue, channel=channel, callbacks=[lambda _, message: messages.append(message)]):
            with connection.Producer() as producer:
                for number in range(2):
                    producer.publish({"number": number}, exchange="one", routing_key="one")
            connection.drain_events(timeout=60)
            assert not channel.qos.can_consume()
            own_server.suspend()
            with pytest.raises(connection.connection_errors):
                getattr(messages[0], settle)()
            own_server.resume()
            assert channel.qos.can_consume()
            connection.drain_events(timeout=60)
            assert [message.payload["number"] for message in messages] == [0, 1]


@pytest.mark.django_db(transaction=True)
def test_a_worker_with_one_process_survives_closed_connections(service_environment, own_server):
    client = client_of(own_server)
    environment = service_environment | {"REDIS_URL": own_server.url, "WORKER_PROCESSES": "1"}

    def push(count: int) -> None:
        with app.connection(app_broker(own_server.url)) as connection, connection.Producer() as producer:
            for _ in range(count):
                app.send_task(SWEEP, producer=producer, ignore_result=True)

    def has_taken(waiting: int) -> bool:
        return client.llen("watch") <= waiting

    def are_done() -> bool:
        return not client.llen("watch") and set(client.hkeys("unacked")) <= interrupted

    with service("worker", environment):
        for number in range(60):
            push(2)
            # The connections close at any moment of a task: when its message is taken, while it runs, when it ends.
            wait_for(partial(has_taken, number % 3))
            client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        # A message whose reservation was stored when its connection closed belongs to no worker for an hour.
        interrupted = set(client.hkeys("unacked"))
        push(5)
        wait_for(are_done)


def test_a_waiting_message_is_found_by_task_and_arguments(queue, settings):
    app.send_task("tokens.tasks.watch_chain", (8453,))
    assert is_waiting("tokens.tasks.watch_chain", (8453,))
    assert not is_waiting("tokens.tasks.watch_chain", (1,)) and not is_waiting("tokens.tasks.watch_deployments")
    app.send_task(SWEEP)
    assert is_waiting(SWEEP)
    assert (count_waiting(["watch"]), count_waiting(["celery", "deploy"])) == (2, 0)


def test_a_queue_too_long_to_be_searched_has_every_task(queue):
    with app.connection_for_write() as broker:
        broker.default_channel.client.lpush("deploy", *["{}"] * 1_001)
    assert is_waiting("tokens.tasks.submit_waiting", (1,))


def test_a_worker_is_stuck_that_takes_nothing_beside_waiting_messages(queue):
    worker = Consumption(["watch", "deploy"], processes=2)

    def looks(accepted: int, busy: int, *, begin: float = 0.0) -> list[bool]:
        times = (begin, begin + 10.0, begin + 10.0 + STUCK_SECONDS)
        return [worker.is_stuck(now=now, accepted=accepted, busy=busy) for now in times]

    # Nothing waits.
    assert looks(1, 0) == [False, False, False]
    app.send_task(SWEEP)
    # All processes are busy.
    assert looks(1, 2) == [False, False, False]
    assert looks(1, 1) == [False, False, True]
    # It has taken a task since.
    assert looks(2, 1, begin=100.0) == [False, False, True]


def test_an_outage_of_redis_is_no_fault_of_a_worker(own_server):
    own_server.kill()
    worker = Consumption(["watch"], processes=1)
    assert not any(worker.is_stuck(now=now, accepted=0, busy=0) for now in (0.0, 60.0, 600.0))

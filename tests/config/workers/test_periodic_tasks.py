"""Periodic tasks: one waiting message each, their queues, their last runs, and rankings beside them."""

from datetime import timedelta
from functools import partial

import pytest
from django.conf import settings as django_settings
from django.utils import timezone
from redis import Redis

from config.celery import HeartbeatScheduler, app
from config.doctor.dashboard import periodic_tasks as panel
from config.redis.connection import redis_client
from config.settings.celery_schedule import SCHEDULE
from config.workers import periodic_tasks
from config.workers.broker import queue_of
from leaderboard.models import Snapshot
from tests.config.watching.test_watching_apps import app_broker
from tests.processes.database_gates import database_gate
from tests.processes.service_processes import service
from tests.processes.waiting import wait_for
from tests.rows.agent_factories import AgentFactory
from tests.rows.factories import DeploymentFactory
from tokens.deploying import tasks as deploying_tasks
from tokens.models import DeploymentStatus

RUNS = "launchboard:periodic_runs"
NAMES = sorted(entry["task"] for entry in SCHEDULE.values())
WATCH, PARTITIONS = "tokens.tasks.watch_deployments", "tokens.tasks.maintain_partitions"
NOW = timezone.now().replace(microsecond=0)


@pytest.fixture
def runs():
    redis_client().delete(RUNS)
    yield redis_client()
    redis_client().delete(RUNS)


def send_all(scheduler):
    for entry in list(scheduler.schedule.values()):
        scheduler.apply_entry(entry, producer=scheduler.producer)


def test_at_most_one_message_of_each_periodic_task_waits(queue):
    scheduler = HeartbeatScheduler(app=app)
    for _ in range(3):
        send_all(scheduler)
    assert sorted(message.task for message in queue()) == NAMES
    with app.connection_for_write() as broker:
        # As a worker does.
        broker.default_channel.client.rpop("watch")
    taken = set(NAMES) - {message.task for message in queue()}
    send_all(scheduler)
    assert len(taken) == 1 and sorted(message.task for message in queue()) == NAMES


def test_an_outage_of_redis_is_no_error_of_beat(own_server, queue, caplog):
    own_server.kill()
    send_all(HeartbeatScheduler(app=app))
    assert queue() == [] and [record for record in caplog.records if record.name.startswith("celery")] == []


def test_no_message_of_a_periodic_task_expires(queue):
    send_all(HeartbeatScheduler(app=app))
    with app.connection_for_write() as broker:
        texts = [text for name in django_settings.CELERY_TASK_QUEUES for text in lrange(broker, name)]
    assert len(texts) == len(NAMES) and all(b'"expires": null' in text for text in texts)


def lrange(broker, name):
    return broker.default_channel.client.lrange(name, 0, -1)


def test_no_periodic_task_waits_behind_index_requests_or_deployments():
    behind = {name for name in NAMES if queue_of(name) in ("celery", "deploy")}
    # It needs the signers.
    assert behind == {"tokens.tasks.note_deploy_wallets"}


def test_what_must_not_wait_has_a_queue_without_long_tasks():
    urgent = {name for name in NAMES if queue_of(name) == periodic_tasks.URGENT_QUEUE}
    assert urgent == {
        WATCH,
        PARTITIONS,
        "accounts.tasks.store_key_usage",
        "pretokens.tasks.expire_pretokens",
        "tokens.tasks.confirm_deployments",
        "tokens.tasks.confirm_index_requests",
        "tokens.tasks.sweep_deployments",
        "tokens.tasks.sweep_index_requests",
    }


@pytest.mark.django_db
def test_at_most_one_message_of_each_chain_waits(queue):
    for chain_id in (1, 10, 8453):
        DeploymentFactory(chain_id=chain_id, status=DeploymentStatus.MINED)
    for _ in range(3):
        deploying_tasks.confirm_deployments()
    assert [(message.task, message.args) for message in queue()] == [
        ("tokens.tasks.confirm_deployed", [chain_id]) for chain_id in (1, 10, 8453)
    ]


def states(at):
    return {task.name: (task.age_seconds, task.is_late) for task in periodic_tasks.read_periodic_tasks(at)}


def test_a_task_is_late_after_three_periods_and_a_minute(runs):
    assert states(NOW) == dict.fromkeys(NAMES, (None, True))
    periodic_tasks.record_schedule(NOW)
    assert states(NOW) == dict.fromkeys(NAMES, (0.0, False))
    periodic_tasks.record_run(WATCH, NOW + timedelta(seconds=60))
    # Beat enters no task again, and the runs of others do not count.
    periodic_tasks.record_schedule(NOW + timedelta(seconds=100))
    periodic_tasks.record_run("tokens.tasks.watch_chain", NOW)
    assert runs.hlen(RUNS) == len(NAMES)
    later = NOW + timedelta(seconds=123)
    assert states(later)[WATCH] == (63.0, False) and states(later)[PARTITIONS] == (123.0, False)
    later += timedelta(seconds=1)
    assert states(later)[WATCH] == (64.0, True)
    assert states(NOW + timedelta(seconds=241))[PARTITIONS] == (241.0, True)


def test_the_panel_names_late_tasks(runs):
    periodic_tasks.record_schedule(NOW)
    [shown] = panel(NOW)
    assert [(figure.label, figure.value) for figure in shown.figures] == [("In time", f"{len(NAMES)} of {len(NAMES)}")]
    [shown] = panel(NOW + timedelta(seconds=64))
    assert [figure.label for figure in shown.figures if figure.is_alarming] == [WATCH]


def test_the_panel_names_an_outage_of_redis(own_server):
    own_server.kill()
    [shown] = panel(NOW)
    assert shown.is_alarming


@pytest.mark.django_db(transaction=True)
def test_nothing_waits_for_a_ranking_in_a_worker_with_one_process(service_environment, own_server):
    AgentFactory(launched=True)
    environment = service_environment | {"REDIS_URL": own_server.url, "WORKER_PROCESSES": "1"}
    client = Redis(unix_socket_path=own_server.url.removeprefix("unix://").partition("?")[0])

    def send(task):
        with app.connection_for_write(app_broker(own_server.url)) as broker:
            app.send_task(task, connection=broker)

    with (
        database_gate(service_environment["DATABASE_URL"], "leaderboard_standing") as gate,
        service("worker", environment),
    ):
        send("leaderboard.tasks.make_rankings")
        # The ranking is being built.
        gate.wait()
        for task in (WATCH, PARTITIONS, "pretokens.tasks.prune_pretokens"):
            send(task)
            wait_for(partial(client.hexists, RUNS, task))
        assert not Snapshot.objects.exists()
        gate.lose()
        wait_for(lambda: Snapshot.objects.filter(is_current=True).count() == 3)


@pytest.mark.django_db(transaction=True)
def test_beat_enters_the_tasks_and_sends_each_once(service_environment, own_server):
    client = Redis(unix_socket_path=own_server.url.removeprefix("unix://").partition("?")[0])
    with service("beat", service_environment | {"REDIS_URL": own_server.url}):
        wait_for(lambda: client.hlen(RUNS) == len(NAMES))
        # Sent each second.
        wait_for(lambda: client.llen("watch"))
        wait_for(lambda: client.llen("documents") == 3)
    assert sum(b"watch_deployments" in text for text in client.lrange("watch", 0, -1)) == 1

"""The tasks, called in this process; tests/test_worker_kill.py has them run by real workers."""

from datetime import timedelta

import pytest
from celery import current_app
from django.conf import settings as django_settings
from django.utils import timezone

from devchain.anvil import CHAIN_ID
from tests.chain import UNKNOWN_HASH
from tests.factories import IndexRequestFactory
from tokens import tasks
from tokens.models import IndexRequest, Token

pytestmark = pytest.mark.django_db


def status():
    return IndexRequest.objects.get().status


def test_every_scheduled_task_is_there():
    scheduled = {entry["task"] for entry in django_settings.CELERY_BEAT_SCHEDULE.values()}
    assert scheduled <= set(tasks.app.tasks)


def test_the_tasks_belong_to_the_configured_application():
    assert tasks.index_transaction.app.conf.broker_url == django_settings.CELERY_BROKER_URL
    assert tasks.app.conf.task_acks_late
    assert current_app.main == "launchboard"


@pytest.mark.parametrize("done", ["indexed", "confirmed", "failed", "orphaned"])
def test_a_message_that_comes_late_or_twice_does_nothing(launchpad, queue, done):
    tx_hash = launchpad.launch()
    IndexRequestFactory(chain_id=CHAIN_ID, tx_hash=tx_hash, status=done)
    tasks.index_transaction(CHAIN_ID, tx_hash)
    assert (status(), Token.objects.count(), queue()) == (done, 0, [])


def test_a_message_without_a_request_does_nothing(launchpad, queue):
    tasks.index_transaction(CHAIN_ID, launchpad.launch())
    assert (IndexRequest.objects.count(), Token.objects.count(), queue()) == (0, 0, [])


def test_a_message_has_its_transaction_indexed(launchpad, queue):
    tx_hash = launchpad.launch()
    IndexRequestFactory(chain_id=CHAIN_ID, tx_hash=tx_hash)
    tasks.index_transaction(CHAIN_ID, tx_hash)
    assert (status(), Token.objects.count(), queue()) == ("indexed", 1, [])


def test_an_unknown_transaction_gets_one_later_message(launchpad, queue):
    IndexRequestFactory(chain_id=CHAIN_ID, tx_hash=UNKNOWN_HASH, attempts=3)
    before = timezone.now()
    tasks.index_transaction(CHAIN_ID, UNKNOWN_HASH)
    (message,) = queue()
    assert message.args == [CHAIN_ID, UNKNOWN_HASH]
    assert message.eta >= (before + timedelta(seconds=8)).isoformat()


def test_the_last_attempt_gets_no_further_message(launchpad, queue, settings):
    settings.INDEX_MAX_ATTEMPTS = 4
    IndexRequestFactory(chain_id=CHAIN_ID, tx_hash=UNKNOWN_HASH, attempts=3)
    tasks.index_transaction(CHAIN_ID, UNKNOWN_HASH)
    assert (status(), queue()) == ("failed", [])


def test_a_permanent_failure_gets_no_further_message(launchpad, queue):
    tx_hash = launchpad.transfer()
    IndexRequestFactory(chain_id=CHAIN_ID, tx_hash=tx_hash)
    tasks.index_transaction(CHAIN_ID, tx_hash)
    assert (status(), queue()) == ("failed", [])


def test_the_sweeper_enqueues_what_is_due_once_per_lease(queue):
    due = IndexRequestFactory()
    IndexRequestFactory(due_at=timezone.now() + timedelta(hours=1))
    IndexRequestFactory(status="indexed")
    tasks.sweep_index_requests()
    tasks.sweep_index_requests()
    (message,) = queue()
    assert (message.task, message.args, message.eta) == (
        "tokens.tasks.index_transaction",
        [due.chain_id, due.tx_hash],
        None,
    )


def test_the_confirmer_passes_over_a_chain_that_is_away(own_launchpad, settings, forget_chains):
    tx_hash = own_launchpad.launch()
    IndexRequestFactory(chain_id=CHAIN_ID, tx_hash=tx_hash)
    tasks.index_transaction(CHAIN_ID, tx_hash)
    own_launchpad.mine(5)
    settings.RPC_ATTEMPTS = 1
    settings.RPC_URLS = {8453: ("http://127.0.0.1:9",), 999_999: ("http://127.0.0.1:9",), **settings.RPC_URLS}
    forget_chains()
    tasks.confirm_index_requests()
    assert status() == "confirmed"

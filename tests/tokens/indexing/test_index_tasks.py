"""The tasks, called in this process; tests/tokens/indexing/test_worker_kill.py has them run by real workers."""

from datetime import timedelta

import pytest
from django.utils import timezone
from redis.exceptions import RedisError

from config.postgresql.leased_queue import MAX_UNFINISHED
from config.redis.connection import redis_client
from development.devchain.anvil import CHAIN_ID
from tests.nodes.devchain_launches import UNKNOWN_HASH
from tests.rows.factories import IndexRequestFactory
from tokens.indexing import index_requests, tasks
from tokens.models import IndexRequest, Token

pytestmark = pytest.mark.django_db


def status():
    return IndexRequest.objects.get().status


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


def test_nothing_is_sent_to_a_broker_that_has_just_failed(queue, settings, unused_port):
    settings.REDIS_URL = f"redis://127.0.0.1:{unused_port}/0"
    with pytest.raises(RedisError):
        redis_client().ping()
    # A caller that waits for the response of a request is spared this one; the sweeper finds the row.
    tasks.enqueue_index_request(CHAIN_ID, UNKNOWN_HASH)
    assert queue() == []


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


def test_the_confirmer_has_each_chain_looked_at_by_a_task_of_its_own(settings, queue):
    settings.RPC_URLS = {8453: ("http://127.0.0.1:9",), 1: ("http://127.0.0.1:9",)}
    tasks.confirm_index_requests()
    assert [(message.task, message.args) for message in queue()] == [
        ("tokens.tasks.confirm_chain", [8453]),
        ("tokens.tasks.confirm_chain", [1]),
    ]


def test_a_chain_that_is_away_leaves_the_others_to_be_confirmed(own_launchpad, settings, forget_chains):
    tx_hash = own_launchpad.launch()
    IndexRequestFactory(chain_id=CHAIN_ID, tx_hash=tx_hash)
    tasks.index_transaction(CHAIN_ID, tx_hash)
    own_launchpad.mine(5)
    settings.RPC_ATTEMPTS = 1
    settings.RPC_URLS = {8453: ("http://127.0.0.1:9",), 999_999: ("http://127.0.0.1:9",), **settings.RPC_URLS}
    forget_chains()
    for chain_id in settings.RPC_URLS:
        tasks.confirm_chain(chain_id)
    assert status() == "confirmed"


def test_a_request_that_ends_its_worker_each_time_is_given_up_and_stays_visible(launchpad, queue):
    tx_hash = launchpad.launch()
    IndexRequestFactory(chain_id=CHAIN_ID, tx_hash=tx_hash, status="pending")
    for _ in range(MAX_UNFINISHED):
        assert index_requests.begin_attempt(chain_id=CHAIN_ID, tx_hash=tx_hash)
    tasks.index_transaction(CHAIN_ID, tx_hash)
    request = IndexRequest.objects.get()
    assert (request.status, Token.objects.count(), queue()) == ("failed", 0, [])
    assert "5 times without a result" in request.last_error


def test_a_result_forgets_the_tries_that_ended_without_one(launchpad):
    tx_hash = launchpad.launch()
    IndexRequestFactory(chain_id=CHAIN_ID, tx_hash=tx_hash, status="pending", unfinished=MAX_UNFINISHED - 1)
    tasks.index_transaction(CHAIN_ID, tx_hash)
    assert (status(), IndexRequest.objects.get().unfinished) == ("indexed", 0)

"""Tests of tokens/indexing/chain_lock.py: a chain has one writer at a time."""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from django.db import connection, transaction

from development.devchain.anvil import CHAIN_ID
from development.devchain.launch_transactions import DevLaunchConfig
from tests.processes.at_once import blocked_sessions, call_at_once, own_connection
from tests.processes.waiting import wait_for
from tokens.indexing import chain_lock, index_requests, unwinding
from tokens.indexing.chain_lock import ChainLockPurpose
from tokens.indexing.writing import write_transactions
from tokens.installation.installed_chains import installed_chain
from tokens.models import IndexRequest, Token

pytestmark = pytest.mark.django_db(transaction=True)


@own_connection
def hold(take, chain_id, taken, done):
    """Acquire a lock in a transaction of this thread, and keep it until `done`."""
    with transaction.atomic():
        take(chain_id)
        taken.set()
        assert done.wait(120)


def together(first, second, *, chain_ids=(1, 1)):
    """Return whether a second thread gets its lock while the first one holds its own; both have had it in the end."""
    with ThreadPoolExecutor(2) as pool:
        events = [threading.Event() for _ in range(4)]
        one = pool.submit(hold, first, chain_ids[0], events[0], events[1])
        assert events[0].wait(120)
        other = pool.submit(hold, second, chain_ids[1], events[2], events[3])
        wait_for(lambda: events[2].is_set() or blocked_sessions())
        at_once = events[2].is_set()
        events[1].set()
        one.result()
        assert events[2].wait(120)
        events[3].set()
        other.result()
    return at_once


def take_shared(chain_id):
    """Acquire the lock as index calls of earlier versions do, which run beside ours during an upgrade."""
    key = chain_lock.chain_lock_key(ChainLockPurpose.WRITING, chain_id)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(%s)", [key])


def test_a_lock_outside_of_a_transaction_is_refused():
    with pytest.raises(RuntimeError, match="transaction"):
        chain_lock.lock_exclusive(1)


def test_each_chain_and_purpose_has_a_key_of_its_own():
    ids = [0, 1, 2, 8453, 2**31, 2**62, -1]
    keys = {chain_lock.chain_lock_key(purpose, chain_id) for purpose in ChainLockPurpose for chain_id in ids}
    assert len(keys) == len(ChainLockPurpose) * len(ids)
    assert all(-(2**63) <= key < 2**63 for key in keys)


@pytest.mark.parametrize("other", [chain_lock.lock_exclusive, take_shared])
def test_a_writer_has_exclusive_access_to_its_chain(other):
    assert not together(chain_lock.lock_exclusive, other)
    assert not together(other, chain_lock.lock_exclusive)


def test_index_calls_write_one_after_the_other(launchpad):
    tx_hash = launchpad.launch()
    taken, done = threading.Event(), threading.Event()

    index = own_connection(index_requests.index_transaction)
    with ThreadPoolExecutor(2) as pool:
        other = pool.submit(hold, take_shared, CHAIN_ID, taken, done)
        assert taken.wait(120)
        call = pool.submit(index, chain_id=CHAIN_ID, tx_hash=tx_hash)
        wait_for(blocked_sessions)
        assert not Token.objects.exists()
        done.set()
        other.result()
        assert call.result()
    assert Token.objects.count() == 1


def test_the_owner_of_another_chain_blocks_nothing():
    assert together(chain_lock.lock_exclusive, chain_lock.lock_exclusive, chain_ids=(1, 2))


def test_workers_and_a_follower_of_the_same_transactions_neither_block_for_ever_nor_lose_a_row(launchpad):
    hashes = [launchpad.launch_batch(DevLaunchConfig(name="a"), DevLaunchConfig(name="b")) for _ in range(4)]
    chain = installed_chain(CHAIN_ID)
    facts = [chain.read_transaction(tx_hash) for tx_hash in hashes]

    def index(order):
        for tx_hash in order * 3:
            index_requests.index_transaction(chain_id=CHAIN_ID, tx_hash=tx_hash)

    def follow():
        for _ in range(10):
            with transaction.atomic():
                chain_lock.lock_exclusive(CHAIN_ID)
                unwinding.unwind_blocks(CHAIN_ID, above=facts[0].block_number - 1)
                write_transactions(facts, chain=chain.info)

    orders = [hashes, hashes[::-1], hashes[1:] + hashes[:1], hashes[2:] + hashes[:2]]
    call_at_once([*(partial(index, order) for order in orders), follow])
    assert Token.objects.listed().count() == 8
    assert IndexRequest.objects.count() == 4

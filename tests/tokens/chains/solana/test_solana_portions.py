"""tokens/chains/solana/transaction_reading.py: portions that fit a node's response time and the memory."""

from dataclasses import replace

import pytest

from development.standins.http_server import Mode
from tests.nodes.solana import recorded
from tests.nodes.solana.changed import FaultySolanaNode
from tests.nodes.solana.recorded import solana_chain
from tokens.chains.errors import RequestTooLargeError, TransactionNotFoundError

# The size of a recorded transaction in both forms, with some room.
BYTES = 40_000


@pytest.fixture
def node():
    with FaultySolanaNode() as node:
        yield node


@pytest.fixture
def other():
    with FaultySolanaNode() as node:
        yield node


@pytest.fixture
def signatures(node, other):
    """Add twelve swaps to both nodes and return their signatures."""
    made = [node.swap(f"swap {number}") for number in range(12)]
    other.transactions, other.slot = node.transactions, node.slot
    return made


def chain_of(info, *nodes, **more):
    """Return Solana with circuits that open after one failure."""
    arguments = {"initial_backoff": 0.0, "attempts": 2, "breaker_failures": 1, "timeout": 1.0} | more
    return solana_chain(info, *(node.url for node in nodes), **arguments)


def sizes(node):
    """Return the number of transactions in each request that has any."""
    counts = [request.content.count(b'"getTransaction"') // 2 for request in node.received]
    return [count for count in counts if count]


def slow_for_many(node, *, most):
    """Have a node exceed the timeout when more transactions are requested."""

    def change(request, body):
        if isinstance(body, list) and len(body) > 2 * most:
            node.closed.wait(3.0)
        return body

    node.change = change


def test_answers_that_are_too_large_are_requested_in_smaller_portions(node, signatures, solana_info):
    chain = chain_of(solana_info, node, max_response_bytes=3 * BYTES)
    assert chain.read_transactions([*signatures, recorded.LAUNCH]).keys() == {recorded.LAUNCH}
    assert max(sizes(node)) == 13
    # It stays available, and gets all other requests.
    assert chain.read_head() == node.slot


def test_answers_that_do_not_come_in_time_are_requested_in_smaller_portions(node, signatures, solana_info):
    slow_for_many(node, most=4)
    chain = chain_of(solana_info, node)
    assert chain.read_transactions([*signatures, recorded.LAUNCH]).keys() == {recorded.LAUNCH}
    assert chain.read_head() == node.slot


def test_what_was_too_much_is_not_requested_again_soon(node, signatures, solana_info):
    chain = chain_of(solana_info, node, max_response_bytes=3 * BYTES)
    chain.read_transactions(signatures)
    before = len(sizes(node))
    chain.read_transactions(signatures)
    assert max(sizes(node)[before:]) < 12


def test_portions_grow_again(node, signatures, solana_info):
    chain = chain_of(solana_info, node, max_response_bytes=3 * BYTES)
    chain.read_transactions(signatures)
    assert sizes(node)[-1] < 12
    grown = chain_of(solana_info, node)
    for _ in range(40):
        replace(grown, range_size=chain.range_size).read_transactions(signatures)
    assert sizes(node)[-1] == 12


def test_what_a_node_lacks_is_read_elsewhere_in_smaller_portions_too(node, other, signatures, solana_info):
    node.missing = set(signatures)
    chain = chain_of(solana_info, node, other, max_response_bytes=3 * BYTES)
    assert chain.read_transactions(signatures) == {}
    assert chain.read_head() == node.slot


def test_a_single_transaction_that_does_not_come_is_out_of_reach(node, signatures, solana_info):
    chain = chain_of(solana_info, node, max_response_bytes=1_000)
    with pytest.raises(RequestTooLargeError):
        chain.read_transactions(signatures)
    assert sizes(node)[-1] == 1


def test_a_single_transaction_that_no_other_node_has_is_not_found(node, other, signatures, solana_info):
    node.missing = set(signatures)
    slow_for_many(other, most=0)
    with pytest.raises(TransactionNotFoundError):
        chain_of(solana_info, node, other).read_transactions(signatures[:2])


def test_a_node_that_hangs_where_another_one_answers_is_left_out(node, other, signatures, solana_info):
    chain = chain_of(solana_info, node, other, total_timeout=12.0)
    chain.read_head()
    node.behave(Mode.STALL, seconds=3.0)
    chain.read_transactions(signatures)
    request = len(node.received)
    chain.read_transactions(signatures)
    assert (len(node.received), max(sizes(other))) == (request, 12)

"""tokens/chains/evm/headers.py: block headers from faulty nodes."""

import pytest

from development.standins.loopback import RefusedError, Reply
from tests.nodes.recorded_node import Node
from tests.nodes.recordings import base, mined, recorded_chain
from tokens.chains.errors import NodeUnavailableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.rpc.client import RpcClient

HEAD = 209
HASH = "0x" + "ab" * 32


def chain(*nodes: Node | str, **options) -> Chain:
    """Return a chain with no retry delay."""
    urls = tuple(node if isinstance(node, str) else node.url for node in nodes)
    return Chain(
        info=base(), rpc=RpcClient(chain_id=8453, urls=urls, **{"initial_backoff": 0, "attempts": 1, **options})
    )


def change(node: Node, **changes):
    """Have the node's blocks differ in these fields; None removes one."""
    regular = node.answers["eth_getBlockByNumber"]

    def answer(number, full):
        block = {**regular(number, full), **changes}
        return {name: value for name, value in block.items() if value is not None}

    node.answers["eth_getBlockByNumber"] = answer


HALF = [
    {"number": None},
    {"number": "0x1"},
    {"number": 190},
    {"number": "190"},
    {"number": "0x0be"},
    {"number": "0x" + "f" * 30},
    {"hash": None},
    {"hash": 5},
    {"hash": HASH.upper().replace("X", "x")},
    {"hash": HASH[:-1]},
    {"parentHash": None},
    {"parentHash": "0x"},
    {"timestamp": None},
    {"timestamp": 1_700_000_000},
    {"timestamp": "0x3afff44180"},
    {"timestamp": "-0x1"},
    {"logsBloom": None},
    {"logsBloom": "0x00"},
    {"logsBloom": "0x" + "0g" * 256},
    {"logsBloom": "0x" + "00 " * 170 + "00"},
]


@pytest.mark.parametrize("changes", HALF, ids=str)
def test_half_a_block_is_retried_on_the_next_node(node, second_node, changes):
    change(node, **changes)
    with pytest.raises(NodeUnavailableError):
        chain(node).read_headers([0xBE])
    assert chain(node, second_node).read_headers([0xBE])[0xBE].hash == recorded_chain()["blocks"][0xBE]["hash"]


@pytest.mark.parametrize("junk", [5, [], "0x1", True, {"number": "0x1"}])
def test_what_is_no_block_is_none(node, junk):
    node.answers["eth_getBlockByNumber"] = lambda *_: junk
    with pytest.raises(NodeUnavailableError):
        chain(node).read_headers([1])
    with pytest.raises(NodeUnavailableError):
        chain(node).read_newest_header()


def test_a_node_without_a_newest_block_has_none(node):
    node.answers["eth_getBlockByNumber"] = lambda *_: None
    with pytest.raises(NodeUnavailableError):
        chain(node).read_newest_header()


def test_a_node_that_refuses_is_left_for_the_next(node, second_node):
    def refuse(*_):
        raise RefusedError(-32000, "something else")

    node.answers["eth_getBlockByNumber"] = refuse
    assert chain(node, second_node).read_newest_header().number == HEAD
    assert set(chain(node, second_node).read_headers([3])) == {3}


def test_the_newest_block_is_the_heads(node):
    newest = chain(node).read_newest_header()
    recorded = recorded_chain()["blocks"][HEAD]
    assert (newest.number, newest.hash) == (HEAD, recorded["hash"])
    assert (newest.parent_hash, newest.time) == (recorded["parentHash"], int(recorded["timestamp"], 16))


def test_headers_leave_out_what_the_node_lacks(node):
    recorded = mined("deploy-plain")
    number = int(recorded.block["number"], 16)
    found = chain(node).read_headers([number, 10**9, number])
    assert {key: header.hash for key, header in found.items()} == {number: recorded.block["hash"]}


def test_no_headers_need_no_call(node):
    assert chain(node).read_headers([]) == {}
    assert node.received == []


def test_many_headers_are_requested_in_batches(node):
    reading = chain(node, batch_size=50)
    assert len(reading.read_headers(range(120))) == 120
    assert [len(body) for body in node.received if isinstance(body, list)] == [50, 50, 20]


def test_the_highest_of_all_nodes_blocks_is_returned(node, second_node, unused_port):
    second_node.answers["eth_blockNumber"] = lambda: hex(HEAD + 7)
    assert chain(node, second_node, f"http://127.0.0.1:{unused_port}/").read_highest_head() == HEAD + 7
    second_node.answers["eth_blockNumber"] = lambda: None
    assert chain(second_node, node).read_highest_head() == HEAD
    assert chain(second_node).read_highest_head() is None


# How many nodes have a block.


def test_every_node_is_called_for_its_newest_block(node, second_node, unused_port):
    header = chain(node).read_headers([100])[100]
    change(second_node, hash=HASH)
    assert chain(node).count_nodes_with(header) == (1, 0)
    assert chain(node, second_node, f"http://127.0.0.1:{unused_port}/").count_nodes_with(header) == (1, 1)


@pytest.mark.parametrize(
    "behave",
    [
        lambda node: node.answers.update(eth_getBlockByNumber=lambda *_: None),
        lambda node: node.answers.update(eth_chainId=lambda: "0x1"),
        lambda node: change(node, logsBloom=None),
        lambda node: change(node, number="0x1"),
        lambda node: setattr(node, "behave", lambda _: Reply(b"", status=500)),
    ],
    ids=["is behind", "is of another chain", "gives half a block", "gives another block", "is out of order"],
)
def test_a_node_counts_for_neither_side_that(node, second_node, behave):
    header = chain(node).read_headers([100])[100]
    behave(second_node)
    assert chain(second_node, node).count_nodes_with(header) == (1, 0)


def test_a_node_is_counted_whatever_its_circuit(node, second_node):
    header = chain(node).read_headers([100])[100]
    reading_chain = chain(node, second_node, breaker_failures=1, breaker_seconds=3600)
    node.behave = lambda _: Reply(b"", status=500)
    assert reading_chain.read_newest_header().number == HEAD
    node.behave = None
    assert reading_chain.count_nodes_with(header) == (2, 0)

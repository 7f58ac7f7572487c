"""What runs of blocks hold, read from nodes that lie."""

import pytest

from tests.recorded_node import Node
from tests.recordings import base, recorded_chain
from tokens.chains.base import LaunchNotFound
from tokens.chains.evm import EvmChain
from tokens.chains.rpc import RpcClient

HEAD = 209


def chain(*nodes: Node, **options) -> EvmChain:
    """A chain whose client pauses for no time between its rounds."""
    urls = tuple(node.url for node in nodes)
    return EvmChain(
        info=base(), rpc=RpcClient(chain_id=8453, urls=urls, **{"first_pause": 0, "attempts": 1, **options})
    )


def read_alone(reading: EvmChain):
    """What each recorded transaction holds, read by its hash, in the chain's order."""
    found = []
    for block in recorded_chain()["blocks"]:
        for entry in block["transactions"]:
            try:
                found.append(reading.read_transaction(entry["hash"]))
            except LaunchNotFound:
                continue
    return tuple(found)


@pytest.fixture
def everything(node):
    return read_alone(chain(node))


def test_ranges_tell_the_same_as_each_transaction_alone(node, everything):
    reading = chain(node).read_range(0, HEAD)
    assert (reading.first, reading.last) == (0, HEAD)
    assert reading.transactions == everything


def test_blocks_by_their_hashes_tell_the_same(node, everything):
    reading = chain(node)
    headers = [header for _, header in sorted(reading.read_headers(range(HEAD + 1)).items())]
    found = [reading.read_blocks(headers[start : start + 15]) for start in range(0, HEAD + 1, 15)]
    assert tuple(facts for part in found for facts in part.transactions) == everything
    assert reading.read_blocks(headers).transactions == everything


def test_receipts_tell_the_same(node, everything):
    reading = chain(node)
    headers = [header for _, header in sorted(reading.read_headers(range(HEAD + 1)).items())]
    assert reading.read_receipts(headers).transactions == everything

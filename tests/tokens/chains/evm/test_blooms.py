"""tokens/chains/evm/logs/blooms.py: block headers' bloom filters, against clients'."""

from dataclasses import replace

import pytest

from development.devchain.anvil import CHAIN_ID
from tests.nodes.launch_builder import STRANGER
from tests.nodes.recorded_node import Node
from tests.nodes.recordings import base, mined
from tokens.chains.abi.codec import load_abi
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.generations.mined_transactions import POOL_INITIALIZED
from tokens.chains.evm.logs.blooms import bloom_mask
from tokens.chains.evm.logs.log_validation import parse_receipt_logs
from tokens.chains.registry.chains import load_registry
from tokens.chains.rpc.client import RpcClient
from tokens.chains.types import BlockHeader

IMAGE_UPDATED = load_abi("after_launch").event("UpdateImage").topic0
CREATED = load_abi("v4").event("TokenCreated").topic0
(FACTORY,) = base().addresses("factory", "v4")


def header(*items: str) -> BlockHeader:
    """Build a block whose filter has these addresses and topics."""
    bloom = 0
    for item in items:
        bloom |= bloom_mask(item.lower())
    empty = "0x" + "00" * 32
    return BlockHeader(number=1, hash=empty, parent_hash=empty, time=1, logs_bloom=bloom)


def chain(*nodes: Node) -> Chain:
    return Chain(info=base(), rpc=RpcClient(chain_id=8453, urls=tuple(node.url for node in nodes)))


def test_an_item_sets_three_bits_at_the_most():
    for log in mined("deploy-plain").logs:
        assert 1 <= bloom_mask(log["address"]).bit_count() <= 3


def test_the_filter_is_the_one_that_clients_compute(launchpad):
    launchpad.launch()
    rpc = RpcClient(chain_id=CHAIN_ID, urls=(launchpad.deployment.rpc_url,))
    newest = Chain(info=base(), rpc=rpc).read_newest_header()
    logs = launchpad.rpc("eth_getLogs", {"blockHash": newest.hash})
    assert logs
    assert parse_receipt_logs([{"logs": [{**log} for log in logs]}]) == (logs, newest.logs_bloom)


@pytest.mark.parametrize(
    ("items", "promise"),
    [
        ((), False),
        ((STRANGER, IMAGE_UPDATED), True),
        ((FACTORY, CREATED), True),
        # Our contract without our event, and the other way round.
        ((FACTORY,), False),
        ((STRANGER, CREATED), False),
    ],
)
def test_a_block_may_hold_what_its_filter_matches(items, promise):
    assert chain().may_contain_events(header(*items)) is promise


def test_a_foreign_pool_selects_no_block_for_launches_into_pools():
    info = load_registry(launchpads={8453: ("zora", "flaunch")}).chain(8453)
    reading, manager = replace(chain(), info=info), str(info.v4_pool_manager)
    transfer = load_abi("token").event("Transfer").topic0
    assert reading.may_contain_events(header(manager, POOL_INITIALIZED.topic0, STRANGER, transfer)) is False
    (contract, *_) = info.launch_contracts
    assert reading.may_contain_events(header(manager, POOL_INITIALIZED.topic0, contract)) is True


def test_a_filter_that_is_too_full_excludes_nothing():
    full = replace(header(), logs_bloom=(1 << 1025) - 1)
    assert chain().may_contain_events(full) is None
    assert chain().may_contain_events(replace(full, logs_bloom=0)) is False


def test_every_recorded_block_that_holds_something_matches_it(node):
    reading = chain(node)
    headers = reading.read_headers(range(210))
    holding = {facts.block_number for facts in reading.read_range(0, 209).transactions}
    assert holding
    assert all(reading.may_contain_events(headers[number]) for number in holding)
    assert any(reading.may_contain_events(header) is False for header in headers.values())

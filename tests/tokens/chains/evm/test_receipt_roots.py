"""Receipt roots, compared with a real node's."""

import pytest
import requests

from development.devchain.anvil import CHAIN_ID
from tests.nodes.recordings import recorded_chain
from tokens.chains.evm.logs.blooms import BITS
from tokens.chains.evm.logs.receipt_roots import NO_RECEIPTS_ROOT, prove_receipts, receipts_root
from tokens.chains.rpc.quantities import MalformedResponseError
from tokens.chains.types import BlockHeader
from tokens.installation.installed_chains import installed_chain


def recorded_blocks():
    """Return each recorded block's receipts and header, if it has all transactions."""
    chain = recorded_chain()
    return [
        ([chain["receipts"][entry["hash"]] for entry in block["transactions"]], block)
        for block in chain["blocks"]
        if block["transactions"]
    ]


def header(block, *, bloom=None, root=None):
    return BlockHeader(
        number=int(block["number"], 16),
        hash=block["hash"],
        parent_hash=block["parentHash"],
        time=int(block["timestamp"], 16),
        logs_bloom=int(block["logsBloom"], 16) if bloom is None else bloom,
        receipts_root=block["receiptsRoot"] if root is None else root,
    )


def test_recorded_receipts_make_the_roots_of_their_blocks():
    blocks = recorded_blocks()
    assert len(blocks) > 40
    assert [receipts_root(receipts) for receipts, _ in blocks] == [block["receiptsRoot"] for _, block in blocks]
    assert receipts_root([]) == NO_RECEIPTS_ROOT == recorded_chain()["blocks"][0]["receiptsRoot"]


@pytest.mark.parametrize("count", [2, 16, 17, 127, 128, 129, 300])
def test_receipts_of_large_blocks_make_their_root(own_launchpad, count):
    account = own_launchpad.rpc("eth_accounts")[0]
    nonce = int(own_launchpad.rpc("eth_getTransactionCount", account, "latest"), 16)
    # The price is above each base fee, so that the node leaves no transaction for a later block.
    terms = {"from": account, "to": account, "value": "0x1", "gas": hex(21_000), "gasPrice": hex(10**12)}
    calls = [
        {
            "jsonrpc": "2.0",
            "id": place,
            "method": "eth_sendTransaction",
            "params": [terms | {"nonce": hex(nonce + place)}],
        }
        for place in range(count)
    ]
    own_launchpad.rpc("evm_setAutomine", False)
    answers = requests.post(own_launchpad.deployment.rpc_url, json=calls, timeout=300).json()
    assert all("result" in answer for answer in answers), answers
    assert own_launchpad.rpc("txpool_status") == {"pending": hex(count), "queued": "0x0"}
    own_launchpad.mine(1)
    read = [("eth_getBlockByNumber", ("latest", False)), ("eth_getBlockReceipts", ("latest",))]
    block, receipts = installed_chain(CHAIN_ID).rpc.query(read, parse=list)
    assert len(receipts) == count and receipts_root(receipts) == block["receiptsRoot"]


def test_an_omitted_log_a_wrong_place_and_a_wrong_filter_are_noticed():
    receipts, block = max(recorded_blocks(), key=lambda one: len(one[0][0]["logs"]))
    bloom = int(block["logsBloom"], 16)
    assert prove_receipts(header(block), receipts, bloom=bloom, is_whole=False).is_proven
    full = 2**BITS - 1
    # A filter that fits because it excludes nothing, and one with other bits: the root decides.
    for of_header, of_receipts in ((full, full), (bloom | 1 << 7, bloom), (0, bloom)):
        assert prove_receipts(header(block, bloom=of_header), receipts, bloom=of_receipts, is_whole=False).is_proven
        without = [receipts[0] | {"logs": receipts[0]["logs"][:-1]}]
        proof = prove_receipts(header(block, bloom=of_header), without, bloom=of_receipts, is_whole=True)
        assert not proof.is_proven and proof.makes_filter is (of_header == of_receipts)
    moved = [receipts[0] | {"logs": [log | {"logIndex": hex(9)} for log in receipts[0]["logs"]]}]
    assert not prove_receipts(header(block), moved, bloom=bloom, is_whole=False).is_proven
    other = [receipts[0] | {"transactionIndex": "0x1"}]
    assert not prove_receipts(header(block), other, bloom=bloom, is_whole=False).is_proven


def test_no_receipts_prove_an_empty_block_only_with_its_transactions_or_its_filter():
    _, block = recorded_blocks()[0]
    for bloom, is_whole, expected in ((7, False, False), (7, True, True), (0, False, True)):
        empty = header(block, bloom=bloom, root=NO_RECEIPTS_ROOT)
        assert prove_receipts(empty, [], bloom=0, is_whole=is_whole).is_proven is expected
    assert not prove_receipts(header(block, bloom=0, root=""), [], bloom=0, is_whole=True).is_proven


@pytest.mark.parametrize("field", ["cumulativeGasUsed", "logs", "type"])
def test_a_receipt_without_its_fields_is_the_nodes_fault(field):
    receipts, _ = recorded_blocks()[0]
    with pytest.raises(MalformedResponseError):
        receipts_root([receipts[0] | {field: None}])

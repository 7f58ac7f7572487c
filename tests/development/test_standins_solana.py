"""Stand-in for a Solana node: it responds like a node, here without our own client."""

import pytest
import requests

from development.standins.http_server import Mode
from tests.nodes.solana import recorded
from tests.nodes.solana.forms import raw_of


@pytest.fixture
def call(solana_node):
    """Return a function that makes a JSON-RPC call and returns the result, or the error's code."""

    def call_rpc(method, *params):
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": list(params)}
        answer = requests.post(solana_node.url, json=body, timeout=60).json()
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", 7)
        return answer["result"] if "result" in answer else answer["error"]["code"]

    return call_rpc


def test_it_returns_a_transaction_in_each_recorded_encoding(call, solana_node):
    forms = solana_node.transactions[recorded.LAUNCH]
    for encoding in ("json", "jsonParsed", "base64"):
        options = {"encoding": encoding, "maxSupportedTransactionVersion": 0}
        assert call("getTransaction", recorded.LAUNCH, options) == forms[encoding]
    assert "version" not in call("getTransaction", recorded.LAUNCH)
    assert call("getTransaction", recorded.LAUNCH, "jsonParsed")["meta"] == forms["jsonParsed"]["meta"]
    assert call("getTransaction", recorded.LAUNCH, {"encoding": "yaml"}) == -32602


def test_it_does_not_return_what_it_lacks_or_what_is_not_final(call, solana_node):
    assert call("getTransaction", "1" * 64) is None
    solana_node.missing.add(recorded.LAUNCH)
    assert call("getTransaction", recorded.LAUNCH) is None
    assert recorded.LAUNCH in [entry["signature"] for entry in call("getSignaturesForAddress", recorded.CONFIG)]
    solana_node.behind = 1
    assert call("getTransaction", recorded.CLAIM) is None
    assert call("getTransaction", recorded.CLAIM, {"commitment": "confirmed"}) is not None
    assert (call("getSlot"), call("getSlot", {"commitment": "confirmed"})) == (1004, 1005)


@pytest.mark.parametrize(("most", "is_returned"), [(None, False), (0, False), (1, True)])
def test_it_refuses_versions_that_were_not_requested(call, solana_node, most, is_returned):
    raw = raw_of(solana_node, recorded.LAUNCH) | {"version": 1}
    solana_node.hold({"json": raw, "jsonParsed": raw})
    options = {} if most is None else {"maxSupportedTransactionVersion": most}
    assert call("getTransaction", recorded.LAUNCH, options) == (raw if is_returned else -32015)


def test_it_lists_newest_first_within_bounds_and_limits(call):
    def listed(**options):
        return [entry["slot"] for entry in call("getSignaturesForAddress", recorded.POOL, options)]

    assert listed() == [1005, 1004, 1003]
    assert listed(limit=2) == [1005, 1004]
    assert listed(before=recorded.CLAIM) == [1004, 1003]
    assert listed(until=recorded.SWAP) == [1005]
    assert listed(before=recorded.CLAIM, until=recorded.LAUNCH) == [1004]
    assert listed(before="1" * 64) == []
    assert listed(until="1" * 64) == [1005, 1004, 1003]
    assert call("getSignaturesForAddress", recorded.POOL, {"limit": 1001}) == -32602
    assert call("getSignaturesForAddress", recorded.POOL, {"minContextSlot": 1006}) == -32016
    assert call("getSignaturesForAddress", recorded.SPL_MINT) == []


def test_it_returns_the_signatures_of_a_block_in_order(call, solana_node):
    options = {"transactionDetails": "signatures", "rewards": False, "maxSupportedTransactionVersion": 0}
    raw = raw_of(solana_node, recorded.SWAP)
    second = "2" * 87
    solana_node.hold({"json": raw | {"transaction": raw["transaction"] | {"signatures": [second]}}})

    block = call("getBlock", 1004, options)

    assert block["signatures"] == [recorded.SWAP, second]
    assert (block["blockTime"], block["parentSlot"]) == (raw["blockTime"], 1003)
    assert call("getBlock", 1004) == -32602
    assert call("getBlock", 1000, options) == -32009
    assert call("getBlock", 1006, options) == -32004


def test_it_returns_accounts_in_base64(call, solana_node):
    options = {"encoding": "base64"}
    account = solana_node.accounts[recorded.MINT]
    assert call("getAccountInfo", recorded.MINT, options)["value"] == account
    assert call("getAccountInfo", "1" * 33, options)["value"] is None
    assert call("getMultipleAccounts", [recorded.MINT, "1" * 33], options)["value"] == [account, None]
    assert call("getMultipleAccounts", ["1" * 33] * 101, options) == -32602
    assert call("getAccountInfo", recorded.MINT) == -32602
    assert call("getAccountInfo", recorded.MINT, options | {"minContextSlot": 1006}) == -32016


def test_it_returns_supplies_times_and_its_version(call):
    assert call("getTokenSupply", recorded.MINT)["value"]["amount"] == "1000000000000000"
    assert call("getTokenSupply", "1" * 33) == -32602
    assert (call("getBlockTime", 1003), call("getBlockTime", 5)) == (1795228411, -32009)
    assert call("getGenesisHash") == "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"
    assert (call("getHealth"), call("getEverything")) == ("ok", -32601)


def test_it_answers_batches_and_refuses_what_is_no_call(solana_node):
    batch = [{"jsonrpc": "2.0", "id": number, "method": "getSlot"} for number in range(3)]
    assert [reply["id"] for reply in requests.post(solana_node.url, json=batch, timeout=60).json()] == [0, 1, 2]
    for content, code in ((b"{", -32700), (b"7", -32600), (b'{"method": 5}', -32600)):
        assert requests.post(solana_node.url, data=content, timeout=60).json()["error"]["code"] == code


def test_it_misbehaves_on_demand(call, solana_node):
    solana_node.refused["getSlot"] = {"code": -32005, "message": "Node is unhealthy"}
    assert call("getSlot") == -32005
    solana_node.behave(Mode.RATE_LIMIT, seconds=3.0)
    answer = requests.post(solana_node.url, json=[], timeout=60)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "3")

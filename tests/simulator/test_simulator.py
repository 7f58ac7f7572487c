"""`tests.simulator`: the served chain, its faults, and its truth's agreement with the service's indexing."""

import json
from typing import Any

import eth_abi
import pytest
import requests
from eth_utils.crypto import keccak
from websockets.sync.client import connect

from tests.nodes.log_encoding import call, split_types
from tests.processes.waiting import wait_for
from tests.simulator import Faults, Limits, SimulatedChain, Traffic, serve
from tests.simulator.comparing import differences
from tokens.indexing.index_requests import index_transaction

BUSY = Traffic(launches=1.5, events=2.5, noise=1.0)


@pytest.fixture(scope="module")
def chain() -> SimulatedChain:
    grown = SimulatedChain(5, traffic=BUSY)
    grown.mine(40)
    grown.reorg(12, length=14)
    grown.mine(10)
    return grown


def call_node(url: str, method: str, *params: Any) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = requests.post(url, json=body, timeout=60).json()
    return answer["result"] if "result" in answer else answer["error"]


def all_logs(url: str, **more: Any) -> list[dict[str, Any]]:
    logs: list[dict[str, Any]] = call_node(url, "eth_getLogs", {"fromBlock": "0x0", "toBlock": "latest"} | more)
    return logs


def test_each_block_follows_its_parent_in_hash_number_and_time(chain):
    with serve(chain) as node:
        blocks = [
            call_node(node.url, "eth_getBlockByNumber", hex(number), False) for number in range(len(chain.blocks))
        ]
    for parent, block in zip(blocks, blocks[1:], strict=False):
        assert block["parentHash"] == parent["hash"]
        assert int(block["number"], 16) == int(parent["number"], 16) + 1
        assert int(block["timestamp"], 16) > int(parent["timestamp"], 16)


def test_the_bloom_filter_is_that_of_the_blocks_logs(chain):
    with serve(chain) as node:
        logs = all_logs(node.url)
        for number in range(len(chain.blocks)):
            block = call_node(node.url, "eth_getBlockByNumber", hex(number), False)
            expected = 0
            for log in logs:
                if log["blockHash"] == block["hash"]:
                    for value in (log["address"], *log["topics"]):
                        digest = keccak(hexstr=value)
                        for place in (0, 2, 4):
                            expected |= 1 << (int.from_bytes(digest[place : place + 2], "big") % 2048)
            assert int(block["logsBloom"], 16) == expected


def test_logs_are_the_same_by_range_by_block_and_by_receipt(chain):
    with serve(chain) as node:
        by_range, by_block, by_receipt = all_logs(node.url), [], []
        for number in range(len(chain.blocks)):
            block = call_node(node.url, "eth_getBlockByNumber", hex(number), False)
            by_block += call_node(node.url, "eth_getLogs", {"blockHash": block["hash"]})
            receipts = call_node(node.url, "eth_getBlockReceipts", block["hash"])
            assert receipts == [
                call_node(node.url, "eth_getTransactionReceipt", entry) for entry in block["transactions"]
            ]
            by_receipt += [log for receipt in receipts for log in receipt["logs"]]
    assert by_range == by_block == by_receipt


def test_a_filter_takes_addresses_and_alternatives_of_topics(chain):
    with serve(chain) as node:
        logs = all_logs(node.url)
        address, topic = logs[0]["address"], logs[-1]["topics"][0]
        assert all_logs(node.url, address=address) == [log for log in logs if log["address"] == address]
        assert all_logs(node.url, topics=[[topic, "0x" + "00" * 32]]) == [
            log for log in logs if log["topics"][:1] == [topic]
        ]
        second = next(log["topics"][1] for log in logs if len(log["topics"]) > 1)
        assert all_logs(node.url, topics=[None, second]) == [log for log in logs if log["topics"][1:2] == [second]]
        assert all_logs(node.url, topics=[None, None, None, None]) == [log for log in logs if len(log["topics"]) == 4]


def test_the_dropped_branch_is_unknown_and_comes_back_elsewhere(chain):
    gone = [block for block in chain.dropped[0] if block not in chain.blocks]
    with serve(chain) as node:
        assert gone
        for block in gone:
            assert call_node(node.url, "eth_getBlockByHash", block.hash, False) is None
            assert call_node(node.url, "eth_getLogs", {"blockHash": block.hash})["message"] == "unknown block"
        back = [entry.hash for block in gone for entry in block.transactions]
        found = [receipt for entry in back if (receipt := call_node(node.url, "eth_getTransactionReceipt", entry))]
        assert 0 < len(found) < len(back)
        assert {receipt["blockHash"] for receipt in found} <= {block.hash for block in chain.blocks}


@pytest.mark.slow
@pytest.mark.django_db
def test_indexing_every_transaction_by_its_hash_gives_the_truth(chain, settings, forget_chains):
    with serve(chain) as node:
        settings.RPC_URLS = {chain.chain_id: (node.url,)}
        forget_chains()
        for block in chain.blocks:
            for entry in block.transactions:
                if entry.launches or entry.happenings:
                    index_transaction(chain_id=chain.chain_id, tx_hash=entry.hash)
        truth = chain.truth()
        assert len(truth.tokens) > 50 and len(truth.events) > 100
        # Trades are read with their blocks only.
        assert differences(truth, chain_id=chain.chain_id, with_trades=False) == []


@pytest.mark.django_db
def test_a_comparison_finds_what_is_missing_invented_and_different(chain, settings, forget_chains):
    with serve(chain) as node:
        settings.RPC_URLS = {chain.chain_id: (node.url,)}
        forget_chains()
        launching = [entry for block in chain.blocks for entry in block.transactions if entry.launches][:3]
        for entry in launching[:2]:
            index_transaction(chain_id=chain.chain_id, tx_hash=entry.hash)
        truth = chain.truth()
        found = differences(truth, chain_id=chain.chain_id)
        assert any("is missing" in line and line.startswith("token") for line in found)
        known = launching[0].launches[0][1].address
        truth.tokens.pop(known)
        assert any(line.startswith(f"token {known} is invented") for line in differences(truth, chain_id=8453))


ENCODED: list[tuple[str, list[Any]]] = [
    ("f(uint256,int24,address,bytes32,bool)", [2**255, -887_272, "0x" + "aB" * 20, b"\1" * 32, True]),
    ("f(string,bytes,string)", ["犬" * 20, b"\xff" * 33, ""]),
    ("f(uint16[],address[],string,int24[])", [[1, 2, 3], ["0x" + "12" * 20], "between", []]),
    ("f((address,uint24),uint256)", [("0x" + "34" * 20, 5), 6]),
    ("f((string,(uint8[],bytes)),(uint256,bytes)[])", [("a", ([7, 8], b"b")), [(9, b"c" * 40), (10, b"")]]),
]


@pytest.mark.parametrize(("signature", "values"), ENCODED)
def test_calls_are_encoded_as_eth_abi_does(signature, values):
    types = split_types(signature[2:-1])
    assert call(signature, *values)[10:] == eth_abi.encode(types, values).hex()


def test_the_same_seed_gives_the_same_chain():
    first, second = (SimulatedChain(9, traffic=BUSY) for _ in range(2))
    for chain in (first, second):
        chain.mine(20)
        chain.reorg(7)
    assert [block.hash for block in first.blocks] == [block.hash for block in second.blocks]
    assert first.truth() == second.truth()


def test_limits_are_refused_in_a_providers_text(chain):
    with serve(chain, limits=Limits(blocks=10, logs=3)) as node:
        refused = call_node(node.url, "eth_getLogs", {"fromBlock": "0x0", "toBlock": "0x20"})
        assert refused == {"code": -32602, "message": "query exceeds max block range 10"}
        refused = call_node(node.url, "eth_getLogs", {"fromBlock": "0x1", "toBlock": "0x9"})
        assert refused["message"].startswith("query exceeds max results 3, retry with the range 1-")


def test_a_lagging_node_has_nothing_beyond_its_head(chain):
    with serve(chain, faults=Faults(behind=5)) as node:
        head = int(call_node(node.url, "eth_blockNumber"), 16)
        assert head == chain.head.number - 5
        assert call_node(node.url, "eth_getBlockByHash", chain.head.hash, False) is None
        assert {int(log["blockNumber"], 16) for log in all_logs(node.url, toBlock=hex(chain.head.number))} <= set(
            range(head + 1)
        )


def test_what_a_node_lost_for_good_is_in_its_receipts(chain):
    with serve(chain) as node:
        whole = all_logs(node.url)
        node.faults = Faults(omitted_for_good=0.2)
        part = all_logs(node.url)
        assert part == all_logs(node.url)
        assert len(part) < len(whole)
        lost = next(log for log in whole if log not in part)
        assert lost in call_node(node.url, "eth_getTransactionReceipt", lost["transactionHash"])["logs"]


def test_a_faulty_node_errs_in_every_way_and_is_right_in_between(chain):
    faults = Faults(
        errors=0.3, dropped=0.1, halves=0.2, omitted=0.02, doubled=0.02, reordered=0.1, stale=0.1, forked=0.1
    )
    outcomes = set()
    with serve(chain, seed=3) as node:
        newest = {"fromBlock": hex(chain.head.number - 2)}
        whole = all_logs(node.url, **newest)
        node.faults = faults
        for _ in range(200):
            body = {"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [newest]}
            try:
                answer = requests.post(node.url, json=body, timeout=60)
            except requests.ConnectionError:
                outcomes.add("dropped")
                continue
            outcomes.add(_outcome(answer, whole))
    assert outcomes >= {"dropped", "status 429", "status 503", "refused", "cut", "right", "wrong"}


def _outcome(answer: requests.Response, whole: list[dict[str, Any]]) -> str:
    if answer.status_code != 200:
        return f"status {answer.status_code}"
    try:
        reply = answer.json()
    except json.JSONDecodeError:
        return "cut"
    if "error" in reply:
        return "refused"
    return "right" if reply.get("result") == whole else "wrong"


def test_subscribers_are_notified_of_new_heads_and_of_a_new_branch():
    chain = SimulatedChain(2)
    chain.mine(5)
    with serve(chain) as node, connect(node.websocket_url) as socket:
        socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "eth_subscribe", "params": ["newHeads"]}))
        subscription = json.loads(socket.recv(5))["result"]
        chain.mine(2)
        chain.reorg(1, length=2)
        notifications = [json.loads(socket.recv(5))["params"] for _ in range(4)]
        assert {entry["subscription"] for entry in notifications} == {subscription}
        assert [entry["result"]["hash"] for entry in notifications][-2:] == [block.hash for block in chain.blocks[-2:]]


def test_a_node_that_hangs_up_on_subscribers_takes_them_again():
    chain = SimulatedChain(2)
    with serve(chain, faults=Faults(disconnected=1.0)) as node:
        for _ in range(2):
            with connect(node.websocket_url) as socket:
                socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "eth_subscribe", "params": ["newHeads"]}))
                assert "result" in json.loads(socket.recv(5))
                chain.mine()
                wait_for(lambda socket=socket: socket.protocol.state.name == "CLOSED")

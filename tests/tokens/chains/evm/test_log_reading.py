"""tokens/chains/evm/logs/log_reading.py: reading block ranges from faulty nodes."""

import json
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from development.devchain.anvil import CHAIN_ID
from development.standins.loopback import RefusedError, Reply
from tests.nodes.devchain_launches import Launchpad
from tests.nodes.launch_builder import STRANGER
from tests.nodes.recorded_node import Node, serve_recorded_chain
from tests.nodes.recordings import base, mined, recorded_chain
from tokens.chains.errors import BlockNotCanonicalError, LaunchNotFoundError, NodeUnavailableError, RequestTooLargeError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.registry.chains import load_registry
from tokens.chains.rpc.block_ranges import RangeSize
from tokens.chains.rpc.client import RpcClient

HEAD = 209
OTHER = "0x" + "ab" * 32
UPDATED = mined("token-update-image")
LAUNCH = mined("deploy-plain")
LAUNCHED_IN = int(LAUNCH.block["number"], 16)


def chain(*nodes: Node | str, blocks: int = 2000, longest: int = 20_000, **options) -> Chain:
    """Return a chain with no retry delay."""
    urls = tuple(node if isinstance(node, str) else node.url for node in nodes)
    rpc = RpcClient(chain_id=8453, urls=urls, **{"initial_backoff": 0, "attempts": 1, **options})
    return Chain(info=base(), rpc=rpc, ranges=RangeSize(blocks, longest=longest))


def read_one_by_one(reading: Chain):
    """Return each recorded transaction's facts, read by its hash, in the chain's sequence."""
    found = []
    for block in recorded_chain()["blocks"]:
        for entry in block["transactions"]:
            try:
                found.append(reading.read_transaction(entry["hash"]))
            except LaunchNotFoundError:
                continue
    return tuple(found)


def all_headers(reading: Chain):
    return [header for _, header in sorted(reading.read_headers(range(HEAD + 1)).items())]


def requested_ranges(node: Node):
    """Return the log ranges that the node received, each once, in order of arrival."""
    requested = [call["params"][0] for call in node.calls if call["method"] == "eth_getLogs"]
    found = [(int(entry["fromBlock"], 16), int(entry["toBlock"], 16)) for entry in requested if "fromBlock" in entry]
    return list(dict.fromkeys(found))


def change_logs(node: Node, change):
    """Have the node's logs be the result of `change` for their list."""
    node.answers["eth_getLogs"] = lambda requested: change(node.logs(requested))


def alter(**changes):
    """Return a change to every log; a function in `changes` is called with the log, and None removes a field."""

    def change(logs):
        found = []
        for log in logs:
            altered = {**log, **{name: new(log) if callable(new) else new for name, new in changes.items()}}
            found.append({name: value for name, value in altered.items() if value is not None})
        return found

    return change


@pytest.fixture(scope="module")
def everything():
    with serve_recorded_chain() as regular_node:
        return read_one_by_one(chain(regular_node))


# All recorded transactions, by each reading method.


def test_ranges_return_the_same_as_each_single_transaction(node, everything):
    reading = chain(node).read_range(0, HEAD)
    assert (reading.first, reading.last) == (0, HEAD)
    assert reading.transactions == everything


@pytest.mark.parametrize("blocks", [1, 7, 100])
def test_short_ranges_return_the_same(node, everything, blocks):
    assert chain(node, blocks=blocks, longest=blocks).read_range(0, HEAD).transactions == everything
    assert all(last - first < blocks for first, last in requested_ranges(node))


def test_blocks_left_out_are_not_decoded(node, everything):
    found = chain(node).read_range(0, HEAD, without={LAUNCHED_IN}).transactions
    assert found == tuple(facts for facts in everything if facts.block_number != LAUNCHED_IN)
    assert len(found) < len(everything)


def test_blocks_by_their_hashes_return_the_same(node, everything):
    reading = chain(node)
    headers = all_headers(reading)
    found = [reading.read_blocks(headers[start : start + 15]) for start in range(0, HEAD + 1, 15)]
    assert tuple(facts for part in found for facts in part.transactions) == everything
    assert requested_ranges(node) == []


def test_a_long_window_returns_the_same(node, everything):
    reading = chain(node)
    headers = all_headers(reading)
    node.received.clear()
    assert reading.read_blocks(headers).transactions == everything
    assert requested_ranges(node) == [(0, HEAD)]


def test_receipts_return_the_same(node, everything):
    reading = chain(node)
    assert reading.read_receipts(all_headers(reading)).transactions == everything


def test_quiet_blocks_share_a_request_for_their_receipts(node):
    reading = chain(node, batch_size=50)
    headers = all_headers(reading)
    quiet = [header for header in headers if not header.logs_bloom]
    node.received.clear()
    reading.read_receipts(quiet)
    # One call in each request is for its last block.
    assert [len(body) for body in node.received] == [50] * (len(quiet) // 49) + [len(quiet) % 49 + 1]


def test_few_full_blocks_share_a_request_for_their_receipts(node):
    reading = chain(node, batch_size=50)
    full = [header for header in all_headers(reading) if header.logs_bloom]
    node.received.clear()
    reading.read_receipts(full)
    bits = {hex(header.number): header.logs_bloom.bit_count() for header in full}
    requests = [
        [bits[params[0]] for params in (call["params"] for call in body if call["method"] == "eth_getBlockReceipts")]
        for body in node.received
        if isinstance(body, list)
    ]
    together = [sum(request) for request in requests if len(request) > 1]
    assert together
    assert max(together) <= 5 * 2048
    assert sum(map(len, requests)) == len(full)


def test_receipts_one_by_one_return_the_same(node, everything):
    del node.answers["eth_getBlockReceipts"]
    reading = chain(node)
    assert reading.read_receipts(all_headers(reading)).transactions == everything
    # An unsupported method is requested once, for as many blocks as share a request.
    requests = [body for body in node.received if isinstance(body, list)]
    assert sum(any(call["method"] == "eth_getBlockReceipts" for call in body) for body in requests) == 1


def test_fewer_addresses_return_what_concerns_them(node):
    (factory,) = base().addresses("factory", "v4")
    found = chain(node).read_range(0, HEAD, addresses=[factory.lower()]).transactions
    launches = [launch.generation for facts in found for launch in facts.launches]
    assert set(launches) == {"v4"}
    # The tokens' own events belong to any factory.
    assert UPDATED.hash in {facts.tx_hash for facts in found}
    own = chain(node).read_range(0, HEAD, addresses=[]).transactions
    assert UPDATED.hash in {facts.tx_hash for facts in own}
    assert not [launch for facts in own for launch in facts.launches]
    assert all(call["params"][0].get("address") != [] for call in node.calls if call["method"] == "eth_getLogs")


# Adaptive ranges.


def limit(node: Node, blocks: int, error):
    """Have the node refuse ranges with more than so many blocks."""

    def logs(requested):
        if int(requested["toBlock"], 16) - int(requested["fromBlock"], 16) >= blocks:
            raise error
        return node.logs(requested)

    node.answers["eth_getLogs"] = logs


@pytest.mark.parametrize(
    "error",
    [
        RefusedError(-32005, "query returned more than 10000 results"),
        RefusedError(-32614, "eth_getLogs is limited to a 20 range"),
    ],
    ids=str,
)
def test_a_refused_range_is_requested_in_parts(node, everything, error):
    limit(node, 20, error)
    reading = chain(node, breaker_failures=1, breaker_seconds=3600)
    assert reading.read_range(0, HEAD).transactions == everything
    assert 1 <= reading.range_blocks() <= 20
    # A refused range is no failure in the node, nor in batches.
    assert reading.rpc._endpoints[0].max_batch_size > 1000


def longest_range(body):
    """Return the blocks between the ends of the longest log range in a request; -1 without any."""
    calls = body if isinstance(body, list) else [body]
    ranges = [call["params"][0] for call in calls if call["method"] == "eth_getLogs"]
    return max((int(entry["toBlock"], 16) - int(entry["fromBlock"], 16) for entry in ranges), default=-1)


def test_a_refusal_by_status_is_one_of_the_range(node, everything):
    error = {"code": -32602, "message": "query exceeds max block range 50"}

    reply = Reply(json.dumps({"jsonrpc": "2.0", "id": 1, "error": error}).encode(), status=400)
    node.behave = lambda body: reply if longest_range(body) >= 50 else None
    reading = chain(node)
    assert reading.read_range(0, HEAD).transactions == everything
    assert reading.range_blocks() == 50
    assert reading.rpc._endpoints[0].max_batch_size > 1000


@pytest.mark.parametrize("status", [413, 504])
def test_an_answer_that_is_too_large_or_slow_is_requested_in_parts(node, everything, status):
    def behave(body):
        single = not isinstance(body, list) and body["method"] == "eth_getLogs"
        return Reply(b"", status=status) if longest_range(body) >= 100 or single else None

    node.behave = behave
    reading = chain(node, blocks=250, breaker_failures=100)
    assert reading.read_range(0, HEAD).transactions == everything


def test_a_long_range_that_hangs_is_requested_in_parts(node, everything):
    node.behave = lambda body: node.closed.wait() and None if longest_range(body) >= 100 else None
    reading = chain(node, blocks=250, timeout=0.3, breaker_failures=100)
    assert reading.read_range(0, HEAD).transactions == everything


def test_a_node_that_hangs_at_every_range_is_given_up(node):
    node.behave = lambda body: node.closed.wait() and None if isinstance(body, list) else None
    with pytest.raises(RequestTooLargeError):
        chain(node, timeout=0.05, breaker_failures=100).read_range(0, HEAD)


def test_a_refused_block_is_retried_on_the_next_node(node, second_node, everything):
    limit(node, 0, RefusedError(-32005, "query returned more than 10000 results"))
    reading = chain(node, second_node, blocks=1, longest=1)
    assert reading.read_range(LAUNCHED_IN, LAUNCHED_IN).transactions == tuple(
        facts for facts in everything if facts.block_number == LAUNCHED_IN
    )
    with pytest.raises(NodeUnavailableError):
        chain(node).read_range(LAUNCHED_IN, LAUNCHED_IN)


def test_a_refusal_of_something_else_is_retried_on_the_next_node(node, second_node, everything):
    limit(node, 0, RefusedError(-32005, "rate limit exceeded"))
    reading = chain(node, second_node)
    assert reading.read_range(0, HEAD).transactions == everything
    assert reading.range_blocks() >= 2000


def test_threads_share_what_nodes_take(node, everything):
    limit(node, 20, RefusedError(-32614, "eth_getLogs is limited to a 20 range"))
    reading = chain(node)
    found = {}
    threads = [
        threading.Thread(target=lambda first=first: found.update({first: reading.read_range(first, first + 69)}))
        for first in (0, 70, 140)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tuple(facts for first in (0, 70, 140) for facts in found[first].transactions) == everything


# Wrong responses.


def double(logs):
    return [copy for log in logs for copy in (log, dict(log))]


@pytest.mark.parametrize("change", [double, lambda logs: logs[::-1]], ids=["doubled", "reordered"])
def test_logs_in_disorder_are_put_in_order(node, everything, change):
    change_logs(node, change)
    assert chain(node).read_range(0, HEAD).transactions == everything


FAULTY_LOGS = {
    "null": lambda logs: None,
    "an object": lambda logs: {},
    "a list of texts": lambda logs: ["0x"],
    "no address": alter(address=None),
    "half an address": alter(address=lambda log: log["address"][:-1]),
    "a foreign address": alter(
        address=STRANGER.lower(), topics=lambda log: [mined("deploy-plain").logs[0]["topics"][0], *log["topics"][1:]]
    ),
    "no topics": alter(topics=None),
    "empty topics": alter(topics=[]),
    "five topics": alter(topics=lambda log: log["topics"][:1] * 5),
    "a topic in upper case": alter(topics=lambda log: [log["topics"][0].upper().replace("X", "x")]),
    "a foreign topic": alter(topics=[OTHER]),
    "topics that are a text": alter(topics=lambda log: log["topics"][0]),
    "no data": alter(data=None),
    "half a byte": alter(data=lambda log: log["data"] + "0"),
    "spaces in data": alter(data=lambda log: log["data"] + " 00 "),
    "no hex in data": alter(data="0xzz"),
    "no block": alter(blockNumber=None),
    "another block's number": alter(blockNumber=hex(HEAD + 1)),
    "a block's number in decimals": alter(blockNumber=lambda log: str(int(log["blockNumber"], 16))),
    "no hash": alter(blockHash=None),
    "pending": alter(blockHash=lambda log: None, blockNumber=lambda log: None),
    "one hash for all": alter(blockHash=OTHER),
    "no transaction": alter(transactionHash=None),
    "one transaction for all": alter(transactionHash=OTHER),
    "no index": alter(logIndex=None),
    "a huge index": alter(logIndex=hex(2**31)),
    "one index for all": alter(logIndex="0x0"),
    "no place of the transaction": alter(transactionIndex=None),
    "removed": alter(removed=True),
    "a hash of its own for each log": alter(blockHash=lambda log: f"0x{int(log['logIndex'], 16):064x}"),
    "places that go back": alter(transactionIndex=lambda log: hex(1000 - int(log["logIndex"], 16))),
    "two contents in one place": lambda logs: logs + alter(data="0x")(logs),
    "two blocks in one place": lambda logs: logs + alter(blockHash=OTHER)(logs),
}


@pytest.mark.parametrize("fault", FAULTY_LOGS.values(), ids=FAULTY_LOGS)
def test_logs_that_can_not_be_are_trusted_nowhere(node, second_node, everything, fault):
    (header,) = chain(node).read_headers([LAUNCHED_IN]).values()
    change_logs(node, fault)
    with pytest.raises(NodeUnavailableError):
        chain(node).read_range(0, HEAD)
    with pytest.raises(NodeUnavailableError):
        chain(node).read_blocks([header])
    assert chain(node, second_node).read_range(0, HEAD).transactions == everything


def test_logs_of_blocks_that_were_not_requested_are_trusted_nowhere(node):
    node.answers["eth_getLogs"] = lambda requested: node.logs({**requested, "fromBlock": hex(LAUNCHED_IN)})
    with pytest.raises(NodeUnavailableError, match="not requested"):
        chain(node).read_range(LAUNCHED_IN + 1, LAUNCHED_IN + 1)


def test_logs_of_two_blocks_with_one_number_are_trusted_nowhere(node):
    change_logs(node, FAULTY_LOGS["a hash of its own for each log"])
    with pytest.raises(NodeUnavailableError, match="one number"):
        chain(node).read_range(LAUNCHED_IN, LAUNCHED_IN)


def test_a_single_wrong_response_is_requested_again(node, everything):
    reported = []

    def once(requested):
        reported.append(requested)
        return None if len(reported) <= 2 else node.logs(requested)

    node.answers["eth_getLogs"] = once
    assert chain(node, attempts=2).read_range(0, HEAD).transactions == everything


@pytest.mark.parametrize("head", [hex(HEAD - 1), "0x0", None, HEAD, "0x0d1"])
def test_a_node_that_is_behind_returns_nothing(node, second_node, everything, head):
    node.answers["eth_blockNumber"] = lambda: head
    node.answers["eth_getLogs"] = lambda _: []
    with pytest.raises(NodeUnavailableError):
        chain(node).read_range(0, HEAD)
    assert chain(node, second_node).read_range(0, HEAD).transactions == everything


def test_blocks_that_no_node_has_are_not_empty(node):
    with pytest.raises(NodeUnavailableError):
        chain(node).read_range(HEAD, HEAD + 1)


# Times.


@pytest.mark.parametrize("reported", [None, "0x0", "1760000623", 1_760_000_623, "0x", "0xfffffffffffff"])
def test_times_that_logs_leave_open_are_those_of_headers(node, everything, reported):
    change_logs(node, alter(blockTimestamp=lambda _: reported))
    assert [facts.block_time for facts in chain(node).read_range(0, HEAD).transactions] == [
        facts.block_time for facts in everything
    ]


def test_times_before_ethereum_or_in_the_future_are_not_trusted(node):
    first = datetime(2015, 7, 30, tzinfo=UTC).timestamp()
    now = time.time()
    for reported, is_trusted in ((first - 1, False), (first, True), (now + 86_000, True), (now + 90_000, False)):
        change_logs(node, alter(blockTimestamp=hex(int(reported))))
        (own,) = chain(node).read_range(LAUNCHED_IN, LAUNCHED_IN).transactions
        assert own.block_time == (int(reported) if is_trusted else int(LAUNCH.block["timestamp"], 16))


def test_times_in_logs_are_not_requested(node):
    (own,) = chain(node).read_range(LAUNCHED_IN, LAUNCHED_IN).transactions
    assert own.block_time == int(LAUNCH.block["timestamp"], 16)
    assert node.call_count("eth_getBlockByNumber") == 0


def test_times_that_differ_within_a_block_are_not_trusted(node):
    change_logs(node, alter(blockTimestamp=lambda log: hex(1_700_000_000 + int(log["logIndex"], 16))))
    (own,) = chain(node).read_range(LAUNCHED_IN, LAUNCHED_IN).transactions
    assert own.block_time == int(LAUNCH.block["timestamp"], 16)


def test_only_blocks_with_logs_are_requested_for_their_time(node, everything):
    change_logs(node, alter(blockTimestamp=None))
    assert len(chain(node, batch_size=10).read_range(0, HEAD).transactions) == len(everything)
    assert node.call_count("eth_getBlockByNumber") < 60


def test_the_time_of_another_block_is_not_trusted(node, second_node, everything):
    regular = node.answers["eth_getBlockByNumber"]
    for requested in (node, second_node):
        change_logs(requested, alter(blockTimestamp=None))
    node.answers["eth_getBlockByNumber"] = lambda number, full: {**regular(number, full), "hash": OTHER}
    with pytest.raises(NodeUnavailableError):
        chain(node).read_range(LAUNCHED_IN, LAUNCHED_IN)
    expected = tuple(facts for facts in everything if facts.block_number == LAUNCHED_IN)
    (own,) = chain(node, second_node).read_range(LAUNCHED_IN, LAUNCHED_IN).transactions
    assert own.block_time == expected[0].block_time


def test_a_launch_that_is_read_in_full_has_the_time_of_the_given_header(node):
    reading, regular = chain(node), node.answers["eth_getBlockByNumber"]
    headers = list(reading.read_headers([int(mined("legacy-v0-deploy").block["number"], 16)]).values())
    another_time = {"timestamp": hex(1_700_000_000)}
    node.answers["eth_getBlockByNumber"] = lambda number, full: regular(number, full) | another_time
    (own,) = reading.read_blocks(headers).transactions
    assert {own.block_time, *(launch.block_time for launch in own.launches)} == {headers[0].time}
    assert own.launches and node.call_count("eth_getTransactionReceipt") == 1


# Malformed or incomplete logs.


def test_a_launch_that_is_malformed_does_not_hold_up_the_others(node, everything):
    change_logs(
        node, lambda logs: [log | {"data": "0x"} if log["transactionHash"] == LAUNCH.hash else log for log in logs]
    )
    found = chain(node).read_range(0, HEAD)
    assert {facts.tx_hash for facts in found.transactions} == {facts.tx_hash for facts in everything} - {LAUNCH.hash}
    assert [(log.tx_hash, log.launchpad) for log in found.undecodable] == [(LAUNCH.hash, "clanker")]


def test_a_launch_that_is_read_in_full_must_be_there_in_full(node):
    launch = mined("legacy-v0-deploy")
    number = int(launch.block["number"], 16)
    assert len(chain(node).read_range(number, number).transactions) == 1
    created = next(log for log in launch.logs if base().factory_generation(log["address"]))
    node.answers["eth_getLogs"] = lambda requested: [created] if "address" in requested else []
    node.receipts[launch.hash] = launch.receipt | {"logs": [log for log in launch.logs if log != created]}
    with pytest.raises(NodeUnavailableError, match="a response without the logs"):
        chain(node).read_range(number, number)


def test_a_launch_that_is_read_in_full_must_be_in_the_block_of_its_logs(node):
    number = int(mined("legacy-v0-deploy").block["number"], 16)
    change_logs(node, alter(blockHash=OTHER))
    with pytest.raises(NodeUnavailableError, match="changed its block"):
        chain(node).read_range(number, number)


# Blocks by their hashes.


def test_a_block_that_was_dropped_is_gone(node):
    reading = chain(node)
    headers = all_headers(reading)
    for window in (headers[-3:], headers[-40:]):
        stale = [*window[:-1], replace(window[-1], hash=OTHER)]
        with pytest.raises(BlockNotCanonicalError, match="another block"):
            reading.read_blocks(stale)
        with pytest.raises(BlockNotCanonicalError, match="another block"):
            reading.read_receipts(stale)
        beyond_head = [*window[:-1], replace(window[-1], number=HEAD + 1, hash=OTHER)]
        with pytest.raises(BlockNotCanonicalError, match="no block"):
            reading.read_blocks(beyond_head)


def test_a_block_that_was_dropped_is_noticed_at_once(node):
    reading = chain(node, attempts=10, initial_backoff=60, max_backoff=60)
    (header,) = reading.read_headers([LAUNCHED_IN]).values()
    with pytest.raises(BlockNotCanonicalError):
        reading.read_blocks([replace(header, hash=OTHER)])
    assert reading.read_newest_header().number == HEAD


@pytest.mark.parametrize("method", ["eth_getLogs", "eth_getBlockByHash"])
@pytest.mark.parametrize("answer", ["unknown block", "null"])
def test_a_node_that_lacks_the_block_is_passed_over(node, second_node, everything, method, answer):
    def lack(*_):
        if answer == "null":
            return None
        raise RefusedError(-32000, answer)

    headers = [header for header in all_headers(chain(second_node)) if header.number == LAUNCHED_IN]
    node.answers[method] = lack
    reading = chain(node, second_node, breaker_failures=1, breaker_seconds=3600)
    assert reading.read_blocks(headers).transactions == tuple(
        facts for facts in everything if facts.block_number == LAUNCHED_IN
    )
    with pytest.raises(NodeUnavailableError):
        chain(node).read_blocks(headers)


def test_another_block_than_the_requested_one_is_trusted_nowhere(node, second_node, everything):
    (header,) = chain(node).read_headers([LAUNCHED_IN]).values()
    regular = node.answers["eth_getBlockByHash"]
    node.answers["eth_getBlockByHash"] = lambda block_hash, full: regular(block_hash, full) | {"hash": OTHER}
    assert chain(node, second_node).read_blocks([header]).transactions == tuple(
        facts for facts in everything if facts.block_number == LAUNCHED_IN
    )
    with pytest.raises(NodeUnavailableError, match="another block than the requested one"):
        chain(node).read_blocks([header])


def test_no_logs_of_a_node_that_lacks_the_block_are_no_answer(node):
    (header,) = chain(node).read_headers([LAUNCHED_IN]).values()
    node.answers["eth_getLogs"] = lambda _: []
    node.answers["eth_getBlockByHash"] = lambda *_: None
    with pytest.raises(NodeUnavailableError):
        chain(node).read_blocks([header])


def test_a_window_on_another_fork_is_not_trusted(node, second_node, everything):
    headers = all_headers(chain(node))
    regular = node.answers["eth_getBlockByNumber"]
    # A node on a fork that left the chain at its last block, and has no relevant logs there.
    node.answers["eth_getBlockByNumber"] = lambda number, full: (
        regular(number, full) | ({"hash": OTHER} if int(number, 16) == HEAD else {})
    )
    node.answers["eth_getLogs"] = lambda _: []
    assert chain(node, second_node).read_blocks(headers).transactions == everything


def test_logs_of_a_dropped_block_in_a_window_are_not_trusted(node, second_node, everything):
    headers = all_headers(chain(node))
    orphaned = alter(blockHash=lambda log: OTHER if int(log["blockNumber"], 16) == LAUNCHED_IN else log["blockHash"])
    change_logs(node, orphaned)
    assert chain(node, second_node).read_blocks(headers).transactions == everything


def test_a_node_that_fails_does_not_change_the_blocks(node):
    headers = all_headers(chain(node))
    node.behave = lambda body: Reply(b"", status=500)
    for read in (chain(node).read_blocks, chain(node).read_receipts):
        with pytest.raises(NodeUnavailableError):
            read(headers[-2:])


# Receipts.


def leave_out_a_log(receipts):
    return [receipt | {"logs": receipt["logs"][:-1]} for receipt in receipts]


RECEIPTS = {
    "null": lambda receipts: None,
    "none": lambda receipts: [],
    "texts": lambda receipts: ["0x"],
    "receipts without logs": lambda receipts: [{"status": "0x1"}],
    "receipts with half a topic": lambda receipts: [
        receipt | {"logs": alter(topics=["0x12"])(receipt["logs"])} for receipt in receipts
    ],
    "receipts with five topics": lambda receipts: [
        receipt | {"logs": alter(topics=[OTHER] * 5)(receipt["logs"])} for receipt in receipts
    ],
    "receipts with an object as a topic": lambda receipts: [
        receipt | {"logs": alter(topics=[{}])(receipt["logs"])} for receipt in receipts
    ],
    "receipts with a log less": leave_out_a_log,
    "receipts of another block": lambda receipts: [
        receipt | {"logs": alter(blockHash=OTHER)(receipt["logs"])} for receipt in receipts
    ],
    "receipts with a log more": lambda receipts: [
        receipt | {"logs": [*receipt["logs"], receipt["logs"][0] | {"logIndex": "0xff", "address": STRANGER.lower()}]}
        for receipt in receipts
    ],
}


@pytest.mark.parametrize("fault", RECEIPTS.values(), ids=RECEIPTS)
def test_receipts_must_make_the_blocks_filter(node, second_node, everything, fault):
    (header,) = chain(node).read_headers([LAUNCHED_IN]).values()
    regular = node.answers["eth_getBlockReceipts"]
    node.answers["eth_getBlockReceipts"] = lambda number: fault(regular(number))
    expected = tuple(facts for facts in everything if facts.block_number == LAUNCHED_IN)
    assert chain(node, second_node).read_receipts([header]).transactions == expected
    # One by one, where no node returns all receipts in the block.
    assert chain(node).read_receipts([header]).transactions == expected
    own = node.receipts[LAUNCH.hash]
    (node.receipts[LAUNCH.hash],) = leave_out_a_log([own])
    # Without a proof: neither filter nor root fits.
    doubtful = chain(node).read_receipts([header])
    assert doubtful.unproven == doubtful.odd_filters == {header.number}


# A real node.


def test_a_real_node_returns_the_same_by_each_method(own_launchpad: Launchpad, chains_file):
    info = load_registry(chains_file).chain(CHAIN_ID)
    reading = Chain(info=info, rpc=RpcClient(chain_id=CHAIN_ID, urls=(own_launchpad.deployment.rpc_url,)))
    first = reading.read_head() + 1
    one_by_one = []
    for _ in range(3):
        one_by_one.append(reading.read_transaction(own_launchpad.launch()))
        own_launchpad.mine(2)
    last = reading.read_head()
    headers = [header for _, header in sorted(reading.read_headers(range(first, last + 1)).items())]
    # anvil's receipts and logs in a range are the same objects, except for the field order.
    assert list(reading.read_range(first, last).transactions) == one_by_one
    assert list(reading.read_blocks(headers).transactions) == one_by_one
    assert list(reading.read_receipts(headers).transactions) == one_by_one
    assert all(reading.may_contain_events(headers[0 + 3 * place]) for place in range(3))
    assert [reading.may_contain_events(header) for header in headers].count(False) == 6
    assert reading.count_nodes_with(headers[-1]) == (1, 0)


def test_a_real_nodes_dropped_blocks_are_gone(own_launchpad: Launchpad, chains_file):
    info = load_registry(chains_file).chain(CHAIN_ID)
    rpc = RpcClient(chain_id=CHAIN_ID, urls=(own_launchpad.deployment.rpc_url,))
    reading = Chain(info=info, rpc=rpc)
    mark = own_launchpad.snapshot()
    own_launchpad.launch()
    orphaned = reading.read_newest_header()
    own_launchpad.revert(mark)
    with pytest.raises(BlockNotCanonicalError):
        reading.read_blocks([orphaned])
    with pytest.raises(BlockNotCanonicalError):
        reading.read_receipts([orphaned])
    assert reading.count_nodes_with(orphaned) == (0, 1)

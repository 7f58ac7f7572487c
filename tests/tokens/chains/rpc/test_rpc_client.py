"""tokens/chains/rpc/client.py: the JSON-RPC client, against real HTTP servers on loopback with faults."""

import contextlib
import gzip
import itertools
import json
import logging
import socket
import threading
import time
import traceback

import pytest

from config.http import json_client
from config.http.compute_lock import computing
from config.http.errors import HTTPStatusError, RetryableError
from development.standins.loopback import RefusedError, Reply
from tests.nodes.recorded_node import SECRET, Node, query_head
from tests.processes.waiting import wait_for
from tokens.chains.errors import NodeUnavailableError
from tokens.chains.rpc.client import EVERY_NODE, ONE_ROUND, QueryPolicy, RpcClient
from tokens.chains.rpc.responses import CallFailure, RejectionKind, accept_executions, accept_results

HEAD = "0xd1"
GET_HEAD = [("eth_blockNumber", ())]
ETH_CALL = [("eth_call", ({}, "latest"))]


def client(*nodes, **options):
    """Return a client with a retry delay of 0."""
    urls = tuple(node.url if isinstance(node, Node) else node for node in nodes)
    return RpcClient(chain_id=8453, urls=urls, **{"initial_backoff": 0, "attempts": 1, **options})


def raw(body, **options):
    """Return a behaviour with the same HTTP response to everything."""
    return lambda _: Reply(body, **options)


def rpc_error(code, message, **more):
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message, **more}}).encode()


def batch_only(answer):
    """Return a behaviour with these responses to batches, and regular ones to single calls."""
    return lambda body: answer(body) if isinstance(body, list) else None


def after_the_chain_id(answer):
    """Return a behaviour with the regular chain id, and these responses to everything else."""
    return lambda body: None if not isinstance(body, list) and body["method"] == "eth_chainId" else answer(body)


@contextlib.contextmanager
def closed_port():
    """Yield the URL of a port that refuses connections, and stays reserved meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/v2/{SECRET}"


def endless():
    return itertools.repeat(b" " * 1_000_000)


USELESS = {
    "429": raw(b"slow down", status=429),
    "500": raw(b"<html>oops</html>", status=500),
    "503": raw(b"{}", status=503),
    "401": raw(rpc_error(-32000, "Must be authenticated!"), status=401),
    "403": raw(b"<html>forbidden</html>", status=403),
    "404": raw(b"", status=404),
    "200 with HTML": raw(b"<html>hello</html>"),
    "200 with nothing": raw(b""),
    "half of a JSON object": raw(b'{"jsonrpc": "2.0", "id": 1, "resu'),
    "invalid UTF-8": raw(b'{"jsonrpc": "2.0", "id": 1, "result": "\xff"}'),
    "a number": raw(b"17"),
    "null": raw(b"null"),
    "a text": raw(b'"hello"'),
    "an empty list": raw(b"[]"),
    "an empty object": raw(b"{}"),
    "a list of numbers": raw(b"[1, 2]"),
    "an error that is a text": raw(b'{"error": "bad key"}'),
    "the answer to another call": raw(b'{"jsonrpc": "2.0", "id": 999999, "result": "0x2105"}'),
    "an id that is a list": raw(b'{"jsonrpc": "2.0", "id": [], "result": "0x2105"}'),
    "a rate limit in a 200": raw(rpc_error(-32005, "daily request count exceeded")),
    "a rate limit in words": raw(rpc_error(-32000, "Too Many Requests, slow down")),
    "a redirect": raw(b"", status=302, headers={"location": "/elsewhere"}),
    "broken gzip": raw(b"\x1f\x8b no gzip", headers={"content-encoding": "gzip"}),
    "a huge whole number": raw(b'{"jsonrpc": "2.0", "id": 1, "result": 123456789012345678901234567890}'),
    "deep nesting": raw(b"[" * 100_000 + b"]" * 100_000),
}


@pytest.mark.parametrize("behave", USELESS.values(), ids=USELESS)
def test_it_calls_the_next_node_after_one_that_answers_with(node, second_node, behave):
    node.behave = behave
    assert query_head(client(node, second_node)) == HEAD
    assert numbers(client(node, second_node).batch(CALLS, parse=accept_results)) == list(range(60, 67))
    with pytest.raises(NodeUnavailableError):
        query_head(client(node))


def test_it_follows_no_redirect(node):
    node.behave = raw(b"", status=307, headers={"location": "/elsewhere"})
    with pytest.raises(NodeUnavailableError, match="HTTP status 307"):
        query_head(client(node))
    assert len(node.received) == 1


def test_it_gives_up_on_a_node_that_refuses_connections():
    with closed_port() as url, pytest.raises(NodeUnavailableError, match="out of reach"):
        query_head(client(url))


def test_it_gives_up_on_a_node_that_never_answers(node):
    def hang(_body):
        node.closed.wait()

    node.behave = hang
    with pytest.raises(NodeUnavailableError, match="no response"):
        query_head(client(node, timeout=0.05))


def test_it_gives_up_on_a_body_without_end(node):
    node.behave = lambda _: Reply(endless())
    with pytest.raises(NodeUnavailableError, match="more than 67108864 bytes"):
        query_head(client(node))


def test_it_gives_up_on_a_small_body_that_unpacks_without_end(node):
    bomb = gzip.compress(b" " * 70_000_000)
    assert len(bomb) < 100_000
    node.behave = raw(bomb, headers={"content-encoding": "gzip"})
    with pytest.raises(NodeUnavailableError, match="more than 67108864 bytes"):
        query_head(client(node))


def test_it_gives_up_on_a_body_that_drips(node):
    def drip():
        while not node.closed.wait(0.01):
            yield b" "

    node.behave = lambda _: Reply(drip())
    with pytest.raises(NodeUnavailableError, match="takes too long"):
        query_head(client(node, timeout=1))


def test_it_leaves_out_a_node_of_another_chain(node, second_node):
    node.answers["eth_chainId"] = lambda: "0x1"
    assert query_head(client(node, second_node)) == HEAD
    assert node.call_count("eth_blockNumber") == 0
    with pytest.raises(NodeUnavailableError, match="node of another chain"):
        query_head(client(node))


def test_it_is_out_of_reach_without_any_url():
    with pytest.raises(NodeUnavailableError, match="no RPC URL is set"):
        query_head(client())


def test_it_tries_as_many_rounds_as_it_should(node):
    node.behave = raw(b"", status=503)
    with pytest.raises(NodeUnavailableError):
        query_head(client(node, attempts=3))
    assert len(node.received) == 3


def test_a_reading_thread_holds_up_no_other_between_rounds(node, caplog):
    second_request = threading.Event()

    def fail(_body):
        if len(node.received) > 1:
            second_request.set()
        return Reply(b"", status=503, headers={"Retry-After": "1"})

    def read():
        with computing(lock), contextlib.suppress(NodeUnavailableError):
            query_head(client(node, attempts=2))

    node.behave, lock, thread = fail, threading.Lock(), threading.Thread(target=read)
    thread.start()
    wait_for(lambda: "HTTP status 503" in caplog.text)
    with lock:
        # Taken before the second round, which begins when this thread releases it.
        assert not second_request.wait(1.5)
    thread.join()
    assert second_request.is_set()


# Refusals of a call.


def refuse(code, message, **more):
    def answer(*_params):
        raise RefusedError(code, message, **more)

    return answer


FINAL = [
    (3, "execution reverted", {"data": "0x"}),
    (3, "execution reverted: rate limit, timeout, internal error", {"data": "0x08c379a0"}),
    (-32000, "execution reverted", {}),
    (-32603, "execution reverted: internal error", {}),
    (-32000, "out of gas: gas required exceeds allowance", {}),
    (-32601, "the method eth_call does not exist", {}),
    (-32602, "invalid params", {}),
    (-32000, "something else", {}),
]


@pytest.mark.parametrize(("code", "message", "more"), FINAL, ids=lambda value: str(value))
def test_a_refusal_is_neither_retried_nor_counted_as_a_failure(node, second_node, code, message, more):
    node.answers["eth_call"] = refuse(code, message, **more)
    rpc_client = client(node, second_node, attempts=3, breaker_failures=1, breaker_seconds=3600)
    for _ in range(2):
        (rejection,) = rpc_client.query(ETH_CALL, parse=list)
        assert isinstance(rejection, CallFailure) and rejection.message == message
    assert node.call_count("eth_call") == 2
    assert second_node.received == []


@pytest.mark.parametrize("status", [400, 403, 413, 422])
@pytest.mark.parametrize("code", [3, -32601, -32602])
def test_a_refusal_may_come_with_an_http_status_of_its_own(node, second_node, status, code):
    node.behave = lambda body: (
        Reply(rpc_error(code, "execution reverted"), status=status) if body["method"] == "eth_call" else None
    )
    (rejection,) = client(node, second_node).query(ETH_CALL, parse=list)
    assert isinstance(rejection, CallFailure) and rejection.message == "execution reverted"
    assert second_node.received == []


# Errors about the provider, not about the call.
FOR_NOW = [
    *((code, "later") for code in (-32005, -32002, -32001, 429, -32603, -32007)),
    (-32603, "Internal server error"),
    (-32007, "50/second request limit reached - reduce calls per second"),
    (-32000, "daily request count exceeded, request rate limited"),
    (-32000, "service unavailable"),
    (-32000, "required historical state is not available"),
    (-32000, "execution aborted (timeout = 5s)"),
    (-32000, "header not found"),
    (-32000, "missing trie node 0a (path ) state 0x0a is not available"),
]


@pytest.mark.parametrize(("code", "message"), FOR_NOW)
def test_it_calls_the_next_node_after_a_refusal_for_now(node, second_node, code, message):
    node.answers["eth_blockNumber"] = refuse(code, message)
    assert query_head(client(node, second_node)) == HEAD


# Errors of a failed contract execution, each with its codes by client.
FAILED_EXECUTIONS = [
    # geth, erigon, reth, anvil
    (3, "execution reverted: rate limit exceeded", {"data": "0x08c379a0"}),
    (-32000, "execution reverted", {}),
    (-32000, "invalid opcode: INVALID", {}),
    (-32000, "invalid jump destination", {}),
    (-32000, "stack underflow (0 <=> 2)", {}),
    (-32000, "stack limit reached 1024 (1023)", {}),
    (-32000, "out of gas", {}),
    (-32000, "gas uint64 overflow", {}),
    (-32000, "return data out of bounds", {}),
    (-32000, "write protection", {}),
    (-32003, "out of gas: gas exhausted during memory expansion: 5000000", {}),
    (-32003, "EVM error: StackUnderflow", {}),
    (-32603, "EVM error InvalidFEOpcode", {}),
    # Nethermind and its forebears
    (-32015, "VM execution error.", {"data": "Reverted 0x"}),
    (-32015, "the service is temporarily unavailable", {"data": "revert"}),
    (-32003, "err: invalid instruction", {}),
    # Hardhat, Ganache, and other clients that return the contract's own text
    (-32603, "VM Exception while processing transaction: revert", {}),
    (-32000, "Error: Transaction reverted without a reason string", {}),
    (-32000, "the call went wrong", {"data": "0x08c379a0"}),
]


@pytest.mark.parametrize(("code", "message", "more"), FAILED_EXECUTIONS)
def test_an_execution_that_failed_is_an_answer_of_the_contracts(node, second_node, code, message, more):
    node.answers["eth_call"] = refuse(code, message, **more)
    (failed,) = client(node, second_node).batch(ETH_CALL, parse=accept_executions)
    data = more.get("data", "").removeprefix("Reverted ")
    assert failed == CallFailure(message, kind=RejectionKind.EXECUTION, data=data)
    assert second_node.received == []


# These do not imply that the contract lacks the function.
NO_EXECUTIONS = [
    *FOR_NOW,
    (-32000, "something else"),
    (-32601, "the method eth_call does not exist"),
    (-32602, "invalid params"),
    (-32600, "Must be authenticated!"),
    (-32603, "EVM error FatalExternalError"),
    (-32000, "we had to revert to a plan with fewer calls"),
]


@pytest.mark.parametrize(("code", "message"), NO_EXECUTIONS)
def test_a_call_that_was_not_executed_is_retried_on_the_next_node(node, second_node, code, message):
    node.answers["eth_call"] = refuse(code, message)
    second_node.answers["eth_call"] = lambda *_: "0x01"
    assert client(node, second_node).batch(ETH_CALL, parse=accept_executions) == ["0x01"]
    with pytest.raises(NodeUnavailableError):
        client(node).batch(ETH_CALL, parse=accept_executions)


@pytest.mark.parametrize("junk", [None, 5, [], {}, "", "01", "0xzz"])
def test_what_is_no_hex_is_no_answer_of_a_contracts(node, second_node, junk):
    node.answers["eth_call"] = lambda *_: junk
    second_node.answers["eth_call"] = lambda *_: "0x"
    assert client(node, second_node).batch(ETH_CALL, parse=accept_executions) == ["0x"]


def test_it_calls_the_next_node_where_one_does_not_serve_what_every_node_should(node, second_node):
    node.answers["eth_getBlockByNumber"] = refuse(-32601, "the method is not available on your plan")
    assert numbers(client(node, second_node).batch(CALLS, parse=accept_results)) == list(range(60, 67))
    with pytest.raises(NodeUnavailableError, match="not available on your plan"):
        client(node).batch(CALLS, parse=accept_results)


# Batches.

CALLS = [("eth_getBlockByNumber", (hex(number), False)) for number in range(60, 67)]


def numbers(blocks):
    return [int(block["number"], 16) for block in blocks]


def test_it_puts_results_in_the_order_of_the_calls(node):
    node.behave = batch_only(lambda body: Reply(json.dumps(node.reply(body)[::-1]).encode()))
    assert numbers(client(node).batch(CALLS, parse=list)) == list(range(60, 67))
    assert len(node.received) == 2


def test_all_calls_of_a_batch_go_to_one_node(node, second_node):
    def fail_on_the_first(body):
        return Reply(b"", status=500) if len(body) == 3 else None

    node.behave = batch_only(fail_on_the_first)
    rpc_client = client(node, second_node, batch_size=3)
    assert numbers(rpc_client.batch(CALLS[:3], parse=list)) == [60, 61, 62]
    assert [len(body) for body in second_node.received if isinstance(body, list)] == [3]


@pytest.mark.parametrize(("size", "requests"), [(1, [1] * 7), (3, [3, 3, 1]), (7, [7]), (50, [7])])
def test_it_sends_no_more_calls_at_once_than_it_should(node, size, requests):
    assert numbers(client(node, batch_size=size).batch(CALLS, parse=list)) == list(range(60, 67))
    _, *sent = node.received
    assert [len(body) if isinstance(body, list) else 1 for body in sent] == requests


def test_an_empty_batch_sends_nothing(node):
    assert client(node).batch([], parse=list) == []
    assert node.received == []


def test_one_refused_call_does_not_spoil_the_batch(node):
    calls = [CALLS[0], ("eth_call", ({"to": "0x" + "11" * 20, "data": "0x"}, "latest")), CALLS[1]]
    first, refused, second = client(node).batch(calls, parse=list)
    assert numbers([first, second]) == [60, 61]
    assert refused == CallFailure("execution reverted", kind=RejectionKind.EXECUTION, data="0x")


SPOILT = {
    "a result is missing": lambda replies: replies[1:],
    "a result comes twice and another not": lambda replies: [replies[0], *replies[:-1]],
    "one is cut in half": lambda replies: [{"jsonrpc": "2.0", "id": replies[0]["id"]}, *replies[1:]],
    "one has no id": lambda replies: [{**replies[0], "id": None}, *replies[1:]],
    "one id is a list": lambda replies: [{**replies[0], "id": [1]}, *replies[1:]],
    "one is a number": lambda replies: [1, *replies[1:]],
    "a single result": lambda replies: replies[0],
    "one is a rate limit": lambda replies: [
        {"jsonrpc": "2.0", "id": replies[0]["id"], "error": {"code": 429, "message": "compute units"}},
        *replies[1:],
    ],
    "one rate limit for all": lambda replies: {"id": None, "error": {"code": -32005, "message": "limit exceeded"}},
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_it_calls_the_next_node_for_the_whole_batch_where(node, second_node, spoil):
    node.behave = batch_only(lambda body: Reply(json.dumps(spoil(node.reply(body))).encode()))
    assert numbers(client(node, second_node).batch(CALLS, parse=list)) == list(range(60, 67))
    assert [len(body) for body in second_node.received if isinstance(body, list)] == [7]
    with pytest.raises(NodeUnavailableError):
        client(node).batch(CALLS, parse=list)


NO_BATCHES = {
    "an error": raw(rpc_error(-32600, "batch requests are not supported")),
    "an error in a list": raw(b"[" + rpc_error(-32600, "batch too large") + b"]"),
    "a status": raw(b"no batches here", status=400),
    "a status with an error": raw(rpc_error(-32600, "batch limit is 3"), status=413),
}


@pytest.mark.parametrize("refusal", NO_BATCHES.values(), ids=NO_BATCHES)
def test_it_sends_call_by_call_where_a_node_refuses_batches_with(node, second_node, refusal):
    node.behave = batch_only(refusal)
    rpc_client = client(node, second_node)
    assert numbers(rpc_client.batch(CALLS, parse=list)) == list(range(60, 67))
    assert numbers(rpc_client.batch(CALLS, parse=list)) == list(range(60, 67))
    # The chain id, refused batches of seven, four and two, and then two times seven calls without another attempt.
    assert len(node.received) == 1 + 3 + 14
    assert second_node.received == []


def test_it_sends_smaller_batches_where_a_node_limits_them(node, second_node):
    def limited(body):
        return Reply(rpc_error(-32600, "batch limit is 3"), status=413) if len(body) > 3 else None

    node.behave = batch_only(limited)
    rpc_client = client(node, second_node)
    assert numbers(rpc_client.batch(CALLS, parse=list)) == list(range(60, 67))
    node.received.clear()
    assert numbers(rpc_client.batch(CALLS, parse=list)) == list(range(60, 67))
    assert all(isinstance(body, dict) or len(body) <= 3 for body in node.received)
    assert len(node.received) < len(CALLS)
    assert second_node.received == []


def test_a_part_that_fails_once_does_not_lose_the_others(node, second_node):
    failed = []

    def fail_once(body):
        if isinstance(body, list):
            return Reply(rpc_error(-32600, "batch requests are not supported"))
        if body["params"] == list(CALLS[5][1]) and not failed:
            failed.append(body)
            return Reply(b"", status=502)
        return None

    node.behave = fail_once
    assert numbers(client(node, second_node).batch(CALLS, parse=list)) == list(range(60, 67))
    assert failed and second_node.received == []


def test_a_gzipped_answer_is_unpacked(node):
    node.behave = lambda body: Reply(
        gzip.compress(json.dumps(node.reply(body)).encode()), headers={"content-encoding": "gzip"}
    )
    assert numbers(client(node).batch(CALLS, parse=list)) == list(range(60, 67))


def test_an_answer_in_chunks_is_put_together(node):
    def in_chunks(body):
        text = json.dumps(node.reply(body)).encode()
        return Reply([text[start : start + 100] for start in range(0, len(text), 100)])

    node.behave = in_chunks
    assert numbers(client(node).batch(CALLS, parse=list)) == list(range(60, 67))


# The circuit breaker.


def test_the_circuit_opens_after_three_failures_in_a_row(node, second_node):
    node.behave = raw(b"", status=500)
    rpc_client = client(node, second_node, breaker_seconds=3600)
    for _ in range(5):
        assert query_head(rpc_client) == HEAD
    assert len(node.received) == 3
    assert second_node.call_count("eth_blockNumber") == 5


def test_failures_that_are_not_in_a_row_leave_the_circuit_closed(node, second_node):
    rpc_client = client(node, second_node, breaker_seconds=3600)
    for behave in (raw(b"", status=500), raw(b"", status=500), None) * 3:
        node.behave = behave
        assert query_head(rpc_client) == HEAD
    # The others failed at the request for the chain id, which is sent first and after each failure.
    assert node.call_count("eth_blockNumber") == 5


def test_an_open_circuit_lets_a_probe_through_when_its_time_is_over(node, second_node):
    node.behave = raw(b"", status=500)
    rpc_client = client(node, second_node, breaker_seconds=0)
    for _ in range(4):
        query_head(rpc_client)
    node.behave = None
    calls_before = second_node.call_count("eth_blockNumber")
    assert query_head(rpc_client) == HEAD
    assert second_node.call_count("eth_blockNumber") == calls_before == 4


def test_one_probe_is_let_through_in_its_time_while_every_circuit_is_open(node):
    node.behave = raw(b"", status=500)
    rpc_client = client(node, attempts=3, breaker_seconds=3600, probe_seconds=3600)
    for expected in (3, 4, 4):
        with pytest.raises(NodeUnavailableError):
            query_head(rpc_client)
        assert len(node.received) == expected


def test_a_caller_waits_no_longer_than_its_timeout(node):
    with pytest.raises(NodeUnavailableError):
        query_head(client(node, attempts=20, breaker_failures=20, total_timeout=0))
    assert node.received == []


def test_a_node_with_a_permanent_error_is_not_called_again(node, second_node):
    node.behave = second_node.behave = raw(b"", status=401)
    with pytest.raises(NodeUnavailableError, match="401"):
        query_head(client(node, second_node, attempts=5, breaker_failures=9))
    assert (len(node.received), len(second_node.received)) == (1, 1)


def test_all_nodes_are_called_where_every_circuit_is_open(node, second_node):
    node.behave = second_node.behave = raw(b"", status=500)
    rpc_client = client(node, second_node, attempts=3, breaker_seconds=3600)
    with pytest.raises(NodeUnavailableError):
        query_head(rpc_client)
    second_node.behave = None
    assert query_head(rpc_client) == HEAD


def test_a_retry_delay_requested_by_a_node_is_applied(node):
    first = []

    def busy_for_a_second(_body):
        first.append(time.monotonic())
        is_over = time.monotonic() - first[0] >= 1
        return None if is_over else Reply(b"slow down", status=429, headers={"retry-after": "1"})

    node.behave = busy_for_a_second
    assert query_head(client(node, attempts=50)) == HEAD
    # Refused once, and then the chain id and the call.
    assert len(node.received) == 3


def test_no_call_waits_for_a_node_while_another_one_is_available(node, second_node):
    node.behave = raw(b"slow down", status=429, headers={"retry-after": "3600"})
    rpc_client = client(node, second_node, attempts=3)
    for _ in range(4):
        assert query_head(rpc_client) == HEAD
    assert len(node.received) == 1


@pytest.mark.parametrize("status", [429, 503])
def test_no_call_waits_longer_than_the_timeout_for_a_delayed_node(node, status):
    node.behave = raw(b"slow down", status=status, headers={"retry-after": "3600"})
    rpc_client = client(node, attempts=5, total_timeout=30)
    for _ in range(3):
        with pytest.raises(NodeUnavailableError):
            query_head(rpc_client)
    assert len(node.received) == 1


def test_a_retry_delay_opens_no_circuit(node):
    node.behave = raw(b"slow down", status=429, headers={"retry-after": "1"})
    rpc_client = client(node, breaker_failures=1, breaker_seconds=3600)
    with pytest.raises(NodeUnavailableError):
        query_head(rpc_client)
    node.behave = None
    assert wait_for(lambda: answers(rpc_client)) == HEAD


def answers(rpc_client):
    """Return the head in the node's response; None while it is unavailable."""
    try:
        return query_head(rpc_client)
    except NodeUnavailableError:
        return None


def test_a_url_that_becomes_another_chains_is_noticed_after_a_failure(node, second_node):
    rpc_client = client(node, second_node, breaker_failures=100)
    assert query_head(rpc_client) == HEAD
    node.behave = raw(b"", status=502)
    assert query_head(rpc_client) == HEAD
    node.behave = None
    node.answers |= {"eth_chainId": lambda: "0x1", "eth_blockNumber": lambda: "0x7"}
    assert query_head(rpc_client) == HEAD


# Responses that are validated before they are used.


def reject_results(results):
    if results[0] == "0x7":
        raise RetryableError("nobody believes that")
    return results[0]


@pytest.mark.parametrize(("policy", "requests"), [(EVERY_NODE, 1), (ONE_ROUND, 2)])
def test_a_response_that_is_not_trusted_counts_as_a_failure_in_rounds_only(node, second_node, policy, requests):
    node.answers["eth_blockNumber"] = lambda: "0x7"
    rpc_client = client(node, second_node, breaker_failures=1, breaker_seconds=3600)
    for _ in range(2):
        assert rpc_client.query(GET_HEAD, parse=reject_results, policy=policy) == HEAD
    assert node.call_count("eth_blockNumber") == requests
    with pytest.raises(NodeUnavailableError, match="believes"):
        client(node).query(GET_HEAD, parse=reject_results, policy=policy)


def test_all_calls_go_to_one_node_in_one_request_whatever_the_batch_size(node):
    rpc_client = client(node, batch_size=2)
    assert len(rpc_client.query([("eth_blockNumber", ())] * 5, parse=list)) == 5
    assert [len(body) for body in node.received if isinstance(body, list)] == [5]


def test_a_node_that_lacks_a_method_is_left_out_for_it(node, second_node):
    second_node.answers["eth_rare"] = lambda: "0x1"
    rpc_client = client(node, second_node)
    for _ in range(3):
        assert rpc_client.query([("eth_rare", ())], parse=list, policy=QueryPolicy(rare_method="eth_rare")) == ["0x1"]
    assert (node.call_count("eth_rare"), second_node.call_count("eth_rare")) == (1, 3)


def test_every_node_is_called_and_no_circuit_opens(node, second_node):
    node.behave = raw(b"", status=500)
    rpc_client = client(node, second_node, breaker_failures=1, breaker_seconds=3600)
    for _ in range(2):
        assert rpc_client.call_all(GET_HEAD) == [None, [HEAD]]
    node.behave = None
    assert rpc_client.call_all(GET_HEAD) == [[HEAD], [HEAD]]
    assert query_head(rpc_client) == HEAD
    assert node.call_count("eth_blockNumber") == 2


def test_a_node_that_hangs_is_not_waited_for_again_where_every_node_is_called(node, second_node):
    def hang(_body):
        node.closed.wait()

    node.behave = hang
    rpc_client = client(node, second_node, timeout=0.2, breaker_seconds=3600)
    for _ in range(3):
        assert rpc_client.call_all(GET_HEAD) == [None, [HEAD]]
    assert len(node.received) == 1
    node.behave = None
    assert query_head(rpc_client) == HEAD
    assert node.call_count("eth_blockNumber") == 1


# Secrets in URLs.


def test_no_part_of_a_url_is_in_errors_and_log_lines(node, caplog):
    caplog.set_level(logging.DEBUG)
    host = node.url.split("/")[2]
    # A node that repeats its URL, as providers do, when it refuses, when it is busy, and when it takes no batches.
    words = f"unauthorized: POST {node.url} with key {SECRET}\nforged line\0"
    echoes = [after_the_chain_id(raw(rpc_error(code, words))) for code in (-32000, -32005)]
    echoes.append(batch_only(raw(rpc_error(-32600, words))))
    texts = []
    with closed_port() as closed:
        for behave in (*USELESS.values(), *echoes):
            node.behave = behave
            for calls, parse in ((GET_HEAD, list), (CALLS, list), (CALLS, accept_results)):
                try:
                    texts.append(str(client(node, closed).query(calls, parse=parse)))
                except NodeUnavailableError as error:
                    texts.append("".join(traceback.format_exception(error)))
    lines = [record.getMessage() for record in caplog.records]
    assert any("node 1: HTTP status 500" in line for line in lines)
    assert any("node 1 takes no 7 calls at once: unauthorized" in line for line in lines)
    assert any("node 1: refused for now: unauthorized" in line for line in lines)
    assert any("unauthorized: POST ... with key ... forged line" in text for text in texts)
    for text in (*texts, *lines):
        assert SECRET not in text
        assert host not in text
        assert "\0" not in text
    assert not any("\n" in line for line in lines)


@pytest.mark.parametrize(("body", "answer"), [(b'{"error": "no"}', {"error": "no"}), (b"<html>", None), (b"", None)])
@pytest.mark.parametrize("status", [204, 302, 400, 404])
def test_any_other_status_is_final_and_keeps_its_answer(node, status, body, answer):
    node.behave = raw(b"" if status == 204 else body, status=status)
    with pytest.raises(HTTPStatusError) as caught:
        json_client.post_json(node.url, {}, timeout=5)
    assert (caught.value.status, caught.value.answer) == (status, None if status == 204 else answer)

"""tokens/chains/evm/eth_calls.py: node selection for simulations, without effect on other calls."""

import json

import pytest

from development.standins.loopback import RefusedError, Reply
from tests.nodes.launch_builder import LOCKER_V4, STRANGER
from tests.nodes.recorded_node import query_head
from tokens.chains.abi import codec
from tokens.chains.evm.eth_calls import ViewCall, simulate_logs
from tokens.chains.rpc.client import RpcClient

QUESTION = ViewCall(
    contract=LOCKER_V4, function=codec.load_abi("v4_fees").function("collectRewards"), arguments=(STRANGER,)
)
METHOD = "eth_simulateV1"
HEAD = "0xd1"
LOG = {"address": LOCKER_V4, "topics": [], "data": "0x"}


def client(*nodes, **options):
    """Return a client that opens a circuit after one failure, and would retry several times."""
    urls = tuple(node.url for node in nodes)
    options = {"attempts": 3, "initial_backoff": 0, "breaker_failures": 1, "breaker_seconds": 3600, **options}
    return RpcClient(chain_id=8453, urls=urls, **options)


def simulate(rpc):
    return simulate_logs(rpc, QUESTION, block=209, parse=list)


def simulates(node, *logs):
    node.answers[METHOD] = lambda *_: [{"calls": [{"status": "0x1", "logs": list(logs)}]}]


def responds(status, code=None, message=""):
    """Return a behaviour that answers simulations with this HTTP status, and a JSON-RPC error if there is a code."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    body = b"<html>no</html>" if code is None else json.dumps(error).encode()
    return lambda request: Reply(body, status=status) if request["method"] == METHOD else None


NOT_SIMULATING = {
    "no such method": responds(200, -32601, "the method eth_simulateV1 does not exist/is not available"),
    "no such method, and a status": responds(400, -32601, "Method not found"),
    "an invalid request": responds(200, -32600, "Unsupported method: eth_simulateV1 on BASE_MAINNET"),
    "an invalid request, and a status": responds(400, -32600, "Unsupported method: eth_simulateV1 on BASE_MAINNET"),
    "EIP-1474's method not supported": responds(200, -32004, "later"),
    "words": responds(200, -32000, "rpc method is not supported"),
    "words of a plan": responds(200, -32000, "the method eth_simulateV1 is not available on your plan"),
    "words with a status": responds(403, -32000, "method not allowed"),
    "400": responds(400),
    "404": responds(404),
    "405": responds(405),
}
FAILING = {
    "500": responds(500),
    "503": responds(503),
    "429": responds(429),
    "an internal error": responds(200, -32603, "internal error"),
    "a limit": responds(200, -32007, "50/second request limit reached"),
    "a refusal of this simulation": responds(200, -38014, "insufficient funds"),
}


@pytest.mark.parametrize("behave", NOT_SIMULATING.values(), ids=NOT_SIMULATING)
def test_a_node_that_does_not_simulate_is_called_once_and_stays_available(node, second_node, behave):
    node.behave = behave
    rpc = client(node, second_node)
    simulates(second_node, LOG)
    for _ in range(3):
        assert simulate(rpc) == [LOG]
    assert (node.call_count(METHOD), second_node.call_count(METHOD)) == (1, 3)
    assert query_head(rpc) == HEAD
    assert node.call_count("eth_blockNumber") == 1


def test_a_node_is_called_again_when_it_may_support_simulations(node):
    node.behave = NOT_SIMULATING["no such method"]
    rpc = client(node, method_retry_seconds=0)
    assert simulate(rpc) is None
    node.behave = None
    simulates(node, LOG)
    assert simulate(rpc) == [LOG]


@pytest.mark.parametrize("behave", FAILING.values(), ids=FAILING)
def test_a_node_that_fails_at_simulating_is_called_next_time_and_stays_available(node, second_node, behave):
    node.behave = behave
    rpc = client(node, second_node)
    simulates(second_node, LOG)
    assert simulate(rpc) == simulate(rpc) == [LOG]
    assert node.call_count(METHOD) == 2
    assert query_head(rpc) == HEAD
    assert node.call_count("eth_blockNumber") == 1


@pytest.mark.parametrize(
    "simulated",
    [
        None,
        [],
        [{"calls": []}],
        [{"calls": [None]}],
        [{"calls": [{"status": 1, "logs": [LOG]}]}],
        [{"calls": [{"status": "0x1"}]}],
        [{"calls": [{"status": "0x1", "logs": ["0x"]}]}],
    ],
)
def test_the_next_node_simulates_where_one_returns_no_simulation(node, second_node, simulated):
    node.answers[METHOD] = lambda *_: simulated
    simulates(second_node, LOG)
    assert simulate(client(node, second_node)) == [LOG]


def test_no_node_is_called_twice_for_one_simulation(node, second_node):
    node.behave = second_node.behave = responds(503)
    assert simulate(client(node, second_node)) is None
    assert (node.call_count(METHOD), second_node.call_count(METHOD)) == (1, 1)


def test_a_node_that_is_out_of_order_is_not_called_for_simulations(node, second_node):
    node.behave = lambda _: Reply(b"", status=500)
    rpc = client(node, second_node)
    assert query_head(rpc) == HEAD
    simulates(second_node)
    request = len(node.received)
    assert simulate(rpc) == []
    assert len(node.received) == request


def test_a_transaction_that_fails_has_no_logs(node, second_node):
    node.answers[METHOD] = lambda *_: [{"calls": [{"status": "0x0", "logs": []}]}]
    simulates(second_node, LOG)
    assert simulate(client(node, second_node)) is None
    assert second_node.call_count(METHOD) == 0


def test_a_refusal_as_the_answer_of_every_node_is_no_simulation(node):
    def revert(*_):
        raise RefusedError(3, "execution reverted")

    node.answers[METHOD] = revert
    assert simulate(client(node)) is None

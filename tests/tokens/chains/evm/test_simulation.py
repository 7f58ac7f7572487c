"""Which nodes are asked to simulate, and that those which don't are held to be as well as before."""

import json

import pytest

from tests.nodes.launch_builder import LOCKER_V4, STRANGER
from tests.nodes.recorded_node import Refused, Reply
from tokens.chains.abi import codec
from tokens.chains.evm.eth_calls import Question, simulate_logs
from tokens.chains.rpc.client import RpcClient

QUESTION = Question(
    contract=LOCKER_V4, function=codec.load("v4_fees").function("collectRewards"), arguments=(STRANGER,)
)
METHOD = "eth_simulateV1"
HEAD = "0xd1"


def client(*nodes, **options):
    """A client that leaves a node out after one failure, and would ask several times."""
    urls = tuple(node.url for node in nodes)
    options = {"attempts": 3, "first_pause": 0, "breaker_failures": 1, "breaker_seconds": 3600, **options}
    return RpcClient(chain_id=8453, urls=urls, **options)


def simulate(rpc):
    return simulate_logs(rpc, QUESTION, block=209)


def simulates(node, *logs):
    node.answers[METHOD] = lambda *_: [{"calls": [{"status": "0x1", "logs": list(logs)}]}]


def says(status, code=None, message=""):
    """A behaviour: answers simulations with this HTTP status, and a JSON-RPC error where there is a code."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    body = b"<html>no</html>" if code is None else json.dumps(error).encode()
    return lambda asked: Reply(body, status=status) if asked["method"] == METHOD else None


NOT_SIMULATING = {
    "no such method": says(200, -32601, "the method eth_simulateV1 does not exist/is not available"),
    "no such method, and a status": says(400, -32601, "Method not found"),
    "an invalid request": says(200, -32600, "Unsupported method: eth_simulateV1 on BASE_MAINNET"),
    "an invalid request, and a status": says(400, -32600, "Unsupported method: eth_simulateV1 on BASE_MAINNET"),
    "EIP-1474's method not supported": says(200, -32004, "later"),
    "words": says(200, -32000, "rpc method is not supported"),
    "words of a plan": says(200, -32000, "the method eth_simulateV1 is not available on your plan"),
    "words with a status": says(403, -32000, "method not allowed"),
    "400": says(400),
    "404": says(404),
    "405": says(405),
}
FAILING = {
    "500": says(500),
    "503": says(503),
    "429": says(429),
    "an internal error": says(200, -32603, "internal error"),
    "a limit": says(200, -32007, "50/second request limit reached"),
    "a refusal of this simulation": says(200, -38014, "insufficient funds"),
}


@pytest.mark.parametrize("behave", NOT_SIMULATING.values(), ids=NOT_SIMULATING)
def test_a_node_that_does_not_simulate_is_asked_once_and_no_worse_for_the_rest(node, second_node, behave):
    node.behave = behave
    rpc = client(node, second_node)
    simulates(second_node, "a log")
    for _ in range(3):
        assert simulate(rpc) == ["a log"]
    assert (node.asked(METHOD), second_node.asked(METHOD)) == (1, 3)
    assert rpc.call("eth_blockNumber") == HEAD
    assert node.asked("eth_blockNumber") == 1


@pytest.mark.parametrize("behave", NOT_SIMULATING.values(), ids=NOT_SIMULATING)
def test_a_node_is_asked_again_when_it_may_have_learnt_to_simulate(node, behave):
    node.behave = behave
    rpc = client(node, lacking_seconds=0)
    assert simulate(rpc) is None
    node.behave = None
    simulates(node, "a log")
    assert simulate(rpc) == ["a log"]


@pytest.mark.parametrize("behave", FAILING.values(), ids=FAILING)
def test_a_node_that_fails_at_simulating_is_asked_next_time_and_no_worse_for_the_rest(node, second_node, behave):
    node.behave = behave
    rpc = client(node, second_node)
    simulates(second_node, "a log")
    assert simulate(rpc) == simulate(rpc) == ["a log"]
    assert node.asked(METHOD) == 2
    assert rpc.call("eth_blockNumber") == HEAD
    assert node.asked("eth_blockNumber") == 1


def test_nobody_is_asked_twice_for_one_simulation(node, second_node):
    node.behave = second_node.behave = says(503)
    assert simulate(client(node, second_node)) is None
    assert (node.asked(METHOD), second_node.asked(METHOD)) == (1, 1)


def test_a_node_that_is_out_of_order_is_not_asked_to_simulate(node, second_node):
    node.behave = lambda _: Reply(b"", status=500)
    rpc = client(node, second_node)
    assert rpc.call("eth_blockNumber") == HEAD
    simulates(second_node)
    asked = len(node.received)
    assert simulate(rpc) == []
    assert len(node.received) == asked


def test_a_transaction_that_fails_has_no_logs(node, second_node):
    node.answers[METHOD] = lambda *_: [{"calls": [{"status": "0x0", "logs": []}]}]
    simulates(second_node, "a log")
    assert simulate(client(node, second_node)) is None
    assert second_node.asked(METHOD) == 0


def test_a_refusal_as_the_answer_of_every_node_is_no_simulation(node):
    def revert(*_):
        raise Refused(3, "execution reverted")

    node.answers[METHOD] = revert
    assert simulate(client(node)) is None

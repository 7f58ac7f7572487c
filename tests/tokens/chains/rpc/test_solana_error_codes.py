"""One code of a refusal means one thing on EVM chains, and another on Solana."""

import json

import pytest

from config.http.json_client import Retryable
from tests.nodes.recorded_node import Reply
from tokens.chains.rpc.batch import Identity
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.responses import CallFailed, Refusal, read_single
from tokens.chains.types import NodeRefused, NodeUnavailable

FOR_NOW = "for now"


def kind_of(method, code, message):
    try:
        result = read_single(1, {"id": 1, "error": {"code": code, "message": message}}, method=method)
    except Retryable:
        return FOR_NOW
    assert isinstance(result, CallFailed)
    assert result.message == message
    return result.kind


@pytest.mark.parametrize(
    ("code", "message", "on_solana", "on_evm"),
    [
        (-32015, "refused", Refusal.VERSION, Refusal.EXECUTION),
        (-32004, "refused", FOR_NOW, Refusal.METHOD),
        (-32010, "refused", Refusal.METHOD, Refusal.OTHER),
        (-32011, "refused", Refusal.METHOD, Refusal.OTHER),
        (-32009, "refused", FOR_NOW, Refusal.OTHER),
        (-32014, "refused", FOR_NOW, Refusal.OTHER),
        (-32016, "refused", FOR_NOW, Refusal.OTHER),
        (-32019, "refused", FOR_NOW, Refusal.OTHER),
        (-32007, "refused", FOR_NOW, FOR_NOW),
        (-32005, "refused", FOR_NOW, FOR_NOW),
        (-32603, "refused", FOR_NOW, FOR_NOW),
        (429, "refused", FOR_NOW, FOR_NOW),
        (-32601, "refused", Refusal.METHOD, Refusal.METHOD),
        (-32602, "rate limit exceeded", Refusal.OTHER, Refusal.OTHER),
        (-32000, "refused", Refusal.OTHER, Refusal.OTHER),
        (3, "execution reverted", Refusal.OTHER, Refusal.EXECUTION),
        (-32000, "Transaction version (1) is not supported by the requesting client.", Refusal.VERSION, Refusal.OTHER),
        (-32000, "Node is behind by 7 slots", FOR_NOW, Refusal.OTHER),
    ],
)
def test_a_refusal_means_what_its_chain_says(code, message, on_solana, on_evm):
    assert kind_of("getTransaction", code, message) == on_solana
    assert kind_of("eth_call", code, message) == on_evm


def solana_client(*nodes):
    # The recorded node of an EVM chain answers what it is told to, by any method.
    urls = tuple(node.url for node in nodes)
    return RpcClient(chain_id=101, urls=urls, identity=Identity(method="getGenesisHash", answer="genesis"), attempts=1)


@pytest.fixture
def refusing(node, second_node):
    """The first of two nodes refuses a call by an HTTP status and a code; the second one answers it."""
    for served in (node, second_node):
        served.answers |= {"getGenesisHash": lambda: "genesis", "getTransaction": lambda *_: "told"}

    def refuse(status, code):
        body = json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": "refused"}}).encode()
        node.behave = lambda asked: Reply(body, status=status) if asked["method"] == "getTransaction" else None
        return solana_client(node, second_node)

    return refuse


@pytest.mark.parametrize("status", [400, 403, 422])
@pytest.mark.parametrize("code", [-32015, -32601, -32602, -32011])
def test_a_refusal_may_come_with_an_http_status_of_its_own(refusing, second_node, status, code):
    with pytest.raises(NodeRefused, match="refused"):
        refusing(status, code).call("getTransaction", "x")
    assert second_node.received == []


@pytest.mark.parametrize("code", [-32005, -32016, -32000])
def test_any_other_status_is_the_nodes_own_trouble(refusing, code):
    assert refusing(400, code).call("getTransaction", "x") == "told"


def test_no_node_of_another_network_is_asked(node):
    node.answers |= {"getGenesisHash": lambda: "another", "getTransaction": lambda *_: "told"}
    with pytest.raises(NodeUnavailable, match="another chain"):
        solana_client(node).call("getTransaction", "x")
    assert not node.asked("getTransaction")

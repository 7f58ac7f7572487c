"""tokens/chains/rpc: error codes with one meaning on EVM chains and another one on Solana."""

import json

import pytest

from config.http.errors import RetryableError
from development.standins.loopback import Reply
from tokens.chains.errors import NodeUnavailableError
from tokens.chains.rpc.batch import ChainIdentity
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.responses import CallFailure, RejectionKind, parse_response

FOR_NOW = "for now"


def kind_of(method, code, message):
    try:
        result = parse_response(1, {"id": 1, "error": {"code": code, "message": message}}, method=method)
    except RetryableError:
        return FOR_NOW
    assert isinstance(result, CallFailure)
    assert result.message == message
    return result.kind


@pytest.mark.parametrize(
    ("code", "message", "on_solana", "on_evm"),
    [
        (-32015, "refused", RejectionKind.VERSION, RejectionKind.EXECUTION),
        (-32004, "refused", FOR_NOW, RejectionKind.METHOD),
        (-32010, "refused", RejectionKind.METHOD, RejectionKind.OTHER),
        (-32011, "refused", RejectionKind.METHOD, RejectionKind.OTHER),
        (-32009, "refused", FOR_NOW, RejectionKind.OTHER),
        (-32014, "refused", FOR_NOW, RejectionKind.OTHER),
        (-32016, "refused", FOR_NOW, RejectionKind.OTHER),
        (-32019, "refused", FOR_NOW, RejectionKind.OTHER),
        (-32007, "refused", FOR_NOW, FOR_NOW),
        (-32005, "refused", FOR_NOW, FOR_NOW),
        (-32603, "refused", FOR_NOW, FOR_NOW),
        (429, "refused", FOR_NOW, FOR_NOW),
        (-32601, "refused", RejectionKind.METHOD, RejectionKind.METHOD),
        (-32602, "rate limit exceeded", RejectionKind.OTHER, RejectionKind.OTHER),
        (-32000, "refused", RejectionKind.OTHER, RejectionKind.OTHER),
        (3, "execution reverted", RejectionKind.OTHER, RejectionKind.EXECUTION),
        (
            -32000,
            "Transaction version (1) is not supported by the requesting client.",
            RejectionKind.VERSION,
            RejectionKind.OTHER,
        ),
        (-32000, "Node is behind by 7 slots", FOR_NOW, RejectionKind.OTHER),
        (-32000, "Node is unhealthy", FOR_NOW, RejectionKind.OTHER),
    ],
)
def test_a_refusal_means_what_its_chain_defines(code, message, on_solana, on_evm):
    assert kind_of("getTransaction", code, message) == on_solana
    assert kind_of("eth_call", code, message) == on_evm


GET_TRANSACTION = [("getTransaction", ("x",))]


def solana_client(*nodes):
    # The recorded node of an EVM chain returns the set response for any method.
    urls = tuple(node.url for node in nodes)
    return RpcClient(
        chain_id=101, urls=urls, identity=ChainIdentity(method="getGenesisHash", answer="genesis"), attempts=1
    )


@pytest.fixture
def refusing(node, second_node):
    """Have the first of two nodes refuse a call by an HTTP status and a code, and the second one answer it."""
    for served in (node, second_node):
        served.answers |= {"getGenesisHash": lambda: "genesis", "getTransaction": lambda *_: "told"}

    def refuse(status, code):
        body = json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": "refused"}}).encode()
        node.behave = lambda request: Reply(body, status=status) if request["method"] == "getTransaction" else None
        return solana_client(node, second_node)

    return refuse


@pytest.mark.parametrize("status", [400, 403, 422])
@pytest.mark.parametrize("code", [-32015, -32601, -32602, -32011])
def test_a_refusal_may_come_with_an_http_status_of_its_own(refusing, second_node, status, code):
    (rejection,) = refusing(status, code).query(GET_TRANSACTION, parse=list)
    assert isinstance(rejection, CallFailure) and rejection.message == "refused"
    assert second_node.received == []


@pytest.mark.parametrize("code", [-32005, -32016, -32000])
def test_any_other_status_is_the_nodes_own_trouble(refusing, code):
    assert refusing(400, code).query(GET_TRANSACTION, parse=list) == ["told"]


def test_no_node_of_another_network_is_called(node):
    node.answers |= {"getGenesisHash": lambda: "another", "getTransaction": lambda *_: "told"}
    with pytest.raises(NodeUnavailableError, match="another chain"):
        solana_client(node).query(GET_TRANSACTION, parse=list)
    assert not node.call_count("getTransaction")

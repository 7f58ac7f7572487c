"""`eth_call` results that a registry contract never returns: the node's fault, and the next node is used."""

import pytest

from tests.nodes.launch_builder import LOCKER_V4, POSITION_MANAGER, STRANGER, TOKEN, WETH
from tests.nodes.locker_responses import answer, collects, decimals, position
from tests.nodes.log_encoding import call
from tests.nodes.recordings import base, decoded
from tests.tokens.chains.evm.generations.test_v3_fees import returns_rewards
from tests.tokens.chains.evm.generations.test_v4_fees import (
    CLAIMED_REWARDS,
    CONVERSION,
    DELAY,
    FEE_LOCKER,
    GROWTH,
    NOW,
    guard,
    launch_of,
    logs_of,
    selector,
    simulates,
)
from tokens.chains.errors import FeesUnavailableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.rpc.client import RpcClient

PRESALE = "0x9999999999999999999999999999999999999999"
# A registered v3.1 locker.
LOCKER_V31 = base().addresses("locker", "v3.1")[0]
WORD = 64
# A change to the hex digits that a contract returned; no result fits its function.
MALFORMED = {
    "half a byte": lambda digits: digits[:-1],
    "no hex": lambda digits: "zz" + digits[2:],
    "spaces": lambda digits: " " * len(digits),
    "a byte too few": lambda digits: digits[:-2],
    "a word beyond its type": lambda digits: "f" * WORD + digits[WORD:],
}
VIEWS = {
    "tokenRewards(address)": LOCKER_V4,
    "feePreferences(address,uint256)": LOCKER_V4,
    "availableFees(address,address)": FEE_LOCKER,
    "positionInfo(uint256)": base().v4_position_manager,
    "getPositionInfo(bytes32,address,int24,int24,bytes32)": base().v4_state_view,
    GROWTH: base().v4_state_view,
}
V3_VIEWS = {
    "ownerOf(uint256)": POSITION_MANAGER,
    "positions(uint256)": POSITION_MANAGER,
    "tokenRewards(uint256)": LOCKER_V31,
}
# Their first word is a number in the whole word.
OF_ANY_WORD = ("availableFees(address,address)", "positionInfo(uint256)", GROWTH, "tokenRewards(uint256)")


def cases(views):
    """Return each view with each change that makes another result than the function's."""
    return [
        (signature, changed)
        for signature in views
        for changed in MALFORMED
        if changed != "a word beyond its type" or signature not in OF_ANY_WORD
    ]


def client(*nodes):
    """Return a chain whose nodes are queried once."""
    return Chain(info=base(), rpc=RpcClient(chain_id=8453, urls=tuple(node.url for node in nodes), attempts=1))


def change(node, contract, signature, changed):
    """Have the node change the hex digits that a contract returns for a function."""
    view, start = node.answers["eth_call"], selector(signature)

    def lie(transaction, block):
        result = view(transaction, block)
        if transaction["to"].lower() != contract.lower() or not transaction["data"].startswith(start):
            return result
        return "0x" + changed(result[2:])

    node.answers["eth_call"] = lie


def v4_fees(*nodes, label="deploy-multi-recipients"):
    launch = launch_of(label)
    return client(*nodes).read_v4_fees(launch.token, locker=launch.locker, owner=None)


@pytest.mark.parametrize(("signature", "changed"), cases(VIEWS))
def test_the_next_node_reads_v4_fees_where_one_changes_a_view(node, second_node, signature, changed):
    change(node, VIEWS[signature], signature, MALFORMED[changed])
    assert v4_fees(node, second_node) == v4_fees(second_node)


def test_the_next_node_reads_the_time_of_a_pool_where_one_returns_no_time(node, second_node):
    for each in (node, second_node):
        guard(each, "deploy-token1", created=NOW)
    change(node, launch_of("deploy-token1").pool.hook, "poolCreationTimestamp(bytes32)", lambda _: f"{2**250:064x}")
    assert v4_fees(node, second_node, label="deploy-token1").collectable_from == NOW + DELAY


def test_the_next_node_simulates_a_collection_where_one_returns_no_event_of_the_locker(node, second_node):
    for each in (node, second_node):
        simulates(each, logs_of(CONVERSION))
    honest = v4_fees(second_node)
    assert honest.conversion == "simulated"
    for wrong in ({"data": "0x12"}, {"data": None}, {"topics": [CLAIMED_REWARDS]}, {"topics": None}, {"address": 1}):
        lied = [log | wrong if log["topics"][0] == CLAIMED_REWARDS else log for log in logs_of(CONVERSION)]
        simulates(node, lied)
        assert v4_fees(node, second_node) == honest


@pytest.mark.parametrize(("signature", "changed"), cases(V3_VIEWS))
def test_the_next_node_reads_v3_fees_where_one_changes_a_view(node, second_node, signature, changed):
    for each in (node, second_node):
        position(each, 42, owner=LOCKER_V31, currencies=(TOKEN, WETH))
        collects(each, 42, owner=LOCKER_V31, amounts=(1001, 99))
        decimals(each, TOKEN, 18)
        returns_rewards(each, 40, STRANGER, WETH, locker=LOCKER_V31)
    change(node, V3_VIEWS[signature], signature, MALFORMED[changed])
    honest = client(second_node).read_v3_fees(42, launched_for=())
    assert len(honest.shares) == 3
    assert client(node, second_node).read_v3_fees(42, launched_for=()) == honest


def test_the_next_node_reads_the_state_of_a_token_where_one_changes_its_lockers(node, second_node):
    tx_hash = decoded("deploy-multi-recipients")["hash"]
    change(node, LOCKER_V4, "tokenRewards(address)", MALFORMED["a byte too few"])
    assert client(node, second_node).read_with_state(tx_hash) == client(second_node).read_with_state(tx_hash)


def test_the_next_node_reads_presales_where_one_changes_their_contracts_view(node, second_node):
    for each in (node, second_node):
        answer(each, PRESALE, call("DEPLOYMENT_BAD_BUFFER()"), ["uint256"], 60)
    for digits in ("12", "ff" * 320):
        node.answers["eth_call"] = lambda *_, digits=digits: "0x" + digits
        assert client(node, second_node).read_presales([1], contract=PRESALE) == []
        assert second_node.call_count("eth_call")


def test_a_contract_that_is_not_in_the_registry_may_return_anything_without_harm_to_the_nodes(node, second_node):
    """Have a token return malformed data, which every node repeats."""
    for each in (node, second_node):
        change(each, launch_of("deploy-plain").token, "decimals()", MALFORMED["a byte too few"])
    rpc = RpcClient(chain_id=8453, urls=(node.url, second_node.url), breaker_failures=1)
    launch = launch_of("deploy-plain")
    with pytest.raises(FeesUnavailableError, match="decimals"):
        Chain(info=base(), rpc=rpc).read_v4_fees(launch.token, locker=launch.locker, owner=None)
    # No circuit is open, and no other node was called.
    assert second_node.calls == []
    assert rpc.query([("eth_blockNumber", ())], parse=lambda results: results) and second_node.calls == []

"""tokens/chains/evm/logs/launch_search.py: a token's launch, found by its code, or in all logs."""

import pytest

from development.standins.loopback import RefusedError
from tests.nodes.devchain_launches import SENDER
from tests.nodes.recordings import RECORDED_LAUNCHES, mined
from tokens.chains.errors import NodeUnavailableError
from tokens.indexing import index_requests
from tokens.installation.installed_chains import installed_chain

# A chain some years old.
HEAD = 400_000_000
# The most requests in a search: head, code, logs, and an eighth of the blocks at a time.
MOST_REQUESTS = 25


@pytest.fixture
def chain(installed_node):
    return installed_chain(8453)


@pytest.fixture
def with_code(installed_node):
    """Have the node return these contracts' code, address -> creation block, on a long chain."""

    def have(created):
        def code(address, block):
            return "0x60" if created.get(address, HEAD + 1) <= int(block, 16) else "0x"

        installed_node.answers["eth_getCode"] = code
        installed_node.answers["eth_blockNumber"] = lambda: hex(HEAD)

    return have


def pruned(address, block):
    raise RefusedError(-32000, "missing trie node")


@pytest.mark.parametrize("label", RECORDED_LAUNCHES)
def test_a_launch_of_each_generation_is_found_in_few_requests(installed_node, chain, with_code, label):
    recorded = mined(label)
    (launch,) = recorded.decode()
    with_code({launch.token: launch.block_number})
    assert chain.find_launch(launch.token) == recorded.hash
    assert len(installed_node.received) <= MOST_REQUESTS
    assert installed_node.call_count("eth_getLogs") == 1


@pytest.mark.parametrize("created", [0, 1, HEAD // 2, HEAD - 1, HEAD])
def test_a_contract_without_a_launch_is_searched_at_its_block_only(installed_node, chain, with_code, created):
    with_code({SENDER: created})
    assert chain.find_launch(SENDER) is None
    (call,) = (call for call in installed_node.calls if call["method"] == "eth_getLogs")
    (query,) = call["params"]
    assert (query["fromBlock"], query["toBlock"]) == (hex(created), hex(created))
    assert len(installed_node.received) <= MOST_REQUESTS


def test_what_has_no_code_is_not_searched(installed_node, chain, with_code):
    with_code({})
    assert chain.find_launch(SENDER) is None
    assert len(installed_node.received) <= 3 and not installed_node.call_count("eth_getLogs")


def test_without_old_states_indexed_launches_are_found_in_all_logs(installed_node, chain):
    installed_node.answers["eth_getCode"] = pruned
    for label in ("legacy-v31-deploy", "deploy-plain"):
        recorded = mined(label)
        (launch,) = recorded.decode()
        assert chain.find_launch(launch.token) == recorded.hash
    (old,) = mined("legacy-v2-deploy").decode()
    assert chain.find_launch(old.token) is None


def test_a_node_that_refuses_both_is_not_available(installed_node, chain):
    def too_long(query):
        raise RefusedError(-32000, "block range exceeds 10000 blocks")

    installed_node.answers |= {"eth_getCode": pruned, "eth_getLogs": too_long}
    with pytest.raises(NodeUnavailableError):
        chain.find_launch(SENDER)


def test_logs_that_were_not_requested_are_no_launch(installed_node, chain, with_code):
    (launch,) = mined("deploy-plain").decode()
    with_code({SENDER: launch.block_number})
    logs = installed_node.answers["eth_getLogs"]
    # Other launches in the block name other tokens.
    assert logs({"fromBlock": hex(launch.block_number), "toBlock": hex(launch.block_number), "topics": []})
    assert chain.find_launch(SENDER) is None
    blocks = {"fromBlock": hex(launch.block_number), "toBlock": hex(launch.block_number)}
    installed_node.answers["eth_getLogs"] = lambda query: logs(blocks | {"topics": []})
    with pytest.raises(NodeUnavailableError):
        chain.find_launch(SENDER)


@pytest.mark.django_db
def test_a_launch_of_the_development_chain_is_found_by_its_code(launchpad):
    hashes = [launchpad.launch() for _ in range(3)]
    (token,) = index_requests.index_transaction(chain_id=launchpad.chain_id, tx_hash=hashes[1])
    chain = installed_chain(launchpad.chain_id)
    assert chain.find_launch(token) == hashes[1]
    # A wallet, and a contract that no factory launched.
    assert chain.find_launch(SENDER) is None
    assert chain.find_launch(launchpad.deployment.wrapped_native) is None

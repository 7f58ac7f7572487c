"""tokens/chains/evm/evm_chain.py: the calls to nodes beyond the receipt."""

import eth_abi
import pytest

from development.standins.loopback import RefusedError, Reply
from tests.nodes.launch_builder import HOOK_V4, STRANGER, TOKEN, USDC, v1_launch, v4_launch, v31_launch
from tests.nodes.recorded_node import Node
from tests.nodes.recordings import base, decoded, mined
from tokens.chains.errors import NodeUnavailableError
from tokens.chains.evm.eth_calls import lacks_code
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.rpc.client import RpcClient

SELECTORS = {
    "symbol": "0x95d89b41",
    "decimals": "0x313ce567",
    "totalSupply": "0x18160ddd",
    "imageUrl": "0xaba83150",
    "image": "0xf3ccaac0",
    "metadata": "0x392f37e9",
    "context": "0xd0496d6a",
}


def chain(node: Node) -> Chain:
    return Chain(info=base(), rpc=RpcClient(chain_id=8453, urls=(node.url,), attempts=1))


def view(node: Node, address: str, name: str, kind: str, value):
    """Have the node return a view's value."""
    answer = "0x" + eth_abi.encode([kind], [value]).hex()
    node.views[(address.lower(), SELECTORS[name])] = {"result": answer}


def read(node: Node, mined_transaction):
    (launch,) = chain(node).read_transaction(node.hold(mined_transaction)).launches
    return launch


def through_another_contract(label):
    recorded = mined(label)
    recorded.transaction["to"] = STRANGER
    return recorded


def test_v31_image_and_context_are_requested_where_the_calldata_lacks_them(node):
    launch = read(node, through_another_contract("legacy-v31-deploy"))
    (direct,) = chain(node).read_transaction(node.hold(mined("legacy-v31-deploy"))).launches
    assert (launch.image, launch.context) == (direct.image, direct.context)
    assert launch.image == "ipfs://x"


def test_the_recorded_calldata_of_v31_saves_the_call(node):
    read(node, mined("legacy-v31-deploy"))
    assert node.call_count("eth_call") == 0


@pytest.mark.parametrize("accessor", ["imageUrl", "image"])
def test_the_image_is_found_under_either_name(node, accessor):
    view(node, TOKEN, accessor, "string", "ipfs://found")
    assert read(node, v31_launch()).image == "ipfs://found"


def changes_its_image(node: Node, *, keeps: bool, refusal=(-32000, "missing trie node 0a is not available")):
    """Have the image be another one now than in the launch's block, whose state the node keeps or not."""
    view = node.answers["eth_call"]

    def answer(transaction, block):
        if transaction["data"] != SELECTORS["imageUrl"]:
            return view(transaction, block)
        if block != "latest" and not keeps:
            raise RefusedError(*refusal)
        image = "ipfs://now" if block == "latest" else f"ipfs://of-block-{int(block, 16)}"
        return "0x" + eth_abi.encode(["string"], [image]).hex()

    node.answers["eth_call"] = answer


def test_views_are_called_as_of_the_launchs_block(node):
    changes_its_image(node, keeps=True)
    launch = read(node, v31_launch())
    assert launch.image == f"ipfs://of-block-{launch.block_number}"


@pytest.mark.parametrize(
    "refusal",
    [
        (-32000, "missing trie node 0a (path ) state 0x0a is not available"),
        (-32000, "header not found"),
        (-32603, "state at block #5 is pruned"),
        (-32600, "Archive requests are not available on your plan"),
        (-32002, "No state available for block"),
    ],
)
def test_views_are_called_as_of_now_where_no_node_has_that_state(node, refusal):
    changes_its_image(node, keeps=False, refusal=refusal)
    rpc = RpcClient(chain_id=8453, urls=(node.url,), attempts=1, breaker_failures=1, breaker_seconds=3600)
    tx_hash = node.hold(v31_launch())
    for _ in range(2):
        (launch,) = Chain(info=base(), rpc=rpc).read_transaction(tx_hash).launches
        assert launch.image == "ipfs://now"


@pytest.mark.parametrize("head", ["before the launch", "0x"])
def test_a_node_that_has_not_come_to_the_launchs_block_postpones_the_launch(node, head):
    changes_its_image(node, keeps=False, refusal=(-32000, "header not found"))
    mined_transaction = v31_launch()
    before = hex(int(mined_transaction.block["number"], 16) - 1)
    node.answers["eth_blockNumber"] = lambda: before if head == "before the launch" else head
    with pytest.raises(NodeUnavailableError, match="behind|in the place of a number"):
        read(node, mined_transaction)


def test_another_node_may_keep_the_state_of_the_launchs_block(node, second_node):
    changes_its_image(node, keeps=False)
    changes_its_image(second_node, keeps=True)
    rpc = RpcClient(chain_id=8453, urls=(node.url, second_node.url), attempts=1)
    (launch,) = Chain(info=base(), rpc=rpc).read_transaction(node.hold(v31_launch())).launches
    assert launch.image == f"ipfs://of-block-{launch.block_number}"


def test_what_the_node_can_not_return_stays_unknown(node):
    launch = read(node, v31_launch(paired=STRANGER))
    assert (launch.image, launch.context) == (None, None)
    assert (launch.pool.pair_symbol, launch.pool.pair_decimals) == (None, None)


@pytest.mark.parametrize("answer", ["0x", "0x01", "0x" + "ff" * 64])
def test_a_view_that_makes_no_sense_sets_nothing(node, answer):
    node.answers["eth_call"] = lambda *_: answer
    launch = read(node, v31_launch(paired=STRANGER))
    assert (launch.image, launch.context, launch.pool.pair_symbol, launch.pool.pair_decimals) == (None,) * 4


@pytest.mark.parametrize("code", [3, -32000, -32015, -32601, -32603])
def test_a_view_that_reverts_sets_nothing(node, code):
    def revert(*_):
        raise RefusedError(code, "execution reverted: timeout, rate limit")

    node.answers["eth_call"] = revert
    assert read(node, v31_launch(paired=STRANGER)).pool.pair_symbol is None


@pytest.mark.parametrize("code", [-32603, -32007, -32601])
def test_a_node_that_refuses_views_for_reasons_of_its_own_postpones_the_launch(node, code):
    def refuse(*_):
        raise RefusedError(code, "50/second request limit reached")

    node.answers["eth_call"] = refuse
    with pytest.raises(NodeUnavailableError):
        read(node, v31_launch())


def test_a_node_that_fails_at_views_postpones_the_launch(node):
    def fail_at_views(body):
        first = body[0] if isinstance(body, list) else body
        return Reply(b"", status=500) if first["method"] == "eth_call" else None

    node.behave = fail_at_views
    with pytest.raises(NodeUnavailableError):
        read(node, v31_launch())


def test_another_launched_token_as_the_pair_is_named_by_the_node(node):
    paired = decoded("deploy-plain")["decodedLogs"][-1]["args"]["tokenAddress"]
    launch = read(node, v4_launch(paired=paired))
    assert (launch.pool.pair_symbol, launch.pool.pair_decimals) == ("PLN", 18)


def test_the_decimals_of_an_unlisted_pair_are_requested(node):
    view(node, STRANGER, "symbol", "string", "ODD")
    view(node, STRANGER, "decimals", "uint8", 6)
    launch = read(node, v4_launch(paired=STRANGER))
    assert (launch.pool.pair_symbol, launch.pool.pair_decimals) == ("ODD", 6)


def test_a_listed_pair_saves_the_call(node):
    launch = read(node, v4_launch(paired=USDC))
    assert (launch.pool.pair_symbol, launch.pool.pair_decimals) == ("USDC", 6)
    assert node.call_count("eth_call") == 0


def test_the_symbol_of_a_pair_is_cleaned(node):
    view(node, STRANGER, "symbol", "bytes", b"A\0B\xff")
    assert read(node, v4_launch(paired=STRANGER)).pool.pair_symbol == "AB\ufffd"


def test_an_unminted_supply_is_requested(node):
    view(node, TOKEN, "totalSupply", "uint256", 7)
    assert read(node, v4_launch(minted=None)).supply == 7


def test_a_refused_supply_stays_unknown(node):
    assert read(node, v4_launch(minted=None)).supply is None


def test_views_may_use_only_so_much_gas(node):
    read(node, v31_launch(paired=STRANGER))
    views = [call for call in node.calls if call["method"] == "eth_call"]
    assert views
    assert all(int(call["params"][0]["gas"], 16) <= 10_000_000 for call in views)


def test_v1_metadata_is_requested_and_unknown(node):
    launch = read(node, v1_launch())
    assert (launch.image, launch.metadata, launch.context) == ("ipfs://one", None, None)


def test_the_hook_is_the_events(node):
    assert read(node, v4_launch()).pool.hook == HOOK_V4


def pruned():
    raise RefusedError(-32000, "missing trie node")


@pytest.mark.parametrize(
    ("codes", "is_proven"),
    [
        # Each node's code for the address and for the witness.
        ([("0x", "0x")], False),
        ([(None, None)], False),
        ([("0x", None)], False),
        ([("0x", "60")], False),
        ([("0x", "0x"), ("0x", "0x60")], True),
        ([(None, None), ("0x", "0x60")], True),
        ([("0x", "0x"), ("0x60", "0x60")], False),
    ],
)
def test_only_a_node_with_the_state_proves_that_an_address_has_no_code(node, second_node, codes, is_proven):
    """Check that nodes that pruned the state, or don't have it yet, lose no token launch."""
    address, witness = "0x" + "11" * 20, "0x" + "22" * 20
    nodes = [node, second_node][: len(codes)]
    for each, (of_address, of_witness) in zip(nodes, codes, strict=True):
        found = {address: of_address, witness: of_witness}
        each.answers["eth_getCode"] = lambda at, block, found=found: found[at] or pruned()
    client = RpcClient(chain_id=8453, urls=tuple(each.url for each in nodes), attempts=1)
    assert lacks_code(client, address, block=7, witness=witness) is is_proven

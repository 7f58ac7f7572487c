"""tokens/chains/evm/transactions/gas_prices.py: one vote for each node; one lies."""

import logging
from contextlib import ExitStack

import pytest

from development.standins.loopback import RefusedError, Reply
from tests.nodes.recorded_node import serve_recorded_chain
from tests.nodes.recordings import base
from tokens.chains.errors import NodeUnavailableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.registry.chains import load_registry
from tokens.chains.rpc.client import RpcClient

GWEI = 10**9
# Base's cap, and the usual fees there.
CAP, BASE_FEE, TIP = GWEI, GWEI // 100, GWEI // 1000
LIE = 49 * GWEI


@pytest.fixture
def nodes():
    with ExitStack() as stack:
        yield [stack.enter_context(serve_recorded_chain()) for _ in range(3)]


def prices(node, *, tip=TIP, paid=TIP, base_fee=BASE_FEE, **history):
    """Have the node report these prices, and blocks that all paid this tip; None is a node without a history."""
    told = {
        "oldestBlock": "0x10",
        "reward": [[hex(paid or 0)]] * 10,
        "baseFeePerGas": [hex(base_fee)] * 11,
        "gasUsedRatio": [0.5] * 10,
    }
    node.answers["eth_getBlockByNumber"] = lambda *_: {"baseFeePerGas": hex(base_fee)}
    node.answers["eth_gasPrice"] = lambda: hex(base_fee + tip)
    node.answers["eth_maxPriorityFeePerGas"] = lambda: hex(tip)
    if paid is not None:
        node.answers["eth_feeHistory"] = lambda *_: told | history


def chain(*nodes, chain_id=8453):
    urls = tuple(node.url for node in nodes)
    return Chain(info=base(), rpc=RpcClient(chain_id=chain_id, urls=urls, attempts=1, initial_backoff=0))


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("liar", [0, 1, 2])
@pytest.mark.parametrize("paid", [LIE, TIP, None])
def test_one_node_that_lies_raises_no_tip(nodes, count, liar, paid):
    honest = [node for place, node in enumerate(nodes) if place != liar][: count - 1]
    for node in honest:
        prices(node, paid=TIP if count == 3 else None)
    prices(nodes[liar], tip=LIE, paid=paid, base_fee=LIE)
    order = [node for node in nodes if node in (*honest, nodes[liar])]
    quote = chain(*order).read_fees()
    assert quote.priority_fee == TIP
    # A replacement may pay up to the cap where no third node decides.
    assert quote.disputed_priority_fee == (CAP if count == 2 and paid != TIP else 0)
    place = order.index(nodes[liar]) + 1
    assert quote.alarm == f"node {place} suggests far more than the other nodes or recent blocks"
    if count == 3:
        assert quote.base_fee == BASE_FEE * 9 // 8


@pytest.mark.parametrize("liar", [0, 1, 2])
def test_one_node_of_three_that_lies_lowers_no_fee(nodes, liar):
    for place, node in enumerate(nodes):
        prices(node, **({"tip": 0, "paid": 0, "base_fee": 0} if place == liar else {}))
    quote = chain(*nodes).read_fees()
    assert (quote.base_fee, quote.priority_fee, quote.alarm) == (BASE_FEE * 9 // 8, TIP, "")


@pytest.mark.parametrize(
    ("base_fee", "most"),
    [(0, CAP // 10), (BASE_FEE, CAP // 10), (BASE_FEE * 2, CAP // 5), (GWEI, CAP), (LIE, CAP)],
)
def test_the_only_node_can_not_raise_the_tip_beyond_the_cap(nodes, base_fee, most):
    node = nodes[0]
    prices(node, tip=LIE, paid=LIE, base_fee=base_fee)
    quote = chain(node).read_fees()
    assert quote.priority_fee == most
    assert quote.alarm == "the suggested priority fee is above its cap, and is not paid in full"


def test_recent_blocks_lower_a_suggestion(nodes):
    for node in nodes:
        prices(node, tip=9 * TIP, paid=TIP)
    quote = chain(*nodes).read_fees()
    assert (quote.priority_fee, quote.alarm) == (TIP, "")
    assert nodes[0].calls[-1]["params"] == ["0xa", "latest", [50]]


@pytest.mark.parametrize(
    "history",
    [
        {"reward": None},
        {"reward": []},
        {"reward": [["0x1"]] * 9},
        {"reward": [["0x1", "0x2"], []] * 5},
        {"reward": [[1]] * 10},
        {"reward": [["0x1"]] * 11, "baseFeePerGas": [hex(BASE_FEE)] * 12},
        {"baseFeePerGas": None},
        {"baseFeePerGas": [hex(BASE_FEE)] * 10},
        # From another chain, or too fast.
        {"baseFeePerGas": [hex(2 * BASE_FEE)] * 11},
        {"baseFeePerGas": [hex(BASE_FEE // 2)] * 8 + [hex(BASE_FEE)] * 3},
        # For empty blocks.
        {"reward": [["0x0"]] * 10},
    ],
)
def test_a_history_that_can_not_be_lowers_no_suggestion(nodes, history):
    prices(nodes[0], paid=TIP // 10, **history)
    assert chain(nodes[0]).read_fees().priority_fee == TIP


def test_a_history_is_valid_while_the_base_fee_changes_as_fast_as_it_may(nodes):
    fees = [BASE_FEE]
    for _ in range(10):
        fees.append(fees[-1] + fees[-1] // 8)
    rewards = [[hex(tip)] for tip in (0, 0, 5, 1, 3, 0, 4, 2, 0, 0)]
    prices(nodes[0], base_fee=fees[-1], baseFeePerGas=[hex(fee) for fee in fees], reward=rewards)
    # The middle one among the tips that were paid.
    assert chain(nodes[0]).read_fees().priority_fee == 3


def test_a_node_without_histories_or_suggestions_has_a_vote(nodes):
    def refuse(*_):
        raise RefusedError(-32601, "the method does not exist/is not available")

    for node in nodes:
        prices(node)
        node.answers["eth_feeHistory"] = node.answers["eth_maxPriorityFeePerGas"] = refuse
    quote = chain(*nodes).read_fees()
    assert (quote.base_fee, quote.priority_fee) == (BASE_FEE * 9 // 8, TIP)


def test_nodes_without_prices_have_no_vote(nodes, caplog):
    caplog.set_level(logging.WARNING)
    prices(nodes[0], tip=LIE)
    nodes[0].answers["eth_getBlockByNumber"] = lambda *_: {}
    nodes[1].behave = lambda body: Reply(b"", status=503)
    prices(nodes[2])
    assert chain(*nodes).read_fees().priority_fee == TIP
    logged = caplog.text
    assert "node 1: no gas prices" in logged and nodes[0].url not in logged
    nodes[2].behave = nodes[1].behave
    with pytest.raises(NodeUnavailableError):
        chain(*nodes).read_fees()


def test_each_chain_has_a_cap(tmp_path):
    file = tmp_path / "chains.toml"
    file.write_text(
        '[chains.1]\nmax_priority_fee_gwei = 0.25\n[chains.31337]\nname = "Local"\nnative = "ETH"\nfinality_depth = 1\n'
    )
    caps = {chain.chain_id: chain.priority_fee_cap for chain in load_registry(file).chains.values()}
    assert (caps[1], caps[8453], caps[31337]) == (GWEI // 4, GWEI, 10 * GWEI)
    assert load_registry().chain(42161).priority_fee_cap == GWEI // 10

"""tokens/chains/evm/transactions/transaction_receipts.py: batched reads, against reading each separately."""

import contextlib

import eth_abi
import pytest

from development.standins.loopback import RefusedError
from tests.nodes.launch_builder import STRANGER, v4_launch, v31_launch
from tests.nodes.recorded_node import Node
from tests.nodes.recordings import V4_LAUNCHES, base, decoded, mined, recorded_chain
from tests.tokens.chains.evm.test_evm_chain import SELECTORS, changes_its_image, view
from tests.tokens.chains.evm.test_log_decoding import at, whole_launch
from tokens.chains.errors import (
    LaunchNotFoundError,
    LogDecodingError,
    NodeUnavailableError,
    TransactionNotFoundError,
)
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.generations.launch_completion import complete_launches
from tokens.chains.evm.generations.transaction_decoding import decode_mined
from tokens.chains.evm.transactions.transaction_receipts import read_in_blocks
from tokens.chains.rpc.client import RpcClient

LAUNCH = mined("deploy-plain").hash


def chain(*nodes: Node, batch_size=50) -> Chain:
    return Chain(
        info=base(),
        rpc=RpcClient(chain_id=8453, urls=tuple(node.url for node in nodes), attempts=1, batch_size=batch_size),
    )


def read_many(node, hashes, *, batch_size=50):
    """Return transaction facts by hash and block, without those that hold nothing."""
    reading = chain(node, batch_size=batch_size)
    numbers = {entry["hash"]: number for number, block in node.blocks.items() for entry in block["transactions"]}
    numbers = {one: numbers.get(one, 1) for one in hashes}
    decoded = []
    for read in read_in_blocks(reading.rpc, reading.info, numbers, times={}):
        with contextlib.suppress(LaunchNotFoundError):
            decoded.append(decode_mined(read))
    return complete_launches(reading.rpc, reading.info, decoded)


def tx_hash(number):
    return "0x" + f"{number:064x}"


def launches_at(node, *numbers, **created):
    """Return v3.1 launches, whose images a node must return, each in a block of its own."""
    return [node.hold(at(v31_launch(**created), number, tx_hash=tx_hash(number))) for number in numbers]


def images(facts):
    return [launch.image for one in facts for launch in one.launches]


def test_the_recorded_chain_is_read_as_one_by_one(node):
    read = chain(node)
    hashes = list(recorded_chain()["receipts"])
    one_by_one = []
    for one in hashes:
        try:
            one_by_one.append(read.read_transaction(one))
        except LaunchNotFoundError:
            continue
    assert read_many(node, hashes) == one_by_one
    assert len(one_by_one) == 38


def test_all_transactions_and_blocks_are_one_request(node):
    hashes = [mined(label).hash for label in V4_LAUNCHES]
    read_many(node, hashes)
    assert node.call_count("eth_getTransactionByHash") == node.call_count("eth_getTransactionReceipt") == len(hashes)
    assert node.call_count("eth_getBlockByNumber") == len(hashes)
    # After the one for the chain's id.
    assert len(node.received) == 2


def test_a_block_that_several_share_is_requested_once(node):
    hashes = [tx_hash(1), tx_hash(2)]
    for one in hashes:
        shared = at(whole_launch(), 101, tx_hash=one)
        shared.block["transactions"] = hashes
        node.hold(shared)
    assert [facts.tx_hash for facts in read_many(node, hashes)] == hashes
    assert node.call_count("eth_getBlockByNumber") == 1


@pytest.mark.parametrize("batch_size", [1, 2, 3, 50])
def test_batches_of_any_size_give_the_same(node, batch_size):
    hashes = launches_at(node, 101, 102, 103)
    changes_its_image(node, keeps=True)
    read = read_many(node, hashes, batch_size=batch_size)
    assert [facts.tx_hash for facts in read] == hashes
    assert images(read) == ["ipfs://of-block-101", "ipfs://of-block-102", "ipfs://of-block-103"]


def test_no_requested_transactions_are_nothing(node):
    assert read_many(node, []) == []
    assert node.received == []


# Transactions that a node lacks, or that are in another block.


def test_a_transaction_that_moved_to_another_block_is_read_there(node):
    moved = node.hold(at(whole_launch(), 102, tx_hash=tx_hash(1)))
    node.blocks[101] = node.blocks[102] | {"number": hex(101), "transactions": []}
    reading = chain(node)
    (found,) = read_in_blocks(reading.rpc, reading.info, {moved: 101}, times={})
    assert (found.hash, found.block_number) == (moved, 102)


def test_an_unknown_transaction_postpones_all(node):
    with pytest.raises(TransactionNotFoundError):
        read_many(node, [mined("deploy-plain").hash, tx_hash(1)])


def test_a_transaction_that_is_not_mined_postpones_all(node):
    pending = mined("deploy-plain")
    pending.transaction["blockHash"] = None
    node.hold(pending)
    with pytest.raises(TransactionNotFoundError):
        read_many(node, [mined("deploy-vault").hash, pending.hash])


@pytest.mark.parametrize("number", [None, 5, {}, "0xfffff"])
def test_a_receipt_of_no_block_postpones_all(node, number):
    half = mined("deploy-plain")
    half.receipt["blockNumber"] = number
    node.hold(half)
    with pytest.raises(NodeUnavailableError):
        read_many(node, [mined("deploy-vault").hash, half.hash])


def test_a_block_on_another_fork_postpones_all(node):
    forked = mined("deploy-plain")
    forked.block["hash"] = "0x" + "ee" * 32
    node.hold(forked)
    with pytest.raises(NodeUnavailableError, match="agree"):
        read_many(node, [mined("deploy-vault").hash, mined("deploy-plain").hash])


# Facts that need calls to contracts.


def test_all_views_are_requested_in_one_request(node):
    hashes = launches_at(node, 101, 102, 103)
    changes_its_image(node, keeps=True)
    read = read_many(node, hashes)
    assert images(read) == ["ipfs://of-block-101", "ipfs://of-block-102", "ipfs://of-block-103"]
    requests = [body for body in node.received if isinstance(body, list) and body[0]["method"] == "eth_call"]
    assert len(requests) == 1


@pytest.mark.parametrize("kept_from", [1, 101, 102, 103, 107, 108, 200])
def test_only_the_launches_of_pruned_state_are_requested_as_of_now(node, kept_from):
    numbers = range(101, 108)
    hashes = launches_at(node, *numbers)
    answer = node.answers["eth_call"]

    def forgetful(transaction, block):
        if transaction["data"] != SELECTORS["imageUrl"]:
            return answer(transaction, block)
        if block != "latest" and int(block, 16) < kept_from:
            raise RefusedError(-32000, "missing trie node")
        image = "ipfs://now" if block == "latest" else f"ipfs://of-block-{int(block, 16)}"
        return "0x" + eth_abi.encode(["string"], [image]).hex()

    node.answers["eth_call"] = forgetful
    node.answers["eth_blockNumber"] = lambda: hex(300)
    read = read_many(node, hashes)
    assert images(read) == [f"ipfs://of-block-{n}" if n >= kept_from else "ipfs://now" for n in numbers]


@pytest.mark.parametrize("batch_size", [1, 2, 50])
def test_a_node_that_has_not_come_to_the_newest_launch_postpones_all(node, batch_size):
    hashes = launches_at(node, 101, 107)
    changes_its_image(node, keeps=False, refusal=(-32000, "header not found"))
    node.answers["eth_blockNumber"] = lambda: hex(106)
    with pytest.raises(NodeUnavailableError, match="behind"):
        read_many(node, hashes, batch_size=batch_size)


def test_each_launch_gets_its_own_answers(node):
    view(node, STRANGER, "symbol", "string", "ODD")
    view(node, STRANGER, "decimals", "uint8", 6)
    numbers = {101: STRANGER, 102: "0x4200000000000000000000000000000000000006", 103: STRANGER}
    hashes = [
        node.hold(at(v4_launch(paired=paired), number, tx_hash=tx_hash(number))) for number, paired in numbers.items()
    ]
    read = read_many(node, hashes)
    assert [facts.launches[0].pool.pair_symbol for facts in read] == ["ODD", "WETH", "ODD"]
    assert [facts.launches[0].pool.pair_decimals for facts in read] == [6, 18, 6]
    assert read == [chain(node).read_transaction(one) for one in hashes]


# One transaction, whose parts a node returns that disagree or are malformed.


def test_a_transaction_without_a_receipt_is_not_found(node):
    node.answers["eth_getTransactionReceipt"] = lambda _: None
    with pytest.raises(TransactionNotFoundError):
        chain(node).read_transaction(LAUNCH)


@pytest.mark.parametrize("label", ["deploy-reverted", "deploy-zero-supply", "unrelated-transfer"])
def test_a_transaction_without_a_launch_differs_from_a_missing_one(node, label):
    with pytest.raises(LaunchNotFoundError):
        chain(node).read_transaction(decoded(label)["hash"])


OTHER = "0x" + "ab" * 32


MISSING = object()


def serve_changed(node, part, key, value):
    """Serve the launch with another value in its transaction, receipt, block or last log; or without it if MISSING."""
    recorded = mined("deploy-plain")
    changed = recorded.logs[-1] if part == "log" else getattr(recorded, part)
    changed[key] = value
    if value is MISSING:
        del changed[key]
    node.answers["eth_getTransactionByHash"] = lambda _: recorded.transaction
    node.answers["eth_getTransactionReceipt"] = lambda _: recorded.receipt
    node.answers["eth_getBlockByNumber"] = lambda *_: recorded.block


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("receipt", "blockHash", OTHER),
        ("log", "blockHash", OTHER),
        ("transaction", "blockHash", OTHER),
        ("block", "hash", OTHER),
        ("block", "transactions", [OTHER]),
        ("receipt", "transactionHash", OTHER),
        ("log", "transactionHash", OTHER),
        ("receipt", "blockNumber", "0x1"),
    ],
)
def test_it_takes_no_launch_where_answers_disagree(node, part, key, value):
    serve_changed(node, part, key, value)
    with pytest.raises(NodeUnavailableError, match="don't agree"):
        chain(node).read_transaction(LAUNCH)


JUNK = [None, 7, -1, True, "", "0x", "0xzz", "0x" + "f" * 64, [], {}, [None], "é", 1.5]
FIELDS = {
    "transaction": ("hash", "blockHash", "blockNumber", "from", "to", "value", "input"),
    "receipt": ("transactionHash", "blockHash", "blockNumber", "status", "logs"),
    "block": ("hash", "number", "timestamp", "transactions"),
    "log": ("address", "topics", "data", "logIndex", "blockHash", "transactionHash"),
}


@pytest.mark.parametrize(("part", "key"), [(part, key) for part, keys in FIELDS.items() for key in keys])
def test_a_half_answer_ends_in_a_declared_error(node, part, key):
    for value in (MISSING, *JUNK, *([junk, junk] for junk in JUNK if key == "topics")):
        serve_changed(node, part, key, value)
        with contextlib.suppress(NodeUnavailableError, TransactionNotFoundError, LaunchNotFoundError, LogDecodingError):
            (launch,) = chain(node).read_transaction(LAUNCH).launches
            # Some fields may be missing: the other called contracts are irrelevant.
            assert launch.name == "Plain", value


@pytest.mark.parametrize(
    "method", ["eth_chainId", "eth_getTransactionByHash", "eth_getTransactionReceipt", "eth_getBlockByNumber"]
)
def test_a_wrong_kind_of_answer_ends_in_a_declared_error(node, method):
    for junk in JUNK:
        node.answers[method] = lambda *_, junk=junk: junk
        with pytest.raises((NodeUnavailableError, TransactionNotFoundError)):
            chain(node).read_transaction(LAUNCH)


def test_the_head_is_a_number(node):
    assert chain(node).read_head() == 209


@pytest.mark.parametrize("junk", [None, [], "", "new", {"a": 1}])
def test_a_head_that_is_no_number_is_no_head(node, junk):
    node.answers["eth_blockNumber"] = lambda: junk
    with pytest.raises(NodeUnavailableError):
        chain(node).read_head()


def test_it_reads_every_recorded_launch_in_few_requests(node):
    reading = chain(node)
    for label in V4_LAUNCHES:
        reading.read_transaction(decoded(label)["hash"])
    # The chain id once, and a batch and a block for each launch.
    assert len(node.received) == 1 + 2 * len(V4_LAUNCHES)

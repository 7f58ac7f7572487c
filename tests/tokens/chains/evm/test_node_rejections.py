"""tokens/chains/evm/transactions: all wordings in nodes' rejections, and fallback to other nodes."""

import json
import logging

import pytest
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from development.standins.loopback import RefusedError, Reply
from tests.nodes.launch_builder import STRANGER, TOKEN
from tests.nodes.recorded_node import SECRET, query_head
from tests.nodes.recordings import base
from tests.tokens.chains.rpc.test_rpc_client import closed_port, refuse
from tokens.chains.errors import NodeUnavailableError, SenderBalanceTooLowError, WouldRevertError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.responses import accept_executions
from tokens.chains.transaction_types import BroadcastStatus, ContractCall, FeeQuote, Simulation, TransactionOutcome

RAW = bytes.fromhex("02f86b01")
HASH = "0x" + keccak(RAW).hex()
BLOCK_HASH = "0x" + "b1" * 32
CALL = ContractCall(to=TOKEN, data="0x12345678", value=0)
TEXT = "0x08c379a0" + encode(["string"], ["no"]).hex()
HTML = Reply(b"<html>maintenance</html>")


def chain(*nodes, **options):
    """Return a chain with one attempt per node, and circuits that open after one failure."""
    urls = tuple(node if isinstance(node, str) else node.url for node in nodes)
    options = {"attempts": 1, "initial_backoff": 0, "breaker_failures": 1, "breaker_seconds": 3600, **options}
    return Chain(info=base(), rpc=RpcClient(chain_id=8453, urls=urls, **options))


def takes(node):
    node.answers["eth_sendRawTransaction"] = lambda raw: "0x" + keccak(hexstr=raw).hex()


def hangs(node):
    def hang(_body):
        node.closed.wait()

    node.behave = hang


def is_well(node, rpc):
    """Return whether the node's circuit is closed: it is called first."""
    requested = node.call_count("eth_blockNumber")
    assert query_head(rpc) == "0xd1"
    return node.call_count("eth_blockNumber") == requested + 1


# Client, code, message.
WORDINGS = {
    BroadcastStatus.ALREADY_KNOWN: [
        ("geth, op-geth, erigon, reth", -32000, "already known"),
        ("geth of old", -32000, "known transaction: 5d7b1f"),
        ("nethermind", -32010, "AlreadyKnown"),
        ("besu", -32000, "Known transaction"),
        ("anvil", -32003, "transaction already imported"),
        ("openethereum", -32010, "Transaction with the same hash was already imported."),
        ("erigon of old", -32000, "ALREADY_EXISTS: already known"),
        ("erigon's pool", -32000, "existing tx with same hash"),
    ],
    BroadcastStatus.NONCE_SPENT: [
        ("geth, reth", -32000, "nonce too low: next nonce 5, tx nonce 3"),
        ("nitro", -32000, "nonce too low: address 0x70997970C51812dc3A010C7d01b50e0d17dc79C8, tx: 3 state: 5"),
        ("erigon, anvil", -32003, "nonce too low"),
        ("nethermind", -32010, "OldNonce, Current nonce: 5, nonce of rejected tx: 3"),
        # Its code also means a node without the block.
        ("besu", -32001, "Nonce too low"),
        ("openethereum", -32010, "Transaction nonce is too low. Try incrementing the nonce."),
        ("monad", -32603, "Transaction nonce too low"),
        ("hardhat", -32000, "Nonce too low. Expected nonce to be 5 but got 3."),
    ],
    BroadcastStatus.UNDERPRICED: [
        ("geth, reth, anvil", -32000, "replacement transaction underpriced"),
        (
            "geth",
            -32000,
            "replacement transaction underpriced: new tx gas fee cap 7 <= 9 queued + replacement fee bump",
        ),
        ("besu", -32000, "Replacement transaction underpriced"),
        ("erigon", -32000, "could not replace existing tx"),
        ("nethermind", -32010, "ReplacementNotAllowed"),
        ("monad", -32603, "An existing transaction had higher priority"),
        (
            "openethereum",
            -32010,
            "Transaction gas price supplied is too low. There is another transaction with same nonce in the queue. "
            "Try increasing the gas price or incrementing the nonce.",
        ),
    ],
    BroadcastStatus.FEE_TOO_LOW: [
        ("geth, nethermind", -32000, "transaction underpriced"),
        ("geth", -32000, "transaction underpriced: gas tip cap 0, minimum needed 1"),
        ("geth's price of a full pool", -32000, "transaction underpriced: tip needed 2, tip permitted 1"),
        ("geth", -32000, "max fee per gas less than block base fee: address 0x7099, maxFeePerGas: 1, baseFee: 2"),
        ("anvil, reth", -32003, "max fee per gas less than block base fee"),
        ("erigon", -32000, "underpriced"),
        ("erigon", -32000, "fee too low"),
        ("nethermind", -32010, "FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 1, BaseFee: 2"),
        ("nethermind", -32010, "FeeTooLowToCompete"),
        # Its code also means a request limit.
        ("besu", -32009, "Gas price below configured minimum gas price"),
        ("besu", -32009, "Gas price below current base fee"),
        ("openethereum", -32010, "Transaction gas price is too low. It does not satisfy your node's minimal gas price"),
        ("monad", -32603, "Transaction fee too low"),
    ],
    BroadcastStatus.INSUFFICIENT_FUNDS: [
        ("geth", -32000, "insufficient funds for gas * price + value: balance 0, tx cost 9, overshot 9"),
        ("geth", -32000, "insufficient funds for transfer"),
        ("geth", -32000, "transaction would cause overdraft: balance 9, queued cost 8, tx cost 7, overshot 6"),
        ("reth", -32003, "insufficient funds for gas * price + value: have 0 want 9"),
        ("anvil", -32003, "Insufficient funds for gas * price + value"),
        ("nethermind", -32010, "InsufficientFunds, Account balance: 0, cumulative cost: 9"),
        ("nethermind", -32010, "insufficient MaxFeePerGas for sender balance"),
        ("besu", -32004, "Upfront cost exceeds account balance"),
        ("besu", -32004, "transaction up-front cost 0x9 exceeds transaction sender account balance 0x0"),
        ("monad", -32603, "Signer had insufficient balance"),
        ("openethereum", -32010, "Insufficient funds. The account you tried to send transaction from has none."),
        ("hardhat", -32000, "Sender doesn't have enough funds to send tx. The max upfront cost is: 9"),
    ],
    BroadcastStatus.REJECTED: [
        ("geth", -32000, "invalid sender"),
        ("geth", -32000, "invalid chain id for signer: have 1 want 8453"),
        ("geth", -32000, "only replay-protected (EIP-155) transactions allowed over RPC"),
        ("geth", -32000, "exceeds block gas limit"),
        ("geth, op-geth", -32000, "transaction gas limit too high (cap: 16777216, tx: 21000000)"),
        ("geth", -32000, "intrinsic gas too low: gas 20000, minimum needed 21000"),
        ("geth", -32000, "insufficient gas for floor data gas cost: gas 30000, minimum needed 40000"),
        ("geth", -32000, "oversized data: transaction size 131073, limit 131072"),
        ("geth", -32000, "max initcode size exceeded: code size 49153, limit 49152"),
        ("geth", -32000, "max priority fee per gas higher than max fee per gas"),
        ("geth", -32000, "transaction type not supported"),
        ("geth", -32000, "rlp: value size exceeds available input length"),
        ("geth", -32000, "typed transaction too short"),
        ("geth", -32000, "gas uint64 overflow"),
        ("reth", -32602, "failed to decode signed transaction"),
        ("reth", -32602, "invalid transaction signature"),
        ("anvil", -32000, "intrinsic gas too high -- tx.gas_limit > env.block.gas_limit"),
        ("anvil", -32602, "Failed to decode transaction"),
        ("erigon", -32000, "IntrinsicGas should be at least 21000"),
        ("erigon", -32000, "RLP is too long"),
        ("nethermind", -32010, "GasLimitExceeded, Gas limit: 30000000, gas limit of rejected tx: 40000000"),
        ("nethermind", -32010, "FailedToResolveSender"),
        ("nethermind", -32010, "gas limit below intrinsic gas"),
        ("besu", -32005, "Transaction gas limit exceeds block gas limit"),
        ("besu", -32003, "Intrinsic gas exceeds gas limit"),
        ("besu", -32002, "Invalid signature"),
        ("besu", -32000, "Wrong chainId"),
        ("besu", -32602, "Invalid transaction type"),
        ("monad", -32603, "Invalid transaction signature"),
        ("monad", -32603, "Unsupported transaction type"),
    ],
    # Another node may take it, or a later attempt: the outcome is unknown.
    BroadcastStatus.UNKNOWN: [
        ("geth", -32000, "txpool is full"),
        ("geth", -32000, "account limit exceeded: pooled 64 txs"),
        ("geth", -32000, "future transaction tries to replace pending transaction"),
        ("geth", -32000, "in-flight transaction limit reached for delegated accounts"),
        ("geth's own limit", -32000, "tx fee (1.20 ether) exceeds the configured cap (1.00 ether)"),
        ("besu's own limit", -32000, "Transaction fee cap exceeded"),
        ("erigon", -32000, "pending sub-pool is full"),
        ("erigon", -32000, "spammer"),
        ("nethermind", -32010, "NonceGap, Future nonce. Expected nonce: 5"),
        ("nitro, besu", -32006, "nonce too high: address 0x7099, tx: 9 state: 5"),
        ("monad", -32603, "Transaction pool is not ready"),
        ("alchemy", 429, "Your app has exceeded its compute units per second capacity."),
        ("quicknode", -32007, "50/second request limit reached - reduce calls per second or upgrade your account"),
        ("infura", -32005, "daily request count exceeded, request rate limited"),
        ("infura", -32603, "internal error"),
        ("a gateway", -32000, "no backend is currently healthy to serve traffic"),
        ("a plan", -32601, "the method eth_sendRawTransaction is not available on your plan"),
        ("a key", -32600, "Must be authenticated!"),
        ("nobody", -32000, ""),
    ],
}
TABLE = [
    pytest.param(verdict, code, message, id=f"{verdict.value}, {whose}: {message[:50]}")
    for verdict, wordings in WORDINGS.items()
    for whose, code, message in wordings
]


@pytest.mark.parametrize(("verdict", "code", "message"), TABLE)
def test_a_refusal_is_read_by_its_text(node, verdict, code, message):
    node.answers["eth_sendRawTransaction"] = refuse(code, message)
    sending_chain = chain(node)
    (sent,) = sending_chain.broadcast([RAW])
    assert sent.status is verdict
    assert sent.message == (message or "the node refused without a reason")
    # It was about the transaction.
    assert is_well(node, sending_chain.rpc)


def test_every_verdict_but_taken_has_wordings():
    assert set(BroadcastStatus) - WORDINGS.keys() == {BroadcastStatus.ACCEPTED}


@pytest.mark.parametrize("status", [400, 403, 422])
def test_a_refusal_with_a_status_of_its_own_is_read_as_well(node, status):
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "nonce too low"}}
    node.behave = lambda body: (
        Reply(json.dumps(error).encode(), status=status) if body["method"] == "eth_sendRawTransaction" else None
    )
    assert chain(node).broadcast([RAW])[0].status is BroadcastStatus.NONCE_SPENT


def test_one_that_is_refused_for_now_does_not_spoil_the_others(node):
    answers = iter(
        [
            refuse(-32005, "limit exceeded"),
            lambda raw: "0x" + keccak(hexstr=raw).hex(),
            refuse(-32000, "txpool is full"),
            refuse(-32000, "nonce too low"),
        ]
    )
    node.answers["eth_sendRawTransaction"] = lambda raw: next(answers)(raw)
    sent = chain(node).broadcast([bytes([2, number]) for number in range(4)])
    expected = [
        BroadcastStatus.UNKNOWN,
        BroadcastStatus.ACCEPTED,
        BroadcastStatus.UNKNOWN,
        BroadcastStatus.NONCE_SPENT,
    ]
    assert [one.status for one in sent] == expected


@pytest.mark.parametrize("answer", [None, True, "0x", "0x" + "77" * 32, {"hash": HASH}])
def test_another_answer_than_its_hash_is_none(node, answer):
    node.answers["eth_sendRawTransaction"] = lambda _raw: answer
    assert chain(node).broadcast([RAW])[0].status is BroadcastStatus.UNKNOWN


# From several nodes.


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("nonce too low", None, BroadcastStatus.ACCEPTED),
        ("nonce too low", "already known", BroadcastStatus.ALREADY_KNOWN),
        ("insufficient funds for transfer", "nonce too low", BroadcastStatus.NONCE_SPENT),
        ("exceeds block gas limit", "transaction underpriced", BroadcastStatus.FEE_TOO_LOW),
        ("exceeds block gas limit", None, BroadcastStatus.ACCEPTED),
        ("exceeds block gas limit", "txpool is full", BroadcastStatus.REJECTED),
        ("txpool is full", "daily request count exceeded", BroadcastStatus.UNKNOWN),
    ],
)
def test_the_best_verdict_of_all_nodes_counts_in_any_sequence(node, second_node, first, second, verdict):
    for one, message in ((node, first), (second_node, second)):
        takes(one)
        if message is not None:
            one.answers["eth_sendRawTransaction"] = refuse(-32000, message)
    for nodes in ((node, second_node), (second_node, node)):
        assert chain(*nodes).broadcast([RAW])[0].status is verdict
    # Each node receives it, even where the first takes it.
    assert node.call_count("eth_sendRawTransaction") == second_node.call_count("eth_sendRawTransaction") == 2


def test_a_node_that_is_no_help_keeps_nothing_from_the_others(node, second_node):
    node.behave = lambda _: HTML
    takes(second_node)
    serve_receipt(second_node)
    sending_chain = chain(node, second_node)
    assert sending_chain.broadcast([RAW, RAW])[0].status is BroadcastStatus.ACCEPTED
    assert sending_chain.find_outcomes([HASH]) == {HASH: OUTCOME}
    assert sending_chain.read_outcomes([HASH]) == {HASH: OUTCOME}
    assert chain(node).broadcast([RAW])[0].status is BroadcastStatus.UNKNOWN


def test_a_node_that_refuses_connections_keeps_nothing_from_the_others(node):
    takes(node)
    with closed_port() as url:
        assert chain(url, node).broadcast([RAW])[0].status is BroadcastStatus.ACCEPTED


def test_a_node_of_another_chain_is_handed_nothing(node, second_node):
    for one in (node, second_node):
        takes(one)
    node.answers["eth_chainId"] = lambda: "0x1"
    assert chain(node, second_node).broadcast([RAW])[0].status is BroadcastStatus.ACCEPTED
    assert node.call_count("eth_sendRawTransaction") == 0


def test_a_node_that_hangs_is_waited_for_once(node, second_node):
    hangs(node)
    takes(second_node)
    sending_chain = chain(node, second_node, broadcast_timeout=0.1)
    for _ in range(3):
        assert sending_chain.broadcast([RAW])[0].status is BroadcastStatus.ACCEPTED
    assert len(node.received) == 1
    assert second_node.call_count("eth_sendRawTransaction") == 3


def test_a_node_that_hung_gets_it_all_the_same_where_no_other_answers(node, second_node):
    hangs(node)
    second_node.behave = lambda _: HTML
    sending_chain = chain(node, second_node, broadcast_timeout=0.1)
    assert sending_chain.broadcast([RAW])[0].status is BroadcastStatus.UNKNOWN
    node.behave = None
    takes(node)
    assert sending_chain.broadcast([RAW])[0].status is BroadcastStatus.ACCEPTED


def test_errors_of_nodes_contain_no_part_of_their_url(node, caplog):
    node.answers["eth_sendRawTransaction"] = refuse(-32000, f"rejected by {node.url}")
    node.answers["eth_call"] = refuse(3, f"execution reverted at {node.url}", data=f"see {node.url}")
    sending_chain = chain(node)
    with caplog.at_level(logging.DEBUG):
        (sent,) = sending_chain.broadcast([RAW])
        with pytest.raises(WouldRevertError) as caught:
            sending_chain.simulate(CALL, sender=STRANGER)
        results = sending_chain.rpc.batch([("eth_call", ({}, "latest"))], parse=accept_executions)
    texts = f"{sent} {caught.value} {caught.value.reason} {caught.value.data} {results} {caplog.text}"
    assert SECRET not in texts
    assert "rejected by" in texts


# Simulations.


def simulates(node, output="0x01", gas="0x5208"):
    node.answers["eth_call"] = lambda *_: output
    node.answers["eth_estimateGas"] = lambda *_: gas


def test_both_calls_are_in_one_request_and_of_the_same_transaction(node):
    simulates(node)
    value = ContractCall(to=TOKEN, data="0x12345678", value=7)
    assert chain(node).simulate(value, sender=STRANGER) == Simulation(output="0x01", gas=21_000)
    _, request = node.received
    transaction = {"from": STRANGER, "to": TOKEN, "data": "0x12345678", "value": "0x7", "gas": hex(2**24)}
    assert [(call["method"], call["params"]) for call in request] == [
        ("eth_call", [transaction, "latest"]),
        ("eth_estimateGas", [transaction, "latest"]),
    ]


REVERTS = {
    "geth, erigon, reth, anvil, nethermind of today": (3, "execution reverted: no", {"data": TEXT}),
    "nethermind, openethereum": (-32015, "VM execution error.", {"data": f"Reverted {TEXT}"}),
    "besu": (-32000, "Execution reverted", {"data": TEXT}),
    "a contract that speaks as nodes do": (-32000, "insufficient funds for transfer", {"data": TEXT}),
    "a provider's object": (-32000, "execution reverted", {"data": {"data": TEXT, "code": 3}}),
    "hardhat": (-32603, "VM Exception while processing transaction: reverted", {"data": {"data": TEXT}}),
}


@pytest.mark.parametrize(("code", "message", "more"), REVERTS.values(), ids=REVERTS)
@pytest.mark.parametrize("method", ["eth_call", "eth_estimateGas"])
def test_a_revert_is_recognised_by_the_contracts_return_data(node, second_node, method, code, message, more):
    simulates(node)
    node.answers[method] = refuse(code, message, **more)
    sending_chain = chain(node, second_node)
    with pytest.raises(WouldRevertError) as caught:
        sending_chain.simulate(CALL, sender=STRANGER)
    assert (caught.value.reason, caught.value.data) == ("Error(string): no", TEXT)
    assert second_node.received == []
    assert is_well(node, sending_chain.rpc)


@pytest.mark.parametrize(
    ("code", "message", "more"),
    [
        (-32000, "execution reverted: STF", {}),
        (-32000, "execution reverted", {}),
        (-32000, "out of gas", {}),
        (-32015, "VM execution error.", {"data": "Bad instruction fe"}),
        (3, "execution reverted: insufficient funds for transfer", {}),
        (3, "execution reverted: insufficient funds", {"data": "0x"}),
        (-32000, "invalid opcode: INVALID", {}),
    ],
)
def test_a_revert_without_data_has_the_nodes_text(node, code, message, more):
    simulates(node)
    node.answers["eth_call"] = refuse(code, message, **more)
    with pytest.raises(WouldRevertError) as caught:
        chain(node).simulate(CALL, sender=STRANGER)
    assert (caught.value.reason, caught.value.data) == (message, "0x")


POOR = {
    "geth": (-32000, "insufficient funds for gas * price + value: address 0x7099 have 0 want 1", {}),
    "geth of old": (-32000, "err: insufficient funds for gas * price + value: address 0x7099 (supplied gas 5)", {}),
    "geth's estimate": (-32000, "insufficient funds for transfer", {}),
    "reth": (-32003, "insufficient funds for gas * price + value: have 0 want 1", {}),
    "anvil": (-32003, "Insufficient funds for gas * price + value", {}),
    "nethermind": (-32000, "insufficient sender balance", {}),
    "nethermind of old": (-32015, "VM execution error.", {"data": "insufficient sender balance"}),
    # Its code also means an unsupported method.
    "besu": (-32004, "Upfront cost exceeds account balance", {}),
    "besu of today": (-32004, "transaction up-front cost 0x9 exceeds transaction sender account balance 0x0", {}),
    "monad": (-32603, "Signer had insufficient balance", {}),
}


@pytest.mark.parametrize(("code", "message", "more"), POOR.values(), ids=POOR)
@pytest.mark.parametrize("method", ["eth_call", "eth_estimateGas"])
def test_a_sender_that_is_too_poor_is_no_revert_and_no_trouble_of_the_node(
    node, second_node, method, code, message, more
):
    simulates(node)
    node.answers[method] = refuse(code, message, **more)
    sending_chain = chain(node, second_node)
    with pytest.raises(SenderBalanceTooLowError):
        sending_chain.simulate(CALL, sender=STRANGER)
    assert second_node.received == []
    assert is_well(node, sending_chain.rpc)


@pytest.mark.parametrize("method", ["eth_call", "eth_estimateGas"])
@pytest.mark.parametrize(
    ("code", "message"),
    [
        (-32000, "gas required exceeds allowance (10000000)"),
        (-32000, "user-specified gas exceeds provider limit"),
        (-32000, "header not found"),
        (-32005, "daily request count exceeded"),
        (-32601, "the method is not available on your plan"),
        (-32000, "something else"),
    ],
)
def test_a_node_without_an_answer_is_followed_by_the_next(node, second_node, method, code, message):
    simulates(node)
    simulates(second_node, output="0x02")
    node.answers[method] = refuse(code, message)
    assert chain(node, second_node).simulate(CALL, sender=STRANGER).output == "0x02"
    with pytest.raises(NodeUnavailableError):
        chain(node).simulate(CALL, sender=STRANGER)


@pytest.mark.parametrize(
    ("output", "gas"),
    [(None, "0x5208"), ("0x1", "0x5208"), ("0x01", None), ("0x01", 21_000), ("0x01", "0x05208"), ("0x01", "0x1000001")],
)
def test_a_malformed_simulation_is_none(node, second_node, output, gas):
    simulates(node, output, gas)
    simulates(second_node, output="0x02")
    assert chain(node, second_node).simulate(CALL, sender=STRANGER).output == "0x02"


def test_a_reason_is_looked_for_on_the_block_before_and_then_on_the_block(node):
    requested = []

    def call(transaction, block):
        requested.append((transaction["gas"], block))
        if block == hex(99):
            return "0x"
        raise RefusedError(3, "execution reverted", data=TEXT)

    node.answers["eth_call"] = call
    assert chain(node).explain_revert(CALL, sender=STRANGER, block=100, gas=50_000) == "Error(string): no"
    assert requested == [(hex(50_000), hex(99)), (hex(50_000), hex(100))]


def test_a_reason_is_requested_from_a_node_with_the_state_and_no_circuit_opens(node, second_node):
    node.answers["eth_call"] = refuse(-32000, "missing trie node 0a (path ) state is not available")
    second_node.answers["eth_call"] = refuse(3, "execution reverted", data=TEXT)
    sending_chain = chain(node, second_node)
    assert sending_chain.explain_revert(CALL, sender=STRANGER, block=100, gas=50_000) == "Error(string): no"
    assert is_well(node, sending_chain.rpc)
    assert chain(node).explain_revert(CALL, sender=STRANGER, block=100, gas=50_000) == ""


# Receipts.

RECEIPT = {
    "transactionHash": HASH,
    "status": "0x1",
    "blockNumber": "0x64",
    "blockHash": BLOCK_HASH,
    "gasUsed": "0x5208",
    "effectiveGasPrice": "0x3b9aca00",
}
OUTCOME = TransactionOutcome(
    tx_hash=HASH, succeeded=True, block_number=100, block_hash=BLOCK_HASH, gas_used=21_000, gas_price=10**9
)
HALF_RECEIPTS = {
    "another transaction's": {"transactionHash": "0x" + "77" * 32},
    "without a status": {"status": None},
    "another status": {"status": "0x2"},
    "a status that is a number": {"status": 1},
    "without a block": {"blockNumber": None},
    "a block's number in decimals": {"blockNumber": "100"},
    "half of a block's hash": {"blockHash": "0xb1b1"},
    "without gas": {"gasUsed": None},
    "gas without end": {"gasUsed": "0x" + "f" * 17},
    "without a price": {"effectiveGasPrice": None},
}


def serve_receipt(node, **changes):
    node.answers["eth_getTransactionReceipt"] = lambda requested: RECEIPT | changes if requested == HASH else None


@pytest.mark.parametrize("changes", HALF_RECEIPTS.values(), ids=HALF_RECEIPTS)
def test_a_malformed_receipt_is_no_outcome(node, second_node, changes):
    serve_receipt(node, **changes)
    serve_receipt(second_node)
    assert chain(node, second_node).read_outcomes([HASH]) == {HASH: OUTCOME}
    assert chain(node, second_node).find_outcomes([HASH]) == {HASH: OUTCOME}
    assert chain(node).find_outcomes([HASH]) == {}
    with pytest.raises(NodeUnavailableError):
        chain(node).read_outcomes([HASH])


@pytest.mark.parametrize("junk", [[], "0x1", 7])
def test_what_is_no_receipt_is_no_outcome(node, junk):
    node.answers["eth_getTransactionReceipt"] = lambda _hash: junk
    assert chain(node).find_outcomes([HASH]) == {}
    with pytest.raises(NodeUnavailableError):
        chain(node).read_outcomes([HASH])


def test_what_one_node_lacks_is_found_with_another(node, second_node):
    node.answers["eth_getTransactionReceipt"] = lambda _hash: None
    serve_receipt(second_node)
    sending_chain = chain(node, second_node)
    assert sending_chain.read_outcomes([HASH]) == {}
    assert sending_chain.find_outcomes([HASH, "0x" + "77" * 32]) == {HASH: OUTCOME}


def test_the_first_node_counts_where_two_return_different_blocks(node, second_node):
    serve_receipt(node)
    serve_receipt(second_node, blockHash="0x" + "b2" * 32)
    assert chain(node, second_node).find_outcomes([HASH]) == {HASH: OUTCOME}


def test_nothing_is_lost_before_a_node_reports_it(node):
    node.behave = lambda _: HTML
    with pytest.raises(NodeUnavailableError):
        chain(node).find_outcomes([HASH])


# Accounts and fees.


def serve_account(node, nonce="0x5", balance="0xc9f2c9cd04674edea40000000"):
    node.answers["eth_getTransactionCount"] = lambda *_: nonce
    node.answers["eth_getBalance"] = lambda *_: balance


@pytest.mark.parametrize(
    ("nonce", "balance"), [(None, "0x1"), ("0x05", "0x1"), ("0x5", None), ("0x5", "0x"), ("0x5", 7), ("0x5", "1.5")]
)
def test_malformed_accounts_are_requested_from_the_next_node(node, second_node, nonce, balance):
    serve_account(node, nonce, balance)
    serve_account(second_node)
    found = chain(node, second_node).read_accounts([STRANGER])[STRANGER]
    assert (found.nonce, found.balance) == (5, 10**30)


def prices(node, *, base_fee="0x64", price="0x70", tip="0x5"):
    node.answers["eth_getBlockByNumber"] = lambda *_: {"baseFeePerGas": base_fee}
    node.answers["eth_gasPrice"] = lambda: price
    node.answers["eth_maxPriorityFeePerGas"] = lambda: tip


@pytest.mark.parametrize(
    ("base_fee", "quoted"),
    [("0x0", 0), ("0x1", 2), ("0x8", 9), ("0x9", 11), ("0x64", 113), (hex(10**18), 1125 * 10**15)],
)
def test_the_base_fee_is_the_most_that_the_next_block_can_require(node, base_fee, quoted):
    prices(node, base_fee=base_fee)
    assert chain(node).read_fees() == FeeQuote(base_fee=quoted, priority_fee=5)


@pytest.mark.parametrize(("price", "tip"), [("0x70", 12), ("0x64", 0), ("0x10", 0)])
def test_without_suggestions_the_tip_is_what_the_gas_price_has_beyond_the_base_fee(node, price, tip):
    prices(node, price=price)
    node.answers["eth_maxPriorityFeePerGas"] = refuse(-32601, "the method does not exist/is not available")
    sending_chain = chain(node)
    assert sending_chain.read_fees() == FeeQuote(base_fee=113, priority_fee=tip)
    assert is_well(node, sending_chain.rpc)


@pytest.mark.parametrize(
    "malformed", [{"base_fee": None}, {"base_fee": 100}, {"price": "112"}, {"tip": None}, {"tip": "0x" + "f" * 17}]
)
def test_malformed_fees_are_requested_from_the_next_node(node, second_node, malformed):
    prices(node, **malformed)
    if "price" in malformed:
        del node.answers["eth_maxPriorityFeePerGas"]
    prices(second_node, tip="0x6")
    assert chain(node, second_node).read_fees().priority_fee == 6
    with pytest.raises(NodeUnavailableError):
        chain(node).read_fees()


@pytest.mark.parametrize("code", [None, 7, "0x6", "60"])
def test_malformed_code_is_no_answer(node, second_node, code):
    node.answers["eth_getCode"] = lambda *_: code
    second_node.answers["eth_getCode"] = lambda *_: "0x60"
    assert chain(node, second_node).has_code(TOKEN)

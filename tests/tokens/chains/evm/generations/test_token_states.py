"""tokens/chains/evm/generations/token_states.py: recorded and built launches' states, at one block."""

from dataclasses import replace

import pytest
from eth_utils.crypto import keccak

from development.standins.loopback import Reply
from tests.nodes.launch_builder import LOCKER_V4, STRANGER, TOKEN, v1_launch, v3_launch
from tests.nodes.log_encoding import encode_values
from tests.nodes.recorded_node import Node
from tests.nodes.recordings import RECORDED_LAUNCHES, base, decoded, mined
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.rpc.client import RpcClient

AIRDROPS = base().addresses("airdrop")
ROOT = b"\x07" * 32
ROOT_HASH = "0x" + ROOT.hex()


def read(*nodes: Node, tx_hash, batch_size=50):
    """Return a transaction's facts with its tokens' states."""
    rpc = RpcClient(chain_id=8453, urls=tuple(node.url for node in nodes), attempts=1, batch_size=batch_size)
    return Chain(info=base(), rpc=rpc).read_with_state(tx_hash)


def state_of(node, label):
    """Return a recorded transaction's launch and its token's state."""
    facts = read(node, tx_hash=decoded(label)["hash"])
    (launch,), (state,) = facts.launches, facts.state.tokens
    assert state.token == launch.token
    return launch, state


def view(node, address, signature, arguments, types, *values):
    """Make a contract return these values."""
    name, kinds = signature.split("(")
    data = keccak(text=signature)[:4] + encode_values(tuple(filter(None, kinds[:-1].split(","))), arguments)
    call = {"result": "0x" + encode_values(types, values).hex()}
    node.views[address.lower(), "0x" + data.hex()] = call


def airdrop(node, contract, token, *, amount):
    view(
        node, contract, "airdrops(address)", (token,),
        ("address", "bytes32", "uint256", "uint256", "uint256", "uint256", "uint256", "bool"),
        STRANGER, ROOT, amount, 0, 0, 0, 0, False,
    )  # fmt: skip


@pytest.mark.parametrize("label", RECORDED_LAUNCHES)
def test_the_state_is_that_of_the_newest_block(node, label):
    facts = read(node, tx_hash=decoded(label)["hash"])
    if label in ("legacy-v0-deploy", "legacy-v2-deploy"):
        assert facts.state is None
    else:
        assert (facts.state.block_number, facts.state.block_hash) == (209, node.blocks[209]["hash"])
        (state,) = facts.state.tokens
        assert None not in (state.admin, state.image, state.metadata, state.verified)
        # The recording lacks the v3.1 locker's view.
        assert (state.fee_recipients is None) == (label == "legacy-v31-deploy")


@pytest.mark.parametrize("launch", [v1_launch, v3_launch])
def test_tokens_without_events_of_their_changes_cost_no_call(node, launch):
    tx_hash = node.hold(launch())
    assert read(node, tx_hash=tx_hash).state is None
    assert not any(call["params"][0]["data"] == "0xf851a440" for call in node.calls if call["method"] == "eth_call")


def test_a_share_keeps_its_bps(node):
    launch, state = state_of(node, "deploy-multi-recipients")
    assert [share.bps for share in state.fee_recipients] == [share.bps for share in launch.fee_recipients]
    assert state.fee_recipients != launch.fee_recipients


def test_an_airdrop_is_the_one_with_the_launchs_amount(node):
    launch, state = state_of(node, "deploy-airdrop")
    assert state.airdrop is None
    airdrop(node, AIRDROPS[0], launch.token, amount=launch.airdrop.amount + 1)
    airdrop(node, AIRDROPS[1], launch.token, amount=launch.airdrop.amount)
    _, state = state_of(node, "deploy-airdrop")
    assert (state.airdrop.admin, state.airdrop.merkle_root) == (STRANGER, ROOT_HASH)
    assert (state.airdrop.amount, state.airdrop.lockup) == (launch.airdrop.amount, launch.airdrop.lockup)


@pytest.mark.parametrize(("other", "is_read"), [(0, True), (1, False)])
def test_the_rewards_of_v31_are_those_of_the_launchs_position(node, other, is_read):
    launch = mined("legacy-v31-deploy").decode()[0]
    new = tuple((f"0x{digit * 40}", f"0x{digit * 39}0") for digit in "56")
    types = ("uint256", "uint256", "(address,address)", "(address,address)")
    values = (launch.position_id + other, 40, *new)
    view(node, launch.locker, "tokenRewards(uint256)", (launch.position_id,), types, *values)
    _, state = state_of(node, "legacy-v31-deploy")
    shares = [replace(share, admin=a, recipient=r) for share, (a, r) in zip(launch.fee_recipients, new, strict=True)]
    assert state.fee_recipients == (tuple(shares) if is_read else None)
    assert state.admin is not None


REWARDS = "(address,(address,address,uint24,int24,address),uint256,uint256,uint16[],address[],address[])"


@pytest.mark.parametrize(
    ("token", "count", "is_read"), [(None, 1, True), (TOKEN, 1, False), (None, 0, False), (None, 2, False)]
)
def test_rewards_of_another_token_or_of_other_shares_are_not_read(node, token, count, is_read):
    address = mined("deploy-plain").decode()[0].token
    key = (address, STRANGER, 0, 0, STRANGER)
    entry = (token or address, key, 1, 1, [10_000] * count, [STRANGER] * count, [STRANGER] * count)
    view(node, LOCKER_V4, "tokenRewards(address)", (address,), (REWARDS,), entry)
    _, state = state_of(node, "deploy-plain")
    assert (state.fee_recipients is not None) == is_read
    assert state.admin is not None


def test_it_reads_in_batches_as_large_as_nodes_accept_all_at_one_block(node):
    tx_hash = decoded("deploy-multi-recipients")["hash"]
    whole = read(node, tx_hash=tx_hash)
    del node.received[:]
    assert read(node, tx_hash=tx_hash, batch_size=4) == whole
    parts = [body for body in node.received if isinstance(body, list) and body[0]["method"] == "eth_call"]
    assert [len(part) for part in parts] == [4, 4, 3]
    assert all(part[-1]["params"] == [hex(209), False] for part in parts)
    assert {call["params"][1] for part in parts for call in part[:-1]} == {hex(209)}


def test_another_node_is_called_where_one_has_no_state(node, second_node):
    node.refuse_state()
    facts = read(node, second_node, tx_hash=decoded("deploy-plain")["hash"])
    assert facts.state is not None


def test_a_single_failure_is_retried(node):
    failures = []

    def fail_once(body):
        if isinstance(body, list) and body[0]["method"] == "eth_call" and not failures:
            failures.append(body)
            return Reply(b"", status=503)
        return None

    node.behave = fail_once
    assert read(node, tx_hash=decoded("deploy-plain")["hash"]).state is not None
    assert failures


def test_a_node_that_is_behind_returns_the_state_of_the_launchs_block(node):
    launch = mined("deploy-plain").decode()[0]
    node.answers["eth_blockNumber"] = lambda: hex(launch.block_number - 1)
    facts = read(node, tx_hash=decoded("deploy-plain")["hash"])
    assert (facts.state.block_number, facts.state.block_hash) == (launch.block_number, launch.block_hash)


def test_of_two_blocks_at_the_launchs_height_its_own_counts(node):
    launch = mined("deploy-plain").decode()[0]
    own = node.block(launch.block_number)
    node.answers["eth_getBlockByNumber"] = lambda number, _: own | ({"hash": ROOT_HASH} if number == "latest" else {})
    facts = read(node, tx_hash=decoded("deploy-plain")["hash"])
    assert facts.state.block_hash == launch.block_hash


def test_a_state_without_values_is_read_where_contracts_return_nothing(node):
    node.answers["eth_call"] = lambda *_: "0x"
    _, state = state_of(node, "deploy-multi-recipients")
    assert (state.image, state.metadata, state.fee_recipients) == (None, None, None)


@pytest.mark.parametrize("junk", ["0x12", "0x" + "ff" * 32, "0x" + "ff" * 320])
def test_malformed_values_of_a_token_are_not_read(node, junk):
    launch, view = mined("deploy-multi-recipients").decode()[0], node.answers["eth_call"]
    node.answers["eth_call"] = lambda call, block: junk if call["to"] == launch.token else view(call, block)
    _, state = state_of(node, "deploy-multi-recipients")
    assert (state.image, state.metadata) == (None, None)
    assert state.fee_recipients


@pytest.mark.parametrize("junk", ["0x12", "0x1", "0x" + "ff" * 320])
def test_no_state_is_read_where_every_node_returns_malformed_values_of_the_locker(node, junk):
    view = node.answers["eth_call"]
    node.answers["eth_call"] = lambda call, block: junk if call["to"] == LOCKER_V4 else view(call, block)
    assert read(node, tx_hash=decoded("deploy-multi-recipients")["hash"]).state is None

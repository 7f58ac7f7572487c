"""tokens/chains/evm/generations/v4: uncollected fees, by the recorded chain and by incomplete nodes."""

from dataclasses import replace

import eth_abi
import pytest
from eth_utils.crypto import keccak

from development.standins.loopback import RefusedError, Reply
from tests.nodes.launch_builder import LOCKER_V4, STRANGER, WETH
from tests.nodes.locker_responses import answer
from tests.nodes.log_encoding import call
from tests.nodes.recordings import V4_LAUNCHES, base, mined, recorded_chain
from tokens.chains.errors import FeesUnavailableError, NodeUnavailableError, UnknownContractError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.generations.v4.fee_collection import RecipientSlot, estimate_payouts
from tokens.chains.rpc.client import RpcClient
from tokens.chains.token_fees import FeeShare

HEAD = 209
FEE_LOCKER = "0xF3622742b1E446D92e45E22923Ef11C2fcD55D68"
OTHER_FEE_LOCKER = "0x92C0DCbAba17b0F5f3a7537dA82c0F80520e4dF6"
TOKEN_REWARDS = "(address,(address,address,uint24,int24,address),uint256,uint256,uint16[],address[],address[])"
GROWTH = "getFeeGrowthInside(bytes32,int24,int24)"
CLAIMED_REWARDS = "0x21d15f71483b597e8f0009e83b90b2117f6f98c185d7173857dddcae5eb8546a"
# Recorded transactions: a collection for the token of deploy-plain; a swap in the deploy-multi-recipients token,
# which collects with two recipients' fees out of three converted.
COLLECTION = "0x4021a99daa553011f347e07db44cb7d66ac6a8c77f986ea24395f71dd5750f06"
CONVERSION = "0x554883900f82089f523c08e5956ee2180f7d3bfe9a3d6833dcc494cd53a76a49"


@pytest.fixture
def rpc(node):
    return RpcClient(chain_id=8453, urls=(node.url,), attempts=1)


@pytest.fixture
def read(rpc):
    """Return a function that reads a recorded launch token's fees; changes apply to the registry's chain."""

    def read(label, *, owner=None, **changes):
        launch = launch_of(label)
        chain = Chain(info=replace(base(), **changes), rpc=rpc)
        return chain.read_v4_fees(launch.token, locker=launch.locker, owner=owner)

    return read


def launch_of(label):
    (launch,) = mined(label).decode()
    return launch


def logs_of(tx_hash):
    return recorded_chain()["receipts"][tx_hash]["logs"]


def claimed(tx_hash):
    """Return a recorded collection's payout by recipient: in the first currency, in the second."""
    (log,) = (log for log in logs_of(tx_hash) if log["topics"][0] == CLAIMED_REWARDS)
    return eth_abi.decode(["uint256", "uint256", "uint256[]", "uint256[]"], bytes.fromhex(log["data"][2:]))[2:]


def set_rewards(node, label, **changes):
    """Have the locker return other rewards for a launch's token."""
    calldata = call("tokenRewards(address)", launch_of(label).token)
    recorded = bytes.fromhex(node.views[LOCKER_V4.lower(), calldata]["result"][2:])
    (values,) = eth_abi.decode([TOKEN_REWARDS], recorded)
    names = ("token", "key", "position_id", "positions", "bps", "admins", "recipients")
    rewards = dict(zip(names, values, strict=True)) | changes
    answer(node, LOCKER_V4, calldata, [TOKEN_REWARDS], tuple(rewards.values()))


def selector(signature):
    return "0x" + keccak(text=signature)[:4].hex()


def forget(node, contract, signature):
    """Have a contract no longer respond to a function's calls."""
    start = (contract.lower(), selector(signature))
    node.views = {key: view for key, view in node.views.items() if (key[0], key[1][:10]) != start}


def simulates(node, logs):
    """Have the node simulate every transaction with these logs."""
    node.answers["eth_simulateV1"] = lambda *_: [{"calls": [{"status": "0x1", "logs": logs, "returnData": "0x"}]}]


@pytest.mark.parametrize(
    ("contract", "signature"),
    [
        (LOCKER_V4, "tokenRewards(address)"),
        (FEE_LOCKER, "availableFees(address,address)"),
        (base().v4_position_manager, "positionInfo(uint256)"),
        (base().v4_state_view, "getPositionInfo(bytes32,address,int24,int24,bytes32)"),
        (base().v4_state_view, GROWTH),
        (WETH, "decimals()"),
    ],
)
def test_it_refuses_where_a_contract_does_not_answer(read, node, contract, signature):
    assert read("deploy-plain")
    forget(node, contract, signature)
    with pytest.raises(FeesUnavailableError, match=signature.partition("(")[0]):
        read("deploy-plain")


@pytest.mark.parametrize(
    "changes",
    [
        {"token": STRANGER},
        {"token": "0x" + "00" * 20},
        {"key": (STRANGER, WETH, 0x800000, 200, STRANGER)},
        {"positions": 0},
        {"positions": 2**200},
        {"bps": ()},
        {"recipients": (), "bps": ()},
        {"recipients": (STRANGER,) * 51, "bps": (196,) * 51},
    ],
)
def test_it_refuses_what_no_locker_of_the_token_returns(read, node, changes):
    set_rewards(node, "deploy-plain", **changes)
    with pytest.raises(FeesUnavailableError, match="does not hold the liquidity"):
        read("deploy-plain")


def test_it_refuses_a_position_of_another_pool(read, node):
    set_rewards(node, "deploy-plain", position_id=3)
    with pytest.raises(FeesUnavailableError, match="another pool"):
        read("deploy-plain")


def test_it_refuses_a_locker_that_returns_only_some_preferences(read, node):
    launch = launch_of("deploy-multi-recipients")
    del node.views[LOCKER_V4.lower(), call("feePreferences(address,uint256)", launch.token, 1)]
    with pytest.raises(FeesUnavailableError, match="feePreferences"):
        read("deploy-multi-recipients")


def test_it_takes_no_refusal_of_a_nodes_for_a_locker_without_preferences(read, node):
    preference_selector = selector("feePreferences(address,uint256)")
    view = node.answers["eth_call"]

    def refuse_preferences(transaction, block):
        if transaction["data"].startswith(preference_selector):
            raise RefusedError(-32603, "Internal server error")
        return view(transaction, block)

    node.answers["eth_call"] = refuse_preferences
    with pytest.raises(NodeUnavailableError):
        read("deploy-multi-recipients")


@pytest.mark.parametrize("key", ["v4_position_manager", "v4_state_view"])
def test_it_names_what_the_registry_lacks_and_calls_no_node_for_it(read, node, key):
    with pytest.raises(UnknownContractError, match=key):
        read("deploy-plain", **{key: None})
    assert node.call_count("eth_call") == 0


def test_it_names_a_fee_locker_that_neither_locker_nor_registry_has(read):
    with pytest.raises(UnknownContractError, match="fee_locker"):
        read("deploy-plain", registered={})


def test_the_fee_locker_that_the_locker_names_goes_before_the_registrys(read, node):
    answer(node, LOCKER_V4, call("feeLocker()"), ["address"], OTHER_FEE_LOCKER)
    launch = launch_of("deploy-plain")
    (recipient,) = [share.recipient for share in launch.fee_recipients]
    for currency, amount in ((WETH, 5), (launch.token, 6)):
        answer(node, OTHER_FEE_LOCKER, call("availableFees(address,address)", recipient, currency), ["uint256"], amount)
    assert read("deploy-plain").shares[0].harvested == (5, 6)


def test_it_reports_when_no_node_answers(read, node):
    node.behave = lambda body: Reply(b"", status=503)
    with pytest.raises(NodeUnavailableError):
        read("deploy-plain")


@pytest.mark.parametrize("label", V4_LAUNCHES)
def test_it_reads_one_block_in_four_requests(read, node, label):
    read(label)
    requested = [entry["params"][1] for entry in node.calls if entry["method"] == "eth_call"]
    assert set(requested) == {hex(HEAD)}
    bodies = [body for body in node.received if isinstance(body, list) or body["method"] == "eth_blockNumber"]
    assert len(bodies) == 4


# These pools had the same trades as deploy-plain's, where a transaction then collected; here the fees are pending.
@pytest.mark.parametrize("label", ["deploy-token1", "deploy-airdrop", "deploy-vault"])
def test_what_is_pending_is_what_the_real_collection_paid_after_the_same_trades(read, label):
    (first,), (second,) = claimed(COLLECTION)
    assert (first, second) == (1_663_339_986_693_280, 0)
    fees = read(label)
    (share,) = fees.shares
    pending = dict(zip((currency.symbol for currency in fees.currencies), share.pending, strict=True))
    assert pending == {"WETH": first, launch_of(label).symbol: second}
    assert fees.block_number == HEAD


def test_what_is_harvested_is_the_fee_lockers_balance(read):
    # By that collection's record, deploy-plain's recipient then had the same token amount.
    (share,) = read("deploy-token1").shares
    assert share == FeeShare(
        recipient="0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
        harvested=(0, 23_835_600_093_206_530_008_051_746),
        pending=(1_663_339_986_693_280, 0),
    )


def test_growth_wraps_around(read, node):
    # The growth between the position's last update and now, up to the largest number that fits.
    by = 2**256 - 0x18 * 2**96
    _move(node, "getPositionInfo(bytes32,address,int24,int24,bytes32)", ["uint128", "uint256", "uint256"], by=by)
    _move(node, GROWTH, ["uint256", "uint256"], by=by)
    assert read("deploy-token1").shares[0].pending == (1_663_339_986_693_280, 0)


def _move(node, signature, results, *, by):
    """Have the state view return growths that are increased by so much, modulo 2^256."""
    found = [key for key in node.views if key[1].startswith(selector(signature))]
    assert found
    for key in found:
        *before, first, second = eth_abi.decode(results, bytes.fromhex(node.views[key]["result"][2:]))
        answer(node, *key, results, *before, (first + by) % 2**256, (second + by) % 2**256)


def test_an_owner_that_is_no_recipient_has_only_what_is_harvested(read, node):
    launch = launch_of("deploy-plain")
    for currency, amount in ((WETH, 7), (launch.token, 0)):
        answer(node, FEE_LOCKER, call("availableFees(address,address)", STRANGER, currency), ["uint256"], amount)
    shares = read("deploy-plain", owner=STRANGER).shares
    assert shares[-1] == FeeShare(recipient=STRANGER, harvested=(7, 0), pending=(0, 0))
    assert len(shares) == 2


def test_a_recipient_is_not_listed_twice(read):
    assert len(read("deploy-plain", owner="0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266").shares) == 1


def test_the_recipients_are_the_present_ones(read):
    launch, shares = launch_of("deploy-multi-recipients"), read("deploy-multi-recipients").shares
    before = [recipient.recipient for recipient in launch.fee_recipients]
    now = [share.recipient for share in shares]
    assert now[1:] == before[1:]
    assert now[0] != before[0]


# Seconds that a hook lets a MEV module guard a pool, and the read block's time.
DELAY = 120
NOW = int(recorded_chain()["blocks"][HEAD]["timestamp"], 16)


def guard(node, label, *, created, enabled=True):
    """Have a launch pool's hook return its MEV module's state."""
    pool = mined(label).decode()[0].pool
    for function, arguments, kind, value in (
        ("mevModuleEnabled(bytes32)", [bytes.fromhex(pool.address[2:])], "bool", enabled),
        ("poolCreationTimestamp(bytes32)", [bytes.fromhex(pool.address[2:])], "uint256", created),
        ("MAX_MEV_MODULE_DELAY()", [], "uint256", DELAY),
    ):
        answer(node, pool.hook, call(function, *arguments), [kind], value)


@pytest.mark.parametrize("label", ["deploy-token1", "deploy-multi-recipients"])
@pytest.mark.parametrize("age", [0, DELAY - 1])
def test_nothing_is_pending_while_the_mev_module_guards_the_pool(read, node, label, age):
    simulates(node, logs_of(CONVERSION))
    before = read(label)
    assert sum(amount or 0 for share in before.shares for amount in share.pending) > 0
    guard(node, label, created=NOW - age)
    node.received.clear()
    fees = read(label)
    assert fees.collectable_from == NOW - age + DELAY
    assert {share.pending for share in fees.shares} == {(0, 0)}
    assert [share.harvested for share in fees.shares] == [share.harvested for share in before.shares]
    assert (fees.conversion, node.call_count("eth_simulateV1")) == ("none", 0)
    requested = {entry["params"][0] for entry in node.calls if entry["method"] == "eth_getBlockByNumber"}
    assert requested == {hex(HEAD)}


@pytest.mark.parametrize("state", [{"created": NOW - DELAY}, {"created": NOW, "enabled": False}])
def test_what_is_pending_counts_from_the_end_of_the_guard(read, node, state):
    before = read("deploy-token1")
    guard(node, "deploy-token1", **state)
    assert read("deploy-token1") == before
    assert before.collectable_from is None


def test_the_older_locker_collects_while_the_pool_is_guarded(read, node):
    forget(node, LOCKER_V4, "feePreferences(address,uint256)")
    before = read("deploy-token1")
    guard(node, "deploy-token1", created=NOW)
    assert read("deploy-token1") == before


def test_it_refuses_a_guard_without_the_time_of_the_block(read, node):
    guard(node, "deploy-token1", created=NOW)
    node.answers["eth_getBlockByNumber"] = lambda *_: None
    with pytest.raises(FeesUnavailableError, match=f"time of block {HEAD}"):
        read("deploy-token1")


def test_a_locker_that_swaps_for_no_recipient_pays_both(read, node):
    forget(node, LOCKER_V4, "feePreferences(address,uint256)")
    fees = read("deploy-multi-recipients")
    assert fees.conversion == "none"
    amounts = [share.pending for share in fees.shares]
    for column in zip(*amounts, strict=True):
        assert column[:2] == (sum(column) * 7_000 // 10_000, sum(column) * 2_000 // 10_000)
    assert sum(map(sum, amounts)) > 0


def test_what_a_swap_pays_is_unknown_where_no_node_simulates(read, node):
    fees = read("deploy-multi-recipients")
    assert node.call_count("eth_simulateV1") == 1
    assert fees.conversion == "unknown"
    assert [share.pending for share in fees.shares] == [(0, None), (None, 0), (0, None)]


def test_what_a_swap_pays_is_what_a_node_simulates(read, node):
    # A real collection's logs for this token, whose swap collected for its three recipients.
    simulates(node, logs_of(CONVERSION))
    fees = read("deploy-multi-recipients")
    assert fees.conversion == "simulated"
    assert [share.pending for share in fees.shares] == list(zip(*claimed(CONVERSION), strict=True))
    (requested,) = (entry["params"] for entry in node.calls if entry["method"] == "eth_simulateV1")
    (requested_call,) = requested[0]["blockStateCalls"][0]["calls"]
    token = launch_of("deploy-multi-recipients").token
    assert (requested_call["to"], requested_call["data"]) == (LOCKER_V4, call("collectRewards(address)", token))
    assert requested[1] == hex(HEAD)


def test_nothing_is_pending_where_a_collection_would_revert(read, node):
    token = launch_of("deploy-multi-recipients").token
    reverted = {"error": {"code": 3, "message": "execution reverted"}}
    node.views = node.views | {(LOCKER_V4.lower(), call("collectRewards(address)", token)): reverted}
    fees = read("deploy-multi-recipients")
    assert fees.conversion == "none"
    assert [share.pending for share in fees.shares] == [(0, 0)] * 3


def of_another_token(logs):
    """Return the logs, with another token in the locker's."""
    claims = [log for log in logs if log["topics"][0] == CLAIMED_REWARDS]
    other = "0x" + STRANGER[2:].rjust(64, "0")
    return [log for log in logs if log not in claims] + [log | {"topics": [CLAIMED_REWARDS, other]} for log in claims]


@pytest.mark.parametrize(
    "result",
    [
        None,
        [],
        {},
        [{"calls": []}],
        [{"calls": [{"status": "0x1"}]}],
        [{"calls": [{"status": "0x0", "logs": logs_of(CONVERSION)}]}],
        # The locker does so until a launch's protection ends.
        [{"calls": [{"status": "0x1", "logs": []}]}],
        [{"calls": [{"status": "0x1", "logs": [None]}]}],
        [{"calls": [{"status": "0x1", "logs": [{"address": LOCKER_V4, "topics": []}]}]}],
        [{"calls": [{"status": "0x1", "logs": [{"address": LOCKER_V4, "topics": [CLAIMED_REWARDS], "data": "0x"}]}]}],
        # Another locker's, another token's, and one with another recipient count.
        [{"calls": [{"status": "0x1", "logs": [log | {"address": STRANGER} for log in logs_of(CONVERSION)]}]}],
        [{"calls": [{"status": "0x1", "logs": of_another_token(logs_of(CONVERSION))}]}],
        [{"calls": [{"status": "0x1", "logs": logs_of(COLLECTION)}]}],
    ],
)
def test_half_a_simulation_is_none(read, node, result):
    node.answers["eth_simulateV1"] = lambda *_: result
    fees = read("deploy-multi-recipients")
    assert fees.conversion == "unknown"
    assert [share.pending for share in fees.shares] == [(0, None), (None, 0), (0, None)]


def test_a_node_that_fails_at_simulating_is_one_that_does_not_simulate(read, node):
    def fail(*_):
        raise RefusedError(-32603, "internal error")

    node.answers["eth_simulateV1"] = fail
    assert read("deploy-multi-recipients").conversion == "unknown"


TOKEN = "0x242de6Ea41C691Ca0311025fa613a57510226952"
A, B, C = (f"0x{digit * 40}" for digit in "abc")


@pytest.mark.parametrize(
    ("preferences", "amounts", "pending"),
    [
        # As in the recorded collection: the swap gets the rounding remainder, and keepers get theirs rounded down.
        (
            (1, 2, 0),
            (0, 19_960_079_840_319_361),
            {A: (0, 13_972_055_888_223_552), B: (None, 0), C: (0, 1_996_007_984_031_936)},
        ),
        ((1, 2, 0), (99, 0), {A: (0, None), B: (19, 0), C: (9, 0)}),
        ((1, 2, 0), (99, 99), {A: (0, None), B: (None, 0), C: (9, 9)}),
        # No swap here: the last gets the rest.
        ((2, 2, 0), (99, 0), {A: (69, 0), B: (19, 0), C: (11, 0)}),
        ((1, 1, 1), (99, 0), {A: (0, None), B: (0, None), C: (0, None)}),
        ((1, 1, 1), (0, 99), {A: (0, 69), B: (0, 19), C: (0, 11)}),
        ((1, 2, 0), (0, 0), {A: (0, 0), B: (0, 0), C: (0, 0)}),
    ],
)
def test_what_no_swap_touches_is_known_without_a_simulation(rpc, preferences, amounts, pending):
    slots = [
        RecipientSlot(recipient=recipient_address, bps=bps, preference=preference_value)
        for recipient_address, bps, preference_value in zip((A, B, C), (7_000, 2_000, 1_000), preferences, strict=True)
    ]
    paid, conversion = estimate_payouts(
        rpc, locker=LOCKER_V4, token=TOKEN, currencies=(TOKEN, WETH), amounts=amounts, slots=slots, block=HEAD
    )
    assert paid == pending
    assert conversion == ("unknown" if any(None in pair for pair in pending.values()) else "none")


def test_a_recipient_with_several_slots_gets_their_sum(rpc):
    slots = [
        RecipientSlot(recipient=recipient_address, bps=bps, preference=0)
        for recipient_address, bps in ((A, 3_333), (B, 3_333), (A, 3_334))
    ]
    paid, _ = estimate_payouts(
        rpc, locker=LOCKER_V4, token=TOKEN, currencies=(TOKEN, WETH), amounts=(100, 1), slots=slots, block=HEAD
    )
    assert paid == {A: (67, 1), B: (33, 0)}

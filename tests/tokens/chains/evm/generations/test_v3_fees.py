"""tokens/chains/evm/generations/v0_to_v3_1: uncollected fees and their recipients, against recorded claims."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.nodes.launch_builder import LOCKER, STRANGER, TOKEN, WETH, ZERO
from tests.nodes.locker_responses import (
    answer,
    collects,
    decimals,
    position,
    recorded_claim,
    team_exception,
    team_percent,
)
from tests.nodes.log_encoding import call
from tests.nodes.recordings import base, mined, recorded_chain
from tokens.chains.errors import UnknownContractError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.registry.chains import load_registry
from tokens.chains.rpc.client import RpcClient
from tokens.chains.token_fees import Currency, FeeShare, split_by_bps, sum_shares

HEAD = 209
CREATOR, INTERFACE, TEAM = (f"0x{digit * 40}" for digit in "567")
REWARDS_OF_V31 = ["uint256", "uint256", "(address,address)", "(address,address)"]


@pytest.fixture
def read(node):
    """Return a function that reads a position's fees from the node."""

    def read(number=42, *, launched_for=()):
        chain = Chain(info=base(), rpc=RpcClient(chain_id=8453, urls=(node.url,), attempts=1))
        return chain.read_v3_fees(number, launched_for=launched_for)

    return read


@pytest.fixture
def locked(node):
    """Serve position 42 with TOKEN and WETH in LOCKER, with 1,001 and 99 to collect."""
    position(node, 42, owner=LOCKER, currencies=(TOKEN, WETH))
    collects(node, 42, owner=LOCKER, amounts=(1001, 99))
    decimals(node, TOKEN, 18)
    return node


def returns_account(node, accessor, account, *arguments, locker=LOCKER):
    """Have a locker return this account."""
    kinds = ["address", "uint256"] if accessor.startswith("_user") else ["address"]
    signature = f"{accessor}({'uint256' if arguments else ''})"
    answer(node, locker, call(signature, *arguments), kinds, account, *arguments[: len(kinds) - 1])


def returns_rewards(node, percent, creator, interface, *, number=42, locker=LOCKER):
    """Have a v3.1 locker return a position's fee recipients."""
    values = (number, percent, (STRANGER, creator), (STRANGER, interface))
    answer(node, locker, call("tokenRewards(uint256)", number), REWARDS_OF_V31, *values)


def pending(fees):
    return {share.recipient: share.pending for share in fees.shares}


def payouts(locker):
    """Return receiver -> amount in each pool currency in the recorded claim from a locker."""
    topic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
    found = {}
    for receipt in recorded_chain()["receipts"].values():
        moves = [log for log in receipt["logs"] if log["topics"][0] == topic and locker.lower()[2:] in log["topics"][1]]
        for log in moves:
            key = ("0x" + log["topics"][2][-40:], log["address"])
            found[key] = found.get(key, 0) + int(log["data"], 16)
    return found


def by_currency(fees):
    return {
        (share.recipient.lower(), currency.address.lower()): amount
        for share in fees.shares
        for currency, amount in zip(fees.currencies, share.pending, strict=True)
        if amount
    }


def test_it_names_the_position_manager_that_the_registry_lacks(node):
    chain = Chain(info=load_registry().chain(1), rpc=RpcClient(chain_id=1, urls=(node.url,)))
    with pytest.raises(UnknownContractError, match="v3_position_manager"):
        chain.read_v3_fees(42, launched_for=())
    assert node.calls == []


def test_it_reads_one_block_in_four_requests(read, locked):
    read(42)
    blocks = {entry["params"][1] for entry in locked.calls if entry["method"] == "eth_call"}
    assert blocks == {hex(HEAD)}
    bodies = [body for body in locked.received if isinstance(body, list) or body["method"] == "eth_blockNumber"]
    assert len(bodies) == 4


def test_fees_of_a_locker_of_an_unknown_kind_have_no_recipient(read, locked):
    assert read(42).shares == (FeeShare(recipient=None, harvested=(0, 0), pending=(1001, 99)),)


def test_the_currencies_have_their_symbols_where_they_have_any(read, locked):
    assert read(42).currencies == (
        Currency(address=TOKEN, symbol=None, decimals=18),
        Currency(address=WETH, symbol="WETH", decimals=18),
    )


@pytest.mark.parametrize(
    ("percent", "user", "team"),
    [(60, "_userRewardRecipientForToken", "_clankerTeamReward"), (60, "_userFeeRecipientForToken", "_clankerTeamFee")],
)
def test_a_shared_locker_pays_the_recipient_what_rounding_leaves(read, locked, percent, user, team):
    team_percent(locked, LOCKER, percent, accessor=team)
    returns_account(locked, user, CREATOR, 42)
    returns_account(locked, "_clankerTeamRecipient", TEAM)
    assert pending(read(42)) == {TEAM: (600, 59), CREATOR: (401, 40)}


def test_a_tokens_own_locker_pays_its_owner(read, locked):
    team_percent(locked, LOCKER, 50, accessor="_fee")
    returns_account(locked, "owner", CREATOR)
    returns_account(locked, "_feeRecipient", TEAM)
    assert pending(read(42)) == {TEAM: (500, 49), CREATOR: (501, 50)}


def test_the_owner_of_a_shared_locker_is_not_its_recipient(read, locked):
    team_percent(locked, LOCKER, 60, accessor="_clankerTeamReward")
    returns_account(locked, "owner", STRANGER)
    assert pending(read(42)) == {None: (1001, 99)}


def test_a_team_without_a_percentage_is_no_recipient(read, locked):
    team_percent(locked, LOCKER, 0, accessor="_fee")
    returns_account(locked, "owner", CREATOR)
    returns_account(locked, "_feeRecipient", TEAM)
    assert pending(read(42)) == {CREATOR: (1001, 99)}


def test_an_exception_replaces_team_and_percentage(read, locked):
    team_percent(locked, LOCKER, 60, accessor="_clankerTeamReward")
    returns_account(locked, "_userRewardRecipientForToken", CREATOR, 42)
    returns_account(locked, "_clankerTeamRecipient", TEAM)
    team_exception(locked, LOCKER, 42, recipient=STRANGER, percent=10, accessor="_teamOverrideRewardRecipientForToken")
    assert pending(read(42)) == {STRANGER: (100, 9), CREATOR: (901, 90)}


@pytest.mark.parametrize(
    ("percent", "expected"),
    [
        (40, {TEAM: (200, 19), CREATOR: (400, 39), INTERFACE: (401, 41)}),
        (79, {TEAM: (200, 19), CREATOR: (790, 78), INTERFACE: (11, 2)}),
        (80, {TEAM: (200, 19), CREATOR: (801, 80)}),
    ],
)
def test_v31_divides_among_team_creator_and_interface(read, locked, percent, expected):
    returns_rewards(locked, percent, CREATOR, INTERFACE)
    returns_account(locked, "teamRecipient", TEAM)
    assert pending(read(42)) == expected


def test_v31_has_exceptions_of_the_teams_address(read, locked):
    returns_rewards(locked, 80, CREATOR, INTERFACE)
    returns_account(locked, "teamRecipient", TEAM)
    returns_account(locked, "teamOverrideRewardRecipientForToken", STRANGER, 42)
    assert pending(read(42)) == {STRANGER: (200, 19), CREATOR: (801, 80)}


def test_v31_gives_the_part_without_a_recipient_to_the_team(read, locked):
    returns_rewards(locked, 40, CREATOR, ZERO)
    returns_account(locked, "teamRecipient", TEAM)
    assert pending(read(42)) == {TEAM: (601, 60), CREATOR: (400, 39)}


def test_the_locker_overrides_the_launch(read, locked):
    returns_rewards(locked, 40, CREATOR, INTERFACE)
    returns_account(locked, "teamRecipient", TEAM)
    assert set(pending(read(42, launched_for=[(STRANGER, 8_000)]))) == {TEAM, CREATOR, INTERFACE}


@pytest.mark.parametrize(
    ("launched_for", "expected"),
    [
        ([(CREATOR, 4_000), (INTERFACE, 4_000)], {None: (200, 19), CREATOR: (400, 39), INTERFACE: (401, 41)}),
        ([(CREATOR, 8_000), (INTERFACE, 0)], {None: (200, 19), CREATOR: (801, 80)}),
        ([], {None: (1001, 99)}),
    ],
)
def test_the_launch_defines_the_split_where_the_locker_does_not(read, locked, launched_for, expected):
    # Zeros, as for a position that it does not have.
    answer(locked, LOCKER, call("tokenRewards(uint256)", 42), REWARDS_OF_V31, 0, 0, (ZERO, ZERO), (ZERO, ZERO))
    assert pending(read(42, launched_for=launched_for)) == expected


def test_the_launch_defines_nothing_of_a_locker_that_divides_otherwise(read, locked):
    team_percent(locked, LOCKER, 60, accessor="_clankerTeamReward")
    returns_account(locked, "_userRewardRecipientForToken", CREATOR, 42)
    assert pending(read(42, launched_for=[(STRANGER, 8_000)])) == {None: (600, 59), CREATOR: (401, 40)}


def test_it_is_to_the_wei_what_the_recorded_claim_of_v31_paid(read, node):
    (launch,) = mined("legacy-v31-deploy").decode()
    creator, interface = (recipient.recipient for recipient in launch.fee_recipients)
    returns_rewards(node, 40, creator, interface, number=launch.position_id, locker=launch.locker)
    returns_account(node, "teamRecipient", "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f", locker=launch.locker)
    collects(node, launch.position_id, owner=launch.locker, amounts=recorded_claim(launch.locker).collected)
    fees = read(launch.position_id)
    assert by_currency(fees) == payouts(launch.locker)
    assert len(payouts(launch.locker)) == 6


@pytest.mark.parametrize(
    ("label", "percent", "user", "team"),
    [
        ("legacy-v0-deploy", 50, "owner", "_feeRecipient"),
        ("legacy-v2-deploy", 60, "_userRewardRecipientForToken", "_clankerTeamRecipient"),
    ],
)
def test_it_is_to_the_wei_what_the_recorded_claims_before_v31_paid(read, node, label, percent, user, team):
    (launch,) = mined(label).decode()
    paid = payouts(launch.locker)
    receivers = sorted({account for account, _ in paid}, key=lambda account: paid[account, WETH.lower()])
    # The team's part is rounded down, and at 60 % it is the greater one.
    team_address, user_address = receivers if percent == 50 else reversed(receivers)
    arguments = () if user == "owner" else (launch.position_id,)
    returns_account(node, user, user_address, *arguments, locker=launch.locker)
    returns_account(node, team, team_address, locker=launch.locker)
    accessor = "_fee" if percent == 50 else "_clankerTeamReward"
    team_percent(node, launch.locker, percent, accessor=accessor)
    collects(node, launch.position_id, owner=launch.locker, amounts=recorded_claim(launch.locker).collected)
    assert by_currency(read(launch.position_id)) == paid
    assert len(paid) == 4


@given(
    amount=st.integers(min_value=0, max_value=2**128),
    parts=st.lists(st.integers(min_value=0, max_value=1_400), max_size=7),
)
def test_parts_are_rounded_down_and_add_up(amount, parts):
    shares = split_by_bps(amount, parts)
    assert sum(shares) == amount
    for share, bps in zip(shares, parts, strict=False):
        assert share * 10_000 <= amount * bps < (share + 1) * 10_000


def test_together_is_unknown_what_one_part_of_it_is():
    shares = [
        FeeShare(recipient=CREATOR, harvested=(1, 2), pending=(3, None)),
        FeeShare(recipient=TEAM, harvested=(4, 5), pending=(6, 7)),
    ]
    assert sum_shares(shares) == FeeShare(recipient=None, harvested=(5, 7), pending=(9, None))

"""tokens/chains/evm/generations/v0_to_v3_1: an LP position's uncollected fees, and their recipients."""

import pytest

from development.standins.loopback import Reply
from tests.nodes.launch_builder import LOCKER, POSITION_MANAGER, STRANGER, TOKEN, USDC, WETH, ZERO
from tests.nodes.locker_responses import answer, collects, decimals, position, team_exception, team_percent
from tests.nodes.log_encoding import call
from tests.nodes.recordings import base, mined
from tokens.chains.errors import FeesUnavailableError, NodeUnavailableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.rpc.client import RpcClient
from tokens.chains.token_fees import FeeAmount

CURRENCIES = (TOKEN, WETH)
ACCESSORS = ("_fee", "_clankerTeamFee", "_clankerTeamReward")
EXCEPTIONS = {
    "_clankerTeamFee": "_teamOverrideFeeRecipientForToken",
    "_clankerTeamReward": "_teamOverrideRewardRecipientForToken",
}


@pytest.fixture
def read(node):
    """Return a function that reads a position's fees from the node."""
    chain = Chain(info=base(), rpc=RpcClient(chain_id=8453, urls=(node.url,), attempts=1))
    return chain.read_uncollected_fees


@pytest.fixture
def locked(node):
    """Serve position 42 with TOKEN and WETH in LOCKER, with 1,000 and 2,000 to collect."""
    position(node, 42, owner=LOCKER, currencies=CURRENCIES)
    collects(node, 42, owner=LOCKER, amounts=(1000, 2000))
    decimals(node, TOKEN, 18)
    return node


def test_it_refuses_a_position_that_the_chain_lacks(read):
    with pytest.raises(FeesUnavailableError):
        read(42)


def test_it_refuses_a_position_whose_owner_can_not_collect(read, node):
    position(node, 42, owner=LOCKER, currencies=CURRENCIES)
    decimals(node, TOKEN, 18)
    with pytest.raises(FeesUnavailableError):
        read(42)


def test_it_refuses_a_currency_without_decimals(read, node):
    position(node, 42, owner=LOCKER, currencies=CURRENCIES)
    collects(node, 42, owner=LOCKER, amounts=(1000, 2000))
    with pytest.raises(FeesUnavailableError):
        read(42)


def test_half_an_answer_is_the_fault_of_its_node(read, locked):
    answer(locked, POSITION_MANAGER, call("positions(uint256)", 42), ["uint96"], 0)
    with pytest.raises(NodeUnavailableError):
        read(42)


def test_it_reports_when_no_node_answers(read, node):
    node.behave = lambda body: Reply(b"", status=503)
    with pytest.raises(NodeUnavailableError):
        read(42)


@pytest.mark.parametrize(
    ("label", "amounts"),
    [
        ("legacy-v0-deploy", (0, 999_999_999_999_999)),
        ("legacy-v2-deploy", (0, 999_999_999_999_999)),
        ("legacy-v31-deploy", (999_999_999_999_999, 0)),
    ],
)
def test_it_reads_the_recorded_amounts_at_the_head(read, label, amounts):
    (launch,) = mined(label).decode()
    fees = read(launch.position_id)
    # The launched token is token0 up to v3.0; v3.1's recorded token sorts behind WETH.
    currencies = sorted([launch.token, WETH], key=str.lower)
    assert fees.locker == launch.locker
    assert fees.amounts == tuple(
        FeeAmount(currency=currency, decimals=18, amount=amount)
        for currency, amount in zip(currencies, amounts, strict=True)
    )


def test_it_takes_two_requests(read, locked):
    read(42)
    bodies = [body for body in locked.received if isinstance(body, list)]
    assert [len(body) for body in bodies] == [2, 8]


def test_the_fees_are_collected_for_and_by_the_present_owner(read, locked):
    read(42)
    (sent,) = [
        entry["params"][0]
        for entry in locked.calls
        if entry["method"] == "eth_call" and entry["params"][0]["data"].startswith("0xfc6f7865")
    ]
    assert sent["from"] == LOCKER
    assert sent["data"] == call("collect((uint256,address,uint128,uint128))", (42, LOCKER, 2**128 - 1, 2**128 - 1))


def test_decimals_are_the_currencys_own(read, node):
    position(node, 42, owner=LOCKER, currencies=(TOKEN, USDC))
    collects(node, 42, owner=LOCKER, amounts=(1, 2))
    decimals(node, TOKEN, 18)
    assert [waiting.decimals for waiting in read(42).amounts] == [18, 6]


def test_the_teams_percentage_of_an_unknown_locker_stays_unknown(read, locked):
    assert read(42).team_percent is None


@pytest.mark.parametrize("accessor", ACCESSORS)
@pytest.mark.parametrize("percent", [0, 60, 100])
def test_each_kind_of_locker_returns_the_teams_percentage(read, locked, accessor, percent):
    team_percent(locked, LOCKER, percent, accessor=accessor)
    assert read(42).team_percent == percent


@pytest.mark.parametrize("percent", [101, 2**256 - 1])
def test_what_is_no_percentage_stays_unknown(read, locked, percent):
    team_percent(locked, LOCKER, percent, accessor="_fee")
    assert read(42).team_percent is None


def test_a_locker_of_two_kinds_stays_unknown(read, locked):
    team_percent(locked, LOCKER, 20, accessor="_fee")
    team_percent(locked, LOCKER, 60, accessor="_clankerTeamFee")
    assert read(42).team_percent is None


@pytest.mark.parametrize("accessor", EXCEPTIONS)
@pytest.mark.parametrize(("recipient", "percent"), [(STRANGER, 5), (ZERO, 60)])
def test_an_exception_counts_where_it_has_a_recipient(read, locked, accessor, recipient, percent):
    team_percent(locked, LOCKER, 60, accessor=accessor)
    team_exception(locked, LOCKER, 42, recipient=recipient, percent=5, accessor=EXCEPTIONS[accessor])
    assert read(42).team_percent == percent

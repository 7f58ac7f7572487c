"""Recipients' earned and claimed fees, in GET /api/creators/{creator}."""

from decimal import Decimal

import pytest

from tests.nodes.recordings import decoded
from tests.rows.factories import CoverageFactory, FeeClaimFactory, TokenFactory
from tests.tokens.ledger.creator_launches import (
    ALICE,
    BOB,
    CREATOR,
    TOKEN,
    USDC,
    WETH,
    amounts,
    claim,
    collect,
    day,
    hand_over,
    launch,
    multiply_events,
    shares,
)
from tokens.fees.fee_sums import fill_next_blocks
from tokens.indexing import index_requests
from tokens.ledger import earned_fees
from tokens.models import FeeClaim, FeeSumProgress, Token

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("summed")]


def test_earned_and_claimed_fees_of_a_v4_token_by_day(read):
    token = launch(ALICE, BOB)
    collect(token, (7, 1), (10**18, 0), days=0)
    collect(token, (0, 0), (0, 0), days=1)
    collect(token, (3, 0), (5, 2), days=1)
    claim(ALICE, TOKEN, 6, token=token, days=1)
    claim(ALICE, WETH, 500, days=1)
    claim(BOB, TOKEN, 9, token=TokenFactory(), chain_id=1)
    data = read(days=90)
    (entry,) = data["launches"]
    symbol = token.symbol
    assert amounts(entry, "earned") == {
        (ALICE, "WETH"): str(10**18 + 5),
        (ALICE, symbol): "10",
        (BOB, "WETH"): "2",
        (BOB, symbol): "1",
    }
    assert amounts(entry, "claimed") == {
        (ALICE, "WETH"): "pooled_currency",
        (ALICE, symbol): "6",
        (BOB, "WETH"): "pooled_currency",
        (BOB, symbol): "0",
    }
    days = {(fees["recipient"], fees["symbol"]): fees["days"] for fees in entry["fees"]}
    assert days[ALICE, symbol] == [
        {"day": day(1), "earned": "3", "claimed": "6"},
        {"day": day(0), "earned": "7", "claimed": "0"},
    ]
    assert days[BOB, "WETH"] == [{"day": day(1), "earned": "2", "claimed": None}]
    assert {fees["waiting"]["reason"] for fees in entry["fees"]} == {"not_requested"}
    assert [fees["days"] for fees in read(days=0)["launches"][0]["fees"]] == [[]] * 4


def test_fees_belong_to_the_recipient_at_their_time(read):
    token = launch(BOB, CREATOR)
    collect(token, (1, 10), (0, 0))
    hand_over(token, 0, CREATOR, ALICE)
    collect(token, (2, 20), (0, 0))
    hand_over(token, 0, ALICE, BOB)
    collect(token, (4, 40), (0, 0))
    earned = amounts(read()["launches"][0], "earned")
    assert {key[0]: value for key, value in earned.items() if key[1] == token.symbol} == {
        BOB: "4",
        CREATOR: "71",
        ALICE: "2",
    }


def test_amounts_are_unknown_while_stored_events_are_not_summed(read):
    FeeSumProgress.objects.all().delete()
    token = launch()
    collect(token, (1,), (1,), days=2)
    claim(ALICE, TOKEN, 5, token=token, days=2)
    claim(ALICE, WETH, 6)
    (entry,) = read(days=90)["launches"]
    assert set(amounts(entry, "earned").values()) == {"not_summed"}
    assert amounts(entry, "claimed")[ALICE, token.symbol] == "not_summed"
    assert [fees["days"] for fees in entry["fees"]] == [[], []]
    unknown = {(each["symbol"], each["claimed"]["reason"]) for each in read(ALICE)["claimed"]}
    assert {("WETH", "not_summed"), ("USDC", "not_summed")} <= unknown
    while not fill_next_blocks(8453, batch=1):
        pass
    (entry,) = read(days=90)["launches"]
    assert set(amounts(entry, "earned").values()) == {"1"}
    assert amounts(entry, "claimed")[ALICE, token.symbol] == "5"
    assert {each["claimed"]["amount"] for each in read(ALICE)["claimed"] if each["chainId"] == 8453} == {"6"}


def test_any_number_of_events_has_exact_amounts(read):
    token = launch(ALICE, BOB)
    collect(token, (1, 2), (3, 4))
    multiply_events(7_000)
    hand_over(token, 0, CREATOR, ALICE)
    collect(token, (1, 2), (3, 4))
    multiply_events(3)
    for number in range(3):
        claim(ALICE, TOKEN, number + 1, token=token)
    earned = amounts(read()["launches"][0], "earned")
    assert {key: amount for key, amount in earned.items() if key[1] == "WETH"} == {
        (ALICE, "WETH"): str(3 * 4),
        (BOB, "WETH"): str(4 * 7_005),
        (CREATOR, "WETH"): str(3 * 7_001),
    }
    assert amounts(read()["launches"][0], "claimed")[ALICE, token.symbol] == "6"


def test_more_changes_of_recipients_than_are_read_are_no_total(read):
    token = launch(ALICE)
    collect(token, (1,), (1,))
    hand_over(token, 0, BOB, ALICE)
    multiply_events(earned_fees.CHANGES_READ)
    (entry,) = read(days=90)["launches"]
    assert set(amounts(entry, "earned").values()) == {"too_many_recipients"}
    # Claims in the token itself are known for each recipient.
    assert amounts(entry, "claimed") == {(ALICE, "WETH"): "pooled_currency", (ALICE, token.symbol): "0"}


def test_a_recipients_own_ledger(read):
    paying = launch(ALICE, BOB)
    collect(paying, (7, 1), (3, 4))
    TokenFactory(extensions=shares(BOB))
    launch(ALICE, contract_address="0x" + "2" * 40, blocked=True)
    TokenFactory(admin=ALICE)
    claim(ALICE, WETH, 10, days=0)
    claim(ALICE, WETH, 5, days=1)
    claim(ALICE, USDC, 2)
    claim(ALICE, paying.contract_address, 3, token=paying)
    data = read(ALICE.lower())
    assert data["launches"] == []
    assert [entry["token"]["id"] for entry in data["recipientOf"]] == [paying.pk]
    assert set(amounts(data["recipientOf"][0], "earned")) == {(ALICE, "WETH"), (ALICE, paying.symbol)}
    assert [(each["symbol"], each["claimed"]["amount"]) for each in data["claimed"]] == [("WETH", "15"), ("USDC", "2")]


def test_earlier_lockers_pay_what_is_earned(read):
    token = launch(generation="v2", position_id="7", extensions=shares(ALICE) | {"fees": None})
    paid = claim(BOB, WETH, 8, token=token)
    FeeClaimFactory(event=paid.event, recipient=BOB, currency=TOKEN, amount=Decimal(3))
    claim(BOB, WETH, 100)
    (entry,) = read()["launches"]
    assert amounts(entry, "earned") == amounts(entry, "claimed") == {(BOB, "WETH"): "8", (BOB, token.symbol): "3"}


def test_more_payees_of_an_earlier_locker_than_are_read_are_no_total(read):
    token = launch(generation="v2", position_id="7", extensions=shares(ALICE) | {"fees": None})
    event = claim(BOB, WETH, 8, token=token).event
    payees = [FeeClaimFactory.build(event=event, currency=WETH) for _ in range(earned_fees.CHANGES_READ)]
    FeeClaim.objects.bulk_create(payees[1:])
    assert amounts(read()["launches"][0], "earned")[BOB, "WETH"] == "8"
    payees[0].save()
    (entry,) = read(days=90)["launches"]
    assert set(amounts(entry, "earned").values()) == {"too_many_recipients"}


def test_what_a_fee_locker_pays_in_an_old_token_is_not_its_own(read):
    token = launch(generation="v2", position_id="7", extensions=shares(ALICE) | {"fees": None})
    claim(BOB, TOKEN, 8, token=token, arguments={"feeOwner": BOB, "token": TOKEN, "amountClaimed": "8"})
    claim(ALICE, TOKEN, 3, token=token, arguments={"claimer": ALICE})
    earned = amounts(read()["launches"][0], "earned")
    assert earned == {(ALICE, "WETH"): "0", (ALICE, token.symbol): "3"}


def test_it_adds_up_what_recorded_lockers_collected(read, installed_node):
    CoverageFactory(first_block=0, followed_to=10**6, verified_to=0)
    labels = ("deploy-multi-recipients", "swap-buy-multi-recipients", "swap-sell-multi-recipients")
    for label in (*labels, "locker-update-reward-recipient"):
        index_requests.index_transaction(chain_id=8453, tx_hash=decoded(label)["hash"])
    (collected,) = logged("swap-sell-multi-recipients", "ClaimedRewards")
    (changed,) = logged("locker-update-reward-recipient", "RewardRecipientUpdated")
    token = Token.objects.get()
    current, *others = [each["recipient"] for each in token.extensions["fees"]["recipients"]]
    assert (current, changed["rewardIndex"]) == (changed["newRecipient"], "0")
    earned = amounts(read(token.msg_sender)["launches"][0], "earned")
    for place, symbol in enumerate((token.symbol, "WETH")):
        # The sale was before the change: its fees are the former recipient's.
        assert [earned[changed["oldRecipient"], symbol], *(earned[each, symbol] for each in others)] == collected[
            f"rewards{place}"
        ]
        assert earned[current, symbol] == "0"


def test_it_adds_up_what_recorded_older_lockers_paid(read, installed_node):
    CoverageFactory(first_block=0, followed_to=10**6, verified_to=0)
    for label in ("legacy-v31-deploy", "legacy-v31-claim"):
        index_requests.index_transaction(chain_id=8453, tx_hash=decoded(label)["hash"])
    (paid,) = logged("legacy-v31-claim", "ClaimedRewards")
    token = Token.objects.get()
    (entry,) = read(token.msg_sender)["launches"]
    expected = {
        (paid[f"{role}Recipient"], symbol): paid[f"{role}Reward{place}"]
        for role in ("creator", "interface", "team")
        for place, symbol in enumerate(("WETH", token.symbol))
    }
    assert amounts(entry, "earned") == amounts(entry, "claimed") == expected


def logged(label, event):
    """Return an event's arguments in a recorded transaction's logs."""
    return [log["args"] for log in decoded(label)["decodedLogs"] if log["event"] == event]

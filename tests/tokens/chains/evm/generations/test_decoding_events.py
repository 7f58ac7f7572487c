"""tokens/chains/evm/generations/event_decoding.py: events after launch, against another decoder."""

import pytest

from tests.nodes.contract_events import CLAIM_TOKENS, FIRST_CLAIMED, UPDATE_IMAGE, V31_CLAIMED
from tests.nodes.launch_builder import (
    FACTORY_V4,
    LOCKER,
    LOCKER_V4,
    SENDER,
    STRANGER,
    TOKEN,
    WETH,
    ZERO,
    event,
    transaction,
    v4_launch,
)
from tests.nodes.recordings import EVENT_TRANSACTIONS, base, decoded, mined
from tokens.chains.errors import LaunchNotFoundError, LogDecodingError
from tokens.chains.evm.generations import event_decoding
from tokens.chains.evm.generations.event_decoding import EventKind, EventSource, FeePayment
from tokens.indexing.fact_json import event_facts

FEE_LOCKER = "0xF3622742b1E446D92e45E22923Ef11C2fcD55D68"
# The totals in currency 0 and currency 1, by their names in the published ABI.
SWAPPED = {"totalAmount1": "total0", "totalAmount0": "total1"}
OURS = {
    "UpdateAdmin",
    "UpdateImage",
    "Verified",
    "RewardRecipientUpdated",
    "FeePreferenceUpdated",
    "ClaimedRewards",
    "ClaimedFees",
    "ClaimTokens",
    "ClaimTeamFees",
    "AllocationClaimed",
    "AirdropClaimed",
}


def read_events(recorded):
    return [event_decoding.decode_event(log) for log in recorded.read().event_logs]


def payments(recorded):
    return [payment for found in read_events(recorded) for payment in event_decoding.read_payments(found, pair=None)]


@pytest.mark.parametrize("label", EVENT_TRANSACTIONS)
def test_it_reads_what_the_other_decoder_read(label):
    expected = [log for log in decoded(label)["decodedLogs"] if log["event"] in OURS]
    found = read_events(mined(label))
    assert [one.log_index for one in found] == [log["logIndex"] for log in expected]
    assert [one.emitter.lower() for one in found] == [log["address"] for log in expected]
    for one, log in zip(found, expected, strict=True):
        arguments = {SWAPPED.get(name, name): value for name, value in log["args"].items()}
        # The other decoder writes small integers as numbers.
        texts = {name: str(value) if isinstance(value, int) else value for name, value in arguments.items()}
        assert event_facts(one.arguments) == texts


def test_every_event_of_the_recorded_chain_is_tested():
    hashes = {decoded(label)["hash"] for label in EVENT_TRANSACTIONS}
    assert len(hashes) == len(EVENT_TRANSACTIONS) == 29


def test_the_totals_of_the_older_lockers_are_in_the_order_of_the_currencies():
    (claim,) = read_events(mined("legacy-v2-claim"))
    values = claim.arguments
    # In the token and in WETH, as the position manager paid them out in the same transaction.
    (collected,) = (log["args"] for log in decoded("legacy-v2-claim")["decodedLogs"] if log["contract"] == "NPM")
    assert [str(values["total0"]), str(values["total1"])] == [collected["amount0"], collected["amount1"]]
    assert values["amount0"] < values["total0"]
    assert values["amount1"] < values["total1"]


def test_a_claim_of_v31_pays_three_parties_in_two_currencies():
    found = payments(mined("legacy-v31-claim"))
    (log,) = (log["args"] for log in decoded("legacy-v31-claim")["decodedLogs"] if log["event"] == "ClaimedRewards")
    assert found == [
        FeePayment(
            recipient=log[f"{role}Recipient"], currency=log[f"token{place}"], amount=int(log[f"{role}Reward{place}"])
        )
        for role in ("creator", "interface", "team")
        for place in (0, 1)
    ]


def test_a_recipient_that_is_paid_twice_in_a_currency_is_paid_once():
    claim = event(LOCKER, V31_CLAIMED, 42, SENDER, SENDER, STRANGER, TOKEN, WETH, 1, 20, 300, 4000, 50_000, 0)
    assert payments(transaction(claim, to=LOCKER)) == [
        FeePayment(recipient=SENDER, currency=TOKEN, amount=301),
        FeePayment(recipient=SENDER, currency=WETH, amount=4020),
        FeePayment(recipient=STRANGER, currency=TOKEN, amount=50_000),
    ]


@pytest.mark.parametrize("name", ["ClaimedFees", "ClaimedRewards"])
def test_a_locker_without_a_fee_names_no_currencies(name):
    claim = event(LOCKER, FIRST_CLAIMED % name, SENDER, ZERO, ZERO, 5, 7, 5, 7)
    (found,) = read_events(transaction(claim, to=LOCKER))
    assert found.names_no_pair
    assert event_decoding.read_payments(found, pair=None) == ()
    assert event_decoding.read_payments(found, pair=(TOKEN, WETH)) == (
        FeePayment(recipient=SENDER, currency=TOKEN, amount=5),
        FeePayment(recipient=SENDER, currency=WETH, amount=7),
    )


def test_a_collection_pays_no_recipient_yet():
    assert payments(mined("collect-plain")) == []


def test_events_of_one_name_are_distinguished_by_their_signature():
    found = [
        read_events(mined(label))[0]
        for label in ("collect-plain", "legacy-v31-claim", "legacy-v2-claim", "legacy-v0-claim")
    ]
    assert [one.kind for one in found] == [EventKind.FEES_COLLECTED, *[EventKind.FEES_CLAIMED] * 3]
    assert {one.source for one in found} == {EventSource.ITS_LOCKER}
    assert [one.token is None for one in found] == [False, True, True, True]
    assert [one.position_id for one in found] == [None, 1, None, None]


def test_a_launch_may_hold_events_too():
    facts = mined("deploy-devbuy").read()
    assert [launch.symbol for launch in facts.launches] == [mined("deploy-devbuy").decode()[0].symbol]
    (collected,) = facts.event_logs
    assert event_decoding.decode_event(collected).kind is EventKind.FEES_COLLECTED
    assert collected.log_index < facts.launches[0].log_index


@pytest.mark.parametrize(
    "broken",
    [
        {"data": "0x"},
        {"data": "0x1234"},
        {"topics": 1},
    ],
)
def test_a_malformed_event_is_found_and_refused_when_it_is_decoded(broken):
    recorded = mined("claim-weth-plain")
    log = recorded.logs[1]
    log.update(broken if "data" in broken else {"topics": log["topics"][: broken["topics"]]})
    (found,) = recorded.read().event_logs
    with pytest.raises(LogDecodingError, match="ClaimTokens"):
        event_decoding.decode_event(found)


def test_a_reverted_transaction_holds_nothing():
    claim = event(FEE_LOCKER, CLAIM_TOKENS, SENDER, WETH, 1)
    with pytest.raises(LaunchNotFoundError, match="reverted"):
        transaction(claim, to=FEE_LOCKER, succeeded=False).read()


def test_logs_without_topics_are_no_events():
    nameless = {"address": TOKEN, "topics": [], "data": "0x"}
    assert v4_launch(nameless, to=FACTORY_V4).read().event_logs == ()


def test_texts_are_cleaned():
    update = event(TOKEN, UPDATE_IMAGE, b"ipfs://\x00\xff")
    (found,) = read_events(transaction(update, to=TOKEN))
    assert found.arguments == {"image": "ipfs://\ufffd"}


def test_sources_that_are_roles_are_roles_of_the_registry():
    own = (EventSource.ITSELF, EventSource.ITS_LOCKER, EventSource.POOL, EventSource.HOOK, EventSource.LAUNCHPAD)
    roles = {source for source in EventSource if source not in own}
    assert all(base().addresses(role) for role in roles)
    assert LOCKER_V4 in base().addresses("locker")

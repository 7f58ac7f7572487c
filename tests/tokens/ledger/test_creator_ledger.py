"""GET /api/creators/{creator}: launches, what became of them, and fees of their recipients."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.utils import timezone

from config.timestamps import format_timestamp
from tests.config.api.test_described_answers import check, close_objects
from tests.nodes.json_server import Reply
from tests.nodes.recordings import base, decoded, mined
from tests.nodes.solana_recorded import CONFIG, allow_list
from tests.rows.factories import (
    ChainHeadFactory,
    CoverageFactory,
    FeeClaimFactory,
    FollowedAccountFactory,
    SocialProfileFactory,
    SolanaTokenFactory,
    TokenEventFactory,
    TokenFactory,
)
from tests.rows.fee_sums import sum_all_chains
from tests.rows.indexed_tokens import index_launch
from tests.rows.token_lists import price
from tests.tokens.market.stored_trades import make_candle
from tokens.fees.fee_sums import fill_next_blocks
from tokens.following.coverage import pool_makers
from tokens.indexing import index_requests
from tokens.ledger import earned_fees
from tokens.models import ChainHead, Coverage, FeeClaim, FeeSumProgress, FollowedAccount, Token, TokenEvent
from tokens.models.candle import DAY

pytestmark = pytest.mark.django_db

FID = 977
CREATOR = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
ALICE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
BOB = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
WETH, USDC = "0x4200000000000000000000000000000000000006", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
# The numeric order of addresses is that of a pool's currencies: this token is currency 0.
TOKEN = "0x1111111111111111111111111111111111111111"
# The third day before today.
FIRST = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=3)
RULE = "must be an address, or a FID: a whole number from 1 without leading zeros"
CURSOR_RULE = "must be the cursor of an earlier answer of this list"


@pytest.fixture(autouse=True)
def summed(db):
    """Complete the sums of all chains, which later events are added to."""
    sum_all_chains()


@pytest.fixture
def fetch(client):
    """Request a creator's ledger."""
    return lambda creator=CREATOR, **parameters: client.get(f"/api/creators/{creator}", parameters)


@pytest.fixture
def read(fetch):
    """Return the `data` of a creator's ledger."""

    def read_data(creator=CREATOR, **parameters):
        answer = fetch(creator, **parameters)
        assert answer.status_code == 200, answer.content
        return answer.json()["data"]

    return read_data


@pytest.fixture
def description(client):
    document = client.get("/api/openapi.json").json()
    close_objects(document["components"]["schemas"])
    return document


def shares(*recipients):
    """Return the extensions of a launch with these recipients of its fees."""
    bps = 10_000 // len(recipients)
    fees = [{"admin": each, "recipient": each, "bps": bps, "token": "Both"} for each in recipients]
    unset = dict.fromkeys(["vault", "airdrop", "devBuy", "sniperTax", "positions"])
    kinds = {"type": "static", "clankerFee": 100, "pairedFee": 100, "baseFee": None, "maxFee": None}
    return unset | {"fees": {**kinds, "hook_address": None, "recipients": fees}}


def day(number):
    """Return a day after the first one as it is shown."""
    return (FIRST + timedelta(days=number)).date().isoformat()


def launch(*recipients, **columns):
    """Create a v4 launch of the creator, with a history that is stored completely."""
    if not Coverage.objects.exists():
        CoverageFactory(first_block=1, addresses=sorted(base().emitters | pool_makers(base())))
    values = {"contract_address": TOKEN, "msg_sender": CREATOR, "extensions": shares(*(recipients or (ALICE,)))}
    return TokenFactory(**values | columns)


def collect(token, first, second, *, days=0):
    """Store a collection with the amounts of each share, in the pool's currencies."""
    amounts = {f"amount{place}": str(sum(each)) for place, each in enumerate((first, second))}
    rewards = {f"rewards{place}": [str(each) for each in part] for place, part in enumerate((first, second))}
    values = {"kind": "fees_collected", "token": token, "at": FIRST + timedelta(days=days)}
    return TokenEventFactory(**values, arguments={"token": token.contract_address} | amounts | rewards)


def hand_over(token, share, old, new):
    arguments = {"token": token.contract_address, "rewardIndex": str(share), "oldRecipient": old, "newRecipient": new}
    TokenEventFactory(kind="reward_recipient_updated", token=token, at=FIRST, arguments=arguments)


def multiply_events(count):
    """Store the newest event so many times more, in blocks of their own."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO tokens_tokenevent (chain_id, tx_hash, log_index, block_number, block_hash, at, kind, emitter,
                token_id, arguments)
            SELECT chain_id, gen_random_uuid(), log_index, block_number + n, block_hash, at, kind, emitter, token_id,
                arguments
            FROM (SELECT * FROM tokens_tokenevent ORDER BY id DESC LIMIT 1) AS event, generate_series(1, %s) AS n
            """,
            [count],
        )
    newest = TokenEvent.objects.latest("block_number").block_number
    TokenEventFactory.reset_sequence(newest - 2_000_000 + 1, force=True)


def claim(recipient, currency, amount, *, token=None, days=0, **event):
    paid = TokenEventFactory(token=token, at=FIRST + timedelta(days=days), **event)
    return FeeClaimFactory(event=paid, recipient=recipient, currency=currency, amount=Decimal(amount))


def amounts(entry, name):
    """Return (recipient, symbol) -> the amount or the reason why it is unknown."""
    return {(fees["recipient"], fees["symbol"]): fees[name]["amount"] or fees[name]["reason"] for fees in entry["fees"]}


@pytest.mark.parametrize(
    "text", ["0", "007", "-1", str(2**63), "9" * 400, "\u0661", "0x12", "alice", "0x" + "g" * 40, "1" * 31 + "0"]
)
def test_it_refuses_what_is_no_creator(fetch, text):
    answer = fetch(text)
    refused = {"error": f"creator {RULE}", "details": [{"field": "creator", "message": RULE}]}
    assert (answer.status_code, answer.json(), answer.headers["Cache-Control"]) == (400, refused, "no-store")


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        *[("limit", value, "must be a whole number from 0 to 10") for value in ("-1", "11", "x")],
        *[("days", value, "must be a whole number from 0 to 90") for value in ("-1", "91", "x")],
        ("includeWaiting", "yes", "must be true, false, 1 or 0"),
        *[(name, value, CURSOR_RULE) for name in ("cursor", "recipientCursor") for value in ("x", "W10=")],
    ],
)
def test_it_refuses_a_bad_parameter_by_name(fetch, name, value, rule):
    answer = fetch(**{name: value})
    refused = {"error": f"{name} {rule}", "details": [{"field": name, "message": rule}]}
    assert (answer.status_code, answer.json(), answer.headers["Cache-Control"]) == (400, refused, "no-store")


@pytest.mark.parametrize("creator", [str(FID), str(2**63 - 1), CREATOR, "So11111111111111111111111111111111111111112"])
def test_an_unknown_creator_has_an_empty_ledger(fetch, description, creator):
    TokenFactory()
    answer = fetch(creator)
    check(description, "/api/creators/{creator}", answer.json())
    data = answer.json()["data"]
    is_user = creator.isdigit()
    assert data["creator"] == {
        "key": creator,
        "fid": int(creator) if is_user else None,
        "address": None if is_user else creator,
        "user": None,
    }
    assert (data["launches"], data["recipientOf"], data["claimed"]) == ([], [], [])
    assert (data["cursor"], data["recipientCursor"], data["totals"]["launches"]) == (None, None, 0)
    assert answer.headers["Cache-Control"] == "public, s-maxage=15"


def test_totals_of_a_user(read):
    SocialProfileFactory(fid=FID, username="ada")
    old = TokenFactory(requestor_fid=FID, deployed_at=FIRST, launch_warnings=["UNUSUAL_TICK"])
    new = SolanaTokenFactory(requestor_fid=FID, deployed_at=FIRST + timedelta(days=1))
    price(old, volume_24h=3.5)
    price(new, volume_24h=1, graduated_at=FIRST, last_trade_at=timezone.now())
    TokenFactory(requestor_fid=FID, blocked=True)
    data = read(FID)
    assert data["creator"]["user"]["username"] == "ada"
    assert data["totals"] == {
        "launches": 2,
        "isComplete": True,
        "firstLaunchAt": format_timestamp(FIRST),
        "lastLaunchAt": format_timestamp(FIRST + timedelta(days=1)),
        "stillTraded": 1,
        "graduated": 1,
        "withWarnings": 1,
        "volume24h": 4.5,
    }
    assert [entry["token"]["id"] for entry in data["launches"]] == [new.pk, old.pk]


def test_outcomes_of_launches(read):
    now = timezone.now()
    launch(deployed_at=now - timedelta(days=3), supply=Decimal(10**21))
    token = Token.objects.get()
    price(token, market_cap=5, volume_24h=2, last_trade_at=now - timedelta(days=6, hours=23))
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for ago, high in ((2, 8), (1, 3)):
        make_candle(token, day - timedelta(days=ago), 1, high, 0.5, 1.5, seconds=DAY)
    make_candle(token, day, 1, 99, 0.5, 1.5, seconds=3600)
    outcome = read()["launches"][0]["outcome"]
    assert 3 * 86_400 <= outcome.pop("ageSeconds") < 3 * 86_400 + 600
    assert outcome.pop("lastTradeAt").endswith("Z")
    assert outcome == {
        "graduated": None,
        "graduatedReason": "no_curve",
        "graduatedAt": None,
        "curveProgress": None,
        "marketCap": 5.0,
        # Prices in USD are double those of these candles.
        "peakMarketCap": 16_000.0,
        "peakMarketCapReason": None,
        "volume24h": 2.0,
        "volume": 41.0,
        "volumeReason": None,
        "stillTraded": True,
    }


@pytest.mark.parametrize(
    ("market", "graduated"),
    [
        ({}, (None, "curve_unknown")),
        ({"curve_progress": Decimal("99.5")}, (False, None)),
        ({"curve_progress": 100, "graduated_at": FIRST}, (True, None)),
    ],
)
def test_graduation_on_a_bonding_curve(read, market, graduated):
    price(SolanaTokenFactory(requestor_fid=FID), **market)
    outcome = read(FID)["launches"][0]["outcome"]
    assert (outcome["graduated"], outcome["graduatedReason"]) == graduated


def test_facts_of_all_trades_are_unknown_for_a_reason(read, settings):
    token = launch(deployed_at=FIRST)

    def reasons():
        outcome = read()["launches"][0]["outcome"]
        assert (outcome["peakMarketCap"], outcome["volume"]) == (None, None)
        return outcome["peakMarketCapReason"], outcome["volumeReason"]

    assert reasons() == ("no_trades", "no_trades")
    unknown = dict.fromkeys(("open_usd", "high_usd", "low_usd", "close_usd"))
    make_candle(token, FIRST, 1, 2, 0.5, 1.5, seconds=DAY)
    make_candle(token, FIRST + timedelta(days=1), 1, 2, 0.5, 1.5, seconds=DAY, **unknown)
    assert reasons() == ("no_price", "no_price")
    Coverage.objects.update(first_block=token.block_number + 1)
    assert reasons() == ("history_not_read", "history_not_read")
    settings.MARKET_PROVIDER_CHAINS = frozenset({8453})
    assert reasons() == ("no_own_trades", "no_own_trades")


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


@pytest.mark.parametrize("first_block", [None, 10**9])
def test_amounts_are_unknown_while_the_history_is_not_read(read, first_block):
    token = launch()
    collect(token, (1,), (1,))
    if first_block is None:
        Coverage.objects.all().delete()
    else:
        Coverage.objects.update(first_block=first_block, followed_to=first_block, verified_to=first_block)
    (entry,) = read(days=90)["launches"]
    assert set(amounts(entry, "earned").values()) == {"history_not_read"}
    assert amounts(entry, "claimed")[ALICE, token.symbol] == "history_not_read"
    assert [fees["days"] for fees in entry["fees"]] == [[], []]


def test_runs_of_blocks_below_the_live_ones_count(read):
    token = launch()
    Coverage.objects.update(first_block=token.block_number + 100)
    run = CoverageFactory(
        first_block=token.block_number, last_block=token.block_number + 99, followed_to=token.block_number + 98
    )
    assert amounts(read()["launches"][0], "earned")[ALICE, "WETH"] == "history_not_read"
    Coverage.objects.filter(pk=run.pk).update(followed_to=token.block_number + 99)
    assert amounts(read()["launches"][0], "earned")[ALICE, "WETH"] == "0"


def test_a_history_that_is_behind_is_not_read(read):
    launch()
    followed_to = Coverage.objects.get().followed_to
    head = ChainHeadFactory(followed=followed_to)
    assert amounts(read()["launches"][0], "earned")[ALICE, "WETH"] == "0"
    # The head is written at once, and older blocks follow.
    ChainHead.objects.filter(pk=head.pk).update(followed=followed_to + 1)
    assert amounts(read()["launches"][0], "earned")[ALICE, "WETH"] == "history_not_read"
    ChainHead.objects.update(followed=followed_to)
    CoverageFactory(first_block=1, followed_to=followed_to - 1)
    assert amounts(read()["launches"][0], "earned")[ALICE, "WETH"] == "history_not_read"


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


def test_a_token_of_solana(read, settings, tmp_path):
    settings.CHAINS_FILES = (str(allow_list(tmp_path / "chains.toml", address=CONFIG)),)
    token = SolanaTokenFactory(requestor_fid=FID)
    claim(token.msg_sender, token.paired_token, 8, token=token, chain_id=101, block_hash="")

    def earned():
        return amounts(read(FID)["launches"][0], "earned")[token.msg_sender, "SOL"]

    assert earned() == "history_not_read"
    FollowedAccountFactory(address=CONFIG, complete_to=None)
    assert earned() == "history_not_read"
    FollowedAccount.objects.update(complete_to=1000)
    assert earned() == "8"
    # A pool is read from the launch of its own token on.
    FollowedAccountFactory(first_slot=token.block_number + 1)
    assert earned() == "8"
    FollowedAccount.objects.update(first_slot=token.block_number + 1)
    assert earned() == "history_not_read"


def test_pages_of_both_lists(read):
    made = [
        launch(CREATOR, contract_address=f"0x{number:040x}", deployed_at=FIRST + timedelta(hours=number))
        for number in range(1, 6)
    ]
    newest = [token.pk for token in reversed(made)]
    for name, cursor in (("launches", "cursor"), ("recipientOf", "recipientCursor")):
        found, place = [], {}
        for size in (2, 2, 1):
            data = read(limit=2, **place)
            assert len(data[name]) == size
            found += [entry["token"]["id"] for entry in data[name]]
            place = {cursor: data[cursor]}
        assert (found, data[cursor]) == (newest, None)
    data = read(limit=0)
    assert (data["launches"], data["recipientOf"], data["totals"]["launches"]) == ([], [], 5)


def test_any_number_of_launches_costs_the_same_queries(fetch, django_assert_num_queries):
    def queries(count):
        with django_assert_num_queries(count):
            fetch()

    for number in range(1, 4):
        collect(launch(ALICE, CREATOR, contract_address=f"0x{number:040x}"), (1, 1), (1, 1))
    queries(14)
    for number in range(4, 9):
        token = launch(ALICE, CREATOR, BOB, contract_address=f"0x{number:040x}")
        collect(token, (1, 1, 1), (1, 1, 1))
        claim(ALICE, token.contract_address, 1, token=token)
    queries(14)


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
    """Return the arguments of a recorded transaction's logs of an event."""
    return [log["args"] for log in decoded(label)["decodedLogs"] if log["event"] == event]


def waiting(data, name="launches"):
    return {(fees["recipient"], fees["symbol"]): fees["waiting"] for fees in data[name][0]["fees"]}


def test_waiting_fees_are_read_once_for_all_callers(read, installed_node, node):
    token = index_launch(mined("deploy-token1"))
    found = waiting(read(token.msg_sender, includeWaiting=1))
    (recipient,) = (each["recipient"] for each in token.extensions["fees"]["recipients"])
    for symbol in (token.symbol, "WETH"):
        assert int(found[recipient, symbol]["pending"]) >= 0
        assert found[recipient, symbol]["reason"] is None and found[recipient, symbol]["blockNumber"] > 0
    assert sum(int(each["pending"]) for each in found.values()) > 0
    before = len(node.calls)
    assert waiting(read(recipient, includeWaiting=1), "recipientOf") == found
    assert len(node.calls) == before


def test_waiting_fees_are_unknown_for_a_reason(read, installed_node, node):
    unknown = index_launch(mined("deploy-multi-recipients"))
    assert "conversion_unknown" in {
        each["reason"] for each in waiting(read(unknown.msg_sender, includeWaiting=1)).values()
    }
    token = TokenFactory(chain_id=1, msg_sender=CREATOR, extensions=shares(ALICE))
    assert {each["reason"] for each in waiting(read(includeWaiting=1)).values()} == {"chain_unavailable"}
    Token.objects.filter(pk=token.pk).update(chain_id=8453, locker_address="")
    assert {each["reason"] for each in waiting(read(includeWaiting=1)).values()} == {"unreadable"}
    Token.objects.filter(pk=token.pk).update(locker_address=ALICE)
    node.behave = lambda body: Reply(b"", status=503)
    assert {each["reason"] for each in waiting(read(includeWaiting=1)).values()} == {"node_unavailable"}


def test_few_tokens_of_a_request_are_read_from_the_chain(read, installed_node, node):
    for number in range(1, 8):
        launch(contract_address=f"0x{number:040x}", chain_id=1)
    data = read(includeWaiting=1)
    reasons = [entry["fees"][0]["waiting"]["reason"] for entry in data["launches"]]
    assert reasons == ["chain_unavailable"] * 5 + ["not_read"] * 2
    assert node.calls == []


def test_the_ledger_is_as_described(fetch, description, installed_node):
    SocialProfileFactory(fid=FID)
    token = launch(ALICE, CREATOR, requestor_fid=FID, requestor_address=CREATOR)
    collect(token, (1, 1), (1, 1))
    claim(CREATOR, WETH, 10)
    price(token, market_cap=1, volume_24h=2)
    for creator in (FID, CREATOR):
        for parameters in ({}, {"includeWaiting": 1, "days": 90, "limit": 1}):
            check(description, "/api/creators/{creator}", fetch(creator, **parameters).json())
    check(description, "/api/creators/{creator}", fetch("x").json(), status=400)

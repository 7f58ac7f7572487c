"""GET /api/tokens/{chainId}/{address}/integrity, from stored rows."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone
from solders.pubkey import Pubkey

from config.processes.concurrency_limits import shared_run_slot
from development.standins.loopback import Reply
from tests.rows.factories import (
    CoverageFactory,
    FeeClaimFactory,
    FollowedBlockFactory,
    SolanaTokenFactory,
    TokenEventFactory,
    TokenFactory,
)
from tests.rows.many_tokens import multiply
from tests.rows.refusals import assert_refused
from tests.tokens.integrity.followed_launches import fetch_integrity, forget_reports
from tests.tokens.market.stored_trades import WEEK, make_trade, make_traded_token, make_weeks
from tokens.chains.addresses import checksum_bytes
from tokens.chains.pool_types import chain_position
from tokens.following.coverage import followed_makers
from tokens.installation.installed_registry import registry
from tokens.integrity.dev_accounts import MOST_CLAIMS
from tokens.integrity.first_trades import MOST_TRADES
from tokens.models import FollowedAccount, FollowedBlock, LaunchFacts, PoolLiquidityChange, PoolTrade, Token

pytestmark = pytest.mark.django_db

CHAIN = 8453
# The launch's block, in WEEK's first second; its transaction's index there, and its log.
BLOCK, LAUNCH_PLACE, LAUNCH_LOG = 1, 50, 50
DEPLOYER, REQUESTOR, ADMIN, BUYER = (checksum_bytes(bytes([number]) * 20) for number in range(1, 5))
SUPPLY = 1_000


def wallet(number):
    return bytes([100 + number]) * 20


def address(number):
    return checksum_bytes(wallet(number))


@pytest.fixture
def token():
    make_weeks(3)
    columns = {"msg_sender": DEPLOYER, "requestor_address": REQUESTOR, "admin": ADMIN, "supply": Decimal(SUPPLY)}
    token = make_traded_token(block_number=BLOCK, log_index=LAUNCH_LOG, tx_hash="0x" + "1a" * 32, **columns)
    place = {"position": chain_position(BLOCK, 30), "at": WEEK, "tx_hash": b"\x1a" * 32, "tx_index": LAUNCH_PLACE}
    PoolLiquidityChange.objects.create(token=token, tick_lower=-60, tick_upper=60, liquidity=1, **place)
    return token


def buy(token, number, amount, *, block=BLOCK, log_index=60, **columns):
    """Make a purchase; by default its transaction index is its log index."""
    values = {"trader": wallet(number), "amount_token": amount, "tx_hash": bytes([number]) * 32, "tx_index": log_index}
    values |= {"at": WEEK + timedelta(seconds=2 * (block - BLOCK))}
    return make_trade(token, block=block, log_index=log_index, **values | columns)


def sell(token, number, amount, **columns):
    return buy(token, number, amount, is_buy=False, **columns)


def in_launch(token, amount, **columns):
    """Make the launch's own purchase, which the deployer sends."""
    token.extensions["devBuy"] = {"amount": str(amount), "amountEth": "1", "recipient": BUYER}
    token.save()
    launch = {"tx_hash": b"\x1a" * 32, "trader": bytes.fromhex(DEPLOYER[2:]), "tx_index": LAUNCH_PLACE, "log_index": 40}
    return buy(token, 0, amount, **launch | columns)


def fetch(token, **parameters):
    forget_reports()
    return Client().get(f"/api/tokens/{token.chain_id}/{token.contract_address}/integrity", parameters)


def unknown_of(facts):
    return [each["fact"] for each in facts["unknown"]]


def shares(holders):
    return [(each["account"], each["amount"], each["percent"]) for each in holders]


def test_it_has_the_contracts_fields(token):
    in_launch(token, 20)
    facts = fetch_integrity(token, page=1)
    bought = {
        "account": BUYER,
        "isDev": True,
        "side": "buy",
        "amount": "20",
        "percent": 2.0,
        "txHash": token.tx_hash,
        "block": BLOCK,
        "logIndex": 40,
        "at": "2026-01-05T00:00:00.000Z",
    }
    holding = {
        "bought": "20",
        "sold": "0",
        "received": "0",
        "amount": "20",
        "percent": 2.0,
        "trades": 1,
        "transactions": [bought],
    }
    nothing = {
        "bought": "0",
        "sold": "0",
        "received": "0",
        "amount": "0",
        "percent": 0.0,
        "trades": 0,
        "transactions": [],
    }
    share = {"amount": "20", "percent": 2.0}
    purchases = {"buyers": 1, "count": 1, **share, "purchases": [bought]}
    roles = [(DEPLOYER, "deployer"), (REQUESTOR, "requestor"), (ADMIN, "admin"), (BUYER, "launchBuyer")]
    assert {name: value for name, value in facts.items() if name != "unknown"} == {
        "chainId": CHAIN,
        "address": token.contract_address,
        "supply": str(SUPPLY),
        "launch": {"txHash": token.tx_hash, "block": BLOCK, "logIndex": LAUNCH_LOG, "at": "2026-01-05T00:00:00.000Z"},
        "seconds": 60,
        "trades": {"counted": 1, "isComplete": True, "lastBlock": BLOCK, "lastAt": "2026-01-05T00:00:00.000Z"},
        "dev": {
            "accounts": [
                {
                    "account": account,
                    "roles": [role, "currentAdmin"] if role == "admin" else [role],
                    "atLaunch": holding if role == "launchBuyer" else nothing,
                    "now": holding if role == "launchBuyer" else nothing,
                    "balance": None,
                }
                for account, role in roles
            ],
            "atLaunch": share,
            "now": share,
            "vaultClaimed": {"amount": "0", "percent": 0.0, "transactions": []},
        },
        "firstBlock": purchases,
        "firstSeconds": purchases,
        "bundles": {"count": 0, "purchases": 0, "amount": "0", "percent": 0.0, "list": []},
        "holders": {
            when: [{"account": BUYER, "isDev": True, **holding, "balance": None}] for when in ("atLaunch", "now")
        },
        "soldWithoutPurchase": {"accounts": 0, "amount": "0", "percent": 0.0},
        "balancesBlock": None,
    }
    assert unknown_of(facts) == ["transfers", "funders", "launchTrades", "balances"]
    assert all(each["reason"] for each in facts["unknown"])


def test_it_is_cached_and_names_ignored_parameters(token):
    buy(token, 1, 10)
    answer = fetch(token, page=1)
    assert answer.headers["Cache-Control"] == "public, s-maxage=15"
    assert answer.headers["X-Ignored-Params"] == "page"
    buy(token, 2, 10, log_index=61)
    path = f"/api/tokens/{token.chain_id}/{token.contract_address}/integrity"
    assert Client().get(path).json()["trades"]["counted"] == 1
    assert fetch_integrity(token)["trades"]["counted"] == 2


def test_a_report_has_five_queries_and_a_cached_one_has_one(token, django_assert_num_queries):
    for number in range(20):
        buy(token, number, 10, block=BLOCK + number, log_index=number)
    path = f"/api/tokens/{token.chain_id}/{token.contract_address}/integrity"
    forget_reports()
    with django_assert_num_queries(5):
        Client().get(path)
    with django_assert_num_queries(1):
        Client().get(path)


def test_the_recipient_of_the_launchs_purchase_counts_and_not_its_sender(token):
    in_launch(token, 20)
    # The transaction's second purchase is the sender's.
    in_launch(token, 30, log_index=45)
    Token.objects.filter(pk=token.pk).update(extensions=token.extensions)
    assert shares(fetch_integrity(token)["holders"]["now"]) == [(DEPLOYER, "30", 3.0), (BUYER, "20", 2.0)]


def test_a_launchs_purchase_without_a_stored_trade_is_that_of_the_launch(token):
    token.extensions["devBuy"] = {"amount": "20", "amountEth": "1", "recipient": BUYER}
    token.save()
    (holder,) = fetch_integrity(token)["holders"]["now"]
    (made,) = holder["transactions"]
    assert (holder["account"], made["amount"], made["txHash"]) == (BUYER, "20", token.tx_hash)
    assert (made["block"], made["logIndex"]) == (BLOCK, LAUNCH_LOG)


def test_the_first_block_and_the_first_seconds_have_their_purchases(token):
    buy(token, 1, 10)
    sell(token, 1, 5, log_index=61)
    buy(token, 2, 20, block=BLOCK + 15)
    buy(token, 3, 30, block=BLOCK + 16)
    buy(token, 4, 40, log_index=62, is_conversion=True)

    def figures(**parameters):
        facts = fetch_integrity(token, **parameters)
        return [
            (facts[name]["buyers"], facts[name]["count"], facts[name]["amount"])
            for name in ("firstBlock", "firstSeconds")
        ]

    assert figures(seconds=30) == [(1, 1, "10"), (2, 2, "30")]
    assert figures(seconds=60) == [(1, 1, "10"), (3, 3, "60")]


def test_holders_are_the_ten_largest_net_purchases_at_launch_and_now(token):
    for number in range(12):
        buy(token, number, 10 + number // 2, log_index=60 + number)
    sell(token, 11, 15, block=BLOCK + 100)
    buy(token, 20, 100, block=BLOCK + 100, log_index=61)
    holders = fetch_integrity(token)["holders"]
    equal = [sorted([address(2 * pair), address(2 * pair + 1)]) for pair in range(6)]
    expected = [account for pair in (5, 4, 3, 2, 1) for account in equal[pair]]
    assert [each["account"] for each in holders["atLaunch"]] == expected
    assert shares(holders["now"])[:2] == [(address(20), "100", 10.0), (address(10), "15", 1.5)]
    assert address(11) not in [each["account"] for each in holders["now"]]


def test_a_holder_has_its_first_five_transactions_and_the_number_of_all(token):
    for number in range(7):
        buy(token, 1, 10, log_index=60 + number, block=BLOCK + number)
    (holder,) = fetch_integrity(token)["holders"]["now"]
    assert (holder["trades"], [each["block"] for each in holder["transactions"]]) == (7, [1, 2, 3, 4, 5])


def test_bundles_have_their_kinds_sums_and_purchases(token):
    buy(token, 1, 10, tx_index=LAUNCH_PLACE + 1)
    buy(token, 2, 20, block=BLOCK + 5)
    buy(token, 2, 30, block=BLOCK + 5, log_index=90)
    buy(token, 3, 40, block=BLOCK + 100)
    buy(token, 3, 40, block=BLOCK + 100, log_index=61)
    bundles = fetch_integrity(token)["bundles"]
    assert (bundles["count"], bundles["purchases"], bundles["amount"], bundles["percent"]) == (2, 3, "60", 6.0)
    found = [(each["kinds"], each["block"], each["count"], each["buyers"], each["amount"]) for each in bundles["list"]]
    assert found == [
        (["consecutive", "withLaunch"], BLOCK, 1, 1, "10"),
        (["sameTransaction"], BLOCK + 5, 2, 1, "50"),
    ]
    assert [each["logIndex"] for each in bundles["list"][1]["purchases"]] == [60, 90]


def test_transactions_whose_places_are_not_stored_have_no_neighbours(token):
    buy(token, 1, 10, tx_index=LAUNCH_PLACE + 1)
    buy(token, 2, 20, tx_index=LAUNCH_PLACE + 2, log_index=61)
    assert fetch_integrity(token)["bundles"]["count"] == 1 and "transactionPlaces" not in unknown_of(
        fetch_integrity(token)
    )
    for rows in (PoolTrade.objects.filter(tx_hash=bytes([2]) * 32), PoolLiquidityChange.objects.all()):
        rows.update(tx_index=None)
        assert "transactionPlaces" in unknown_of(fetch_integrity(token))
    assert fetch_integrity(token)["bundles"]["count"] == 0


def test_lists_are_bounded_and_their_sums_are_not(token):
    for number in range(40):
        for log_index in range(12):
            buy(token, number, 1, block=BLOCK + number % 20, log_index=100 * number + log_index)
    facts = fetch_integrity(token)
    assert (facts["firstSeconds"]["count"], len(facts["firstSeconds"]["purchases"])) == (480, 25)
    assert (facts["bundles"]["purchases"], len(facts["bundles"]["list"])) == (480, 10)
    assert {len(each["purchases"]) for each in facts["bundles"]["list"]} == {10}


def test_dev_accounts_have_what_stored_claims_paid(token):
    in_launch(token, 20)
    sell(token, 0, 50, trader=bytes.fromhex(ADMIN[2:]), block=BLOCK + 200)
    paid = TokenEventFactory(token=token)
    FeeClaimFactory(event=paid, recipient=ADMIN, currency=token.contract_address, amount=7)
    FeeClaimFactory(event=paid, recipient=ADMIN, currency=token.paired_token, amount=1000)
    FeeClaimFactory(event=paid, recipient=address(9), currency=token.contract_address, amount=1000)
    for total in (2, 5):
        claimed = {"user": BUYER, "totalUserAmountClaimed": str(total), "userAmountStillLocked": "0"}
        TokenEventFactory(token=token, kind="airdrop_claimed", arguments=claimed)
    vault = TokenEventFactory(token=token, kind="vault_claimed", arguments={"amount": "300", "remainingAmount": "0"})
    facts = fetch_integrity(token)
    now = {each["account"]: each["now"] for each in facts["dev"]["accounts"]}
    assert [now[BUYER][name] for name in ("bought", "received", "amount")] == ["20", "5", "25"]
    assert [now[ADMIN][name] for name in ("sold", "received", "amount")] == ["50", "7", "-43"]
    assert facts["dev"]["now"] == {"amount": "-18", "percent": -1.8}
    assert facts["dev"]["atLaunch"] == {"amount": "20", "percent": 2.0}
    assert facts["dev"]["vaultClaimed"] == {
        "amount": "300",
        "percent": 30.0,
        "transactions": [{"txHash": vault.tx_hash, "block": vault.block_number, "logIndex": vault.log_index}],
    }
    assert "vaultRecipients" in unknown_of(facts) and "claims" not in unknown_of(facts)
    assert facts["soldWithoutPurchase"] == {"accounts": 1, "amount": "43", "percent": 4.3}


def test_the_admin_of_the_launch_and_the_current_one_are_both_dev_accounts(token):
    LaunchFacts.objects.filter(token=token).update(facts={"pool": {"pair_decimals": 18}, "admin": address(5)})
    roles = {each["account"]: each["roles"] for each in fetch_integrity(token)["dev"]["accounts"]}
    assert (roles[address(5)], roles[ADMIN]) == (["admin"], ["currentAdmin"])


def test_what_is_left_out_is_named(token):
    buy(token, 1, 10)
    buy(token, 2, 10, block=BLOCK + 1, trader=None)
    facts = fetch_integrity(token)
    assert "traders" in unknown_of(facts) and "laterTrades" not in unknown_of(facts)
    assert (facts["firstSeconds"]["count"], facts["firstSeconds"]["buyers"]) == (2, 1)
    assert facts["firstSeconds"]["purchases"][1]["account"] is None


def test_more_trades_and_claims_than_are_read_are_named(token):
    multiply(buy(token, 1, 10), {"position": "position + n"}, rows=MOST_TRADES + 1)
    multiply(TokenEventFactory(token=token), {"id": "id + n", "log_index": "n"}, rows=MOST_CLAIMS + 1)
    facts = fetch_integrity(token)
    assert {"laterTrades", "claims"} <= set(unknown_of(facts))
    assert (facts["trades"]["counted"], facts["trades"]["isComplete"]) == (MOST_TRADES, False)


@pytest.mark.parametrize(("days", "is_unknown"), [(0, False), (1, True)])
def test_trades_of_a_launch_that_are_no_longer_stored_are_unknown(token, settings, days, is_unknown):
    settings.TRADE_DAYS = days
    assert ("expiredTrades" in unknown_of(fetch_integrity(token))) == is_unknown
    Token.objects.update(deployed_at=timezone.now())
    assert "expiredTrades" not in unknown_of(fetch_integrity(token))


@pytest.mark.parametrize("supply", [None, 0])
def test_without_a_supply_there_are_no_shares(token, supply):
    buy(token, 1, 10)
    Token.objects.filter(pk=token.pk).update(supply=supply)
    facts = fetch_integrity(token)
    assert (facts["firstBlock"]["amount"], facts["firstBlock"]["percent"]) == ("10", None)
    assert "supply" in unknown_of(facts)


def test_whether_the_launchs_block_was_read_for_trades(token, settings):
    makers = sorted(followed_makers(registry().chains[CHAIN]))
    other = {"chain_id": CHAIN, "first_block": 0, "last_block": None, "addresses": ["0x" + "1" * 40]}
    CoverageFactory(**other, followed_to=BLOCK, verified_to=-1)
    CoverageFactory(chain_id=CHAIN, first_block=BLOCK + 1, followed_to=BLOCK + 9, verified_to=BLOCK, addresses=makers)
    Token.objects.update(confirmed=True)
    assert "launchTrades" in unknown_of(fetch_integrity(token))
    CoverageFactory(chain_id=CHAIN, first_block=BLOCK, followed_to=BLOCK, verified_to=BLOCK - 1, addresses=makers)
    assert "launchTrades" not in unknown_of(fetch_integrity(token))
    # Not final yet: the block is in the reorg window.
    Token.objects.update(confirmed=False)
    FollowedBlockFactory(chain_id=CHAIN, number=BLOCK)
    assert "launchTrades" in unknown_of(fetch_integrity(token))
    FollowedBlock.objects.update(hash=token.block_hash)
    assert "launchTrades" not in unknown_of(fetch_integrity(token))
    settings.MARKET_PROVIDER_CHAINS = (CHAIN,)
    assert "launchTrades" in unknown_of(fetch_integrity(token))


def test_a_token_of_solana(db):
    make_weeks(1)
    creator, config = (str(Pubkey(bytes([number]) * 32)) for number in (7, 8))
    columns = {"deployed_at": WEEK, "block_number": BLOCK, "supply": Decimal(SUPPLY), "requestor_address": creator}
    token = SolanaTokenFactory(**columns)
    LaunchFacts.objects.create(token=token, facts={"pool": {"pair_decimals": 9}, "curve_config": config})
    for place in (3, 4, 6):
        signature, trader = bytes([place]) * 64, bytes([place]) * 32
        make_trade(token, log_index=place * 128, tx_hash=signature, trader=trader, amount_token=10)
    facts = fetch_integrity(token)
    (bundle,) = facts["bundles"]["list"]
    assert (bundle["kinds"], bundle["count"]) == (["consecutive"], 2)
    assert facts["holders"]["now"][0]["account"] == str(Pubkey(bytes([3]) * 32))
    assert unknown_of(facts) == ["transfers", "funders", "transactionPlaces", "launchTrades", "solanaBalances"]
    FollowedAccount.objects.create(chain_id=token.chain_id, address=config, complete_to=BLOCK)
    assert "launchTrades" not in unknown_of(fetch_integrity(token))


def test_a_blocked_tokens_facts_are_there_and_a_dropped_launchs_are_not(token):
    Token.objects.update(blocked=True)
    assert fetch(token).status_code == 200
    Token.objects.update(unindexed=True)
    assert_refused(fetch(token), 404, "Token not found")


def test_a_token_without_stored_launch_facts_has_a_report(db):
    make_weeks(1)
    token = TokenFactory(deployed_at=WEEK)
    assert fetch_integrity(token)["trades"] == {"counted": 0, "isComplete": True, "lastBlock": None, "lastAt": None}


def test_while_too_many_threads_wait_it_is_computed_without_balances(token):
    buy(token, 1, 10)
    with shared_run_slot(), shared_run_slot():
        facts = fetch_integrity(token)
    assert facts["trades"]["counted"] == 1 and "balances" in unknown_of(facts)


def test_a_node_that_fails_leaves_the_facts_of_trades_and_is_not_called_again_at_once(token, installed_node):
    buy(token, 1, 10)
    installed_node.behave = lambda body: Reply(b"", status=503)
    facts = fetch_integrity(token)
    assert (facts["balancesBlock"], facts["holders"]["now"][0]["balance"]) == (None, None)
    assert facts["trades"]["counted"] == 1 and unknown_of(facts)[-1] == "balances"
    calls = len(installed_node.calls)
    assert Client().get(f"/api/tokens/{token.chain_id}/{token.contract_address}/integrity").json() == facts
    assert len(installed_node.calls) == calls


def test_without_redis_it_is_there(token, settings):
    buy(token, 1, 10)
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    path = f"/api/tokens/{token.chain_id}/{token.contract_address}/integrity"
    assert Client().get(path).json()["trades"]["counted"] == 1


def test_claims_of_a_declared_launchpad_are_unknown(token):
    Token.objects.filter(pk=token.pk).update(generation="zora")
    bought = buy(token, 1, 40)
    facts = fetch(token).json()
    assert bought.amount_token == 40 and facts["firstBlock"]["amount"] == "40"
    assert facts["dev"]["vaultClaimed"] is None
    holdings = [*(each["now"] for each in facts["dev"]["accounts"]), *facts["holders"]["now"]]
    assert {holding["received"] for holding in holdings} == {None} and len(holdings) == 4
    assert "launchpadClaims" in unknown_of(facts)

"""Facts about the recorded launches on Base and Solana, from the trades that the follower stores.

No threshold was chosen by these chains' sequences: Base's recording has one transaction in each block, and Solana's
has one swap.
"""

import pytest

from tests.nodes.recordings import RECORDED_LAUNCHES, decoded, mined
from tests.nodes.solana.recorded import CREATOR, MINT, PARTNER, SWAP
from tests.tokens.following.test_solana_trades import take_rounds
from tests.tokens.integrity.followed_launches import fetch_integrity, follow_recorded_chain
from tokens.chains.addresses import checksum_address
from tokens.models import PoolTrade, Token

pytestmark = pytest.mark.django_db(transaction=True)

BASE = 8453
# Launches with a purchase in their transaction.
WITH_PURCHASE = ("legacy-v0-deploy", "legacy-v2-deploy", "legacy-v31-deploy", "deploy-devbuy")
TRADER = "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc"


@pytest.fixture
def followed(installed_node, settings):
    settings.FOLLOW_FROM = {BASE: 0}
    follow_recorded_chain(installed_node, BASE)
    assert not PoolTrade.objects.filter(trader=None).exists()


def sender_of(label):
    return checksum_address(mined(label).transaction["from"])


def purchase_of(label):
    """Return the launch purchase's amount from the other decoder's logs; None without one."""
    swaps = [log["args"] for log in decoded(label)["decodedLogs"] if log["event"] == "Swap"]
    if not swaps:
        return None
    (swap,) = swaps
    # The pool pays one currency: the amount is negative up to v3.1, and positive in v4, which logs swappers' amounts.
    sign = 1 if label == "deploy-devbuy" else -1
    return max(sign * int(swap[name]) for name in ("amount0", "amount1"))


def test_a_recorded_launch_has_its_own_purchase_in_its_block_and_no_bundle(followed):
    for label in RECORDED_LAUNCHES:
        facts = fetch_integrity(Token.objects.get(tx_hash=mined(label).hash))
        first = facts["firstBlock"]
        bought = purchase_of(label)
        assert (bought is not None) == (label in WITH_PURCHASE), label
        assert (first["count"], first["amount"]) == ((1, str(bought)) if bought else (0, "0")), label
        assert facts["bundles"]["count"] == 0, label
        assert all(purchase["isDev"] for purchase in first["purchases"]), label
        assert "launchTrades" not in [each["fact"] for each in facts["unknown"]], label
        assert not {"traders", "transactionPlaces"} & {each["fact"] for each in facts["unknown"]}, label
        # These balances were not recorded.
        assert facts["balancesBlock"] == 209 and facts["dev"]["accounts"][0]["balance"] is None


def test_accounts_of_a_recorded_launch_are_its_sender_admin_and_buyer(followed):
    token = Token.objects.get(tx_hash=mined("deploy-devbuy").hash)
    accounts = {each["account"]: each["roles"] for each in fetch_integrity(token)["dev"]["accounts"]}
    recipient = token.extensions["devBuy"]["recipient"]
    assert "deployer" in accounts[sender_of("deploy-devbuy")] and "launchBuyer" in accounts[recipient]
    assert set(accounts) == {token.msg_sender, token.admin, recipient}


def test_a_later_buyer_is_a_holder_now_with_both_trades(followed):
    token = Token.objects.get(tx_hash=mined("deploy-plain").hash)
    facts = fetch_integrity(token)
    assert facts["holders"]["atLaunch"] == []
    holder, dev = sorted(facts["holders"]["now"], key=lambda each: each["isDev"])
    # The admin has claimed fees in the token, and bought none.
    claimed = next(log["args"] for log in decoded("claim-token-plain")["decodedLogs"] if log["event"] == "Transfer")
    assert (dev["account"], dev["amount"], dev["trades"]) == (claimed["to"], claimed["value"], 0)
    assert dev["received"] == facts["dev"]["now"]["amount"] == claimed["value"]
    assert (holder["account"], holder["trades"], holder["isDev"]) == (TRADER, 2, False)
    hashes = [mined(label).hash for label in ("swap-buy-plain", "swap-sell-plain")]
    assert [made["txHash"] for made in holder["transactions"]] == hashes
    assert int(holder["amount"]) == int(holder["bought"]) - int(holder["sold"]) > 0


def test_the_recorded_launch_of_solana(faulty_solana, settings):
    settings.RPC_BATCH_SIZE, settings.FOLLOW_CONCURRENCY = 4, 2
    settings.RPC_ATTEMPTS, settings.RPC_PATIENCE_SECONDS = 1, 5.0
    take_rounds()
    facts = fetch_integrity(Token.objects.get(contract_address=MINT), seconds=600)
    (holder,) = facts["holders"]["now"]
    assert [made["txHash"] for made in holder["transactions"]] == [SWAP]
    assert (facts["bundles"]["count"], holder["balance"], facts["balancesBlock"]) == (0, None, None)
    accounts = {each["account"]: each["roles"] for each in facts["dev"]["accounts"]}
    assert accounts == {PARTNER: ["deployer"], CREATOR: ["requestor", "admin", "currentAdmin"]}
    assert [each["fact"] for each in facts["unknown"]] == [
        "transfers",
        "funders",
        "transactionPlaces",
        "solanaBalances",
    ]


def test_neighbours_in_a_slot_of_solana_are_a_bundle_and_others_are_not(faulty_solana, settings):
    settings.RPC_ATTEMPTS, settings.RPC_PATIENCE_SECONDS = 1, 5.0
    made = [faulty_solana.swap(f"swap {number}", slot=1003) for number in range(3)]
    take_rounds()
    facts = fetch_integrity(Token.objects.get(contract_address=MINT), seconds=600)
    places = [trade.log_index >> 7 for trade in PoolTrade.objects.filter(position__lt=1004 << 20).order_by("position")]
    assert len(places) == 3 and places == list(range(places[0], places[0] + 3))
    (bundle,) = facts["bundles"]["list"]
    assert ({purchase["txHash"] for purchase in bundle["purchases"]}, bundle["kinds"]) == (set(made), ["consecutive"])

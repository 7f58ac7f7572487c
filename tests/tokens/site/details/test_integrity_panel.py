"""Panel with the facts about a launch on a token's page."""

from datetime import timedelta
from decimal import Decimal

import pytest

from config.processes.concurrency_limits import shared_run_slot
from tests.html_pages import read_page
from tests.rows.factories import TokenEventFactory, TokenFactory
from tests.tokens.integrity.followed_launches import forget_reports
from tests.tokens.market.stored_trades import TRADER, WEEK, make_trade, make_traded_token, make_weeks
from tokens.chains.pool_types import chain_position
from tokens.integrity.bundle_detection import BUNDLE_KINDS
from tokens.integrity.dev_accounts import DEV_ROLES
from tokens.integrity.unknown_facts import UNKNOWN_REASONS
from tokens.models import PoolLiquidityChange, Token
from tokens.site.details.integrity_panel import KIND_TEXTS, ROLE_TEXTS, UNKNOWN_TEXTS
from tokens.trades.trade_rows import transaction_bytes

pytestmark = pytest.mark.django_db

RECIPIENT = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"


@pytest.fixture
def token():
    make_weeks(1)
    token = make_traded_token(block_number=1, log_index=5, supply=Decimal(10**21), msg_sender=TRADER, admin=RECIPIENT)
    token.extensions["devBuy"] = {"amount": str(20 * 10**18), "amountEth": "1", "recipient": RECIPIENT}
    token.save()
    place = {"position": chain_position(1, 1), "at": WEEK, "tx_hash": transaction_bytes(token.tx_hash), "tx_index": 0}
    PoolLiquidityChange.objects.create(token=token, tick_lower=-60, tick_upper=60, liquidity=1, **place)
    return token


def panel_of(client, token):
    """Return the panel's visible text, with single blanks."""
    forget_reports()
    answer = client.get(f"/tokens/{token.chain_id}/{token.contract_address}")
    assert answer.status_code == 200
    words = " ".join(" ".join(read_page(answer).texts).split())
    return words[words.index("First buyers and holders") :]


def test_all_codes_of_the_api_have_a_text():
    assert set(ROLE_TEXTS) == set(DEV_ROLES)
    assert set(KIND_TEXTS) == set(BUNDLE_KINDS)
    assert set(UNKNOWN_TEXTS) == set(UNKNOWN_REASONS)


def test_it_has_the_facts_in_words(client, token):
    make_trade(token, log_index=10, tx_index=1, amount_token=30 * 10**18)
    make_trade(token, block=3, log_index=1, tx_hash=b"\7" * 32, trader=b"\7" * 20, amount_token=5 * 10**18)
    make_trade(token, block=3, log_index=2, tx_hash=b"\7" * 32, trader=b"\7" * 20, amount_token=5 * 10**18)
    at = WEEK + timedelta(minutes=5)
    make_trade(token, block=200, at=at, is_buy=False, amount_token=10 * 10**18)
    for block, amount in ((201, 3), (202, 1)):
        make_trade(token, block=block, at=at, trader=bytes([block] * 20), is_buy=False, amount_token=amount * 10**18)
    words = panel_of(client, token)
    for text in (
        "Facts from the first 7 trades in the token's pool.",
        "In the launch's block 5% (50.0) in 2 purchases of 2 accounts",
        "In the first 60 seconds 6% (60.0) in 4 purchases of 3 accounts",
        "Of these in bundles 6% (60.0) in 2 bundles",
        "Sold without a purchase 0.4% (4.00) by 2 accounts; at least as much was transferred to them",
        "Block 1 : 5% (50.0) in 2 purchases of 2 accounts transactions next to one another, together with the launch",
        "Block 3 : 1% (10.0) in 2 purchases of 1 account several in one transaction",
        "0x7099…79C8 sent the launch after 60 seconds 3% (30.0) by all counted trades and claims 2% (20.0)",
        "0x3C44…93BC admin at launch, admin now, bought in the launch after 60 seconds 2% (20.0)",
        "Largest buyers after 60 seconds 0x7099…79C8 3% (30.0) behind the launch 0x3C44…93BC 2% (20.0)",
        "What is not known Transfers between accounts: an account may hold more or less than it bought.",
    ):
        assert text in words, words


def test_a_token_without_trades_has_an_empty_panel(client):
    words = panel_of(client, TokenFactory())
    assert "In the launch's block nothing" in words and "Of these in bundles nothing" in words
    assert "Sold without a purchase nothing" in words
    assert "No account is known that bought more than it sold." in words
    assert "the block of the launch was not read for trades" in words


def test_without_a_supply_it_has_amounts_only(client, token):
    Token.objects.update(supply=None)
    make_trade(token, log_index=10, amount_token=30 * 10**18)
    assert "In the launch's block 50.0 in 2 purchases" in panel_of(client, token)


def test_while_too_many_threads_wait_it_is_computed_all_the_same(client, token):
    with shared_run_slot(), shared_run_slot():
        assert "In the launch's block 2% (20.0)" in panel_of(client, token)


def test_a_cached_panel_costs_no_query(client, token, django_assert_num_queries):
    TokenEventFactory(token=token)
    make_trade(token, log_index=10)
    path = f"/tokens/{token.chain_id}/{token.contract_address}"
    forget_reports()
    client.get(path)
    with django_assert_num_queries(9):
        client.get(path)

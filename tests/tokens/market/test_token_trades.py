"""GET /api/tokens/{chainId}/{address}/trades."""

from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st
from solders.pubkey import Pubkey
from solders.signature import Signature

from tests.rows.factories import SolanaTokenFactory
from tests.rows.refusals import assert_refused
from tests.rows.token_lists import content_of, cursor_of
from tests.tokens.market.stored_trades import LOCKER, TRADER, WEEK, make_trade, make_traded_token, make_weeks
from tokens.models import LaunchFacts, PoolTrade, Token

pytestmark = pytest.mark.django_db


@pytest.fixture
def token():
    make_weeks(3)
    return make_traded_token()


def fetch(token, **parameters):
    return Client().get(f"/api/tokens/{token.chain_id}/{token.contract_address}/trades", parameters)


def trades_of(answer):
    assert answer.status_code == 200, answer.content
    return answer.json()["data"]


def walk(token, limit, between_pages=lambda number: None):
    """Return the ids of all pages, with a change between two pages."""
    found, cursor = [], {}
    for number in range(100):
        answer = fetch(token, limit=limit, **cursor)
        page = trades_of(answer)
        found += [trade["id"] for trade in page]
        if answer.json()["cursor"] is None:
            return found
        assert len(page) == limit, "only the last page may be short"
        cursor = {"cursor": answer.json()["cursor"]}
        between_pages(number)
    raise AssertionError("the walk must come to an end")


def test_a_trade_has_exactly_the_contracts_fields(token):
    make_trade(
        token,
        block=7,
        log_index=3,
        is_buy=False,
        amount_token=3 * 10**18,
        amount_quote=2 * 10**18 + 1,
        # The pool's price after the trade is another one.
        price=Decimal("0.9"),
        quote_usd=Decimal("3000.5"),
    )
    answer = fetch(token, page=1)
    assert answer.json() == {
        "data": [
            {
                "id": 7 * 2**20 + 3,
                "at": "2026-01-05T00:00:07.000Z",
                "block": 7,
                "txHash": "0x" + "0" * 63 + "7",
                "logIndex": 3,
                "side": "sell",
                "amountToken": "3000000000000000000",
                "amountQuote": "2000000000000000001",
                "poolAmountQuote": "2000000000000000001",
                "protocolFee": None,
                "tokenFee": None,
                "priceQuote": 2 / 3,
                "priceUsd": 2 / 3 * 3000.5,
                "valueUsd": 6001.0,
                "trader": TRADER,
            }
        ],
        "cursor": None,
    }
    assert answer.headers["Cache-Control"] == "public, s-maxage=2"
    assert answer.headers["X-Ignored-Params"] == "page"


def test_no_price_in_usd_is_null(token):
    make_trade(token)
    (trade,) = trades_of(fetch(token))
    assert (trade["priceUsd"], trade["valueUsd"], trade["priceQuote"]) == (None, None, 1.0)


@pytest.mark.parametrize(("is_buy", "amount"), [(True, 1_012), (False, 988)])
def test_amounts_and_values_are_what_the_trader_paid_or_got(token, is_buy, amount):
    make_trade(token, is_buy=is_buy, amount_quote=1_000 * 10**15, protocol_fee=12 * 10**15, quote_usd=Decimal(2))
    (trade,) = trades_of(fetch(token))
    found = [trade[name] for name in ("amountQuote", "poolAmountQuote", "protocolFee")]
    assert found == [f"{amount}{'0' * 15}", f"1000{'0' * 15}", f"12{'0' * 15}"]
    assert (trade["priceQuote"], trade["priceUsd"], trade["valueUsd"]) == (amount / 1_000, amount / 500, amount / 500)


def test_a_conversion_is_listed_as_its_lockers(token):
    make_trade(token, is_conversion=True)
    (trade,) = trades_of(fetch(token))
    assert trade["trader"] == LOCKER


def test_a_trade_of_which_only_the_log_was_read_has_no_trader(token):
    make_trade(token, trader=None)
    (trade,) = trades_of(fetch(token))
    assert trade["trader"] is None


def test_a_trade_of_solana_has_base58(db):
    make_weeks(1)
    token = SolanaTokenFactory(deployed_at=WEEK, decimals=6)
    LaunchFacts.objects.create(token=token, facts={"pool": {"pair_decimals": 9}})
    trader, signature = bytes(range(32)), bytes(range(64))
    make_trade(token, tx_hash=signature, trader=trader, amount_token=2 * 10**6, amount_quote=10**9)
    (trade,) = trades_of(fetch(token))
    assert trade["txHash"] == str(Signature.from_bytes(signature))
    assert trade["trader"] == str(Pubkey.from_bytes(trader))
    assert trade["priceQuote"] == 0.5


def test_a_quote_token_without_decimals_has_no_trades(db):
    assert fetch(make_traded_token(quote_decimals=None)).json() == {"data": [], "cursor": None}


amounts = st.integers(1, 2**255)


@settings(max_examples=40)
@given(
    amount_token=amounts,
    amount_quote=amounts,
    quote_decimals=st.sampled_from([0, 6, 18, 255]),
    usd=st.decimals("1e-12", "1e9", allow_nan=False, allow_infinity=False),
)
def test_prices_are_the_nearest_floats_and_values_are_rounded_once(amount_token, amount_quote, quote_decimals, usd):
    Token.objects.all().delete()
    PoolTrade.objects.all().delete()
    make_weeks(1)
    token = make_traded_token(quote_decimals=quote_decimals)
    usd = Decimal(f"{usd:.15g}")
    make_trade(token, amount_token=amount_token, amount_quote=amount_quote, quote_usd=usd)
    (trade,) = trades_of(fetch(token))
    whole = Fraction(amount_quote, 10**quote_decimals)
    assert trade["priceQuote"] == float(whole / Fraction(amount_token, 10**18))
    with localcontext(prec=400):
        value = (Decimal(amount_quote) * usd).scaleb(-quote_decimals).quantize(Decimal("1e-6"), ROUND_HALF_UP)
    assert trade["valueUsd"] == float(value)
    assert (trade["amountToken"], trade["amountQuote"]) == (str(amount_token), str(amount_quote))


def test_it_lists_50_by_default_and_up_to_100_newest_first_with_two_queries(token, django_assert_num_queries):
    made = [make_trade(token, block=number // 3, log_index=number).position for number in range(101)]
    assert len(trades_of(fetch(token))) == 50
    with django_assert_num_queries(2):
        answer = fetch(token, limit=100)
    assert [trade["id"] for trade in trades_of(answer)] == made[:0:-1]
    assert answer.json()["cursor"] is not None
    assert walk(token, 100) == made[::-1]


def test_a_cursor_has_the_contracts_form(token):
    make_trade(token, block=1)
    make_trade(token, block=2)
    assert content_of(fetch(token, limit=1).json()["cursor"]) == {
        "id": "2026-01-05T00:00:02.000Z",
        "k": 2**21,
        "s": "at",
    }


def test_the_older_cursor_gives_what_is_at_or_before_its_second(token):
    made = [make_trade(token, block=block).position for block in (1, 2, 3)]
    answer = fetch(token, cursor=cursor_of({"id": "2026-01-05T00:00:02"}))
    assert [trade["id"] for trade in trades_of(answer)] == [made[1], made[0]]


def test_a_cursor_of_another_list_gives_the_first_page(token):
    make_trade(token)
    cursor = cursor_of({"id": "2020-01-05T00:00:02.000Z", "k": 1, "s": "deployed-at"})
    assert len(trades_of(fetch(token, cursor=cursor))) == 1


seconds = st.integers(0, 3 * 604_800 - 1)


@settings(max_examples=30)
@given(
    # Few moments per trade, so that there are ties; over the bounds of weeks.
    times=st.lists(st.one_of(seconds, st.sampled_from([604_799, 604_800])), max_size=25),
    arrivals=st.integers(0, 3),
    dropped=st.integers(0, 10),
    limit=st.integers(1, 7),
)
def test_a_walk_has_each_trade_once_while_others_arrive_and_a_reorg_deletes_some(times, arrivals, dropped, limit):
    Token.objects.all().delete()
    PoolTrade.objects.all().delete()
    make_weeks(4)
    token, other = make_traded_token(), make_traded_token()
    made = []
    for number, second in enumerate(sorted(times)):
        values = {"block": second // 2, "log_index": number, "at": WEEK + timedelta(seconds=second // 2 * 2)}
        made.append(make_trade(token, **values).position)
        make_trade(other, **values)
    deleted = set(made[len(made) - dropped :]) if dropped else set()

    def change(number):
        if number < arrivals:
            make_trade(token, block=10**7 + number, at=WEEK + timedelta(weeks=3, seconds=number))
        PoolTrade.objects.filter(token=token, position__in=deleted).delete()

    found = walk(token, limit, change)
    assert [position for position in found if position not in deleted] == [
        position for position in reversed(made) if position not in deleted
    ]
    assert len(found) == len(set(found)) and set(found) <= set(made)


@pytest.mark.parametrize("earliest", [datetime(1970, 1, 1, tzinfo=UTC), datetime(9998, 12, 31, tzinfo=UTC)])
def test_any_time_of_a_cursor_is_a_place_in_the_list(token, earliest):
    make_trade(token)
    cursor = cursor_of({"id": f"{earliest:%Y-%m-%dT%H:%M:%S}.000Z", "k": -(2**63) + 1, "s": "at"})
    assert len(trades_of(fetch(token, cursor=cursor))) == (earliest.year > 2026)


def test_a_blocked_tokens_trades_are_listed_and_a_dropped_launchs_are_not(token):
    make_trade(token)
    Token.objects.update(blocked=True)
    assert len(trades_of(fetch(token))) == 1
    Token.objects.update(unindexed=True)
    assert_refused(fetch(token), 404, "Token not found")

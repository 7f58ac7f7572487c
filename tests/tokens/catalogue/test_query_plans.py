"""Query plans for lists: PostgreSQL uses the indexes that the models declare, on larger tables."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.utils import timezone

from development.standins.loopback import ReceivedRequest
from tests.processes.template_database import restore_template_rows
from tests.rows.factories import IndexRequestFactory, SavedTokenFactory, TokenEventFactory
from tests.rows.many_tokens import make_tokens, multiply, settle
from tests.rows.query_plans import plans
from tests.rows.token_lists import SORTS
from tokens.catalogue.selections import Selection
from tokens.indexing import index_requests
from tokens.market import own_trending, price_refresh
from tokens.models import IndexRequest, Market, MinuteCandle, PoolTrade, ProviderRefresh, RollingSum, SavedToken, Token

pytestmark = pytest.mark.django_db

RARE_CHAIN = 42161
# Enough for the planner to prefer an index.
ROWS = 5_000


def pool(number):
    return "0x" + f"{number:064x}"


# Column -> its value in row n; what is not here is the same in all rows.
TOKENS = {
    "pool_address": "CASE WHEN n % 10 = 0 THEN '' ELSE '0x' || lpad(to_hex(n), 64, '0') END",
    "tx_hash": "'0x' || lpad(to_hex(n), 64, '0')",
    "chain_id": f"CASE WHEN n % 200 = 3 THEN {RARE_CHAIN} ELSE 8453 END",
    "msg_sender": "'0x' || lpad(to_hex(n % 200), 40, '0')",
    "admin": "'0x' || lpad(to_hex(n % 250), 40, '0')",
    "requestor_fid": "CASE WHEN n % 2 = 1 THEN n % 500 + 1 END",
    "blocked": "n % 100 = 0",
    "unindexed": "n % 100 = 1",
    "verified": "n % 1000 = 7",
    "launch_warnings": "CASE WHEN n % 200 = 8 THEN ARRAY['UNUSUAL_TICK'] ELSE '{}' END",
    "extensions": """CASE WHEN n % 500 = 11 THEN '{"fees": {"recipients": [{"recipient": "0xPaid"}]}}'::jsonb
        ELSE '{"fees": null, "vault": null, "airdrop": null}'::jsonb END""",
    "copy_key": "lpad(to_hex(n / 2), 64, '0')",
    "champagne": "n % 500 = 9",
    "generation": "CASE WHEN n % 100 = 9 THEN 'zora' WHEN n % 200 = 10 THEN 'doppler' ELSE 'v4' END",
    "pair": "CASE WHEN n % 100 = 9 THEN 'USDC' ELSE 'WETH' END",
    "paired_token": "CASE WHEN n % 100 = 9 THEN '0x' || repeat('1', 40) ELSE '0x' || repeat('2', 40) END",
    "social_context": """CASE WHEN n % 100 = 9 THEN '{"interface": "Rare"}'::jsonb ELSE '{"interface": "Usual"}' END""",
}
MARKETS = {
    "market_cap": "CASE WHEN n % 3 > 0 THEN n * 7919 % 20011 END",
    "tx_count_24h": "CASE WHEN n % 3 > 0 THEN n % 50 END",
    "volume_24h": "CASE WHEN n % 3 > 0 THEN n * 15485863 % 20011 END",
    "price_change_24h": "CASE WHEN n % 3 > 0 THEN n * 104729 % 20011 - 10000 END",
    "price_change_1h": "CASE WHEN n % 3 > 0 THEN n * 7919 % 101 - 50 END",
}
REQUESTS = {
    "id": "nextval('tokens_indexrequest_id_seq')",
    "tx_hash": TOKENS["tx_hash"],
    "status": "CASE n % 100 WHEN 0 THEN 'pending' WHEN 1 THEN 'indexed' ELSE 'confirmed' END",
    "block_number": "n",
}


@pytest.fixture(scope="module")
def rows(django_db_setup, django_db_blocker):
    """Create tokens and requests, with a few for each kind that partial indexes leave out; gone after this module."""
    with django_db_blocker.unblock():
        make_tokens(TOKENS, MARKETS, rows=ROWS)
        multiply(IndexRequestFactory(), REQUESTS, rows=ROWS)
        settle("tokens_indexrequest")
        yield
        restore_template_rows()


@pytest.fixture(scope="module")
def paid(rows, django_db_blocker):
    """Create an event for each token, and a claim and a sum of its fees; gone with the tokens."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        multiply(
            TokenEventFactory(),
            {
                "id": "nextval('tokens_tokenevent_id_seq')",
                "tx_hash": TOKENS["tx_hash"],
                "token_id": "(SELECT min(id) FROM tokens_token) + n - 1",
            },
            rows=ROWS,
        )
        cursor.execute(
            "INSERT INTO tokens_feeclaim (event_id, chain_id, recipient, currency, amount, at) "
            "SELECT id, chain_id, '0x' || upper(lpad(to_hex(id), 40, '0')), '', 1, at FROM tokens_tokenevent"
        )
        cursor.execute(
            "INSERT INTO tokens_claimsum (token_id, day, recipient, currency, amount) "
            "SELECT id, '2026-01-01', '0x' || upper(lpad(to_hex(row_number() OVER (ORDER BY id)), 40, '0')), '', 1 "
            "FROM tokens_token"
        )
        settle("tokens_tokenevent")
        settle("tokens_feeclaim")
        settle("tokens_claimsum")
        yield


SAVED = {"id": "nextval('tokens_savedtoken_id_seq')", "tx_hash": TOKENS["tx_hash"]}


@pytest.fixture(scope="module")
def saved(rows, django_db_blocker):
    """Create users' saved tokens with the tokens' transactions; gone with the tokens."""
    with django_db_blocker.unblock():
        multiply(SavedTokenFactory(), SAVED, rows=ROWS)
        settle("tokens_savedtoken")
        yield


def test_a_search_for_a_symbol_of_one_letter_reads_the_search_index(rows, client):
    (plan,) = plans(lambda: client.get("/", {"q": "a"}), "tokens_searchentry")
    assert "search_by_everything" in plan and "short_grams(text) @> " in plan
    assert "Seq Scan on tokens_" not in plan


def page_and_total(found):
    """Return the plans for a list's page, and the plan for its total; the plan for all deployed tokens follows it."""
    total, *_ = (plan for plan in found if plan.startswith("Aggregate"))
    return "\n".join(plan for plan in found if not plan.startswith("Aggregate")), total


OLDER_CURSOR = "eyJpZCI6IjIwMjYtMDEtMDFUMDM6NTA6NDkifQ=="


@pytest.mark.parametrize(
    ("parameters", "index", "count"),
    [
        ({}, "token_listed_newest", "Index Only Scan using token_listed_newest"),
        ({"sort": "asc"}, "Backward using token_listed_newest", "token_listed_newest"),
        ({"cursor": OLDER_CURSOR}, "token_listed_newest", "token_listed_newest"),
        ({"chainId": RARE_CHAIN}, "token_by_chain_newest", "Index Only Scan using token_by_chain_newest"),
        ({"msgSender": "0x" + f"{3:040x}"}, "token_by_sender_newest", "token_by_sender_newest"),
        ({"fid": 8}, "token_by_fid_newest", "token_by_fid_newest"),
        ({"fids": "8,10,12"}, "token_by_fid_newest", "token_by_fid_newest"),
        ({"pair": "usdc"}, "token_by_pair", "token_by_pair"),
        ({"pairAddress": pool(77)}, "token_by_pool", "token_by_pool"),
        ({"pairAddress": "0x" + "1" * 40}, "token_", "token_by_paired_token"),
        ({"pairAddress": "0x" + "2" * 40}, "token_listed_newest", "token_listed_newest"),
        ({"socialInterface": "rare"}, "token_by_interface", "token_by_interface"),
        ({"launchpad": "zora"}, "token_by_generation_newest", "Index Only Scan using token_by_generation_newest"),
        ({"launchpad": "zora,doppler"}, "token_by_generation_newest", "token_by_generation_newest"),
        ({"launchpad": "clanker"}, "token_listed_newest", "token_"),
        ({"champagne": "1"}, "token_champagne_newest", "token_champagne_newest"),
        ({"verified": "1"}, "token_trusted_newest", "token_trusted_newest"),
        ({"warnings": "any"}, "token_warned_newest", "token_warned_newest"),
        ({"warnings": "none"}, "token_listed_newest", "token_listed_newest"),
        ({"minMarketCap": 20_000}, "market_market_cap_", "market_market_cap_"),
        ({"minVolume24h": 20_000}, "market_volume_24h_", "market_volume_24h_"),
        ({"minMarketCap": 20_000, "sortBy": "market-cap"}, "market_market_cap_down", "market_market_cap_"),
        ({"minMarketCap": 20_000, "sortBy": "market-cap", "sort": "asc"}, "market_market_cap_", "market_market_cap_"),
        ({"startDate": 1767230000}, "Index Cond: (deployed_at > ", "Index Cond: (deployed_at > "),
        ({"startDate": 1767230000, "sort": "asc"}, "Index Cond: (deployed_at > ", "Index Cond: (deployed_at > "),
    ],
)
def test_a_list_is_read_from_an_index(rows, client, parameters, index, count):
    page, total = page_and_total(plans(lambda: client.get("/api/tokens", parameters)))
    assert index in page
    assert "token_copied" in page or not client.get("/api/tokens", parameters).json()["data"]
    assert count in total
    assert "Seq Scan on tokens_" not in page + total


def test_tokens_that_pay_a_wallet_are_read_from_an_index(rows):
    tokens = Selection(fee_recipient="0xPaid").tokens().order_by("-deployed_at", "-id")
    (plan,) = plans(lambda: list(tokens[:11]))
    assert "token_by_fee_recipient" in plan and "Seq Scan on tokens_" not in plan


def test_tokens_that_have_paid_an_account_are_read_from_an_index(rows, paid):
    tokens = Selection(paid_account="0x" + f"{7:040X}").tokens().order_by("-deployed_at", "-id")
    (plan,) = plans(lambda: list(tokens[:11]))
    assert "claim_sum_by_recipient" in plan and "Limit" in plan and "Seq Scan on tokens_token" not in plan


@pytest.mark.parametrize(
    ("parameters", "count"),
    [
        ({"chainId": 8453}, "token_by_"),
        ({"pair": "weth"}, "token_"),
        ({"socialInterface": "usual"}, "token_"),
    ],
)
def test_what_most_tokens_have_is_read_in_the_order_of_an_index(rows, client, parameters, count):
    # The index may cover all tokens or only these: both cost about the same, and the planner's samples decide.
    page, total = page_and_total(plans(lambda: client.get("/api/tokens", parameters)))
    assert "Index Scan using token_" in page and "token_copied" in page
    assert "Sort" not in page
    assert count in total
    assert "Seq Scan on tokens_" not in page + total


def test_a_cursor_is_a_place_in_the_index(rows, client):
    cursor = client.get("/api/tokens").json()["cursor"]
    page, _ = plans(lambda: client.get("/api/tokens", {"cursor": cursor}))
    assert "Index Cond: (ROW(deployed_at, id) < ROW(" in page
    assert "Sort" not in page


INDEXES = {
    "market-cap": "market_market_cap",
    "tx-h24": "market_tx_count_24h",
    "volume-h24": "market_volume_24h",
    "price-percent-h24": "market_price_change_24h",
    "price-percent-h1": "market_price_change_1h",
}


@pytest.mark.parametrize("more", [{}, {"includeMarket": "1"}, {"chainId": 8453}, {"pair": "weth"}, {"offset": 20}])
@pytest.mark.parametrize(("sort", "direction"), [("desc", "down"), ("asc", "up")])
@pytest.mark.parametrize("sort_by", SORTS[1:])
def test_every_sort_by_market_is_a_walk_along_its_index(rows, client, sort_by, sort, direction, more):
    parameters = {"sortBy": sort_by, "sort": sort} | more
    cursor = client.get("/api/tokens", parameters).json()["cursor"]
    for place in ({}, {"cursor": cursor}):
        page, _ = page_and_total(plans(lambda place=place: client.get("/api/tokens", parameters | place)))
        assert f"Index Scan using {INDEXES[sort_by]}_{direction} on tokens_market" in page
        assert "Sort" not in page
        assert "Seq Scan on tokens_" not in page
        assert ("Index Cond: (ROW(COALESCE(" in page) == bool(place)


@pytest.mark.parametrize(
    ("sort", "direction", "substitute"), [("desc", "down", "-Infinity"), ("asc", "up", "Infinity")]
)
@pytest.mark.parametrize(
    ("least", "sort_by"), [({"minMarketCap": 5_000}, "market-cap"), ({"minVolume24h": 5_000}, "volume-h24")]
)
def test_a_least_amount_is_a_bound_of_its_sorts_index(rows, client, least, sort_by, sort, direction, substitute):
    page, _ = page_and_total(plans(lambda: client.get("/api/tokens", {"sortBy": sort_by, "sort": sort} | least)))
    assert f"Index Scan using {INDEXES[sort_by]}_{direction} on tokens_market" in page
    (bound,) = (line for line in page.splitlines() if "Index Cond: " in line and "COALESCE(" in line)
    assert f"'{substitute}'::double precision) >= '5000'::double precision" in bound
    assert "Sort" not in page


@pytest.mark.parametrize("sort", ["desc", "asc"])
@pytest.mark.parametrize("sort_by", SORTS[1:])
def test_few_tokens_are_sorted_after_they_were_found(rows, client, sort_by, sort):
    page, *_ = plans(lambda: client.get("/api/tokens", {"sortBy": sort_by, "sort": sort, "fid": 8}))
    assert "token_by_fid_newest" in page
    assert "Seq Scan on tokens_" not in page


def test_a_deployers_tokens_are_read_from_indexes(rows, client):
    wallet = "0x" + f"{3:040x}"
    for path, parameters, index in (
        ("fid", {"fid": 8}, "token_by_fid_newest"),
        ("address", {"address": wallet}, "token_by_sender_newest"),
    ):
        page, total = plans(
            lambda path=path, given=parameters: client.get(f"/api/tokens/fetch-deployed-by-{path}", given)
        )
        assert index in page
        assert index in total
        assert "Seq Scan on tokens_" not in page + total
    assert "token_by_requestor_newest" in page
    assert "token_by_requestor_newest" in total


def test_pools_are_looked_up_in_their_index(rows, client):
    pools = [pool(number) for number in range(100)]
    (one,) = plans(lambda: client.get("/api/tokens/fetch-by-pool-address", {"poolAddress": pool(77)}))
    (many,) = plans(
        lambda: client.post(
            "/api/tokens/fetch-by-pool-addresses", {"poolAddresses": pools}, content_type="application/json"
        )
    )
    assert "Index Scan using token_by_pool" in one
    assert "token_by_pool" in many
    assert "Seq Scan on tokens_" not in one + many


def test_an_address_is_looked_up_in_its_index(rows, client, read_key):
    def fetch(**parameters):
        return lambda: client.get("/api/get-token-by-address", parameters, headers=read_key)

    address = "0x" + f"{77:040x}"
    token, deployed = plans(fetch(address=address))
    assert "Index Scan using token_by_address" in token
    assert "token_by_fid_newest" in deployed
    (token, _) = plans(fetch(address=address, chainId=8453))
    assert "Index Scan using token_" in token


def test_the_other_partner_reads_look_an_address_up_in_the_same_index(rows, client, read_key):
    address = "0x" + f"{77:040x}"
    for path, parameters in (
        ("/api/tokens/is-blocked", {"address": address}),
        (f"/api/get-lp-info/{address}", {}),
        ("/api/get-claim-info", {"address": address}),
    ):
        (plan,) = plans(lambda path=path, given=parameters: client.get(path, given, headers=read_key))
        assert "Index Scan using token_by_address" in plan


def test_a_partners_list_of_a_deployer_is_read_from_an_index(rows, client, read_key):
    page, total = plans(lambda: client.get("/api/get-tokens-by-fid", {"fid": 8}, headers=read_key))
    assert "token_by_fid_newest" in page
    assert "token_by_fid_newest" in total


def test_an_admins_tokens_are_read_from_an_index(rows, client, read_key):
    requested = {"admin": "0x" + f"{3:040x}"}
    page, total = plans(lambda: client.get("/api/tokens/fetch-by-admin", requested, headers=read_key))
    assert "token_by_admin_newest" in page
    assert "token_by_admin_newest" in total
    assert "Seq Scan on tokens_" not in page + total


def test_a_wallets_tokens_are_counted_in_indexes(rows):
    wallet = "0x" + f"{3:040x}"
    (plan,) = plans(lambda: Token.objects.deployed_with(0, fid=None, wallet=wallet).count())
    assert "token_by_sender_newest" in plan
    assert "token_by_requestor_newest" in plan


def test_a_transactions_tokens_are_looked_up_in_their_index(rows):
    found = Token.objects.launched_in(chain_id=8453, tx_hash="0x" + f"{77:064x}")
    (plan,) = plans(lambda: list(found))
    assert "Index Scan using token_by_transaction" in plan


def test_the_sweeper_and_the_confirmer_read_their_indexes(rows):
    (due,) = plans(lambda: index_requests.claim_due_requests(timezone.now()), "tokens_indexrequest")
    unconfirmed = IndexRequest.objects.unconfirmed(chain_id=8453, up_to_block=5_000)
    (confirm,) = plans(lambda: list(unconfirmed[: index_requests.BATCH_SIZE]), "tokens_indexrequest")
    assert "Index Scan using index_request_due" in due
    assert "Index Scan using index_request_unconfirmed" in confirm


def test_the_states_of_saved_tokens_are_looked_up_row_by_row(saved):
    found = SavedToken.objects.with_state().with_findings().order_by("-id")
    (plan,) = plans(lambda: list(found[:50]), "tokens_savedtoken")
    assert "token_by_transaction" in plan and "index_request_once" in plan and "Seq Scan on tokens_" not in plan


def test_what_is_past_keeping_of_pages_words_is_read_from_indexes(saved):
    before = timezone.now() - timedelta(days=30)
    (words,) = plans(lambda: list(SavedToken.objects.filter(created_at__lt=before).unconfirmed()), "tokens_savedtoken")
    (failed,) = plans(lambda: list(IndexRequest.objects.failed_page_requests(before)), "tokens_indexrequest")
    assert "saved_token_age" in words and "index_request_of_page" in failed


def test_refreshes_that_are_due_are_read_from_an_index(rows, market):
    now = timezone.now()
    ids = list(Token.objects.values_list("pk", flat=True))
    later = now + timedelta(days=1)
    ProviderRefresh.objects.bulk_create(
        ProviderRefresh(token_id=pk, due_at=now if place < 60 else later) for place, pk in enumerate(ids)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE tokens_providerrefresh")
    found = plans(lambda: price_refresh.claim_batch(timezone.now()), "tokens_providerrefresh")
    # One call's rows are selected, and then claimed by their keys.
    chosen, claimed = found
    assert "Index Scan using provider_refresh_due" in chosen and "Sort" not in chosen
    assert "Seq Scan on tokens_" not in claimed


def test_trending_pools_are_looked_up_in_two_indexes(rows, client, market):
    for number in range(1, 21):
        market.learn(pool(number), base="0x" + f"{number:040x}")
        market.answer(ReceivedRequest(method="GET", target=f"/networks/base/pools/multi/{pool(number)}", headers={}))
    client.get("/api/tokens/trending")
    (plan,) = plans(lambda: client.get("/api/tokens/trending"), "tokens_token")
    assert "BitmapOr" in plan and "token_by_pool" in plan and "Seq Scan on tokens_" not in plan


def test_own_trending_pools_are_read_from_those_with_trades(rows):
    ids = list(Token.objects.order_by("pk").values_list("pk", flat=True))
    now = timezone.now()
    Market.objects.filter(pk__in=ids[::1000]).update(trending=1.5, last_trade_at=now)
    sums = {"volume_quote": 1, "volume_usd": 1, "buys": 1, "sells": 1}
    RollingSum.objects.bulk_create(RollingSum(token_id=pk, seconds=86_400, traders=1, **sums) for pk in ids[::1000])
    prices = dict.fromkeys(("open", "high", "low", "close"), 1)
    facts = {"position": 1, "tx_hash": b"1", "amount_token": 1, "amount_quote": 1, "price": 1}
    with connection.cursor() as cursor:
        for model in (PoolTrade, MinuteCandle):
            table = model._meta.db_table
            cursor.execute(f"CREATE TABLE {table}_of_test PARTITION OF {table} DEFAULT")
    MinuteCandle.objects.bulk_create(
        MinuteCandle(token_id=pk, at=now, first_position=1, last_position=1, **prices, **sums) for pk in ids
    )
    PoolTrade.objects.bulk_create(
        PoolTrade(token_id=pk, at=now, is_buy=True, is_conversion=False, **facts) for pk in ids
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE tokens_market, tokens_rollingsum, tokens_trade, tokens_minutecandle")
    tables = ("tokens_token", "tokens_rollingsum", "tokens_trade")
    for sort in ("h24_volume_usd_desc", "h24_trending", "fdv_usd_asc", "pool_created_at_desc"):
        tokens, period_sums, traders = plans(partial(own_trending.read_pools, 8453, sort=sort, page=1), *tables)
        assert "Seq Scan on tokens_market" not in tokens
        assert ("newest on tokens_token" in tokens) == (sort == "pool_created_at_desc")
        assert not any("Seq Scan on tokens_minutecandle" in plan for plan in (tokens, period_sums))
        assert "Seq Scan on tokens_trade" not in traders


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("", "token_listed_newest"),
        ("?sort=volume", "market_volume_24h_down"),
        ("?tab=trending", "market_trending"),
    ],
)
def test_the_home_page_is_read_from_indexes(rows, client, query, index):
    found = plans(lambda: client.get(f"/{query}"))
    assert any(f"Scan using {index} on" in plan for plan in found)
    launches = [plan for plan in found if "unnest" in plan]
    assert len(launches) == (0 if "trending" in query else 1)
    for name in ("token_by_fid_newest", "token_by_sender_newest", "token_by_requestor_newest"):
        assert all(name in plan for plan in launches)
    assert "Seq Scan on tokens_token" not in "".join(found)


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("0x" + f"{77:040x}", "token_by_address"),
        ("0x" + f"{77:064x}", "token_by_transaction"),
        ("zebra", "search_by_everything"),
        ("q!", "search_by_everything"),
    ],
)
def test_a_search_of_the_admin_pages_tokens_reads_an_index(rows, admin_client, text, index):
    found = plans(lambda: admin_client.get("/admin/tokens/token/", {"q": text}))
    searched = [plan for plan in found if index in plan]
    assert len(searched) == len(found) > 0
    assert "Seq Scan on tokens_" not in "".join(found)


@pytest.mark.parametrize(
    ("model", "table", "text", "index"),
    [
        ("indexrequest", "tokens_indexrequest", "0x" + f"{77:064X}", "index_request_once"),
        ("tokenevent", "tokens_tokenevent", "0x" + f"{77:064X}", "token_event_once"),
        ("tokenevent", "tokens_tokenevent", "0x" + f"{77:040X}", "token_event_"),
        ("feeclaim", "tokens_feeclaim", "0x" + f"{77:064X}", "fee_claim_once"),
        ("feeclaim", "tokens_feeclaim", "0x" + f"{77:040X}", "fee_claim_newest"),
    ],
)
def test_a_search_of_the_other_admin_pages_reads_an_index(rows, paid, admin_client, model, table, text, index):
    found = plans(lambda: admin_client.get(f"/admin/tokens/{model}/", {"q": text}), table)
    assert index in "".join(found)
    assert "Seq Scan on tokens_" not in "".join(found)


def test_the_admin_pages_first_rows_are_read_from_an_index(rows, admin_client):
    found = plans(lambda: admin_client.get("/admin/tokens/token/"))
    page = next(plan for plan in found if plan.startswith("Limit") and "tokens_token_pkey" in plan)
    assert "Sort" not in page

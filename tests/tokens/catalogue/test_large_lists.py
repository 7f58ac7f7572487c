"""Lists with more tokens than a request counts: totals, searches, their plans, and their time limit."""

import logging
import re
import threading
import time

import orjson
import psycopg
import pytest
from django.db import close_old_connections, connection, connections

from config.redis.connection import PREFIX, redis_client
from tests.processes.template_database import restore_template_rows
from tests.processes.waiting import wait_for
from tests.rows.many_tokens import make_tokens
from tests.rows.query_plans import plans
from tests.rows.token_lists import SORTS, ids, walk
from tests.tokens.catalogue.test_query_plans import INDEXES
from tokens.catalogue import totals
from tokens.catalogue.selections import Selection
from tokens.catalogue.tasks import count_selection
from tokens.models import Market, Token

pytestmark = pytest.mark.django_db

ADDRESS, TX_HASH = "0x" + "77" * 20, "0x" + f"{77:064x}"
# More than are counted exactly.
ROWS = 12_000
# By number, which rises with time: all are coins, and the oldest 11,000 ancient.
TOKENS = {
    "name": "'Coin ' || n || CASE WHEN n <= 10000 THEN ' precisely' ELSE '' END"
    " || CASE WHEN n <= 10001 THEN ' slightly' ELSE '' END || CASE WHEN n <= 11000 THEN ' Ancient' ELSE '' END",
    "symbol": "CASE WHEN n % 400 = 0 THEN '犬🐶' WHEN n % 4000 = 1 THEN 'QZXJ' ELSE 'C' || n END",
    "tx_hash": "'0x' || lpad(to_hex(n), 64, '0')",
    "pool_address": "'0x' || lpad(to_hex(n), 64, '0')",
    "chain_id": "CASE WHEN n % 6 = 0 THEN 1 ELSE 8453 END",
    "requestor_fid": "7",
    "copy_key": "lpad(to_hex(n), 64, '0')",
}
MARKETS = {
    "market_cap": "CASE WHEN n % 3 > 0 THEN n * 7919 % 20011 END",
    "tx_count_24h": "CASE WHEN n % 3 > 0 THEN n % 50 END",
    "volume_24h": "CASE WHEN n % 3 > 0 THEN n * 15485863 % 20011 END",
    "price_change_24h": "CASE WHEN n % 3 > 0 THEN n * 104729 % 20011 - 10000 END",
    "price_change_1h": "CASE WHEN n % 3 > 0 THEN n * 7919 % 101 - 50 END",
}


@pytest.fixture(scope="module", autouse=True)
def tokens(django_db_setup, django_db_blocker):
    """Return the tokens' ids, oldest first; the tokens and their counts are gone after this module."""
    with django_db_blocker.unblock():
        make_tokens(TOKENS, MARKETS, rows=ROWS)
        yield list(Token.objects.order_by("id").values_list("id", flat=True))
        restore_template_rows()
        forget_counts()


@pytest.fixture(autouse=True)
def connection_of_the_service(db):
    """Return a connection beside the test's, in no transaction: a statement's local settings end with it."""
    of_test = connections["default"]
    connections["default"] = of_test.copy()
    yield
    connections["default"].close()
    connections["default"] = of_test


@pytest.fixture(autouse=True)
def long_time_limits(settings):
    """Give up no search and no walk along a sort's index: on a busy machine any may exceed the usual limits."""
    settings.SEARCH_TIMEOUT_MS = 60_000


@pytest.fixture
def fetch(client):
    """Send the parameters and return the response."""
    return lambda **parameters: client.get("/api/tokens", parameters)


@pytest.fixture
def uncounted(queue):
    """Return the broker's queue; nothing is counted or being counted."""
    forget_counts()
    return lambda: [message.args for message in queue() if message.task == "tokens.tasks.count_selection"]


def cached_counts():
    """Return cached counts' keys."""
    return list(redis_client().scan_iter(f"{PREFIX}total:*"))


def forget_counts():
    for key in [totals.CLAIM_KEY, *cached_counts()]:
        redis_client().delete(key)
    forget_locally()


def forget_locally():
    """Clear the process-local cache before Redis, as the next second does."""
    totals._read_stored_count.cache_clear()


def let_seconds_pass(seconds):
    """Make every cached count so much older."""
    for key in cached_counts():
        number, counted_at = orjson.loads(redis_client().get(key))
        redis_client().set(key, orjson.dumps([number, counted_at - seconds]), keepttl=True)


def is_estimate(answer):
    assert answer.status_code == 200, answer.content
    return answer.headers.get("X-Total-Approximate") == "1"


# Totals.


def test_an_estimate_is_marked_as_described(fetch, uncounted, client):
    answer = fetch()
    assert is_estimate(answer)
    described = client.get("/api/openapi.json").json()["paths"]["/api/tokens"]["get"]["responses"]
    for status in ("200", "304"):
        assert "estimate" in described[status]["headers"]["X-Total-Approximate"]["description"]
    assert "X-Total-Approximate" not in described["400"]["headers"]


@pytest.mark.parametrize(
    ("parameters", "total"),
    [
        ({"q": "precisely"}, 10_000),
        ({"q": "ancient", "chainId": 1}, 1_833),
        ({"chainId": 8453}, 10_000),
        ({"q": "犬"}, 30),
        ({"q": "nowhere"}, 0),
        ({"startDate": 1767225600 + 2_000}, 10_000),
    ],
)
def test_a_total_up_to_the_limit_is_exact(fetch, uncounted, parameters, total):
    answer = fetch(**parameters)
    assert (answer.json()["total"], is_estimate(answer)) == (total, False)
    # All deployed tokens are counted separately.
    assert uncounted() in ([], [[{}]])


@pytest.mark.parametrize(
    ("parameters", "number", "conditions"),
    [
        ({}, ROWS, {}),
        ({"q": "slightly"}, 10_001, {"q": "slightly"}),
        ({"q": "n"}, ROWS, {"q": "n"}),
        ({"q": "coin", "sortBy": "market-cap"}, ROWS, {"q": "coin"}),
        ({"pair": "WETH", "limit": 0}, ROWS, {"pair": "WETH"}),
        ({"startDate": 1767225600 + 1_999}, 10_001, {"launched_after": 1767225600 + 1_999}),
    ],
)
def test_a_total_beyond_is_an_estimate_until_a_worker_has_counted(fetch, uncounted, parameters, number, conditions):
    first = fetch(**parameters)
    assert is_estimate(first)
    assert totals.EXACT_UP_TO < first.json()["total"] < 2 * number
    message = [conditions]
    assert uncounted().count(message) == 1
    assert is_estimate(fetch(**parameters))
    assert uncounted().count(message) == 1, "one worker is enough"
    count_selection(*message)
    answer = wait_for(lambda: (lambda answer: not is_estimate(answer) and answer)(fetch(**parameters)))
    assert answer.json()["total"] == number
    assert answer.json()["data"] == first.json()["data"]
    assert uncounted().count(message) == 1


def test_the_tokens_deployed_are_counted_alike(fetch, uncounted):
    answer = fetch(q="precisely")
    assert not is_estimate(answer)
    assert 0.9 * ROWS < answer.json()["tokensDeployed"] < 1.1 * ROWS
    assert uncounted() == [[{}]]
    count_selection({})
    wait_for(lambda: fetch(q="precisely").json()["tokensDeployed"] == ROWS)
    assert fetch(fid=7, q="precisely").json()["tokensDeployed"] > 10_000


@pytest.mark.parametrize(
    ("path", "parameters", "message"),
    [
        ("fetch-deployed-by-fid", {"fid": "7"}, [{"fid": 7}]),
        ("search", {"fids": "7,8"}, [{"fids": [7, 8]}]),
        ("search", {"q": "Coin"}, [{"q": "Coin"}]),
    ],
)
def test_every_list_marks_an_estimated_total(client, uncounted, path, parameters, message):
    answer = client.get(f"/api/tokens/{path}", parameters)
    assert is_estimate(answer)
    assert uncounted() == [message]
    count_selection(*message)
    wait_for(lambda: not is_estimate(client.get(f"/api/tokens/{path}", parameters)))
    assert client.get(f"/api/tokens/{path}", parameters).json()["total"] == ROWS


def test_a_count_is_made_anew_before_it_is_gone(fetch, uncounted):
    count_selection({})
    wait_for(lambda: not is_estimate(fetch()))
    assert uncounted() == []
    let_seconds_pass(totals.REFRESH_AFTER_SECONDS + 1)
    wait_for(lambda: fetch() and uncounted() == [[{}]])
    answer = fetch()
    assert (answer.json()["total"], is_estimate(answer)) == (ROWS, False)
    assert len(uncounted()) == 1


def test_few_are_counted_anew_each_time_whatever_a_worker_has_counted(fetch, tokens, uncounted):
    assert totals.count_tokens(Selection(q="犬")) == 30
    hidden = Token.objects.filter(pk=tokens[399])
    hidden.update(blocked=True)
    answer = fetch(q="犬")
    hidden.update(blocked=False)
    assert (answer.json()["total"], is_estimate(answer)) == (29, False)


def test_that_there_are_few_is_known_for_longer_than_a_number_is_kept(fetch, uncounted):
    totals.count_tokens(Selection(q="犬"))
    totals.count_tokens(Selection(q="coin"))
    few, many = sorted((redis_client().ttl(key) for key in cached_counts()), reverse=True)
    assert totals.TOTAL_TTL_SECONDS < few <= totals.NO_TOTAL_TTL_SECONDS
    assert 0 < many <= totals.TOTAL_TTL_SECONDS


def test_few_that_have_become_many_are_counted(fetch, uncounted):
    redis_client().set(totals._key(Selection(q="slightly")), orjson.dumps([50, time.time()]))
    forget_locally()
    assert is_estimate(fetch(q="slightly"))
    assert [{"q": "slightly"}] in uncounted()


def test_one_count_is_made_at_a_time_for_any_requests(fetch, uncounted):
    for q in ("coin", "n", "slightly", "ancient"):
        assert is_estimate(fetch(q=q))
    assert uncounted() == [[{"q": "coin"}]]
    assert redis_client().ttl(totals.CLAIM_KEY) > totals.REFRESH_AFTER_SECONDS
    count_selection({"q": "coin"})
    wait_for(lambda: fetch(q="n") and len(uncounted()) == 2)
    # Either count of a request may be the next one.
    assert uncounted()[1] in ([{"q": "n"}], [{}])


def test_a_count_that_takes_too_long_is_given_up_and_not_made_again_soon(fetch, uncounted, locked, caplog):
    totals.claim_count()
    let_go = locked("tokens_searchentry")
    stopper = threading.Thread(target=stop_statement_that_waits)
    stopper.start()
    with caplog.at_level(logging.WARNING, logger="tokens"):
        count_selection({"q": "coin"})
    stopper.join()
    let_go()
    assert "timed out" in caplog.text
    forget_locally()
    answer = fetch(q="coin")
    assert is_estimate(answer)
    assert [{"q": "coin"}] not in uncounted()
    # Others are counted.
    wait_for(lambda: is_estimate(fetch(q="n")) and uncounted())


def stop_statement_that_waits():
    """Cancel the statement that waits for a lock, as the statement timeout does."""
    waiting = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = %s"
    with psycopg.connect(**connections["default"].get_connection_params(), autocommit=True) as watching:
        wait_for(lambda: watching.execute(waiting, [watching.info.dbname]).fetchall())


@pytest.mark.parametrize("parameters", [{}, {"q": "slightly"}, {"pair": "weth"}])
def test_the_pages_are_the_same_with_an_estimate_and_a_count(fetch, uncounted, parameters):
    places = [{"sortBy": "deployed-at", "offset": 50}, {"sortBy": "market-cap"}]
    before = [ids(fetch(**place, **parameters)) for place in places]
    (message, *_) = uncounted()
    count_selection(*message)
    wait_for(lambda: not is_estimate(fetch(**parameters)))
    assert before == [ids(fetch(**place, **parameters)) for place in places]


# Searches that find many.


@pytest.fixture(scope="module")
def markets(tokens, django_db_blocker):
    """Return each market sort's values: column -> token id -> value."""
    with django_db_blocker.unblock():
        columns = [INDEXES[sort_by].removeprefix("market_") for sort_by in SORTS[1:]]
        return {column: dict(Market.objects.values_list("token_id", column)) for column in columns}


def expected(tokens, markets, sort_by, *, descending, last):
    """Return the oldest tokens' ids up to this number, sorted like the list, by Python."""
    wanted = tokens[:last]
    if sort_by == "deployed-at":
        return sorted(wanted, reverse=descending)
    keys = markets[INDEXES[sort_by].removeprefix("market_")]
    known = sorted(((keys[pk], pk) for pk in wanted if keys[pk] is not None), reverse=descending)
    return [pk for _, pk in known] + sorted((pk for pk in wanted if keys[pk] is None), reverse=descending)


# Any two sorts by market differ only in the column; small lists are sorted by each in both directions elsewhere.
@pytest.mark.parametrize(
    ("q", "last", "sort_by", "sort"),
    [
        *(("ancient", 11_000, sort_by, "desc" if SORTS.index(sort_by) % 2 else "asc") for sort_by in SORTS),
        ("ancient", 11_000, "deployed-at", "desc"),
        ("coin", ROWS, "market-cap", "asc"),
        ("t", 11_000, "market-cap", "asc"),
        ("slightly a", 10_001, "market-cap", "desc"),
    ],
)
def test_many_matches_are_walked_in_order(fetch, tokens, markets, q, last, sort_by, sort):
    in_order = expected(tokens, markets, sort_by, descending=sort == "desc", last=last)
    first = fetch(q=q, sortBy=sort_by, sort=sort)
    assert ids(first) == in_order[:10]
    assert ids(fetch(q=q, sortBy=sort_by, sort=sort, cursor=first.json()["cursor"], limit=20)) == in_order[10:30]
    assert ids(fetch(q=q, sortBy=sort_by, sort=sort, offset=10_000, limit=3)) == in_order[10_000:10_003]


def test_the_last_pages_of_many_matches_end(fetch, tokens):
    cursor = fetch(q="slightly", sort="asc", offset=9_980, limit=20).json()["cursor"]
    assert ids(fetch(q="slightly", sort="asc", cursor=cursor)) == [tokens[10_000]]
    assert fetch(q="slightly", sort="asc", cursor=cursor).json()["cursor"] is None


def test_filters_narrow_a_search_that_finds_many(fetch, tokens):
    answer = fetch(q="ancient", chainId=1, limit=3)
    assert ids(answer) == [tokens[10_997], tokens[10_991], tokens[10_985]]
    assert walk(fetch, q="犬", limit=4, chainId=1) == tokens[1199::1200][::-1]


# Plans.


def found_by(plan, condition):
    """Return whether the plan reads an index by this condition."""
    return any(condition in one for one in re.findall(r"Index Cond: (.*)", plan))


@pytest.mark.parametrize("more", [{}, {"sortBy": "market-cap"}])
@pytest.mark.parametrize(
    ("q", "condition"),
    [
        ("qzxj", "text ~~ '%qzxj%'"),
        ("oin 1999", "text ~~ '%oin 1999%'"),
        ("nowhere", "text ~~ '%nowhere%'"),
        ("犬", "short_grams(text) @> '{犬}'"),
        ("🐶", "short_grams(text) @> '{🐶}'"),
        ("犬🐶", "short_grams(text) @> '{犬🐶}'"),
        ("%", "short_grams(text) @> '{%}'"),
        ("\\", r"""short_grams(text) @> '{"\\"}'"""),
        ("%_%", "short_grams(text) @> '{%_,_%}'"),
    ],
)
def test_few_matches_are_read_from_their_index(fetch, q, condition, more):
    matches, *_ = plans(lambda: fetch(q=q, **more), "tokens_searchentry")
    assert "Bitmap Index Scan on search_by_everything" in matches
    assert found_by(matches, condition)
    assert "Seq Scan on tokens_" not in matches


@pytest.mark.parametrize(
    ("more", "condition"),
    [
        ({"chainId": 1}, "chain_id = '1'::bigint"),
        ({"fid": 7}, "requestor_fid = '7'::bigint"),
        ({"fids": "7"}, "requestor_fid = '7'::bigint"),
        ({"fids": "8,9"}, "requestor_fid = ANY ('{8,9}'::bigint[])"),
        ({"msgSender": ADDRESS}, f"(msg_sender)::text = '{ADDRESS}'"),
        ({"pair": "weth"}, "pair = 'weth'"),
        ({"socialInterface": "Bankr"}, "interface = 'bankr'"),
        ({"champagne": "true"}, "champagne"),
        ({"pairAddress": ADDRESS}, f"(paired_token)::text = '{ADDRESS}'"),
        ({"pairAddress": TX_HASH}, f"(pool_address)::text = '{TX_HASH}'"),
    ],
)
def test_filters_are_conditions_of_the_same_index(fetch, more, condition):
    matches, *_ = plans(lambda: fetch(q="犬", **more), "tokens_searchentry")
    assert found_by(matches, condition)
    assert "tokens_token" not in matches
    assert "Seq Scan on tokens_" not in matches


@pytest.mark.parametrize("sort", ["desc", "asc"])
@pytest.mark.parametrize(
    ("q", "sort_by"), [*(("coin", sort_by) for sort_by in SORTS), ("n", "deployed-at"), ("n", "market-cap")]
)
def test_many_matches_are_a_walk_along_the_index_of_the_sort(fetch, q, sort_by, sort):
    index = {"desc": "Index Scan using {}_down", "asc": "Index Scan using {}_up"}[sort].format(INDEXES.get(sort_by))
    if sort_by == "deployed-at":
        index = "Scan using token_listed_newest" if sort == "desc" else "Scan Backward using token_listed_newest"
    for parameters in ({}, {"cursor": fetch(q=q, sortBy=sort_by, sort=sort).json()["cursor"]}):
        page, *_ = plans(lambda more=parameters: fetch(q=q, sortBy=sort_by, sort=sort, **more))
        assert index in page
        assert "Sort" not in page
        # Another table may be small.
        assert "Seq Scan on tokens_" not in page


@pytest.mark.parametrize(
    ("q", "index"), [(ADDRESS, "token_by_address"), (TX_HASH, "token_by_transaction"), (TX_HASH, "token_by_pool")]
)
def test_what_is_named_is_looked_up_in_its_indexes(fetch, q, index):
    named, *_ = plans(lambda: fetch(q=q))
    assert index in named
    assert "Seq Scan on tokens_" not in named
    for matches in plans(lambda: fetch(q=q), "tokens_searchentry"):
        assert "Seq Scan on tokens_" not in matches


# The time limit.


@pytest.fixture
def locked():
    """Lock a table; the returned function releases the lock, as does PostgreSQL after a while."""
    other = psycopg.connect(**connection.get_connection_params(), autocommit=True)
    other.execute("SET idle_in_transaction_session_timeout = '30s'")
    other.autocommit = False

    def lock(table):
        other.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        return other.rollback

    yield lock
    other.close()


def settings_of_connection():
    names = ("statement_timeout", "enable_seqscan", "enable_indexscan", "enable_bitmapscan", "work_mem")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid(), " + ", ".join(f"current_setting('{name}')" for name in names))
        return cursor.fetchone()


@pytest.mark.parametrize("q", ["coin", "qzxj", "犬", "nowhere", "precisely"])
def test_a_search_that_takes_too_long_is_given_up(fetch, uncounted, locked, settings, q):
    settings.SEARCH_TIMEOUT_MS = 100
    before = settings_of_connection()
    let_go = locked("tokens_market")
    answer = fetch(q=q, sortBy="market-cap")
    let_go()
    assert (answer.status_code, answer.json()) == (503, {"error": "Search timed out"})
    assert (answer.headers["Retry-After"], answer.headers["Cache-Control"]) == ("5", "no-store")
    close_old_connections()
    assert settings_of_connection() == before
    settings.SEARCH_TIMEOUT_MS = 60_000
    assert fetch(q=q, sortBy="market-cap").status_code == 200
    assert settings_of_connection() == before


@pytest.mark.parametrize("path", ["/api/tokens", "/api/tokens/search"])
def test_every_search_has_its_limit(client, path, settings):
    settings.SEARCH_TIMEOUT_MS = 0
    answer = client.get(path, {"q": "犬"})
    assert (answer.status_code, answer.json()) == (503, {"error": "Search timed out"})


def test_a_list_has_no_such_limit(fetch, settings):
    settings.SEARCH_TIMEOUT_MS = 0
    assert fetch().status_code == 200


def test_a_search_keeps_the_connections_settings(fetch):
    before = settings_of_connection()
    for q in ("coin", "犬", "qzxj", ADDRESS, ""):
        assert fetch(q=q, pair="weth").status_code == 200
        assert settings_of_connection() == before


@pytest.mark.parametrize(("parameters", "number"), [({"q": "ancient"}, 11_000), ({"pair": "weth"}, ROWS)])
def test_a_walk_that_finds_no_page_soon_is_given_up_and_its_matches_are_sorted(
    fetch, tokens, uncounted, locked, settings, parameters, number
):
    # The walk may take a sixth.
    settings.SEARCH_TIMEOUT_MS = 12_000
    waiting = "SELECT query_start FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    # Until then the walk can't read markets, which sorting by time needs only for the records.
    let_go = locked("tokens_market")

    def let_go_when_sorted():
        begins = set()
        with psycopg.connect(**connection.get_connection_params(), autocommit=True) as watching:
            # The first waiting statement is the walk; a second one shows that the walk was cancelled.
            wait_for(lambda: begins.update(watching.execute(waiting)) or len(begins) > 1)
        let_go()

    watcher = threading.Thread(target=let_go_when_sorted)
    watcher.start()
    answer = fetch(**parameters, includeMarket=1, offset=5)
    watcher.join()
    assert ids(answer) == tokens[number - 15 : number - 5][::-1]
    assert (answer.json()["total"], is_estimate(answer)) == (number, False)
    assert answer.json()["cursor"] == fetch(**parameters, offset=5).json()["cursor"]

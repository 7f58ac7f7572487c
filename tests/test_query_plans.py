"""The indexes that the models declare are the ones that PostgreSQL takes, on tables of some size."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.factories import IndexRequestFactory, TokenFactory
from tests.waiting import wait_for
from tokens import indexing
from tokens.models import IndexRequest, Token

pytestmark = pytest.mark.django_db

ROWS = 20_000
RARE_CHAIN = 42161


def pool(number):
    return "0x" + f"{number:064x}"


# Column -> its value in row n; what is not here is the same in all rows.
TOKENS = {
    "id": "nextval('tokens_token_id_seq')",
    "contract_address": "'0x' || upper(lpad(to_hex(n), 40, '0'))",
    "pool_address": "CASE WHEN n % 10 = 0 THEN '' ELSE '0x' || lpad(to_hex(n), 64, '0') END",
    "tx_hash": "'0x' || lpad(to_hex(n), 64, '0')",
    "chain_id": f"CASE WHEN n % 200 = 3 THEN {RARE_CHAIN} ELSE 8453 END",
    "deployed_at": "timestamptz '2026-01-01Z' + n * interval '1 second'",
    "msg_sender": "'0x' || lpad(to_hex(n % 200), 40, '0')",
    "requestor_fid": "CASE WHEN n % 2 = 1 THEN n % 500 + 1 END",
    "blocked": "n % 100 = 0",
    "unindexed": "n % 100 = 1",
    "verified": "n % 1000 = 7",
    "copy_key": "lpad(to_hex(n / 2), 64, '0')",
}
REQUESTS = {
    "id": "nextval('tokens_indexrequest_id_seq')",
    "tx_hash": TOKENS["tx_hash"],
    "status": "CASE n % 100 WHEN 0 THEN 'pending' WHEN 1 THEN 'indexed' ELSE 'confirmed' END",
    "block_number": "n",
}


@pytest.fixture(scope="module")
def rows(django_db_setup, django_db_blocker):
    """Tokens and requests, a few of each kind that partial indexes leave out; gone after this module."""
    with django_db_blocker.unblock():
        multiply(TokenFactory(), TOKENS)
        multiply(IndexRequestFactory(), REQUESTS)
        for table in ("tokens_token", "tokens_indexrequest"):
            wait_for(lambda table=table: is_vacuumed(table), seconds=30)
        yield
        Token.objects.all().delete()
        IndexRequest.objects.all().delete()


def multiply(row, values):
    """Put a table's one row into it many times, with these values."""
    columns = [field.column for field in row._meta.fields if not field.generated]
    table = row._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) "  # noqa: S608 - all parts are ours
            f"SELECT {', '.join(values.get(column, column) for column in columns)} "
            f"FROM {table}, generate_series(1, {ROWS}) AS n"
        )
    row.delete()


def is_vacuumed(table):
    """Vacuum, and say whether all rows are known to be visible: not while others have an older snapshot."""
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM ANALYZE {table}")
        cursor.execute("SELECT relallvisible > relpages * 0.9 FROM pg_class WHERE relname = %s", [table])
        return cursor.fetchone()[0]


def plans(run, table):
    """The plans of the queries on the table that it sends, each as text."""
    with CaptureQueriesContext(connection) as queries:
        run()
    sent = [
        query["sql"] for query in queries if query["sql"].startswith("SELECT") and f'FROM "{table}"' in query["sql"]
    ]
    with connection.cursor() as cursor:
        found = []
        for sql in sent:
            cursor.execute(f"EXPLAIN {sql}")
            found.append("\n".join(line for (line,) in cursor.fetchall()))
    assert found
    return found


OLDER_CURSOR = "eyJpZCI6IjIwMjYtMDEtMDFUMDM6NTA6NDkifQ=="


@pytest.mark.parametrize(
    ("parameters", "index", "count"),
    [
        ({}, "token_listed_newest", "Index Only Scan using token_listed_newest"),
        ({"sort": "asc"}, "Backward using token_listed_newest", "token_listed_newest"),
        ({"cursor": OLDER_CURSOR}, "token_listed_newest", "token_listed_newest"),
        ({"chainId": 8453}, "token_listed_newest", "Index Only Scan using token_by_chain_newest"),
        ({"chainId": RARE_CHAIN}, "token_by_chain_newest", "Index Only Scan using token_by_chain_newest"),
        ({"msgSender": "0x" + f"{3:040x}"}, "token_by_sender_newest", "token_by_sender_newest"),
        ({"fid": 8}, "token_by_fid_newest", "token_by_fid_newest"),
        ({"fids": "8,10,12"}, "token_by_fid_newest", "token_by_fid_newest"),
    ],
)
def test_a_list_is_read_from_an_index(rows, client, parameters, index, count):
    page, total = plans(lambda: client.get("/api/tokens", parameters), "tokens_token")
    assert index in page
    assert "token_copied" in page
    assert count in total
    assert "Seq Scan" not in page + total


def test_a_cursor_is_a_place_in_the_index(rows, client):
    cursor = client.get("/api/tokens").json()["cursor"]
    page, _ = plans(lambda: client.get("/api/tokens", {"cursor": cursor}), "tokens_token")
    assert "Index Cond: (ROW(deployed_at, id) < ROW(" in page
    assert "Sort" not in page


def test_pools_are_looked_up_in_their_index(rows, client):
    pools = [pool(number) for number in range(100)]
    (one,) = plans(lambda: client.get("/api/tokens/fetch-by-pool-address", {"poolAddress": pool(77)}), "tokens_token")
    (many,) = plans(
        lambda: client.post(
            "/api/tokens/fetch-by-pool-addresses", {"poolAddresses": pools}, content_type="application/json"
        ),
        "tokens_token",
    )
    assert "Index Scan using token_by_pool" in one
    assert "token_by_pool" in many
    assert "Seq Scan" not in one + many


def test_an_address_is_looked_up_in_its_index(rows, client, read_key):
    def ask(**parameters):
        return lambda: client.get("/api/get-token-by-address", parameters, headers=read_key)

    address = "0x" + f"{77:040x}"
    token, deployed = plans(ask(address=address), "tokens_token")
    assert "Index Scan using token_by_address" in token
    assert "token_by_fid_newest" in deployed
    (token, _) = plans(ask(address=address, chainId=8453), "tokens_token")
    assert "Index Scan using token_" in token


def test_a_transactions_tokens_are_looked_up_in_their_index(rows):
    found = Token.objects.launched_in(chain_id=8453, tx_hash="0x" + f"{77:064x}")
    (plan,) = plans(lambda: list(found), "tokens_token")
    assert "Index Scan using token_by_transaction" in plan


def test_the_sweeper_and_the_confirmer_read_their_indexes(rows):
    (due,) = plans(lambda: indexing.claim_due(timezone.now()), "tokens_indexrequest")
    unconfirmed = IndexRequest.objects.unconfirmed(chain_id=8453, up_to_block=5_000)
    (confirm,) = plans(lambda: list(unconfirmed[: indexing.BATCH]), "tokens_indexrequest")
    assert "Index Scan using index_request_due" in due
    assert "Index Scan using index_request_unconfirmed" in confirm


def test_the_home_page_is_read_from_an_index(rows, client):
    (plan,) = plans(lambda: client.get("/"), "tokens_token")
    assert "Index Scan using token_listed_newest" in plan


def test_the_admin_pages_first_rows_are_read_from_an_index(rows, admin_client):
    found = plans(lambda: admin_client.get("/admin/tokens/token/"), "tokens_token")
    page = next(plan for plan in found if plan.startswith("Limit") and "tokens_token_pkey" in plan)
    assert "Sort" not in page

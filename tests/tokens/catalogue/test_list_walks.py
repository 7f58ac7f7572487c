"""Walks of `GET /api/tokens` by cursor, against a plain Python model of the list."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rows.factories import TokenFactory
from tests.rows.list_model import SORT_FIELDS, Row, in_order, select
from tokens.models import Market, Token

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
WORDS = ("dog", "Dog inu", "犬", "犬山", "🐶", "100%", "a_b", "c\\d", "it's", 'say "hi"', "İx", "ß", "elon moon")

numbers = st.none() | st.sampled_from([0.0, 1.5, -3.25, 1e-12, 1e14])
markets = st.fixed_dictionaries(
    {
        "market_cap": st.none() | st.sampled_from([0.0, 1.5, 1e-12, 1e14]),
        "tx_count_24h": st.none() | st.integers(0, 3),
        "volume_24h": numbers,
        "price_change_24h": numbers,
        "price_change_1h": numbers,
    }
)
tokens = st.fixed_dictionaries(
    {
        "name": st.sampled_from(WORDS),
        "symbol": st.sampled_from(WORDS),
        # Few moments, so that there are ties, also within one millisecond.
        "deployed_at": st.integers(0, 3).map(lambda number: NOON + timedelta(microseconds=700 * number)),
        "chain_id": st.sampled_from([8453, 1]),
        "market": markets,
    }
)
queries = st.fixed_dictionaries(
    {
        "sortBy": st.sampled_from(list(SORT_FIELDS)),
        "sort": st.sampled_from(["desc", "asc"]),
        "limit": st.integers(1, 7),
    },
    optional={
        "q": st.sampled_from(
            ["d", "dog", "o", "inu", "犬", "犬山", "🐶", "%", "_", "\\", "'", '"', "zzz", "g i", "n m"]
        ),
        "chainId": st.sampled_from([8453, 1]),
    },
)
# Each example is some dozen requests; how long they take is no matter.
unhurried = settings(max_examples=40)


def create(rows):
    """Create listed tokens with these values, and their rows in the model."""
    made = Token.objects.bulk_create(
        TokenFactory.build(**{name: value for name, value in row.items() if name != "market"}) for row in rows
    )
    for token, row in zip(made, rows, strict=True):
        reprice(token.pk, row["market"])
    return [Row(id=token.pk, **row) for token, row in zip(made, rows, strict=True)]


def reprice(token_id, market):
    assert Market.objects.filter(pk=token_id).update(**market) == 1


def walk(query, between_pages=lambda number: None):
    """Return the ids of all pages and the totals, with a change between two pages."""
    client, found, totals, cursor, number = Client(), [], [], None, 0
    while True:
        answer = client.get("/api/tokens", query | ({"cursor": cursor} if cursor else {}))
        assert answer.status_code == 200, answer.content
        body = answer.json()
        found += [record["id"] for record in body["data"]]
        totals.append(body["total"])
        cursor = body["cursor"]
        if cursor is None:
            return found, totals
        assert len(body["data"]) == query["limit"], "only the last page may be short"
        between_pages(number)
        number += 1
        assert number < 60, "the walk must come to an end"


def expected(rows, query):
    selected = select(rows, q=query.get("q", ""), chain_id=query.get("chainId"))
    return in_order(selected, sort_by=query["sortBy"], descending=query["sort"] == "desc")


@unhurried
@given(rows=st.lists(tokens, max_size=25), query=queries, offset=st.integers(0, 30))
def test_a_walk_is_the_list_of_the_model_and_an_offset_leaves_out_as_many(rows, query, offset):
    Token.objects.all().delete()
    model = create(rows)
    found, totals = walk(query)
    assert found == expected(model, query)
    assert set(totals) == {len(found)}
    answer = Client().get("/api/tokens", query | {"offset": offset})
    wanted = found[offset:]
    assert [record["id"] for record in answer.json()["data"]] == wanted[: query["limit"]]
    assert (answer.json()["cursor"] is None) == (len(wanted) <= query["limit"])


@unhurried
@given(
    rows=st.lists(tokens, min_size=5, max_size=20),
    query=queries,
    arrivals=st.lists(tokens, max_size=4),
    repriced=st.lists(st.tuples(st.integers(0, 19), markets), max_size=6),
)
def test_a_walk_loses_and_repeats_nothing_while_tokens_arrive_and_prices_change(rows, query, arrivals, repriced):
    Token.objects.all().delete()
    model = create(rows)
    moved = set()

    def change(number):
        if number < len(arrivals):
            create([arrivals[number]])
        for place, market in repriced[number::3]:
            row = model[place % len(model)]
            reprice(row.id, market)
            moved.add(row.id)

    found, _ = walk(query, change)
    known = {row.id for row in model}
    if query["sortBy"] == "deployed-at":
        moved.clear()
    stayed = [row_id for row_id in found if row_id in known - moved]
    assert stayed == [row_id for row_id in expected(model, query) if row_id not in moved]
    arrived = [row_id for row_id in found if row_id not in known]
    assert len(arrived) == len(set(arrived))

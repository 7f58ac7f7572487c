"""Triggers of the database: short grams, and the market and search entry of every token."""

import json

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st
from psycopg.sql import SQL

from tests.rows.factories import TokenFactory
from tokens.models import Market, SearchEntry, Token

pytestmark = pytest.mark.django_db

# PostgreSQL holds any character but NUL.
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)


def grams(text):
    """Return every character of a text and every pair of neighbours, in plain Python."""
    return [*text, *(text[place : place + 2] for place in range(len(text) - 1))]


def read(sql, *parameters):
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchone()[0]


@given(
    text=texts | st.sampled_from(["", "a", "ab", "aaa", "犬山", "🐶🎉", "👨‍👩‍👧", "a\nb", "{}", '"', ",", "\\", "NULL"])
)
def test_short_grams_are_those_of_the_model(text):
    assert sorted(read("SELECT short_grams(%s)", text)) == sorted(grams(text))


def test_the_grams_of_nothing_are_nothing():
    assert read("SELECT short_grams(NULL)") is None
    assert read("SELECT short_grams('')") == []


AS_IN_TOKEN = ("deployed_at", "chain_id", "msg_sender", "requestor_fid", "champagne", "paired_token", "pool_address")


def has_rows(*addresses):
    """Return whether each of the tokens has its market and its search entry, with the token's values."""
    tokens = list(Token.objects.filter(contract_address__in=addresses))
    assert len(tokens) == len(addresses)
    assert Market.objects.filter(pk__in=tokens).count() == len(addresses)
    assert SearchEntry.objects.count() == Market.objects.count() == Token.objects.count()
    for token in tokens:
        entry = SearchEntry.objects.get(pk=token.pk)
        # PostgreSQL has some lower case letters that Python doesn't, and the other way round.
        text = read("SELECT fold_case(%s) || chr(10) || fold_case(%s)", token.name, token.symbol)
        shown = not (token.blocked or token.unindexed)
        assert (entry.text, entry.is_listed, entry.pair) == (text, shown, read("SELECT lower(%s)", token.pair))
        interface = token.social_context.get("interface")
        assert entry.interface == (interface or "").lower()[:101]
        for name in AS_IN_TOKEN:
            assert getattr(entry, name) == getattr(token, name)
    return True


def test_a_saved_token_has_its_rows():
    assert has_rows(TokenFactory(name="Ärger İ", symbol="ΣΑΣ").contract_address)


def test_tokens_that_are_made_at_once_have_their_rows():
    tokens = Token.objects.bulk_create(TokenFactory.build(blocked=number == 1) for number in range(3))
    assert has_rows(*(token.contract_address for token in tokens))


@pytest.mark.parametrize(
    "on_conflict",
    [
        {"ignore_conflicts": True},
        {
            "update_conflicts": True,
            "unique_fields": ["chain_id", "contract_address"],
            "update_fields": ["name", "deployed_at"],
        },
    ],
)
def test_tokens_of_which_some_were_there_have_their_rows(on_conflict):
    old, other = TokenFactory(name="Old"), TokenFactory()
    Market.objects.filter(pk=old.pk).update(price_usd=5)
    again = TokenFactory.build(contract_address=old.contract_address, name="New")
    new = TokenFactory.build()
    Token.objects.bulk_create([again, new], **on_conflict)
    assert has_rows(old.contract_address, other.contract_address, new.contract_address)
    old.refresh_from_db()
    assert (old.name, old.market.price_usd) == ("New" if "update_fields" in on_conflict else "Old", 5)


COLUMNS = [field.column for field in Token._meta.fields if field.column != "id"]
LIST = ", ".join(COLUMNS)


def test_tokens_by_sql_have_their_rows():
    token = TokenFactory()
    values = LIST.replace("contract_address", "'0x' || n").replace("name,", "'Name ' || n,", 1)
    several = "tokens_token, generate_series(1, 3) AS n"
    upsert = "ON CONFLICT (chain_id, contract_address) DO UPDATE SET symbol = 'UPSERTED', unindexed = TRUE"
    insert = SQL("INSERT INTO tokens_token ({}) SELECT {} FROM {}")
    with connection.cursor() as cursor:
        cursor.execute(insert.format(SQL(LIST), SQL(values), SQL(several)))
        cursor.execute(insert.format(SQL(LIST), SQL(LIST), SQL(f"tokens_token {upsert}")))
    assert has_rows(token.contract_address, "0x1", "0x2", "0x3")
    assert set(SearchEntry.objects.values_list("is_listed", flat=True)) == {False}


def test_copied_tokens_have_their_rows():
    token = TokenFactory()
    columns = LIST.replace("contract_address", "'0xcopied' AS contract_address")
    with connection.cursor() as cursor:
        with cursor.copy(SQL("COPY (SELECT {} FROM tokens_token) TO STDOUT").format(SQL(columns))) as out:
            text = b"".join(bytes(part) for part in out)
        with cursor.copy(f"COPY tokens_token ({LIST}) FROM STDIN") as into:
            into.write(text)
    assert has_rows(token.contract_address, "0xcopied")


def as_sql(value):
    return json.dumps(value) if isinstance(value, dict) else value


@pytest.mark.parametrize(
    "change",
    [
        {"name": "Renamed"},
        {"symbol": "ΝΕΟ"},
        {"name": "", "symbol": ""},
        {"blocked": True},
        {"unindexed": True},
        {"deployed_at": "2020-01-01T00:00:00Z"},
        {"chain_id": 10},
        {"msg_sender": "0xsender"},
        {"requestor_fid": 17},
        {"requestor_fid": None},
        {"champagne": True},
        {"pair": "PAIR"},
        {"social_context": {"interface": "BANKR"}},
        {"social_context": {"interface": "Ü" * 300}},
        {"paired_token": "0xpaired"},
        {"pool_address": "0xpool"},
        {"description": "of no matter"},
    ],
)
def test_a_search_entry_follows_its_token(change):
    saved, updated, by_sql, untouched = TokenFactory.create_batch(4)
    for name, value in change.items():
        setattr(saved, name, value)
    saved.save()
    Token.objects.filter(pk=updated.pk).update(**change)
    with connection.cursor() as cursor:
        update = SQL("UPDATE tokens_token SET {} WHERE id = %s").format(
            SQL(", ".join(f"{name} = %s" for name in change))
        )
        cursor.execute(update, [*map(as_sql, change.values()), by_sql.pk])
    assert has_rows(*(token.contract_address for token in (saved, updated, by_sql, untouched)))


def test_a_search_entry_follows_there_and_back(client):
    token = TokenFactory(name="Vanishing")

    def total():
        return client.get("/api/tokens", {"q": "vanishing"}).json()["total"]

    for column in ("blocked", "unindexed"):
        for hidden in (True, False):
            Token.objects.update(**{column: hidden})
            assert total() == (0 if hidden else 1)
    token.delete()
    assert (total(), Market.objects.count(), SearchEntry.objects.count()) == (0, 0, 0)


def test_a_market_is_kept_when_its_token_changes():
    token = TokenFactory()
    Market.objects.filter(pk=token.pk).update(market_cap=7)
    Token.objects.update(name="Renamed", blocked=True)
    assert Market.objects.get().market_cap == 7

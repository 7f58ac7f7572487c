"""`manage.py seed_tokens`."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from development.sample_data import token_seeding
from development.sample_data.seeded_rows import make_batch
from tests.rows.factories import TokenFactory
from tokens.catalogue.responses import TOKEN_RECORD
from tokens.chains.addresses import checksum_address, is_solana_address, is_solana_signature
from tokens.chains.registry.chains import load_registry
from tokens.indexing.metadata import copy_key, parse_context, parse_metadata
from tokens.models import Market, SearchEntry, Token

# VACUUM runs in no transaction.
pytestmark = pytest.mark.django_db(transaction=True)

ADDRESSES = ("contract_address", "admin", "msg_sender", "requestor_address", "paired_token", "locker_address")


def seed(*words):
    """Run the command and return its output."""
    output = io.StringIO()
    call_command("seed_tokens", *map(str, words), stdout=output)
    return output.getvalue()


def definitions():
    """Return the definitions of the tables' constraints and indexes, with the statistics targets of columns."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_constraintdef(oid), ARRAY[conname, convalidated::text] FROM pg_constraint WHERE conrelid IN "
            "('tokens_token'::regclass, 'tokens_market'::regclass, 'tokens_searchentry'::regclass) UNION ALL "
            "SELECT pg_get_indexdef(indexrelid), ARRAY(SELECT (attnum, attstattarget)::text FROM pg_attribute "
            "WHERE attrelid = indexrelid) FROM pg_index WHERE indrelid IN "
            "('tokens_token'::regclass, 'tokens_market'::regclass, 'tokens_searchentry'::regclass) ORDER BY 1, 2"
        )
        return cursor.fetchall()


@pytest.mark.parametrize("count", [0, -1])
def test_it_refuses_to_load_nothing(count):
    with pytest.raises(CommandError, match="--count must be at least 1"):
        seed("--count", count)


def test_it_refuses_a_database_with_tokens_unless_it_is_to_add_to_them():
    mine = TokenFactory(unindexed=True)
    with pytest.raises(CommandError, match="there are tokens already: --add"):
        seed("--count", 5)
    assert list(Token.objects.all()) == [mine]
    seed("--count", 5, "--add")
    assert Token.objects.count() == 6


def test_it_refuses_a_seed_that_is_there_already():
    assert seed("--count", 5).startswith("5 tokens in ")
    with pytest.raises(CommandError, match="choose another --seed"):
        seed("--count", 5, "--add")
    assert Token.objects.count() == 5
    seed("--count", 5, "--add", "--seed", 2)
    assert Token.objects.count() == 10


def test_the_api_serves_every_token(client):
    seed("--count", 300)
    served, cursor = [], ""
    while cursor is not None:
        answer = client.get("/api/tokens", {"limit": 20, "cursor": cursor, "includeMarket": "true"}).json()
        served, cursor = served + answer["data"], answer["cursor"]
    assert len(served) == Token.objects.listed().count() > 290
    keys = set(TOKEN_RECORD.schema["properties"])
    assert all(set(record) == keys for record in served)


def test_tokens_are_as_indexing_would_have_written_them():
    seed("--count", 200)
    for token in Token.objects.select_related("search_entry"):
        # Rows of Solana are final when they are read, and have no block hash.
        token.full_clean(exclude=["block_hash"] if token.chain_id == 101 else ())
        for name in ADDRESSES:
            address = getattr(token, name)
            if address:
                assert is_solana_address(address) if token.chain_id == 101 else address == checksum_address(address), (
                    name
                )
        assert token.copy_key == copy_key(token.name, token.symbol)
        assert set(parse_metadata(None)) == set(token.metadata)
        assert set(parse_context(None)) == set(token.social_context)
        assert token.search_entry.text == f"{token.name}\n{token.symbol}".lower()


def test_some_are_of_solana_where_it_has_its_id(settings, forget_chains):
    settings.SOLANA_CHAIN_ID = 1_399_811_149
    forget_chains()
    seed("--count", 500)
    found = Token.objects.filter(generation="solana")
    assert 1 < found.count() < 25
    assert set(found.values_list("chain_id", "pair", "decimals")) == {(1_399_811_149, "SOL", 6)}
    assert all(is_solana_address(token.contract_address) and is_solana_signature(token.tx_hash) for token in found)


def test_every_token_has_its_market_and_some_have_traded():
    seed("--count", 500)
    assert Market.objects.count() == 500
    known = Market.objects.exclude(updated_at=None)
    assert 150 < known.count() < 250
    assert known.filter(market_cap=None).exists()
    assert not Market.objects.filter(updated_at=None).exclude(price_usd=None).exists()


def test_the_same_seed_gives_the_same_tokens():
    registry = load_registry()

    def batch(number, seed):
        return make_batch(number, seed=seed, count=10_000, ids=range(200), registry=registry)

    assert batch(0, 1) == batch(0, 1)
    assert batch(0, 1)[1].text != batch(0, 2)[1].text
    assert batch(0, 1)[1].text != batch(1, 1)[1].text


@pytest.mark.slow
def test_a_large_load_gives_the_indexes_back_as_they_were():
    before = definitions()
    count, stages = token_seeding.REBUILD_FROM + 1, []
    token_seeding.load_synthetic_tokens(count, seed=1, add=False, report=lambda *stage: stages.append(stage))
    assert definitions() == before
    assert Token.objects.count() == Market.objects.count() == SearchEntry.objects.count() == count
    # Names have characters with a meaning in searches and COPY.
    for sought in ("Doge", "inu", "犬", "🐶", "%", "_", "\\", "'s ", '"'):
        token = Token.objects.filter(name__contains=sought).first()
        assert token and token.copy_key == copy_key(token.name, token.symbol), sought
    assert ("loading", 5000) in stages and ("loading", count) in stages
    assert any(stage.startswith("indexing, 1 of") for stage, _ in stages)


@pytest.mark.slow
def test_a_large_load_that_fails_leaves_indexes_and_tables_as_they_were():
    before = definitions()

    def fail(stage, done):
        if stage.startswith("indexing, 3 of"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        token_seeding.load_synthetic_tokens(token_seeding.REBUILD_FROM, seed=1, add=False, report=fail)
    assert definitions() == before
    assert not Token.objects.exists()

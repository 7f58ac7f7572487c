"""Tests of tokens/indexing/writing.py: batches write the same rows as single transactions, in few statements."""

import time
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import SocialProfile
from config.postgresql.bulk_load import tune_bulk_transaction
from tests.nodes.contract_events import UPDATE_IMAGE
from tests.nodes.launch_builder import STRANGER, event
from tests.nodes.recordings import base, decoded, mined
from tests.rows.factories import TokenFactory
from tests.rows.written_facts import all_rows, drawn_launches, forget_all, launch_facts_of, recorded_facts, write_all
from tokens.chains.registry.chains import load_registry
from tokens.chains.types import EventLog
from tokens.indexing.fact_json import launch_facts
from tokens.indexing.launch_rows import launch_key, make_launch_lines, token_columns
from tokens.indexing.writing import write_transactions
from tokens.models import LaunchFacts, Market, ProviderRefresh, Token, TokenEvent

pytestmark = pytest.mark.django_db

# Values that break a careless COPY, JSON or array.
HOSTILE = ["a\tb", "line\nbreak\r\n", "back\\slash \\N \\.", r"\N", r"\.", "{}", '"quoted", {1,2}', "🐶‮", "NULL", " "]


def hostile_launches():
    (launch,) = mined("deploy-plain").decode()
    return [
        replace(
            launch,
            token=f"0x{place:040x}",
            tx_hash=f"0x{place:064x}",
            name=text,
            symbol=text,
            image=text,
            metadata=text,
            context=f'{{"interface": "\\u0009x\\\\", "id": {"9" * 20}, "other": ["\\n", 1e3]}}',
            cast_hash=text,
            pool=replace(launch.pool, pair_symbol=text),
        )
        for place, text in enumerate(HOSTILE, start=1)
    ]


def moved(facts, *, block=7, **changes):
    """Return the same transaction in another block."""
    where = {"block_hash": f"0x{block:064x}", "block_number": facts.block_number + 1}
    where |= {"block_time": changes.pop("block_time", facts.block_time)}
    launches = tuple(replace(launch, **where, **changes) for launch in facts.launches)
    return replace(facts, **where, launches=launches)


def test_nothing_is_written_of_nothing():
    written = write_all([])
    assert (written.launches, written.events, written.addresses) == (0, 0, {})


def test_a_transaction_without_a_token_is_absent():
    log = EventLog(emitter=STRANGER, log_index=0, raw=event(STRANGER, UPDATE_IMAGE, "x"))
    facts = replace(mined("token-update-image").read(), event_logs=(log,))
    written = write_all([facts])
    assert (written.events, written.addresses) == (0, {})
    assert not TokenEvent.objects.exists()


def test_only_the_transaction_that_sets_it_is_committed_lazily(transactional_db):
    def waits():
        with connection.cursor() as cursor:
            cursor.execute("SHOW synchronous_commit")
            return cursor.fetchone()[0]

    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit TO on")
    with transaction.atomic():
        tune_bulk_transaction()
        assert waits() == "off"
    assert waits() == "on"


def test_a_broken_transaction_leaves_nothing():
    before = all_rows()
    with pytest.raises(RuntimeError), transaction.atomic():
        write_transactions(recorded_facts(), chain=base())
        assert Token.objects.exists()
        raise RuntimeError
    assert all_rows() == before


@pytest.mark.parametrize("launches", [drawn_launches(150), hostile_launches()], ids=["drawn", "hostile"])
def test_the_rows_are_those_that_the_orm_would_write(launches):
    presets = load_registry().presets.values()
    for launch in launches:
        columns = token_columns(launch, chain=base(), presets=presets)
        token = Token.objects.create(**columns, last_indexed=timezone.now())
        LaunchFacts.objects.create(token=token, facts=launch_facts(launch))
    expected = all_rows()
    forget_all()
    write_all(launch_facts_of(launches))
    assert all_rows() == expected


def test_many_at_once_become_the_rows_of_one_after_the_other():
    everything = recorded_facts()
    singly = [write_all([facts]) for facts in everything]
    expected = all_rows()
    assert all(expected.values())
    forget_all()
    # In any order.
    together = write_all(reversed(everything))
    assert all_rows() == expected
    assert together.addresses == {tx_hash: found for one in singly for tx_hash, found in one.addresses.items()}
    assert together.launches == sum(one.launches for one in singly)
    assert together.events == sum(one.events for one in singly)


def test_writing_again_changes_nothing():
    write_all(recorded_facts())
    Token.objects.update(champagne=True, verified=True)
    before, created = all_rows(ids=True), list(Token.objects.order_by("pk").values_list("created_at"))
    write_all(recorded_facts())
    assert all_rows(ids=True) == before
    assert list(Token.objects.order_by("pk").values_list("created_at")) == created


def test_new_tokens_are_written_beside_known_ones():
    everything = recorded_facts()
    write_all(everything)
    expected = all_rows()
    forget_all()
    write_all(everything[::2])
    write_all(everything)
    assert all_rows() == expected


def test_writing_a_launch_again_keeps_what_happened_since():
    everything = recorded_facts()
    write_all(everything)
    before = all_rows(ids=True)
    write_all([facts for facts in everything if facts.launches and not facts.event_logs])
    assert all_rows(ids=True) == before


def test_what_searches_read_is_not_touched_where_it_stays():
    def versions():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT token_id, ctid FROM tokens_searchentry UNION SELECT token_id, ctid FROM tokens_market"
            )
            return sorted(cursor.fetchall())

    write_all(recorded_facts())
    before = versions()
    write_all(recorded_facts())
    assert versions() == before


def test_ids_rise_with_the_chain():
    launches = drawn_launches(60)
    write_all(reversed(launch_facts_of(launches)))
    in_order = sorted(launches, key=lambda launch: launch.block_number)
    assert list(Token.objects.order_by("pk").values_list("contract_address", flat=True)) == [
        launch.token for launch in in_order
    ]


def test_launches_of_usual_length_are_stored_uncompressed():
    write_all(recorded_facts())
    compressed = "SELECT count(pg_column_compression({})) FROM {}"
    with connection.cursor() as cursor:
        for column, table in (("extensions", "tokens_token"), ("facts", "tokens_launchfacts")):
            cursor.execute(compressed.format(column, table))
            assert cursor.fetchone() == (0,)


def test_the_requestors_profiles_are_wanted():
    launches = [replace(launch, requestor_fid=fid) for fid, launch in enumerate(drawn_launches(3), start=7)]
    write_all(launch_facts_of(launches))
    assert set(SocialProfile.objects.values_list("fid", flat=True)) == {7, 8, 9}


@pytest.mark.parametrize("later_place", [{"block_number": 1}, {"block_number": 0, "log_index": 1}])
@pytest.mark.parametrize("is_together", [True, False])
def test_of_a_token_that_is_launched_twice_the_first_launch_counts(later_place, is_together):
    first, second = drawn_launches(2)
    place = {name: getattr(first, name) + added for name, added in later_place.items()}
    if not later_place["block_number"]:
        place["block_hash"] = first.block_hash
    later = replace(second, token=first.token, name="Later", **place)
    facts = launch_facts_of([later, first])
    written = [write_all(facts)] if is_together else [write_all([each]) for each in facts]
    assert Token.objects.get().name == first.name
    assert {tx_hash for each in written for tx_hash in each.addresses} == {first.tx_hash, second.tx_hash}


def test_of_an_event_that_is_reported_twice_one_is_kept():
    launch, change = mined("deploy-plain").read(), mined("token-update-image").read()
    written = write_all([launch, change, change])
    assert written.events == TokenEvent.objects.filter(tx_hash=change.tx_hash).count() == 1


def test_what_another_block_held_is_unwound():
    launch, image = mined("deploy-plain").read(), mined("token-update-image").read()
    write_all([launch, image])
    gone = TokenFactory(tx_hash=launch.tx_hash)
    assert Token.objects.get(pk=gone.pk).block_hash != launch.block_hash
    write_all([moved(launch), replace(moved(image), event_logs=())])
    gone.refresh_from_db()
    assert gone.unindexed
    token = Token.objects.on_chain().get()
    assert (token.block_hash, token.img_url) == (f"0x{7:064x}", launch.launches[0].image)
    assert not TokenEvent.objects.exists()


def test_half_an_answer_about_the_same_block_takes_nothing_back():
    write_all(recorded_facts())
    before = all_rows(ids=True)
    launch, image = mined("deploy-plain").read(), mined("token-update-image").read()
    write_all([replace(launch, launches=()), replace(image, event_logs=())])
    assert all_rows(ids=True) == before


def test_a_token_that_is_launched_again_keeps_its_id_and_tags():
    launch = mined("deploy-plain").read()
    write_all([launch])
    Token.objects.update(champagne=True, verified=True, blocked=True, unindexed=True)
    before = Token.objects.get()
    write_all([moved(launch, name="Anew")])
    after = Token.objects.get()
    assert (after.pk, after.created_at, after.name, after.unindexed) == (before.pk, before.created_at, "Anew", False)
    assert (after.champagne, after.verified, after.blocked) == (True, True, True)


def test_statements_do_not_grow_with_the_transactions():
    def count(launches):
        with CaptureQueriesContext(connection) as captured:
            write_all(launch_facts_of(launches))
        return len(captured)

    launches = [replace(launch, requestor_fid=fid) for fid, launch in enumerate(drawn_launches(120), start=1)]
    assert count(launches[:1]) == count(launches[1:]) < 15


def priced(token):
    """Give a token market data of both sources, and a refresh that is due in a week."""
    Market.objects.filter(pk=token.pk).update(
        price_usd=5.0, market_cap=9.0, price_quote=2, last_position=7, trending=1.5, updated_at=timezone.now()
    )
    ProviderRefresh.objects.create(token=token, due_at=timezone.now() + timedelta(days=7))


@pytest.mark.parametrize("hidden", [True, False])
def test_market_data_of_a_token_in_another_pool_start_anew(hidden):
    launch = mined("deploy-plain").read()
    write_all([launch])
    unpriced = Market.objects.values().get()
    priced(Token.objects.get())
    Token.objects.update(unindexed=hidden)
    pool = replace(launch.launches[0].pool, address="0x" + "ab" * 32)
    write_all([moved(launch, pool=pool, block_time=int(time.time()))])
    assert Market.objects.values().get() == unpriced
    assert not ProviderRefresh.objects.exists()


def test_market_data_of_a_token_that_comes_back_in_its_pool_go_on():
    launch = mined("deploy-plain").read()
    write_all([launch])
    priced(Token.objects.get())
    Token.objects.update(unindexed=True)
    before = Market.objects.values().get(), ProviderRefresh.objects.values().get()
    write_all([moved(launch)])
    assert (Market.objects.values().get(), ProviderRefresh.objects.values().get()) == before


def test_claims_that_were_kept_before_their_token_was_known_become_its_own():
    claim = next(facts for facts in recorded_facts() if facts.tx_hash == decoded("claim-token-plain")["hash"])
    write_all([claim])
    assert TokenEvent.objects.get().token is None
    write_all(facts for facts in recorded_facts() if facts.tx_hash == decoded("deploy-plain")["hash"])
    event = TokenEvent.objects.get(tx_hash=claim.tx_hash)
    assert event.token == Token.objects.get() and event.claims.get().currency == event.token.contract_address


def test_a_launch_is_written_from_the_line_that_was_made_ahead_of_it():
    recorded = recorded_facts()
    lines = make_launch_lines(recorded, chain=base())
    assert lines.keys() == {launch_key(launch) for facts in recorded for launch in facts.launches}
    with transaction.atomic():
        write_transactions(recorded, chain=base(), lines=lines)
    ahead = all_rows()
    forget_all()
    write_all(recorded)
    assert ahead == all_rows()


def test_a_line_of_another_block_is_not_taken():
    facts = mined("deploy-plain").read()
    with transaction.atomic():
        write_transactions([moved(facts)], chain=base(), lines=make_launch_lines([facts], chain=base()))
    assert Token.objects.get().block_hash == moved(facts).block_hash

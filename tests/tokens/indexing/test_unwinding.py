"""Tests of tokens/indexing/unwinding.py: only orphaned blocks' rows are undone, and return with the same ids."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.nodes.recordings import mined
from tests.rows.factories import IndexRequestFactory, TokenEventFactory, TokenFactory
from tests.rows.written_facts import all_rows, drawn_launches, forget_all, launch_facts_of, recorded_facts, write_all
from tokens.indexing import chain_lock
from tokens.indexing.unwinding import UnwindCounts, unwind_blocks, unwind_competing_blocks, unwind_transactions
from tokens.models import Coverage, FeeClaim, FollowedBlock, IndexRequest, Token, TokenEvent

pytestmark = pytest.mark.django_db

CHAIN_ID = 8453
OTHER_CHAIN = 1
FACTS = recorded_facts()
# Before everything, after the launches' first blocks, amid the events, before the last one, after everything.
CUTS = sorted({0, *(FACTS[len(FACTS) * share // 4].block_number for share in (1, 2, 3)), FACTS[-1].block_number})


def undo(above):
    with transaction.atomic():
        chain_lock.lock_exclusive(CHAIN_ID)
        return unwind_blocks(CHAIN_ID, above=above)


def cover(**columns):
    """Create a coverage row from block 10 on."""
    plain = {"chain_id": CHAIN_ID, "addresses": [], "address_set": "a", "first_block": 10, "verified_to": 9}
    return Coverage.objects.create(**plain | columns)


def follow(chain_id, *numbers):
    for number in numbers:
        FollowedBlock.objects.create(
            chain_id=chain_id, number=number, hash=f"0x{number}", parent_hash="0x", at=timezone.now()
        )


def rows_on_chain():
    """Return all rows, except hidden tokens' rows."""
    rows = all_rows()
    hidden = {row["contract_address"] for row in rows["Token"] if row["unindexed"]}
    return {
        name: [row for row in part if row.get("contract_address", row.get("token_id")) not in hidden]
        for name, part in rows.items()
    }


def test_nothing_is_unwound_where_nothing_is_above():
    write_all(FACTS)
    before = all_rows(ids=True)
    assert undo(FACTS[-1].block_number) == UnwindCounts()
    assert all_rows(ids=True) == before


@pytest.mark.parametrize("above", CUTS)
def test_what_is_left_is_what_the_blocks_below_hold_and_the_same_comes_back(above):
    write_all([facts for facts in FACTS if facts.block_number <= above])
    expected = rows_on_chain()
    forget_all()

    write_all(FACTS)
    before = all_rows()
    ids = dict(Token.objects.values_list("contract_address", "pk"))
    lost = [facts for facts in FACTS if facts.block_number > above]
    events = TokenEvent.objects.filter(block_number__gt=above).count()
    undone = undo(above)
    assert (undone.tokens, undone.events) == (sum(len(facts.launches) for facts in lost), events)
    assert rows_on_chain() == expected

    write_all(lost)
    assert all_rows() == before
    assert dict(Token.objects.values_list("contract_address", "pk")) == ids


def test_another_branch_takes_the_place_of_the_dropped_one():
    launch, image, admin = (
        mined(label).read() for label in ("deploy-plain", "token-update-image", "token-update-admin")
    )
    write_all([launch, image, admin])
    token = Token.objects.get()
    undo(launch.block_number - 1)
    elsewhere = {"block_number": launch.block_number, "block_hash": "0x" + "ee" * 32}
    again = replace(launch, **elsewhere, launches=tuple(replace(one, **elsewhere) for one in launch.launches))
    write_all([again, replace(admin, block_number=launch.block_number + 1, block_hash="0x" + "ef" * 32)])
    after = Token.objects.on_chain().get()
    assert (after.pk, after.block_hash) == (token.pk, elsewhere["block_hash"])
    assert (after.admin, after.img_url) == (token.admin, launch.launches[0].image)
    assert set(TokenEvent.objects.values_list("block_hash", flat=True)) == {"0x" + "ef" * 32}


def test_operators_tags_stay():
    write_all(FACTS)
    Token.objects.update(champagne=True, verified=True, blocked=True)
    undo(0)
    assert not Token.objects.exclude(champagne=True, verified=True, blocked=True).exists()
    assert not Token.objects.on_chain().exists()


def test_claims_go_with_their_events():
    write_all(FACTS)
    assert FeeClaim.objects.exists()
    undo(0)
    assert not FeeClaim.objects.exists()


def test_other_chains_stay():
    token = TokenFactory(chain_id=OTHER_CHAIN)
    event = TokenEventFactory(chain_id=OTHER_CHAIN, token=token)
    request = IndexRequestFactory(chain_id=OTHER_CHAIN, status="indexed", block_number=5, block_hash="0x5")
    follow(OTHER_CHAIN, 5)
    coverage = cover(chain_id=OTHER_CHAIN, followed_to=50)
    assert undo(0) == UnwindCounts()
    for row in (token, request, coverage):
        row.refresh_from_db()
    assert (token.unindexed, request.status, coverage.followed_to) == (False, "indexed", 50)
    assert TokenEvent.objects.get() == event
    assert FollowedBlock.objects.count() == 1


@pytest.mark.parametrize("status", ["indexed", "confirmed"])
def test_requests_of_dropped_blocks_are_looked_for_again(status):
    now = timezone.now()
    dropped, kept = (
        IndexRequestFactory(
            chain_id=CHAIN_ID,
            status=status,
            block_number=number,
            block_hash=f"0x{number}",
            attempts=3,
            due_at=now - timedelta(days=1),
        )
        for number in (21, 20)
    )
    assert undo(20).requests == 1
    dropped.refresh_from_db()
    kept.refresh_from_db()
    assert (dropped.status, dropped.attempts, dropped.unfinished) == ("pending", 0, 0)
    assert "reorg" in dropped.last_error
    assert dropped.due_at >= now
    assert (kept.status, kept.attempts) == (status, 3)


def test_requests_that_were_given_up_stay_so():
    for status in ("failed", "orphaned"):
        IndexRequestFactory(chain_id=CHAIN_ID, status=status, block_number=21, block_hash="0x21")
    assert undo(20).requests == 0
    assert set(IndexRequest.objects.values_list("status", flat=True)) == {"failed", "orphaned"}


def test_the_followers_own_chain_ends_at_the_common_block():
    follow(CHAIN_ID, 19, 20, 21, 22)
    assert undo(20).blocks == 2
    assert list(FollowedBlock.objects.order_by("number").values_list("number", flat=True)) == [19, 20]


@pytest.mark.parametrize(
    ("before", "after"),
    [((30, 25), (20, 20)), ((30, 15), (20, 15)), ((20, 20), (20, 20)), ((12, 11), (12, 11))],
)
def test_progress_is_lowered_to_the_common_block(before, after):
    row = cover(followed_to=before[0], verified_to=before[1])
    undo(20)
    row.refresh_from_db()
    assert (row.followed_to, row.verified_to) == after


def test_progress_is_never_lowered_below_its_beginning():
    row = cover(followed_to=30, verified_to=20)
    undo(3)
    row.refresh_from_db()
    assert (row.followed_to, row.verified_to) == (9, 9)


def test_a_bounded_run_of_blocks_keeps_its_progress():
    row = cover(followed_to=30, last_block=30)
    undo(20)
    row.refresh_from_db()
    assert row.followed_to == 30


def test_single_transactions_are_unwound_by_themselves():
    write_all(FACTS)
    ids = all_rows(ids=True)
    gone = mined("token-update-image").read()
    request = IndexRequestFactory(
        chain_id=CHAIN_ID, tx_hash=gone.tx_hash, status="confirmed", block_number=1, block_hash=gone.block_hash
    )
    with transaction.atomic():
        chain_lock.lock_exclusive(CHAIN_ID)
        assert unwind_transactions(CHAIN_ID, [gone.tx_hash, "0x404"]) == UnwindCounts(events=1, requests=1)
    request.refresh_from_db()
    assert request.status == "pending"
    (launch,) = mined("deploy-plain").decode()
    assert Token.objects.get(contract_address=launch.token).img_url == launch.image
    assert len(ids["TokenEvent"]) == TokenEvent.objects.count() + 1
    assert not Token.objects.filter(unindexed=True).exists()


def test_what_rival_blocks_held_is_unwound_and_nothing_else():
    number = 50
    ours, rival, higher = (
        TokenFactory(block_number=place, block_hash=block) for place, block in ((50, "0xa"), (50, "0xb"), (51, "0xb"))
    )
    TokenEventFactory(block_number=number, block_hash="0xb", token=ours)
    with transaction.atomic():
        chain_lock.lock_exclusive(CHAIN_ID)
        assert unwind_competing_blocks(CHAIN_ID, blocks={}) == UnwindCounts()
        assert unwind_competing_blocks(CHAIN_ID, blocks={number: "0xa"}) == UnwindCounts(tokens=1, events=1)
    assert set(Token.objects.on_chain()) == {ours, higher}
    rival.refresh_from_db()
    assert rival.unindexed


def test_statements_do_not_grow_with_the_rows():
    def count(launches):
        write_all(launch_facts_of(launches))
        with CaptureQueriesContext(connection) as captured:
            assert undo(0).tokens == len(launches)
        return len(captured)

    launches = drawn_launches(80)
    assert count(launches[:1]) == count(launches[1:]) < 18

"""Events of tokens, deployments and claims: each change is an event of its transaction, described by a schema."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from config.events.models import Event, OutboxEvent
from config.events.outbox import leave_out_events, publish_events
from tests.config.events.stored_events import assert_described, take_outbox, take_types
from tests.rows.factories import (
    DeploymentFactory,
    FeeClaimFactory,
    IndexRequestFactory,
    TokenEventFactory,
    TokenFactory,
)
from tests.rows.written_facts import recorded_facts, write_all
from tokens.deploying.responses import DeployStatusAnswer
from tokens.indexing import chain_lock, index_requests, writing
from tokens.indexing.unwinding import unwind_blocks, unwind_transactions
from tokens.installation.installed_registry import registry
from tokens.models import Deployment, DeploymentStatus, Token

pytestmark = pytest.mark.django_db

CHAIN_ID = 8453
FACTS = recorded_facts()
LAUNCHES = [facts for facts in FACTS if facts.launches]


def write(*transactions, **options):
    with transaction.atomic():
        chain_lock.lock_exclusive(CHAIN_ID)
        return writing.write_transactions(transactions, chain=registry().chains[CHAIN_ID], **options)


def in_other_block(facts):
    """Return the same transaction in another block."""
    moved = {"block_number": facts.block_number + 1, "block_hash": "0x" + "ab" * 32}
    return replace(facts, **moved, launches=tuple(replace(launch, **moved) for launch in facts.launches))


def test_all_recorded_changes_fit_their_schemas():
    write_all(FACTS)
    events = take_outbox()
    indexed = [event.subject for event in events if event.type == "token.indexed"]
    assert sorted(indexed) == sorted(launch.token for facts in FACTS for launch in facts.launches)
    claims = [event for event in events if event.type == "fees.claimed"]
    assert claims and {event.audience for event in events} == {"public"}
    assert {event.chain_id for event in events} == {CHAIN_ID}


@pytest.mark.parametrize(
    ("generation", "launchpad"),
    [
        ("v3.1", {"launchpad": "clanker", "launchpadTitle": "Clanker"}),
        ("zora", {"launchpad": "zora", "launchpadTitle": "Zora"}),
        ("gone", {}),
    ],
)
def test_published_events_name_the_launchpad(generation, launchpad):
    token = TokenFactory(generation=generation)
    Token.objects.filter(pk=token.pk).update(champagne=True)
    stored = [event.data for event in OutboxEvent.objects.order_by("id")]
    assert publish_events()
    events = Event.objects.order_by("id")
    assert [event.type for event in events] == ["token.indexed", "token.updated"]
    assert [event.data for event in events] == [data | launchpad for data in stored]
    for event in events:
        assert_described(event)


def test_a_launch_is_an_event_with_the_fields_of_the_record():
    facts = LAUNCHES[0]
    write(facts)
    (event,) = take_outbox()
    token = Token.objects.get(contract_address=facts.launches[0].token)
    assert (event.type, event.subject) == ("token.indexed", token.contract_address)
    assert event.data["name"] == token.name and event.data["supply"] == str(token.supply)
    assert event.data["deployed_at"] == token.deployed_at.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    assert event.data["block_hash"] == facts.block_hash


def test_the_same_block_again_is_no_event():
    write(LAUNCHES[0])
    take_outbox()
    write(LAUNCHES[0])
    assert take_types() == []


def test_all_changes_again_are_no_events():
    write_all(FACTS)
    take_outbox()
    write_all(FACTS)
    assert take_types() == []


def test_a_known_token_that_returns_in_history_is_an_event():
    old = replace(LAUNCHES[0], block_time=1)
    write(old, final=True)
    with transaction.atomic():
        chain_lock.lock_exclusive(CHAIN_ID)
        unwind_transactions(CHAIN_ID, [old.tx_hash])
    take_outbox()
    with transaction.atomic():
        writing.leave_out_old_events([old])
        write(old, final=True)
    assert take_types() == ["token.indexed", "token.confirmed"]


def test_a_token_in_another_block_goes_and_comes():
    write(LAUNCHES[0])
    take_outbox()
    write(in_other_block(LAUNCHES[0]))
    gone, come = take_outbox()
    assert (gone.type, come.type) == ("token.reorged", "token.indexed")
    assert gone.data["block_hash"] == LAUNCHES[0].block_hash and come.data["block_hash"] == "0x" + "ab" * 32


def test_each_token_that_goes_is_an_event():
    write_all(FACTS)
    take_outbox()
    with transaction.atomic():
        chain_lock.lock_exclusive(CHAIN_ID)
        unwind_blocks(CHAIN_ID, above=0)
    events = take_outbox()
    gone = [event.subject for event in events if event.type == "token.reorged"]
    assert sorted(gone) == sorted(launch.token for facts in FACTS for launch in facts.launches)
    assert [event.type for event in events if event.type.startswith("fees.")].count("fees.reorged") > 0
    assert not {"token.updated", "token.indexed"} & {event.type for event in events}


def test_a_final_launch_is_confirmed_at_once():
    write(LAUNCHES[0], final=True)
    assert take_types() == ["token.indexed", "token.confirmed"]


def test_a_launch_is_confirmed_once_by_the_head():
    facts = LAUNCHES[0]
    write(facts)
    take_outbox()
    assert writing.confirm_launches(CHAIN_ID, up_to_block=facts.block_number - 1) == 0
    assert writing.confirm_launches(CHAIN_ID, up_to_block=facts.block_number) == 1
    assert writing.confirm_launches(CHAIN_ID, up_to_block=facts.block_number) == 0
    write(facts)
    assert take_types() == ["token.confirmed"]


def test_a_token_that_returns_is_confirmed_anew():
    facts = LAUNCHES[0]
    write(facts, final=True)
    with transaction.atomic():
        chain_lock.lock_exclusive(CHAIN_ID)
        unwind_transactions(CHAIN_ID, [facts.tx_hash])
    write(facts)
    assert not Token.objects.get().confirmed
    writing.confirm_launches(CHAIN_ID, up_to_block=facts.block_number)
    assert take_types() == ["token.indexed", "token.confirmed", "token.reorged", "token.indexed", "token.confirmed"]


def test_a_request_by_hash_confirms_its_launches():
    facts = LAUNCHES[0]
    write(facts)
    take_outbox()
    request = IndexRequestFactory.create(
        chain_id=CHAIN_ID, tx_hash=facts.tx_hash, status="indexed", block_number=1, block_hash=facts.block_hash
    )
    assert index_requests._confirm(request) is True
    assert take_types() == ["token.confirmed"]


def test_a_tag_is_an_event_that_names_it():
    token = TokenFactory.create(verified_on_chain=True)
    take_outbox()
    Token.objects.filter(pk=token.pk).update(blocked=True, last_indexed=timezone.now())
    (event,) = take_outbox()
    assert (event.type, event.data["changed"]) == ("token.updated", ["blocked"])
    # Verified by its admin.
    assert event.data["tags"]["blocked"] and event.data["tags"]["verified"]


def test_a_hidden_token_changes_silently():
    token = TokenFactory.create(unindexed=True)
    Token.objects.filter(pk=token.pk).update(blocked=True)
    assert take_types() == []


def test_texts_of_any_length_make_a_small_event():
    TokenFactory.create(
        name="é" * 10_000, symbol="$" * 10_000, pair="p" * 100, img_url="https://a.example/" + "x" * 9_000
    )
    TokenFactory.create(img_url="javascript:alert(1)")
    TokenFactory.create(img_url='https://a.example/"><script>')
    TokenFactory.create(img_url="ipfs://bafy/1.png")
    long, script, quote, plain = take_outbox()
    assert len(str(long.data)) < 20_000
    assert [event.data["img_url"] for event in (long, script, quote, plain)] == [None, None, None, "ipfs://bafy/1.png"]


def test_history_is_no_news():
    old = LAUNCHES[0]
    now = int(datetime.now(UTC).timestamp())
    with transaction.atomic():
        writing.leave_out_old_events([replace(old, block_time=now - 25 * 3600), replace(old, block_time=now - 3600)])
        write(old)
    assert take_types() == ["token.indexed"]
    with transaction.atomic():
        writing.leave_out_old_events([replace(old, block_time=now - 25 * 3600)])
        write(LAUNCHES[1])
    assert take_types() == []


def test_events_are_left_out_of_one_transaction_only(transactional_db):
    with transaction.atomic():
        leave_out_events()
        TokenFactory.create()
    TokenFactory.create()
    assert take_types() == ["token.indexed"]


def test_a_rolled_back_change_is_no_event():
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        TokenFactory.create()
        raise ZeroDivisionError
    assert take_types() == []


@pytest.mark.parametrize(
    ("status", "event_type"),
    [
        (DeploymentStatus.SUBMITTED, "deployment.submitted"),
        (DeploymentStatus.INDEXED, "deployment.succeeded"),
        (DeploymentStatus.FAILED, "deployment.failed"),
    ],
)
def test_a_deployment_is_an_event_for_its_partner(status, event_type):
    deployment = DeploymentFactory.create()
    Deployment.objects.filter(pk=deployment.pk).update_and_touch(status=status, error="why", tx_hash="0x1")
    # Neither the same status again nor another column is news.
    Deployment.objects.filter(pk=deployment.pk).update_and_touch(status=status, attempts=2)
    (event,) = [event for event in take_outbox() if event.type.startswith("deployment.")]
    assert (event.type, event.audience, event.owner_id) == (event_type, "partner", deployment.partner_key_id)
    assert (event.subject, event.data["error"], event.data["txHash"]) == (deployment.request_key, "why", "0x1")
    assert event.data.keys() == DeployStatusAnswer.__required_keys__


def test_an_operators_deployment_is_for_operators_only():
    deployment = DeploymentFactory.create(partner_key=None)
    Deployment.objects.filter(pk=deployment.pk).update_and_touch(status=DeploymentStatus.FAILED)
    assert [event.audience for event in take_outbox() if event.type == "deployment.failed"] == ["operators"]


def test_statuses_between_are_no_events():
    deployment = DeploymentFactory.create(status=DeploymentStatus.SUBMITTED)
    take_outbox()
    for status in (DeploymentStatus.MINED, DeploymentStatus.ENQUEUED):
        Deployment.objects.filter(pk=deployment.pk).update_and_touch(status=status)
    assert take_types() == []


def test_a_claim_without_a_token_is_an_event():
    FeeClaimFactory.create(event=TokenEventFactory.create(token=None), amount=10**30, at=timezone.now() - timedelta(1))
    (event,) = [event for event in take_outbox() if event.type == "fees.claimed"]
    assert (event.data["token"], event.data["amount"], event.subject) == (None, str(10**30), event.data["recipient"])

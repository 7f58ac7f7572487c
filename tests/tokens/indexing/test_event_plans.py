"""Query plans of events and claims: they use their indexes, on tables of some size."""

import re

import pytest
from django.db import connection

from tests.nodes.contract_events import FIRST_CLAIMED, UPDATE_IMAGE
from tests.nodes.launch_builder import LOCKER_V4, SENDER, STRANGER, WETH, ZERO, event
from tests.nodes.recordings import base
from tests.processes.template_database import restore_template_rows
from tests.rows.factories import FeeClaimFactory, TokenEventFactory
from tests.rows.many_tokens import make_tokens, multiply, settle
from tests.rows.query_plans import plans
from tests.simulator.addresses import LOCKER_V31
from tokens.chains.evm.generations import event_decoding as chain_events
from tokens.chains.types import EventLog, TransactionFacts
from tokens.fees.claimed import read_claimed_fees
from tokens.indexing.event_rows import refresh_token_state
from tokens.indexing.event_sources import filter_trusted
from tokens.models import Token, TokenEvent

pytestmark = pytest.mark.django_db

TOKENS = {
    "admin": "'0x' || lpad(to_hex(n % 100), 40, '0')",
    "locker_address": (
        f"CASE WHEN n % 2 = 0 THEN '{LOCKER_V4}' WHEN n % 5 > 0 THEN '{LOCKER_V31}' "
        "ELSE '0x' || lpad(to_hex(n), 40, '0') END"
    ),
    "position_id": "CASE WHEN n % 2 = 0 THEN '' ELSE n::text END",
}
# Every hundredth event changes its token; ten tokens have all of them.
EVENTS = {
    "id": "nextval('tokens_tokenevent_id_seq')",
    "tx_hash": "'0x' || lpad(to_hex(n), 64, '0')",
    "block_number": "n",
    "kind": "CASE WHEN n % 100 = 0 THEN 'image_updated' ELSE 'fees_collected' END",
    "token_id": "(SELECT min(id) FROM tokens_token) + n % 10",
}
CLAIMS = {
    "id": "nextval('tokens_feeclaim_id_seq')",
    "event_id": "(SELECT min(id) FROM tokens_tokenevent) + n - 1",
    "recipient": "'0x' || lpad(to_hex(n % 10), 40, '0')",
    "at": "timestamptz '2026-01-01Z' + n * interval '1 second'",
}
FACTS = '{"admin": "", "image": "", "metadata": "", "fee_recipients": [], "airdrop": null}'


@pytest.fixture(scope="module")
def rows(django_db_setup, django_db_blocker):
    """Create tokens with their launches, events and claims; gone after this module."""
    with django_db_blocker.unblock():
        make_tokens(TOKENS, {"market_cap": "NULL"})
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO tokens_launchfacts SELECT id, %s FROM tokens_token", [FACTS])
        multiply(TokenEventFactory(arguments={"image": "x"}), EVENTS)
        multiply(FeeClaimFactory(event=TokenEvent.objects.first()), CLAIMS)
        for table in ("tokens_tokenevent", "tokens_feeclaim", "tokens_launchfacts"):
            settle(table)
        yield
        restore_template_rows()


def test_claims_are_added_up_only_from_the_index(rows):
    recipient = "0x" + f"{7:040x}"
    total, page = plans(
        lambda: read_claimed_fees(chain_id=8453, currency=WETH, recipient=recipient, limit=50, offset=100),
        "tokens_feeclaim",
    )
    assert "Index Only Scan using fee_claim_newest" in total
    assert "Index Scan using fee_claim_newest" in page
    assert "Sort" not in page and "Seq Scan" not in page


def test_the_changes_of_a_token_are_found_among_all_its_events(rows):
    token = Token.objects.order_by("pk").first()
    (plan,) = plans(lambda: refresh_token_state([token.pk]), "tokens_tokenevent")
    assert "token_event_folded" in plan
    assert "Seq Scan" not in plan


def test_a_tokens_newest_events_are_at_the_front_of_an_index(rows):
    token = Token.objects.order_by("pk").first()
    newest = token.events.order_by("-block_number", "-log_index")[:50]
    (plan,) = plans(lambda: list(newest), "tokens_tokenevent")
    assert "Index Scan using token_event_newest" in plan
    assert "Sort" not in plan


def test_a_transactions_events_are_looked_up_in_their_index(rows):
    found = TokenEvent.objects.filter(chain_id=8453, tx_hash="0x" + f"{77:064x}")
    (plan,) = plans(lambda: list(found), "tokens_tokenevent")
    assert "token_event_once" in plan


def test_whose_events_they_are_is_looked_up_in_two_indexes(rows):
    image = event(STRANGER, UPDATE_IMAGE, "x")
    claim = event(STRANGER, FIRST_CLAIMED % "ClaimedFees", SENDER, ZERO, ZERO, 1, 1, 1, 1)
    logs = [EventLog(emitter=STRANGER, log_index=index, raw=log) for index, log in enumerate((image, claim))]
    assert [chain_events.event_source(log).value for log in logs] == ["itself", "its_locker"]
    held = TransactionFacts(
        tx_hash="0x01", block_number=1, block_hash="0x02", block_time=0, launches=(), event_logs=tuple(logs)
    )
    (plan,) = plans(lambda: filter_trusted([held], chain=base()))
    assert "token_by_address" in plan or "token_once_per_chain" in plan
    assert "token_by_locker" in plan
    assert "Seq Scan" not in plan


def test_the_token_of_a_position_is_looked_up_among_all_of_its_locker(rows):
    changed = "CreatorRewardRecipientUpdated(uint256 indexed,address indexed,address)"
    log = event(LOCKER_V31, changed, 77, SENDER, STRANGER)
    held = TransactionFacts(
        tx_hash="0x01",
        block_number=1,
        block_hash="0x02",
        block_time=0,
        launches=(),
        event_logs=(EventLog(emitter=LOCKER_V31, log_index=0, raw=log),),
    )
    (plan,) = plans(lambda: filter_trusted([held], chain=base()))
    assert re.search(r"token_by_locker_position.*\n.*Index Cond: .*position_id", plan)
    assert "Seq Scan" not in plan


def test_the_tokens_of_an_admin_are_a_walk_along_an_index(rows):
    found = Token.objects.on_chain().filter(admin="0x" + f"{7:040x}").order_by("-deployed_at", "-id")
    page, total = plans(lambda: (list(found[:10]), found.count()))
    assert "Index Scan using token_by_admin_newest" in page
    assert "Sort" not in page
    assert "token_by_admin_newest" in total

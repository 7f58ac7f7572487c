"""What a restore changes: ids, leases, sessions, webhook endpoints, followers and deployments."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.utils import timezone

from accounts.models import AdminSession, WebhookEndpoint
from accounts.restored_callers import end_sessions, report_keys, resume_endpoints
from config.backups.restored_rows import ADVANCE, release_leases
from config.backups.restored_rows import advance_sequences as advance
from config.environment.variables import BASE_DIR
from config.events.models import Event
from config.events.outbox import publish_events
from tests.accounts.subscriptions.subscribers import store_event
from tests.rows.factories import (
    AdministratorFactory,
    AdminSessionFactory,
    ChainHeadFactory,
    DeployWalletFactory,
    IndexRequestFactory,
    PartnerKeyFactory,
    TokenFactory,
    WebhookDeliveryFactory,
    WebhookEndpointFactory,
)
from tokens.deploying.sending.pause_flags import is_paused, pause_restored_chains
from tokens.following.chain_heads import forget_followers
from tokens.models import ChainHead

pytestmark = pytest.mark.django_db


def test_no_id_is_used_again():
    token = TokenFactory()
    store_event()
    publish_events()
    newest = Event.objects.latest("id").id
    (sentence,) = advance()
    store_event()
    publish_events()
    assert "go on from any id" in sentence
    assert TokenFactory().pk > token.pk + ADVANCE["bigint"]
    assert Event.objects.latest("id").id > newest + ADVANCE["bigint"]
    # Ids of operators have 32 bits.
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM auth_user_id_seq")
        (last,) = cursor.fetchone()
    assert ADVANCE["integer"] < last < 2**31 // 10


def test_rows_that_workers_had_claimed_are_due_and_others_keep_their_time():
    now = timezone.now()
    later = now + timedelta(hours=1)
    leased = IndexRequestFactory(due_at=later, leased_until=later, unfinished=4, attempts=2)
    waiting = IndexRequestFactory(due_at=later)
    delivery = WebhookDeliveryFactory(due_at=later, leased_until=later)
    (sentence,) = release_leases()
    for row in (leased, waiting, delivery):
        row.refresh_from_db()
    assert sentence.startswith("2 rows")
    assert leased.due_at < later and delivery.due_at < later and waiting.due_at == later
    assert (leased.leased_until, leased.unfinished, leased.attempts) == (None, 0, 2)


def test_all_sessions_end_and_keys_are_counted(operator):
    AdminSessionFactory(administrator=AdministratorFactory())
    PartnerKeyFactory()
    PartnerKeyFactory(revoked_at=timezone.now())
    assert operator.get("/admin/").status_code == 200
    list(end_sessions())
    assert operator.get("/admin/").status_code == 302
    assert not Session.objects.exists() and not AdminSession.objects.filter(revoked_at=None).exists()
    keys, people = report_keys()
    assert keys.startswith("1 partner keys are active.") and "valid again" in keys
    assert people.startswith("1 operators and 1 administrators")


def test_failures_of_endpoints_count_anew_and_disabled_ones_stay():
    long_ago = timezone.now() - timedelta(days=30)
    failing = WebhookEndpointFactory(failing_since=long_ago, warned_at=long_ago, paused_until=long_ago)
    disabled = WebhookEndpointFactory(failing_since=long_ago, disabled_at=long_ago, disabled_reason="failures")
    (sentence,) = resume_endpoints()
    # The same rule as in both guides: claims of one recipient differ by their log only.
    rule = "compare `type`, `chainId` and `subject`, and of fees `txHash` and `logIndex`"
    guides = [(BASE_DIR / "docs" / name).read_text(encoding="utf-8") for name in ("backups.md", "events.md")]
    assert rule.replace("`", "") in sentence
    assert all(rule in " ".join(guide.split()).replace("Compare", "compare") for guide in guides)
    states = WebhookEndpoint.objects.values_list("pk", "failing_since", "warned_at", "paused_until")
    assert set(states) == {(failing.pk, None, None, None), (disabled.pk, long_ago, None, None)}


def test_chains_have_no_follower_and_halts_stay():
    ChainHeadFactory(followed=90, follower="host:1", error="no node", halted="block 80 was dropped")
    assert list(forget_followers()) == ["Chain 8453 goes on from block 90: start manage.py follow."]
    head = ChainHead.objects.get()
    assert (head.follower, head.error, head.halted) == ("", "", "block 80 was dropped")


def test_deployments_are_paused_on_chains_with_wallets():
    DeployWalletFactory(chain_id=8453)
    (sentence,) = pause_restored_chains()
    assert is_paused(8453) and "Deployments on chain 8453 are paused." in sentence

"""pretokens/storage_quota.py: an owner's stored bytes, pruning, and refusals before expensive work."""

import uuid
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from config.processes.concurrency_limits import SLOTS, BusyError, node_slot
from development.devchain.anvil import CHAIN_ID
from pretokens import body as bodies
from pretokens import lifecycle, storage_quota, tasks
from pretokens.models import Pretoken, PretokenState
from tests.rows.airdrop_entries import sample_entries
from tests.rows.factories import DeploymentFactory, PersonFactory, PretokenFactory
from tests.rows.launch_requests import pretoken
from tokens.deploying.simulation import simulate_deployment

pytestmark = pytest.mark.django_db

ENDED = [{"deleted": True}, {"state": "expired"}, {"deployed": True}]


@pytest.fixture
def owner():
    return PersonFactory()


@pytest.fixture
def unreachable(launchpad, settings, forget_chains, unused_port):
    """Configure a chain with a node that does not respond."""
    settings.RPC_URLS = {CHAIN_ID: (f"http://127.0.0.1:{unused_port}",)}
    settings.RPC_ATTEMPTS = 1
    forget_chains()


def expired_since(days, **columns):
    """Create a pretoken that expired this many days ago."""
    return PretokenFactory(created_at=timezone.now() - timedelta(days=7 + days, seconds=1), **columns)


def airdrop(count):
    entries = [{"account": account, "amount": str(10**25)} for account, _ in sample_entries(count)]
    return {"entries": entries, "lockupDuration": 1}


def test_deleted_pretokens_count_against_the_quota(launchpad, owner):
    body = pretoken(airdrop=airdrop(30))
    size = lifecycle.create_pretoken(body, person_id=PersonFactory().pk).size
    PretokenFactory(owner=owner, size=storage_quota.MAX_STORED_BYTES - 3 * size, deleted=True)
    for _ in range(3):
        made = lifecycle.create_pretoken(body, person_id=owner.pk)
        assert lifecycle.delete_pretoken(made.pk, person_ids=[owner.pk])
    with pytest.raises(storage_quota.PretokenQuotaError, match="exceed 134217728 bytes.*deleted ones.*7 days"):
        lifecycle.create_pretoken(body, person_id=owner.pk)
    assert Pretoken.objects.filter(owner=owner).count() == 4
    # Other owners' rows don't count, and pruning makes room.
    assert lifecycle.create_pretoken(body, person_id=PersonFactory().pk)
    long_ago = timezone.now() - timedelta(days=14, seconds=1)
    Pretoken.objects.filter(owner=owner).update(created_at=long_ago, expires_at=long_ago + lifecycle.PENDING_FOR)
    tasks.prune_pretokens()
    assert lifecycle.create_pretoken(body, person_id=owner.pk)


@pytest.mark.parametrize("columns", [*ENDED, {"overdue": True}, {}])
def test_all_stored_rows_take_room(unreachable, owner, columns):
    PretokenFactory(owner=owner, size=storage_quota.MAX_STORED_BYTES - 10_000, deleted=True)
    PretokenFactory(owner=PersonFactory(linked=True, linked_to=owner), size=9_900, **columns)
    with pytest.raises(storage_quota.PretokenQuotaError, match="134217728 bytes"):
        lifecycle.create_pretoken(pretoken(), person_id=owner.pk)


def test_what_is_restored_takes_no_more_room_than_before(owner):
    row = PretokenFactory(owner=owner, deleted=True)
    PretokenFactory(owner=owner, size=storage_quota.MAX_STORED_BYTES, deleted=True)
    lifecycle.restore_pretoken(row.pk)
    assert Pretoken.objects.get(pk=row.pk).state == PretokenState.PENDING


def test_what_has_no_room_is_refused_before_the_chain_is_called(unreachable, owner):
    PretokenFactory(owner=owner, keyword="doge")
    with pytest.raises(storage_quota.KeywordTakenError):
        lifecycle.create_pretoken(pretoken("Doge"), person_id=owner.pk)
    PretokenFactory.create_batch(24, owner=owner)
    with pytest.raises(storage_quota.PretokenQuotaError, match="25 pretokens"):
        lifecycle.create_pretoken(pretoken("more"), person_id=owner.pk)


def test_trees_are_built_within_the_limit_of_node_slots(launchpad):
    launch_request = bodies.parse_pretoken(pretoken(airdrop=airdrop(30)), request_key=uuid.uuid4().hex).launch_request
    # No tree can be built without entries: building it raises an error.
    config = launch_request.config
    launch_request = replace(launch_request, config=replace(config, airdrop=replace(config.airdrop, entries=())))
    with ExitStack() as taken:
        for _ in range(SLOTS):
            taken.enter_context(node_slot())
        with pytest.raises(BusyError):
            simulate_deployment(launch_request, body={}, partner=None, sender=config.admin)
    with pytest.raises(ValueError, match="needs an entry"):
        simulate_deployment(launch_request, body={}, partner=None, sender=config.admin)


@pytest.mark.parametrize("columns", [{"deleted": True}, {"state": "expired"}])
def test_what_is_over_is_deleted_some_days_after_its_time(settings, columns):
    settings.PRETOKEN_KEPT_DAYS = 3
    kept, _ = expired_since(2, **columns), expired_since(3, **columns)
    tasks.prune_pretokens()
    assert Pretoken.objects.get() == kept


def test_a_deployed_ones_row_stays_without_its_body(settings):
    settings.PRETOKEN_KEPT_DAYS = 3
    kept, emptied = expired_since(2, deployed=True), expired_since(3, deployed=True)
    tasks.prune_pretokens()
    rows = dict(Pretoken.objects.values_list("pk", "body"))
    assert rows == {kept.pk: kept.body, emptied.pk: {}}
    row = Pretoken.objects.get(pk=emptied.pk)
    assert (row.size, row.deployment, row.state, row.keyword) == (0, emptied.deployment, "deployed", emptied.keyword)


def test_what_is_pending_is_not_pruned_before_it_is_marked(settings):
    row = expired_since(10)
    assert lifecycle.prune_ended() == 0
    tasks.expire_pretokens()
    assert lifecycle.prune_ended() == 1
    assert not Pretoken.objects.filter(pk=row.pk).exists()


def test_all_of_many_are_pruned_some_at_a_time(django_assert_num_queries):
    for columns in ENDED:
        expired_since(8, **columns)
    assert lifecycle.prune_ended(at_once=2) == 3
    assert lifecycle.prune_ended(at_once=2) == 0
    assert Pretoken.objects.count() == 1


def test_operators_see_what_became_of_a_pruned_one(client):
    client.force_login(User.objects.create_superuser("operator"))
    page = reverse("admin:pretokens_pretoken_changelist")
    deleted = PretokenFactory(deleted=True)
    client.post(f"{page}{deleted.pk}/restore/")
    Pretoken.objects.filter(pk=deleted.pk).update(
        state="expired", created_at=timezone.now() - timedelta(days=21), expires_at=timezone.now() - timedelta(days=14)
    )
    deployed = expired_since(8, state=PretokenState.DEPLOYED, deployment=DeploymentFactory())
    tasks.prune_pretokens()
    assert not Pretoken.objects.filter(pk=deleted.pk).exists()
    entry = LogEntry.objects.get()
    assert (entry.object_id, entry.object_repr.split(":")[0]) == (str(deleted.pk), deleted.keyword)
    assert client.get(reverse("admin:index")).status_code == 200
    text = client.get(f"{page}{deployed.pk}/change/").text
    assert "Pruned." in text
    assert reverse("admin:tokens_deployment_change", args=[deployed.deployment.pk]) in text

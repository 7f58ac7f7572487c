"""How much of an owner's pretokens lies there, how long, and what is refused before anything expensive is done."""

import uuid
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from config.api.concurrency_limits import SEATS, seat
from config.api.errors import UpstreamUnavailable
from development.devchain.anvil import CHAIN_ID
from pretokens import body as bodies
from pretokens import lifecycle, storage_quota, tasks
from pretokens.models import Pretoken, State
from tests.rows.airdrop_entries import sample_entries
from tests.rows.factories import DeploymentFactory, PersonFactory, PretokenFactory
from tests.rows.launch_requests import pretoken
from tokens.deploying import accept

pytestmark = pytest.mark.django_db

ENDED = [{"deleted": True}, {"state": "expired"}, {"deployed": True}]


@pytest.fixture
def owner():
    return PersonFactory()


@pytest.fixture
def unreachable(launchpad, settings, forget_chains, unused_port):
    """The service with a chain whose node does not answer."""
    settings.RPC_URLS = {CHAIN_ID: (f"http://127.0.0.1:{unused_port}",)}
    settings.RPC_ATTEMPTS = 1
    forget_chains()


def past(days, **columns):
    """A pretoken whose seven days ended so many days ago."""
    return PretokenFactory(created_at=timezone.now() - timedelta(days=7 + days, seconds=1), **columns)


def airdrop(count):
    entries = [{"account": account, "amount": str(10**25)} for account, _ in sample_entries(count)]
    return {"entries": entries, "lockupDuration": 1}


def test_whoever_makes_and_deletes_again_and_again_comes_to_the_end_of_his_room(launchpad, owner, settings):
    body = pretoken(airdrop=airdrop(30))
    settings.PRETOKEN_ROOM_BYTES = 3 * lifecycle.create(body, person_id=PersonFactory().pk).size
    for _ in range(3):
        made = lifecycle.create(body, person_id=owner.pk)
        assert lifecycle.delete(made.pk, person_ids=[owner.pk])
    with pytest.raises(
        storage_quota.NoRoom, match=f"more than {settings.PRETOKEN_ROOM_BYTES} bytes.*deleted ones.*7 days"
    ):
        lifecycle.create(body, person_id=owner.pk)
    assert Pretoken.objects.filter(owner=owner).count() == 3
    # Nobody else's counts, and time makes room.
    assert lifecycle.create(body, person_id=PersonFactory().pk)
    long_ago = timezone.now() - timedelta(days=14, seconds=1)
    Pretoken.objects.filter(owner=owner).update(created_at=long_ago, expires_at=long_ago + lifecycle.LASTS)
    tasks.prune_pretokens()
    assert lifecycle.create(body, person_id=owner.pk)


@pytest.mark.parametrize("columns", [*ENDED, {"overdue": True}, {}])
def test_whatever_lies_there_takes_room(unreachable, owner, settings, columns):
    settings.PRETOKEN_ROOM_BYTES = 10_000
    PretokenFactory(owner=PersonFactory(linked=True, linked_to=owner), size=9_900, **columns)
    with pytest.raises(storage_quota.NoRoom, match="10000 bytes"):
        lifecycle.create(pretoken(), person_id=owner.pk)


def test_what_is_restored_takes_no_more_room_than_before(owner, settings):
    settings.PRETOKEN_ROOM_BYTES = 10_000
    row = PretokenFactory(owner=owner, size=20_000, deleted=True)
    lifecycle.restore(row.pk)
    assert Pretoken.objects.get().state == State.PENDING


def test_what_has_no_place_is_refused_before_the_chain_is_asked(unreachable, owner):
    PretokenFactory(owner=owner, keyword="doge")
    with pytest.raises(storage_quota.KeywordTaken):
        lifecycle.create(pretoken("Doge"), person_id=owner.pk)
    PretokenFactory.create_batch(24, owner=owner)
    with pytest.raises(storage_quota.NoRoom, match="25 pretokens"):
        lifecycle.create(pretoken("more"), person_id=owner.pk)


def test_a_tree_is_built_by_no_more_calls_at_once_than_ask_the_chain(launchpad):
    order = bodies.read(pretoken(airdrop=airdrop(30)), request_key=uuid.uuid4().hex).order
    # Of these no tree can be built, which would be told.
    order = replace(order, airdrop=replace(order.airdrop, entries=()))
    with ExitStack() as taken:
        for _ in range(SEATS):
            taken.enter_context(seat())
        with pytest.raises(UpstreamUnavailable):
            accept.rehearse(order, body={}, partner=None, sender=order.admin)
    with pytest.raises(ValueError, match="needs an entry"):
        accept.rehearse(order, body={}, partner=None, sender=order.admin)


@pytest.mark.parametrize("columns", [{"deleted": True}, {"state": "expired"}])
def test_what_is_over_is_deleted_some_days_after_its_time(settings, columns):
    settings.PRETOKEN_KEPT_DAYS = 3
    kept, _ = past(2, **columns), past(3, **columns)
    tasks.prune_pretokens()
    assert Pretoken.objects.get() == kept


def test_a_deployed_ones_row_stays_without_its_body(settings):
    settings.PRETOKEN_KEPT_DAYS = 3
    kept, emptied = past(2, deployed=True), past(3, deployed=True)
    tasks.prune_pretokens()
    rows = dict(Pretoken.objects.values_list("pk", "body"))
    assert rows == {kept.pk: kept.body, emptied.pk: {}}
    row = Pretoken.objects.get(pk=emptied.pk)
    assert (row.size, row.deployment, row.state, row.keyword) == (0, emptied.deployment, "deployed", emptied.keyword)


def test_what_is_pending_is_not_pruned_before_it_is_marked(settings):
    row = past(10)
    assert lifecycle.prune() == 0
    tasks.expire_pretokens()
    assert lifecycle.prune() == 1
    assert not Pretoken.objects.filter(pk=row.pk).exists()


def test_all_of_many_are_pruned_some_at_a_time(django_assert_num_queries):
    for columns in ENDED:
        past(8, **columns)
    assert lifecycle.prune(at_once=2) == 3
    assert lifecycle.prune(at_once=2) == 0
    assert Pretoken.objects.count() == 1


def test_operators_see_what_became_of_a_pruned_one(client):
    client.force_login(User.objects.create_superuser("operator"))
    page = reverse("admin:pretokens_pretoken_changelist")
    deleted = PretokenFactory(deleted=True)
    client.post(f"{page}{deleted.pk}/restore/")
    Pretoken.objects.filter(pk=deleted.pk).update(
        state="expired", created_at=timezone.now() - timedelta(days=21), expires_at=timezone.now() - timedelta(days=14)
    )
    deployed = past(8, state=State.DEPLOYED, deployment=DeploymentFactory())
    tasks.prune_pretokens()
    assert not Pretoken.objects.filter(pk=deleted.pk).exists()
    entry = LogEntry.objects.get()
    assert (entry.object_id, entry.object_repr.split(":")[0]) == (str(deleted.pk), deleted.keyword)
    assert client.get(reverse("admin:index")).status_code == 200
    text = client.get(f"{page}{deployed.pk}/change/").text
    assert "Not kept any more" in text
    assert reverse("admin:tokens_deployment_change", args=[deployed.deployment.pk]) in text

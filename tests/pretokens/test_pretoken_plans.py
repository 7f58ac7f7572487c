"""Pretokens' query plans, on a larger table."""

from datetime import timedelta

import pytest
from django.contrib.admin import site
from django.test import RequestFactory
from django.utils import timezone

from accounts.models import Person
from pretokens import lifecycle, storage_quota
from pretokens.models import Pretoken
from tests.processes.template_database import restore_template_rows
from tests.rows.factories import PersonFactory, PretokenFactory
from tests.rows.many_tokens import multiply, settle
from tests.rows.query_plans import plans

pytestmark = pytest.mark.django_db

PEOPLE = {
    "id": "nextval('accounts_person_id_seq')",
    "fid": "CASE WHEN n % 10 > 0 THEN 3000000 + n END",
}
# Each of 250 users has twenty, one pending; a twentieth of the pending ones is past its time.
PRETOKENS = {
    "id": "gen_random_uuid()",
    "owner_id": "(SELECT min(id) FROM accounts_person) + n % 250",
    "keyword_key": "'keyword ' || n",
    "state": "CASE WHEN n > 4750 THEN 'pending' ELSE 'expired' END",
    "created_at": "now() - n * interval '1 second'",
    "expires_at": "CASE WHEN n % 20 = 0 THEN now() - interval '1 second' ELSE now() + interval '1 day' END",
}


@pytest.fixture(scope="module")
def rows(django_db_setup, django_db_blocker):
    """Insert users and their pretokens, and delete them after this module."""
    with django_db_blocker.unblock():
        multiply(PersonFactory(), PEOPLE)
        owner = PersonFactory(fid=None)
        multiply(PretokenFactory(owner=owner, created_at=timezone.now() - timedelta(days=1)), PRETOKENS)
        for table in ("accounts_person", "pretokens_pretoken"):
            settle(table)
        yield
        restore_template_rows()


def plan_of(run):
    (plan,) = plans(run, "pretokens_pretoken")
    assert "Seq Scan" not in plan
    return plan


def found_by(rows, text):
    """Return a function that runs the operators' list search."""
    model_admin = site.get_model_admin(Pretoken)
    return lambda: list(model_admin.get_search_results(RequestFactory().get("/"), Pretoken.objects.all(), text)[0])


def test_an_owners_pending_ones_are_at_the_front_of_an_index(rows):
    person = Person.objects.order_by("pk")[70]
    plan = plan_of(lambda: list(Pretoken.objects.owned_by([person.pk, 0]).pending().newest_first()))
    assert "pretoken_keyword_once_pending" in plan


def test_what_is_past_its_time_is_found_among_what_is_pending(rows):
    assert "pretoken_expiring" in plan_of(lifecycle.expire_overdue)


def test_an_owners_room_is_counted_in_the_owners_index(rows):
    pretoken = Pretoken.objects.first()
    for plan in plans(
        lambda: storage_quota.check_pending_quota(pretoken, person_ids=[Person.objects.order_by("pk")[70].pk]),
        "pretokens_pretoken",
    ):
        assert "pretoken_keyword_once_pending" in plan and "Seq Scan" not in plan


def test_the_stored_bytes_of_an_owner_are_read_by_an_index_only_scan(rows):
    pretoken, person_ids = Pretoken.objects.first(), [Person.objects.order_by("pk")[70].pk]
    plan = plan_of(lambda: storage_quota.check_storage_quota(pretoken, person_ids=person_ids))
    assert "Index Only Scan using pretoken_of_owner" in plan


def test_what_is_past_keeping_is_found_among_what_has_ended(rows):
    Pretoken.objects.filter(keyword_key="keyword 77").update(
        created_at=timezone.now() - timedelta(days=15), expires_at=timezone.now() - timedelta(days=8)
    )
    plans_of_pruning = plans(lambda: lifecycle.prune_ended(at_once=50), "pretokens_pretoken")
    assert "pretoken_ended" in plans_of_pruning[0]
    assert not any("Seq Scan" in plan for plan in plans_of_pruning)


def test_the_operators_list_is_a_walk_along_an_index(rows):
    plan = plan_of(lambda: list(Pretoken.objects.order_by("-created_at", "-id")[:50]))
    assert "Index Scan using pretoken_newest" in plan and "Sort" not in plan


def test_operators_find_them_by_keyword_id_and_user(rows):
    assert "pretoken_keyword" in plan_of(found_by(rows, "Keyword 77"))
    plan = plan_of(found_by(rows, str(Pretoken.objects.first().pk)))
    assert "pretokens_pretoken_pkey" in plan and "pretoken_keyword" in plan
    fid = Person.objects.filter(fid__isnull=False).order_by("pk")[70].fid
    assert "pretoken_of_owner" in plan_of(found_by(rows, str(fid)))

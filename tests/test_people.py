"""The users behind tokens: made at first sight, linked where a token proves that two are one."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from accounts.identity import VerifiedIdentity
from accounts.models import Identity, Person, SubjectKind
from accounts.people import recognise

pytestmark = pytest.mark.django_db

QUICK_AUTH, PRIVY = "https://auth.farcaster.xyz", "privy.io"


def by_fid(fid, issuer=QUICK_AUTH):
    return VerifiedIdentity(issuer=issuer, subject=str(fid), kind=SubjectKind.FID, fid=fid)


def by_subject(subject, *, fid=None, issuer=PRIVY):
    return VerifiedIdentity(issuer=issuer, subject=subject, kind=SubjectKind.ID, fid=fid)


def all_at_once(calls):
    """The results of functions that are called at the same time, each by a connection of its own."""
    ready = Barrier(len(calls))

    def run(call):
        try:
            ready.wait()
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))


def test_it_makes_a_person_at_first_sight_and_finds_it_again():
    before = timezone.now()
    user = recognise(by_fid(5))
    assert (user.fid, user.person_ids, user.is_staff, user.is_superuser) == (5, (user.person_id,), False, False)
    person = Person.objects.get()
    assert (person.pk, person.fid) == (user.person_id, 5)
    assert before <= person.created_at <= timezone.now()
    row = Identity.objects.get()
    assert (row.issuer, row.subject, row.kind, row.person) == (QUICK_AUTH, "5", "fid", person)
    assert recognise(by_fid(5)) == user
    assert Person.objects.count() == Identity.objects.count() == 1


def test_the_same_subject_of_two_issuers_is_two_people():
    assert recognise(by_subject("a")).person_id != recognise(by_subject("a", issuer="https://auth.example")).person_id


def test_the_same_fid_of_two_issuers_is_one_person():
    assert recognise(by_fid(5)) == recognise(by_fid(5, issuer="https://auth.example"))
    assert Person.objects.count() == 1


def test_digits_of_an_id_are_no_fid():
    assert recognise(by_subject("5", issuer="https://auth.example")).person_id != recognise(by_fid(5)).person_id


def test_a_subject_whose_first_token_shows_a_fid_is_the_fids_person():
    user = recognise(by_fid(5))
    assert recognise(by_subject("a", fid=5)) == user
    assert recognise(by_subject("a")) == user


def test_a_subject_is_given_its_fid_when_a_token_shows_it():
    user = recognise(by_subject("a"))
    assert user.fid is None
    linked = recognise(by_subject("a", fid=5))
    assert (linked.person_id, linked.fid) == (user.person_id, 5)
    assert recognise(by_fid(5)) == recognise(by_subject("a")) == linked


def test_two_people_who_prove_to_be_one_are_linked():
    subject, number = recognise(by_subject("a")), recognise(by_fid(5))
    linked = recognise(by_subject("a", fid=5))
    assert linked.person_id == number.person_id
    assert linked.person_ids == (number.person_id, subject.person_id)
    # With whichever of the two tokens, also with one that doesn't show the FID.
    assert recognise(by_fid(5)) == recognise(by_subject("a")) == recognise(by_subject("a", fid=5)) == linked
    # A further subject of the same person brings what is its own.
    other = recognise(by_subject("b"))
    recognise(by_subject("b", fid=5))
    assert recognise(by_fid(5)).person_ids == (number.person_id, subject.person_id, other.person_id)


def test_a_subject_that_shows_another_fid_becomes_that_person_and_takes_nothing_along():
    first = recognise(by_subject("a", fid=5))
    second = recognise(by_subject("a", fid=6))
    assert second.person_id != first.person_id
    assert (second.fid, second.person_ids) == (6, (second.person_id,))
    assert recognise(by_fid(5)) == first
    assert recognise(by_subject("a")) == second
    # And back again.
    assert recognise(by_subject("a", fid=5)) == first


def test_it_records_when_a_user_was_seen_at_most_once_a_minute(django_assert_num_queries):
    recognise(by_fid(5))
    seen = Person.objects.get().last_seen_at
    with django_assert_num_queries(1):
        recognise(by_fid(5))
    assert Person.objects.get().last_seen_at == seen
    Person.objects.update(last_seen_at=seen - timedelta(seconds=61))
    recognise(by_fid(5))
    assert Person.objects.get().last_seen_at >= seen


@pytest.mark.django_db(transaction=True)
def test_many_first_calls_at_once_make_one_person():
    users = all_at_once([lambda: recognise(by_fid(5))] * 6 + [lambda: recognise(by_subject("a", fid=5))] * 6)
    assert len(set(users)) == 1
    assert (Person.objects.count(), Identity.objects.count()) == (1, 2)


@pytest.mark.django_db(transaction=True)
def test_many_calls_at_once_link_two_people_once():
    subject, number = recognise(by_subject("a")), recognise(by_fid(5))
    all_at_once([lambda: recognise(by_subject("a", fid=5))] * 6 + [lambda: recognise(by_fid(5))] * 6)
    assert recognise(by_subject("a")).person_ids == (number.person_id, subject.person_id)
    assert Person.objects.count() == 2


def test_the_database_keeps_the_rules():
    person = Person.objects.create(fid=5)
    other = Person.objects.create()
    Identity.objects.create(person=person, issuer="a", subject="b", kind="id")
    for broken in (
        lambda: Person.objects.create(fid=5),
        lambda: Person.objects.create(fid=0),
        lambda: Person.objects.create(fid=6, linked_to=other),
        lambda: Identity.objects.create(person=other, issuer="a", subject="b", kind="id"),
        lambda: Identity.objects.create(person=other, issuer="a", subject="c", kind="key"),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            broken()

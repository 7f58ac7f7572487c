"""accounts/users/calling_users.py: users created at their first token, and the links between them."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import Identity, Person, SubjectKind
from accounts.users.calling_users import lock_user, resolve_user
from accounts.users.identity import FidClaim, VerifiedIdentity
from tests.processes.at_once import call_at_once

pytestmark = pytest.mark.django_db

QUICK_AUTH, PRIVY = "https://auth.farcaster.xyz", "privy.io"


def by_fid(fid, issuer=QUICK_AUTH):
    return VerifiedIdentity(issuer=issuer, subject=str(fid), kind=SubjectKind.FID, fid=fid)


def by_subject(subject, *, issuer=PRIVY):
    """Return the identity in a token without a FID claim."""
    return VerifiedIdentity(issuer=issuer, subject=subject, kind=SubjectKind.ID, fid=None)


def claiming(subject, fid, *, ago=0, lasts=3600):
    """Return the identity in a token with this FID claim, issued `ago` seconds ago and valid `lasts` seconds more."""
    at = timezone.now().replace(microsecond=0) - timedelta(seconds=ago)
    claim = FidClaim(valid_from=at, valid_until=at + timedelta(seconds=ago + lasts))
    return VerifiedIdentity(issuer=PRIVY, subject=subject, kind=SubjectKind.ID, fid=fid, fid_claim=claim)


def test_it_makes_a_person_at_first_sight_and_finds_it_again():
    before = timezone.now()
    user = resolve_user(by_fid(5))
    assert (user.fid, user.person_ids, user.is_staff, user.is_superuser) == (5, (user.person_id,), False, False)
    person = Person.objects.get()
    assert (person.pk, person.fid) == (user.person_id, 5)
    assert before <= person.created_at <= timezone.now()
    row = Identity.objects.get()
    assert (row.issuer, row.subject, row.kind, row.person) == (QUICK_AUTH, "5", "fid", person)
    assert resolve_user(by_fid(5)) == user
    assert Person.objects.count() == Identity.objects.count() == 1


def test_the_same_subject_of_two_issuers_is_two_people():
    assert (
        resolve_user(by_subject("a")).person_id
        != resolve_user(by_subject("a", issuer="https://auth.example")).person_id
    )


def test_the_same_fid_of_two_issuers_is_one_person():
    assert resolve_user(by_fid(5)) == resolve_user(by_fid(5, issuer="https://auth.example"))
    assert Person.objects.count() == 1


def test_digits_of_an_id_are_no_fid():
    assert resolve_user(by_subject("5", issuer="https://auth.example")).person_id != resolve_user(by_fid(5)).person_id


def test_nor_are_they_one_of_the_same_issuer_whose_setting_was_changed():
    number = resolve_user(by_fid(5, issuer="https://auth.example"))
    user = resolve_user(by_subject("5", issuer="https://auth.example"))
    assert (user.fid, set(user.person_ids) & set(number.person_ids)) == (None, set())
    assert resolve_user(by_fid(5, issuer="https://auth.example")) == number


def test_a_token_that_shows_the_subjects_fid_links_the_two_whichever_was_first():
    for fid, comes_first in ((5, by_fid(5)), (6, by_subject("6")), (7, claiming("7", 7))):
        resolve_user(comes_first)
        shown = resolve_user(claiming(str(fid), fid))
        number, subject = resolve_user(by_fid(fid)), resolve_user(by_subject(str(fid)))
        assert subject == shown
        assert number.person_id != subject.person_id
        assert (number.person_ids, subject.person_ids) == (
            (number.person_id, subject.person_id),
            (subject.person_id, number.person_id),
        )
        assert number.fid == subject.fid == fid


def test_a_link_lasts_as_long_as_the_token_that_proves_it():
    number = resolve_user(by_fid(5))
    linked = resolve_user(claiming("a", 5, ago=900, lasts=60))
    assert number.person_id in linked.person_ids
    Person.objects.filter(linked_to__isnull=False).update(linked_until=timezone.now())
    for user in (resolve_user(by_fid(5)), resolve_user(by_subject("a"))):
        assert user.person_ids == (user.person_id,)
    assert resolve_user(by_subject("a")).fid is None
    assert resolve_user(claiming("a", 5)).person_ids == linked.person_ids


def test_a_token_without_a_fid_claims_nothing_or_that_there_is_none():
    linked = resolve_user(claiming("a", 5, ago=900))
    assert resolve_user(by_subject("a")) == linked
    disclaimed = resolve_user(claiming("a", None))
    assert (disclaimed.person_ids, disclaimed.fid) == ((linked.person_id,), None)
    assert resolve_user(by_subject("a")) == disclaimed
    assert len(resolve_user(by_fid(5)).person_ids) == 1


def test_a_subject_that_shows_another_fid_leaves_the_old_one_and_takes_its_own_rows_along():
    first = resolve_user(claiming("a", 5, ago=900))
    second = resolve_user(claiming("a", 6))
    assert (second.person_id, second.fid) == (first.person_id, 6)
    assert set(first.person_ids) & set(second.person_ids) == {first.person_id}
    assert resolve_user(by_fid(5)).person_ids == (first.person_ids[1],)
    assert resolve_user(by_fid(6)).person_ids == second.person_ids[::-1]


def test_a_fid_is_the_subjects_whose_token_showed_it_last():
    old = resolve_user(claiming("a", 5, ago=900))
    new = resolve_user(claiming("b", 5, ago=500))
    assert set(old.person_ids) & set(new.person_ids) == {old.person_ids[1]}
    # Older tokens change nothing: the first subject's or one by a subject that has never come.
    for outdated in (claiming("a", 5, ago=900), claiming("a", 5, ago=600), claiming("c", 5, ago=600)):
        assert len(resolve_user(outdated).person_ids) == 1
        assert resolve_user(by_fid(5)).person_ids == new.person_ids[::-1]
    # Nor do they after the newer subject has disclaimed the FID, which then has no subject.
    resolve_user(claiming("b", None, ago=200))
    assert len(resolve_user(claiming("a", 5, ago=600)).person_ids) == len(resolve_user(by_fid(5)).person_ids) == 1
    assert resolve_user(claiming("a", 5)).person_ids == old.person_ids


def test_a_subject_whose_newest_token_shows_a_fid_that_is_anothers_by_now_has_none():
    resolve_user(claiming("a", 5, ago=900))
    resolve_user(claiming("b", 6, ago=300))
    assert len(resolve_user(claiming("a", 6, ago=500)).person_ids) == 1
    assert len(resolve_user(by_fid(5)).person_ids) == 1


def test_of_two_tokens_of_one_second_the_last_that_came_counts():
    resolve_user(claiming("a", 5, ago=900))
    resolve_user(claiming("b", 5, ago=900))
    assert len(resolve_user(by_subject("a")).person_ids) == 1
    resolve_user(claiming("b", None, ago=900))
    assert len(resolve_user(by_fid(5)).person_ids) == 1


@pytest.mark.django_db(transaction=True)
def test_linked_users_are_locked_together():
    number, subject = resolve_user(by_fid(5)), resolve_user(claiming("a", 5))
    with transaction.atomic():
        assert lock_user(number.person_id) == (number.person_id, subject.person_id)
    with transaction.atomic():
        assert lock_user(subject.person_id) == (subject.person_id, number.person_id)
    with transaction.atomic():
        lock_user(subject.person_id)
        (is_free,) = call_at_once([lambda: can_be_locked(number.person_id)])
        assert not is_free


def can_be_locked(person_id):
    """Return whether the row is not locked."""
    with transaction.atomic():
        rows = Person.objects.select_for_update(no_key=True, skip_locked=True)
        return rows.filter(pk=person_id).exists()


def test_it_records_when_a_user_was_seen_at_most_once_a_minute(django_assert_num_queries):
    resolve_user(by_fid(5))
    seen = Person.objects.get().last_seen_at
    with django_assert_num_queries(1):
        resolve_user(by_fid(5))
    assert Person.objects.get().last_seen_at == seen
    Person.objects.update(last_seen_at=seen - timedelta(seconds=61))
    resolve_user(by_fid(5))
    assert Person.objects.get().last_seen_at >= seen


def test_one_query_finds_a_known_user_by_any_token(django_assert_num_queries):
    tokens = [by_fid(5), claiming("a", 5), by_subject("a")]
    users = [resolve_user(token) for token in tokens]
    with django_assert_num_queries(len(tokens)):
        assert [resolve_user(token).person_id for token in tokens] == [user.person_id for user in users]


@pytest.mark.django_db(transaction=True)
def test_many_first_calls_at_once_make_each_person_once():
    token = claiming("a", 5)
    users = call_at_once([lambda: resolve_user(by_fid(5))] * 6 + [lambda: resolve_user(token)] * 6)
    assert len({user.person_id for user in users}) == 2
    assert (Person.objects.count(), Identity.objects.count()) == (2, 2)
    assert len(resolve_user(by_fid(5)).person_ids) == 2


@pytest.mark.django_db(transaction=True)
def test_many_calls_at_once_leave_a_fid_with_the_last_subject_and_each_subject_with_one_fid():
    """Calls that lock the same rows don't deadlock."""
    tokens = [claiming(subject, fid, ago=ago) for ago in (900, 800) for subject in "abc" for fid in (5, 6, 7, None)]
    last = [claiming("a", 6), claiming("b", 5)]
    call_at_once([lambda token=token: resolve_user(token) for token in [*tokens, *last]])
    for token in last:
        user = resolve_user(token)
        assert user.person_ids[1:] == (resolve_user(by_fid(token.fid)).person_id,)
    assert all(len(user.person_ids) <= 2 for user in map(resolve_user, tokens))


def test_the_database_keeps_the_rules():
    person = Person.objects.create(fid=5)
    other = Person.objects.create()
    Identity.objects.create(person=person, issuer="a", subject="b", kind="id")
    link = {"linked_to": person, "linked_until": timezone.now(), "told_at": timezone.now()}
    for broken in (
        lambda: Person.objects.create(fid=5),
        lambda: Person.objects.create(fid=0),
        lambda: Person.objects.create(fid=6, **link),
        lambda: Person.objects.create(linked_to=person),
        lambda: Person.objects.create(linked_until=timezone.now()),
        lambda: Person.objects.create(**link) and Person.objects.create(**link),
        lambda: Identity.objects.create(person=other, issuer="a", subject="b", kind="id"),
        lambda: Identity.objects.create(person=other, issuer="a", subject="c", kind="key"),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            broken()

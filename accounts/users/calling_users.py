"""Users behind verified tokens: created at their first request, found by issuer and subject, linked by FID.

A FID is one person, whichever issuer proves it; any other issuer's subject is a separate person. A token that
contains its subject's FID links the two persons, and each then has both persons' rows. FIDs and linked accounts change
owners. A link expires with the token that proves it, and ends as soon as a newer token contradicts it.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

from django.db import IntegrityError, transaction
from django.db.models import OuterRef, Q, Subquery
from django.utils import timezone

from accounts.models import Identity, Person
from accounts.users.identity import FidClaim, VerifiedIdentity

_LAST_SEEN_INTERVAL = timedelta(minutes=1)
# Each lost race leaves a row that the next attempt finds.
_MAX_ATTEMPTS = 5


@dataclass(frozen=True, kw_only=True)
class CallingUser:
    """Value of `request.user` for a user. It is no admin account and has no admin rights."""

    # The Person that owns the rows this user creates.
    person_id: int
    # This user's rows have these owner ids: its own person first, then the person linked now.
    person_ids: tuple[int, ...]
    # None without a currently valid FID claim.
    fid: int | None
    is_authenticated: ClassVar[bool] = True
    is_anonymous: ClassVar[bool] = False
    is_active: ClassVar[bool] = True
    is_staff: ClassVar[bool] = False
    is_superuser: ClassVar[bool] = False


def resolve_user(identity: VerifiedIdentity) -> CallingUser:
    """Return the user with this identity, creating it at its first request. Runs one query for a known user."""
    row = _find(identity)
    if row is None or _is_newer_claim(identity, row.person):
        row = _save_with_retries(identity)
    person = row.person
    _record_last_seen(person)
    fid = person.linked_to.fid if _is_linked(person) else person.fid
    return CallingUser(person_id=person.pk, person_ids=_ids(person, row.linked_id), fid=fid)


def lock_user(person_id: int) -> tuple[int, ...]:
    """Lock the user until the database transaction ends, and return its `person_ids` as of then.

    `person_id` comes first.
    """
    rows = Person.objects.annotate(linked_id=_linked_id("pk"))
    # Two linked persons share one lock: the FID's row.
    locked_id = _ids(rows.get(pk=person_id), None)[-1]
    # FOR NO KEY UPDATE: rows with a foreign key to this one can still be written.
    Person.objects.select_for_update(no_key=True).get(pk=locked_id)
    person = rows.get(pk=person_id)
    return _ids(person, person.linked_id)


def _find(identity: VerifiedIdentity) -> Any:
    """Return the identity with its person, and the linked person's id as `linked_id`; None if there is none."""
    rows = Identity.objects.select_related("person__linked_to").annotate(linked_id=_linked_id("person_id"))
    return rows.filter(issuer=identity.issuer, subject=identity.subject, kind=identity.kind).first()


def _linked_id(person: str) -> Subquery:
    linked = Person.objects.filter(linked_to=OuterRef(person), linked_until__gt=timezone.now())
    return Subquery(linked.values("pk"))


def _is_linked(person: Person) -> bool:
    return person.linked_until is not None and person.linked_until > timezone.now()


def _ids(person: Person, linked_id: int | None) -> tuple[int, ...]:
    other_id = person.linked_to_id if _is_linked(person) else linked_id
    return (person.pk,) if other_id is None else (person.pk, other_id)


def _is_newer_claim(identity: VerifiedIdentity, person: Person) -> bool:
    """Return whether the token's FID claim is newer than the stored one.

    If two claims were issued in one second, the one received last counts.
    """
    claim = identity.fid_claim
    if claim is None or person.told_at is None:
        return claim is not None
    stored_fid = None if person.linked_to is None else person.linked_to.fid
    return claim.valid_from > person.told_at or (claim.valid_from == person.told_at and identity.fid != stored_fid)


def _save_with_retries(identity: VerifiedIdentity) -> Any:
    for _ in range(_MAX_ATTEMPTS):
        # A concurrent request by the same user may insert first; the next attempt finds its row.
        with suppress(IntegrityError), transaction.atomic():
            _save_identity(identity)
            return _find(identity)
    raise RuntimeError(f"identity not saved in {_MAX_ATTEMPTS} attempts against concurrent writers")


def _save_identity(identity: VerifiedIdentity) -> None:
    """Store what the token proves. Raises IntegrityError if a concurrent request was first.

    A FID's row is locked before subjects' rows, and those in id sequence, so that no deadlock occurs.
    """
    fid_person = None if identity.fid is None else _person_of_fid(identity.fid)
    unique = {"issuer": identity.issuer, "subject": identity.subject, "kind": identity.kind}
    row = Identity.objects.filter(**unique).first()
    if row is None:
        person = fid_person if fid_person is not None and identity.fid_claim is None else Person.objects.create()
        row = Identity.objects.create(person=person, **unique)
    if identity.fid_claim is not None:
        _link(row.person_id, fid_person, claim=identity.fid_claim)


def _person_of_fid(fid: int) -> Person:
    return Person.objects.select_for_update().filter(fid=fid).first() or Person.objects.create(fid=fid)


def _link(person_id: int, fid_person: Person | None, *, claim: FidClaim) -> None:
    """Link the subject to its FID's locked person, or to none. Ignore an outdated claim."""
    affected = Q(pk=person_id) if fid_person is None else Q(pk=person_id) | Q(linked_to=fid_person)
    rows = {row.pk: row for row in Person.objects.select_for_update().filter(affected).order_by("pk")}
    person = rows.pop(person_id)
    if person.told_at is not None and claim.valid_from < person.told_at:
        return
    # The old link ends even if a newer token has linked this FID to another subject.
    person.told_at, person.linked_to, person.linked_until = claim.valid_from, None, None
    if fid_person is not None and (fid_person.told_at is None or claim.valid_from >= fid_person.told_at):
        Person.objects.filter(pk__in=rows).update(linked_to=None, linked_until=None)
        Person.objects.filter(pk=fid_person.pk).update(told_at=claim.valid_from)
        person.linked_to, person.linked_until = fid_person, claim.valid_until
    person.save(update_fields=["told_at", "linked_to", "linked_until"])


def _record_last_seen(person: Person) -> None:
    """Set `last_seen_at` to now. Run no query within a minute of the last update."""
    now = timezone.now()
    if person.last_seen_at > now - _LAST_SEEN_INTERVAL:
        return
    # If concurrent requests read the same old time, only one writes.
    Person.objects.filter(pk=person.pk, last_seen_at__lte=now - _LAST_SEEN_INTERVAL).update(last_seen_at=now)

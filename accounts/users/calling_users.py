"""The users behind tokens: made at first sight, found again by what their tokens prove, linked where one proves both.

A FID is a person, whichever issuer shows it, and a subject of any other issuer is one of its own. A token that shows
the FID of its subject links the two, so that each has what the other made. FIDs and linked accounts change hands:
a link lasts no longer than the token that proves it, and ends as soon as a newer one says otherwise.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

from django.db import IntegrityError, transaction
from django.db.models import OuterRef, Q, Subquery
from django.utils import timezone

from accounts.models import Identity, Person
from accounts.users.identity import Told, VerifiedIdentity

_SEEN_STEP = timedelta(minutes=1)
# Each race that is lost leaves a row that is found the next time.
_TRIES = 5


@dataclass(frozen=True, kw_only=True)
class CallingUser:
    """Stands in `request.user` for a user, who is no account of the admin site and has none of its rights."""

    # Whose a row becomes that this user makes: the id of a Person.
    person_id: int
    # Whose rows are this user's: that person's, who comes first, and those of whom it is linked with now.
    person_ids: tuple[int, ...]
    # None where nothing shows one that is to be believed now.
    fid: int | None
    is_authenticated: ClassVar[bool] = True
    is_anonymous: ClassVar[bool] = False
    is_active: ClassVar[bool] = True
    is_staff: ClassVar[bool] = False
    is_superuser: ClassVar[bool] = False


def recognise(identity: VerifiedIdentity) -> CallingUser:
    """The user with this identity, who is made where nobody has come with it before. One query for who is known."""
    row = _find(identity)
    if row is None or _is_news(identity, row.person):
        row = _settle(identity)
    person = row.person
    _note_seen(person)
    fid = person.linked_to.fid if _is_linked(person) else person.fid
    return CallingUser(person_id=person.pk, person_ids=_ids(person, row.linked_id), fid=fid)


def hold(person_id: int) -> tuple[int, ...]:
    """Have whoever else holds this user wait until the database transaction ends.

    Returns the user's `person_ids` as they are then: that person's id comes first.
    """
    rows = Person.objects.annotate(linked_id=_linked_id("pk"))
    # Two who are linked wait for the same row, that of the FID.
    held = _ids(rows.get(pk=person_id), None)[-1]
    # Not the whole lock: rows that refer to this one can still be written.
    Person.objects.select_for_update(no_key=True).get(pk=held)
    person = rows.get(pk=person_id)
    return _ids(person, person.linked_id)


def _find(identity: VerifiedIdentity) -> Any:
    """The row with its person, and as `linked_id` who is linked to that now; None where there is none."""
    rows = Identity.objects.select_related("person__linked_to").annotate(linked_id=_linked_id("person_id"))
    return rows.filter(issuer=identity.issuer, subject=identity.subject, kind=identity.kind).first()


def _linked_id(person: str) -> Subquery:
    linked = Person.objects.filter(linked_to=OuterRef(person), linked_until__gt=timezone.now())
    return Subquery(linked.values("pk"))


def _is_linked(person: Person) -> bool:
    return person.linked_until is not None and person.linked_until > timezone.now()


def _ids(person: Person, linked_id: int | None) -> tuple[int, ...]:
    other = person.linked_to_id if _is_linked(person) else linked_id
    return (person.pk,) if other is None else (person.pk, other)


def _is_news(identity: VerifiedIdentity, person: Person) -> bool:
    """Whether the token tells of its subject's FID what we don't know yet. Of two of one second the last one counts."""
    told = identity.told
    if told is None or person.told_at is None:
        return told is not None
    known = None if person.linked_to is None else person.linked_to.fid
    return told.at > person.told_at or (told.at == person.told_at and identity.fid != known)


def _settle(identity: VerifiedIdentity) -> Any:
    for _ in range(_TRIES):
        # Another call of the same user may be first, and is found the next time.
        with suppress(IntegrityError), transaction.atomic():
            _write(identity)
            return _find(identity)
    raise RuntimeError("an identity that others change again and again")


def _write(identity: VerifiedIdentity) -> None:
    """Make what the token proves so. Raises IntegrityError where another call was first.

    A FID's row is locked before those of subjects, and these in their order, so that nobody waits in a circle.
    """
    fid_person = None if identity.fid is None else _person_of_fid(identity.fid)
    known = {"issuer": identity.issuer, "subject": identity.subject, "kind": identity.kind}
    row = Identity.objects.filter(**known).first()
    if row is None:
        person = fid_person if fid_person is not None and identity.told is None else Person.objects.create()
        row = Identity.objects.create(person=person, **known)
    if identity.told is not None:
        _link(row.person_id, fid_person, told=identity.told)


def _person_of_fid(fid: int) -> Person:
    return Person.objects.select_for_update().filter(fid=fid).first() or Person.objects.create(fid=fid)


def _link(person_id: int, fid_person: Person | None, *, told: Told) -> None:
    """Link the subject to the person with its FID, who is locked, or to nobody; what is outdated changes nothing."""
    concerned = Q(pk=person_id) if fid_person is None else Q(pk=person_id) | Q(linked_to=fid_person)
    rows = {row.pk: row for row in Person.objects.select_for_update().filter(concerned).order_by("pk")}
    person = rows.pop(person_id)
    if person.told_at is not None and told.at < person.told_at:
        return
    # The subject has not its old FID any more, also where a newer token has shown this one to be somebody else's.
    person.told_at, person.linked_to, person.linked_until = told.at, None, None
    if fid_person is not None and (fid_person.told_at is None or told.at >= fid_person.told_at):
        Person.objects.filter(pk__in=rows).update(linked_to=None, linked_until=None)
        Person.objects.filter(pk=fid_person.pk).update(told_at=told.at)
        person.linked_to, person.linked_until = fid_person, told.until
    person.save(update_fields=["told_at", "linked_to", "linked_until"])


def _note_seen(person: Person) -> None:
    """Record that the user was here; within a minute of the last record this asks nothing of the database."""
    now = timezone.now()
    if person.last_seen_at > now - _SEEN_STEP:
        return
    # Of many calls at once that all read the old time, one writes.
    Person.objects.filter(pk=person.pk, last_seen_at__lte=now - _SEEN_STEP).update(last_seen_at=now)

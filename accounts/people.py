"""The users behind tokens: made at first sight, found again by what their tokens prove, linked where one proves both.

A person with a FID is found by it, whichever issuer shows it. Where a subject turns out to have a FID whose person is
another one, the subject leads to that person from then on, and what its own person made is that person's as well.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

from django.contrib.postgres.expressions import ArraySubquery
from django.db import IntegrityError, transaction
from django.db.models import OuterRef
from django.utils import timezone

from accounts.identity import VerifiedIdentity
from accounts.models import Identity, Person

_SEEN_STEP = timedelta(minutes=1)
# Each race that is lost leaves a row that is found the next time.
_TRIES = 5


@dataclass(frozen=True, kw_only=True)
class CallingUser:
    """Stands in `request.user` for a user, who is no account of the admin site and has none of its rights."""

    # Whose a row becomes that this user makes: the id of a Person.
    person_id: int
    # Whose rows are this user's: the person, and those that were linked to it.
    person_ids: tuple[int, ...]
    # None where no token has shown one.
    fid: int | None
    is_authenticated: ClassVar[bool] = True
    is_anonymous: ClassVar[bool] = False
    is_active: ClassVar[bool] = True
    is_staff: ClassVar[bool] = False
    is_superuser: ClassVar[bool] = False


def recognise(identity: VerifiedIdentity) -> CallingUser:
    """The user with this identity, who is made where nobody has come with it before. One query for who is known."""
    row = _find(identity)
    if row is None or identity.fid not in (None, row.person.fid):
        row = _settle(identity)
    _note_seen(row.person)
    return CallingUser(person_id=row.person_id, person_ids=(row.person_id, *row.linked_ids), fid=row.person.fid)


def _find(identity: VerifiedIdentity) -> Any:
    """The row with its person, and the ids of those linked to that as `linked_ids`; None where there is none."""
    linked = Person.objects.filter(linked_to=OuterRef("person_id")).order_by("pk").values("pk")
    rows = Identity.objects.select_related("person").annotate(linked_ids=ArraySubquery(linked))
    return rows.filter(issuer=identity.issuer, subject=identity.subject).first()


def _settle(identity: VerifiedIdentity) -> Any:
    for _ in range(_TRIES):
        # Another call of the same user may be first, and is found the next time.
        with suppress(IntegrityError), transaction.atomic():
            _write(identity)
        row = _find(identity)
        if row is not None and identity.fid in (None, row.person.fid):
            return row
    raise RuntimeError("an identity that others change again and again")


def _write(identity: VerifiedIdentity) -> None:
    """Make the row lead to the person whom the token proves. Raises IntegrityError where another call was first."""
    rows = Identity.objects.select_for_update(of=("self", "person")).select_related("person")
    row = rows.filter(issuer=identity.issuer, subject=identity.subject).first()
    holder = None if identity.fid is None else Person.objects.filter(fid=identity.fid).first()
    if row is None:
        person = holder or Person.objects.create(fid=identity.fid)
        Identity.objects.create(person=person, issuer=identity.issuer, subject=identity.subject, kind=identity.kind)
        return
    if identity.fid in (None, row.person.fid):
        return
    before = row.person
    if holder is None and before.fid is None:
        before.fid = identity.fid
        before.save(update_fields=["fid"])
        return
    row.person = holder or Person.objects.create(fid=identity.fid)
    row.save(update_fields=["person"])
    # Whose FID is another one stays who he is: FIDs change hands, and so do the accounts of an issuer's subject.
    if before.fid is None:
        before.linked_to = row.person
        before.save(update_fields=["linked_to"])


def _note_seen(person: Person) -> None:
    """Record that the user was here; within a minute of the last record this asks nothing of the database."""
    now = timezone.now()
    if person.last_seen_at > now - _SEEN_STEP:
        return
    # Of many calls at once that all read the old time, one writes.
    Person.objects.filter(pk=person.pk, last_seen_at__lte=now - _SEEN_STEP).update(last_seen_at=now)

"""Whose a row is, as lists of the operators' site show users and search by them."""

import re

from django.utils import timezone

from accounts.models import Person

_FID = re.compile("[0-9]{1,18}")


def shown(owner: Person) -> str:
    """The user, and whom he is linked with now; `linked_to` is read."""
    is_linked = owner.linked_until is not None and owner.linked_until > timezone.now()
    return f"{owner}, linked to {owner.linked_to}" if is_linked else str(owner)


def with_fid(text: str) -> list[int] | None:
    """The ids of the user with this FID, and of who is linked to him now; None where the text is no FID."""
    if not _FID.fullmatch(text):
        return None
    found = list(Person.objects.filter(fid=int(text)).values_list("pk", flat=True))
    linked = Person.objects.filter(linked_to__in=found, linked_until__gt=timezone.now())
    return found + list(linked.values_list("pk", flat=True))

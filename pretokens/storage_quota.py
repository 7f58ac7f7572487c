"""How much an owner may keep: the rules between his pending pretokens, which hold whatever comes at once."""

from collections.abc import Collection

from django.conf import settings
from django.db.models import Count, QuerySet, Sum

from accounts.users import calling_users
from config.http.json_client import Permanent
from pretokens.models import Pretoken, State

MAX_PENDING = 25
# All of them are in one answer. An airdrop of 100,000 entries has about 7 million bytes.
MAX_PENDING_BYTES = 16 * 1024 * 1024


class KeywordTaken(Permanent):
    """The owner has a pending pretoken with this keyword."""


class NoRoom(Permanent):
    """The owner has as many pending pretokens, or as much in them, as he may; the text is for him."""


def hold(person_id: int) -> tuple[int, ...]:
    """Have whoever else makes a pretoken of this user pending wait until the transaction ends.

    Those whose time is past are marked, so that their keywords are free. Returns the user's `person_ids` of then.
    """
    person_ids = calling_users.hold(person_id)
    expire(Pretoken.objects.owned_by(person_ids).overdue().select_for_update(no_key=True, of=("self",)))
    return person_ids


def check(pretoken: Pretoken, *, person_ids: Collection[int]) -> None:
    """Raise KeywordTaken or NoRoom where this one, not pending yet, has no place beside those of who is held."""
    pending = Pretoken.objects.owned_by(person_ids).filter(state=State.PENDING)
    if pending.filter(keyword_key=pretoken.keyword_key).exists():
        raise KeywordTaken("a pretoken with this keyword is pending")
    kept = pending.aggregate(number=Count("pk"), size=Sum("size", default=0))
    if kept["number"] >= MAX_PENDING:
        raise NoRoom(f"{MAX_PENDING} pretokens are pending, which is the most: delete one first")
    if kept["size"] + pretoken.size > MAX_PENDING_BYTES:
        raise NoRoom(f"the pending pretokens would have more than {MAX_PENDING_BYTES} bytes together: delete one first")


def check_bytes(pretoken: Pretoken, *, person_ids: Collection[int]) -> None:
    """Raise NoRoom where this one would make more bytes than a user may have lying there, whatever became of them."""
    kept = Pretoken.objects.owned_by(person_ids).aggregate(size=Sum("size", default=0))["size"]
    if kept + pretoken.size > settings.PRETOKEN_ROOM_BYTES:
        raise NoRoom(
            f"your pretokens would have more than {settings.PRETOKEN_ROOM_BYTES} bytes together, with deleted ones, "
            f"which lie there until {settings.PRETOKEN_KEPT_DAYS} days after the time at which they would have expired"
        )


def expire(locked: QuerySet[Pretoken]) -> int:
    """Mark pretokens as expired, which the query locks; how many they are."""
    # In one order, so that nobody waits in a circle.
    found = list(locked.order_by("pk").values_list("pk", flat=True))
    return Pretoken.objects.filter(pk__in=found, state=State.PENDING).update(state=State.EXPIRED) if found else 0

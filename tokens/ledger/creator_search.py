"""Search of creators by the beginning of a name, by a whole address or by a FID.

Profiles also exist of users without launches: a page reads a limited number along the index of names, so that it may
have fewer creators than requested before the last page.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Exists, F, OuterRef, TextField, Value
from django.db.models.fields.tuple_lookups import TupleGreaterThan

from accounts.models import SocialProfile
from accounts.models.profiles import NAME_KEY
from accounts.profiles.social_refresh import users_by_fid
from config.cursors import Cursor, CursorError, decode_cursor, encode_cursor
from config.postgresql.case_folding import FoldCase
from tokens.ledger.creator_facts import parse_creator
from tokens.ledger.creators import Creator, count_launches
from tokens.models import Token

MAX_QUERY_LENGTH = 100
# Profiles that a page reads at most.
PROFILES_READ = 200
_SORT = "name"


class _Named(NamedTuple):
    """A profile with a name that begins with the text."""

    fid: int
    has_launch: bool


@dataclass(frozen=True)
class CreatorPage:
    """Described creators, and the cursor of the next page; None on the last."""

    creators: list[dict[str, Any]]
    cursor: str | None


def parse_name_cursor(text: str | None) -> int | None:
    """Return the FID of the last profile before a page; None is the first page. Raises CursorError."""
    cursor = decode_cursor(text, sort_by=_SORT, numeric=True) if text else None
    return cursor.row_id if isinstance(cursor, Cursor) else None


def search_creators(q: str, *, limit: int, after_fid: int | None) -> CreatorPage:
    """Return creators by name that have listed launches; on the first page an address or FID comes first.

    At most four queries. Raises CursorError if there is no profile of the cursor.
    """
    exact = _parse_exact(q) if after_fid is None else []
    named = _read_named(q, after_fid)
    is_cut = len(named) > PROFILES_READ
    named = named[:PROFILES_READ]
    chosen = [each for each in named if each.has_launch][:limit]
    last = chosen[-1] if len(chosen) == limit else named[-1] if is_cut else None
    has_more = last is not None and (is_cut or last != named[-1])
    creators = dict.fromkeys([*exact, *(Creator(str(each.fid), each.fid, "") for each in chosen)])
    cursor = encode_cursor(Cursor(None, last.fid), sort_by=_SORT) if last and has_more else None
    return CreatorPage(_describe(list(creators)), cursor)


def _parse_exact(q: str) -> list[Creator]:
    """Return the creator with this address or FID."""
    try:
        return [parse_creator(q)]
    except ValueError:
        return []


def _read_named(q: str, after_fid: int | None) -> list[_Named]:
    """Return profiles by name after one of them, one more than PROFILES_READ if there are more; at most two queries."""
    profiles = SocialProfile.objects.alias(key=NAME_KEY).filter(key__startswith=FoldCase(Value(q)))
    if after_fid is not None:
        place = SocialProfile.objects.filter(pk=after_fid).values_list(NAME_KEY).first()
        if place is None:
            raise CursorError("must be the cursor of an earlier answer of this list")
        last = (Value(place[0], TextField()), Value(after_fid))
        profiles = profiles.filter(TupleGreaterThan((F("key"), F("fid")), last))
    launches = Token.objects.listed().filter(requestor_fid=OuterRef("fid"))
    found = profiles.annotate(has_launch=Exists(launches)).order_by("key", "fid").values_list("fid", "has_launch")
    return [_Named(*row) for row in found[: PROFILES_READ + 1]]


def _describe(creators: list[Creator]) -> list[dict[str, Any]]:
    """Return creators as JSON values, those of an address or FID only with launches. At most two queries."""
    users = users_by_fid([creator.fid for creator in creators]) if creators else {}
    launches = count_launches(creators)
    return [
        {
            "key": creator.key,
            "fid": creator.fid,
            "address": creator.address or None,
            "user": creator.fid and users.get(creator.fid),
            "launches": launches.get(creator.key, 0),
        }
        for creator in creators
        if launches.get(creator.key)
    ]

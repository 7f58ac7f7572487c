"""Creator search by name prefix, whole address or FID.

Users without launches have profiles, too. A page therefore reads a limited number of profiles along the name index,
and may have fewer creators than requested before the last page.
"""

from typing import NamedTuple

from django.db.models import Exists, F, OuterRef, TextField, Value
from django.db.models.fields.tuple_lookups import TupleGreaterThan

from accounts.models import SocialProfile
from accounts.models.profiles import NAME_KEY
from accounts.profiles.social_refresh import users_by_fid
from config.cursors import Cursor, CursorError, decode_cursor, encode_cursor
from config.postgresql.case_folding import FoldCase
from tokens.ledger.creator_facts import parse_creator
from tokens.ledger.creators import Creator, count_launches
from tokens.ledger.responses import CreatorSearchAnswer, FoundCreator
from tokens.models import Token

MAX_QUERY_LENGTH = 100
# The most profiles that a page reads.
PROFILES_READ = 200
_SORT = "name"


class _Named(NamedTuple):
    """A profile whose name begins with the text."""

    fid: int
    has_launch: bool


def parse_name_cursor(text: str | None) -> int | None:
    """Return the FID that precedes a page; None is the first page. Raises CursorError."""
    cursor = decode_cursor(text, sort_by=_SORT, numeric=True) if text else None
    return cursor.row_id if isinstance(cursor, Cursor) else None


def search_creators(q: str, *, limit: int, after_fid: int | None) -> CreatorSearchAnswer:
    """Return creators with listed launches, by name; the first page begins with an exact address or FID.

    At most four queries. Raises CursorError if the cursor's profile does not exist.
    """
    exact = _parse_exact(q) if after_fid is None else []
    profiles = _read_named(q, after_fid)
    is_cut = len(profiles) > PROFILES_READ
    profiles = profiles[:PROFILES_READ]
    launchers = [profile for profile in profiles if profile.has_launch][:limit]
    last_profile = launchers[-1] if len(launchers) == limit else profiles[-1] if is_cut else None
    has_more = last_profile is not None and (is_cut or last_profile != profiles[-1])
    creators = dict.fromkeys([*exact, *(Creator(str(profile.fid), profile.fid, "") for profile in launchers)])
    cursor = encode_cursor(Cursor(None, last_profile.fid), sort_by=_SORT) if last_profile and has_more else None
    return {"data": _describe(list(creators)), "cursor": cursor}


def _parse_exact(q: str) -> list[Creator]:
    """Return the creator with this address or FID, or no creator."""
    try:
        return [parse_creator(q)]
    except ValueError:
        return []


def _read_named(q: str, after_fid: int | None) -> list[_Named]:
    """Return profiles by name after a FID, in at most two queries; one more than PROFILES_READ if more exist."""
    profiles = SocialProfile.objects.alias(key=NAME_KEY).filter(key__startswith=FoldCase(Value(q)))
    if after_fid is not None:
        last_name = SocialProfile.objects.filter(pk=after_fid).values_list(NAME_KEY).first()
        if last_name is None:
            raise CursorError("must be the cursor of an earlier answer of this list")
        last_row = (Value(last_name[0], TextField()), Value(after_fid))
        profiles = profiles.filter(TupleGreaterThan((F("key"), F("fid")), last_row))
    launches = Token.objects.listed().filter(requestor_fid=OuterRef("fid"))
    rows = profiles.annotate(has_launch=Exists(launches)).order_by("key", "fid").values_list("fid", "has_launch")
    return [_Named(*row) for row in rows[: PROFILES_READ + 1]]


def _describe(creators: list[Creator]) -> list[FoundCreator]:
    """Return the creators that have listed launches, in at most two queries."""
    users = users_by_fid([creator.fid for creator in creators]) if creators else {}
    launches = count_launches(creators)
    return [
        {
            "key": creator.key,
            "fid": creator.fid,
            "address": creator.address or None,
            "user": None if creator.fid is None else users.get(creator.fid),
            "launches": launches.get(creator.key, 0),
        }
        for creator in creators
        if launches.get(creator.key)
    ]

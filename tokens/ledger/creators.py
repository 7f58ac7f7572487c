"""Token creators: the user or wallet behind a launch, and launch counts.

Anyone may name any user in a launch. An unconfirmed user is no creator: a wallet could hide its history behind a new
FID in each launch, or borrow a stranger's history.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from config.postgresql.replica import read_connection
from config.site.formats import COUNTED_LAUNCHES
from tokens.models import Token

# Each count stops above COUNTED_LAUNCHES: a prolific wallet has millions of rows. A wallet's launches are selected as
# `TokenQuerySet.deployed_by` does: each of its two columns has an index.
_COUNTS = """SELECT fid::text, (
    SELECT count(*) FROM (
        SELECT 1 FROM "tokens_token" WHERE requestor_fid = fid AND NOT blocked AND NOT unindexed LIMIT %(limit)s
    ) AS launches
) FROM unnest(%(fids)s::bigint[]) AS fid
UNION ALL
SELECT wallet, (
    SELECT count(*) FROM (
        (SELECT id FROM "tokens_token" WHERE msg_sender = wallet AND NOT blocked AND NOT unindexed LIMIT %(limit)s)
        UNION
        (SELECT id FROM "tokens_token"
            WHERE requestor_address = wallet AND requestor_address <> '' AND NOT blocked AND NOT unindexed
            LIMIT %(limit)s)
    ) AS launches
) FROM unnest(%(wallets)s::text[]) AS wallet
"""


@dataclass(frozen=True)
class Creator:
    """The user that requested launches, or the wallet if no confirmed user is known."""

    # A FID in digits, or the address in stored form; empty if neither is known.
    key: str
    fid: int | None
    address: str


def creator_of(token: Token, users: Mapping[int, Mapping[str, Any]]) -> Creator:
    """Return a token's creator: the confirmed user that its launch names, or else the wallet.

    `users` has the named user's profile by FID, as `users_by_fid` returns it.
    """
    address = token.requestor_address or token.msg_sender
    if token.requestor_fid is None or is_user_unverified(token, users.get(token.requestor_fid)):
        return Creator(address, None, address)
    return Creator(str(token.requestor_fid), token.requestor_fid, address)


def is_user_unverified(token: Token, user: Mapping[str, Any] | None) -> bool:
    """Return whether the record's `trust` has USER_UNVERIFIED. `user` is the profile that the launch names."""
    wallets = user["verifiedAddresses"] if user else ()
    return token.requestor_fid is not None and not (token.known_interface_deployer or token.msg_sender in wallets)


def user_name(user: Mapping[str, Any] | None) -> str:
    """Return the name that pages show: the profile's user name, or else its display name, or ""."""
    return (user and (user["username"] or user["displayName"])) or ""


def count_launches(creators: Iterable[Creator]) -> dict[str, int]:
    """Return key -> number of listed launches, in one query. A number above COUNTED_LAUNCHES means "or more"."""
    unique = {creator.key: creator for creator in creators if creator.key}
    if not unique:
        return {}
    parameters = {
        "fids": [creator.fid for creator in unique.values() if creator.fid is not None],
        "wallets": [creator.address for creator in unique.values() if creator.fid is None],
        "limit": COUNTED_LAUNCHES + 1,
    }
    with read_connection().cursor() as cursor:
        cursor.execute(_COUNTS, parameters)
        # A wallet's two branches may each reach the limit.
        return {key: min(count, COUNTED_LAUNCHES + 1) for key, count in cursor.fetchall()}

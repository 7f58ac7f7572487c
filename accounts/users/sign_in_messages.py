"""Sign-in messages of wallets (EIP-4361): their parser, and the rules that bind one to this installation and to now."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from tokens.chains.addresses import checksum_address

# Age of a message at most; its nonce is no older.
MAX_AGE = timedelta(minutes=10)
# Tolerated clock difference to the user's device.
LEEWAY = timedelta(minutes=1)

_URI = r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*"
_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})"
# The grammar of https://eips.ethereum.org/EIPS/eip-4361.
_MESSAGE = re.compile(
    rf"""
    (?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://)?(?P<domain>[^\s/?#]+)
    [ ]wants[ ]you[ ]to[ ]sign[ ]in[ ]with[ ]your[ ]Ethereum[ ]account:\n
    (?P<address>0x[0-9a-fA-F]{{40}})\n
    \n
    (?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;= ]+\n)?
    \n
    URI:[ ](?P<uri>{_URI})\n
    Version:[ ]1\n
    Chain[ ]ID:[ ](?P<chain_id>[0-9]{{1,18}})\n
    Nonce:[ ](?P<nonce>[A-Za-z0-9]{{8,64}})\n
    Issued[ ]At:[ ](?P<issued_at>{_TIME})
    (?:\nExpiration[ ]Time:[ ](?P<expires_at>{_TIME}))?
    (?:\nNot[ ]Before:[ ](?P<valid_from>{_TIME}))?
    (?:\nRequest[ ]ID:[ ](?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{{2}})*)?
    (?:\nResources:(?:\n-[ ]{_URI})*)?
    """,
    re.VERBOSE,
)
_ORIGIN = re.compile(r"[^:]+://[^/?#]+")
_NEVER = "9999-12-31T23:59:59Z"


class InvalidMessageError(ValueError):
    """Raised for a message that does not sign in here and now; the text is the broken rule, for the caller."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInMessage:
    """Message fields that the decision needs; the others are only signed."""

    # Empty where the message has none.
    scheme: str
    domain: str
    # EIP-55.
    address: str
    uri: str
    chain_id: int
    nonce: str
    issued_at: datetime
    expires_at: datetime
    valid_from: datetime


def parse_message(text: str) -> SignInMessage:
    """Parse a message by its whole grammar, so that no text has two readings. Raises InvalidMessageError."""
    match = _MESSAGE.fullmatch(text)
    if match is None:
        raise InvalidMessageError("must be a message as EIP-4361 specifies it")
    if match["address"] != checksum_address(match["address"]):
        raise InvalidMessageError("must have its address with the capitals of EIP-55")
    return SignInMessage(
        scheme=match["scheme"] or "",
        domain=match["domain"],
        address=match["address"],
        uri=match["uri"],
        chain_id=int(match["chain_id"]),
        nonce=match["nonce"],
        issued_at=_parse_time(match["issued_at"]),
        expires_at=_parse_time(match["expires_at"] or _NEVER),
        valid_from=_parse_time(match["valid_from"] or match["issued_at"]),
    )


def check_message(message: SignInMessage, *, origins: Collection[str], now: datetime) -> None:
    """Raise InvalidMessageError unless the message is for a page of one of these origins, and valid now.

    An origin is a scheme, a host and perhaps a port, such as `https://example.org`.
    """
    own_origins = {
        origin
        for origin in origins
        for scheme, _, host in (origin.partition("://"),)
        if host == message.domain and message.scheme in ("", scheme)
    }
    if not own_origins:
        raise InvalidMessageError("must have the domain of this service, or of a page that may call it")
    origin = _ORIGIN.match(message.uri)
    if origin is None or origin[0] not in own_origins:
        raise InvalidMessageError("must have a URI of its own domain")
    if not now - MAX_AGE <= message.issued_at <= now + LEEWAY:
        raise InvalidMessageError(f"must be issued within the last {MAX_AGE.seconds // 60} minutes")
    if message.expires_at <= now:
        raise InvalidMessageError("must not be expired")
    if message.valid_from > now + LEEWAY:
        raise InvalidMessageError("must be valid now")


def _parse_time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidMessageError("must have times that exist") from error

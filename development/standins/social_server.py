"""Stand-in for Neynar's bulk user look-up and a Farcaster hub's HTTP API, with people fixed per FID.

Shapes: https://docs.neynar.com/reference/fetch-bulk-users and https://docs.neynar.com/snapchain/httpapi (user data,
verifications).
"""

import hashlib
import re
from typing import Any

from solders.pubkey import Pubkey

from development.standins.http_server import StandIn, StandInResponse
from development.standins.hub_messages import EPOCH, Hub
from development.standins.loopback import ReceivedRequest

MAX_FIDS = 100
# Neynar's `fid` is an int32.
_MAX_FID = 2**31 - 1

_FIRST = ("Sunny", "Quiet", "Brave", "Tiny", "Clever", "Happy", "Wild", "Calm", "Lucky", "Swift", "Gentle")
_SECOND = (
    "Otter",
    "Fox",
    "Heron",
    "Badger",
    "Whale",
    "Lynx",
    "Panda",
    "Raven",
    "Koala",
    "Gecko",
    "Moose",
    "猫",
    "Слон",
)
_LATIN = {"猫": "neko", "Слон": "slon"}
_BIO = "A made-up person of a stand-in: sample data."


class SocialStandIn(StandIn):
    """Both providers on one port. It accepts any key, unless one is given."""

    ERRORS = {
        401: {"message": "Incorrect or missing API key"},
        404: {"code": "NotFound", "message": "Not found"},
        429: {"code": "RateLimitExceeded", "message": "Too many requests"},
        500: {"code": "InternalServerError", "message": "Something went wrong"},
    }

    def __init__(self, port: int = 0, *, api_key: str | None = None) -> None:
        super().__init__(port)
        self._api_key = api_key
        # The hub's casts and reactions.
        self.hub = Hub()

    def answer(self, received: ReceivedRequest) -> StandInResponse | None:
        """Return the response by the provider that has the path."""
        if received.path.rstrip("/") == "/v2/farcaster/user/bulk":
            return self._answer_bulk(received)
        messages = {"/v1/userDataByFid": _user_data, "/v1/verificationsByFid": _verifications}.get(received.path)
        if messages is None:
            return self.hub.answer(received.path, received.query)
        fid = _read_fid(received.query.get("fid", ""))
        if fid is None:
            return StandInResponse(
                {"errCode": "bad_request.validation_failure", "details": "fid is not a number"}, status=400
            )
        return StandInResponse({"messages": messages(fid) if is_known(fid) else [], "nextPageToken": ""})

    def _answer_bulk(self, received: ReceivedRequest) -> StandInResponse:
        key = received.headers.get("x-api-key", "")
        if not key or self._api_key not in (None, key):
            return StandInResponse(self.ERRORS[401], status=401)
        fids = [_read_fid(text) for text in received.query.get("fids", "").split(",")]
        if len(fids) > MAX_FIDS or not all(fid and fid <= _MAX_FID for fid in fids):
            words = f"fids must be 1 to {MAX_FIDS} numbers with commas between them"
            return StandInResponse({"code": "InvalidField", "property": "fids", "message": words}, status=400)
        return StandInResponse({"users": [neynar_user(fid) for fid in dict.fromkeys(fids) if fid and is_known(fid)]})


def is_known(fid: int) -> bool:
    """Return whether the FID has a person: six in seven have."""
    return fid % 7 != 0


def neynar_user(fid: int) -> dict[str, Any]:
    """Return the person as Neynar's `User`."""
    lot = _lot(fid)
    eth, sol = _eth_addresses(fid), _sol_addresses(fid)
    return {
        "object": "user",
        "fid": fid,
        "username": username(fid),
        "display_name": display_name(fid),
        "pfp_url": pfp_url(fid),
        "custody_address": _hex_address(fid, "custody"),
        "registered_at": "2023-11-07T00:00:00.000Z",
        "pro": {"status": "unsubscribed"},
        "profile": {"bio": {"text": _BIO}},
        "follower_count": lot % 5_000,
        "following_count": lot % 700,
        "verifications": eth,
        "auth_addresses": [],
        "verified_addresses": {
            "eth_addresses": eth,
            "sol_addresses": sol,
            "primary": {"eth_address": eth[-1] if eth else None, "sol_address": sol[0] if sol else None},
        },
        "verified_accounts": [{"platform": "x", "username": username(fid).replace("-", "_")}],
        "experimental": {"neynar_user_score": score(fid), "deprecation_notice": "use score"},
        "score": score(fid),
    }


def username(fid: int) -> str:
    """Return a name with lower-case letters, digits and hyphens, as Farcaster requires."""
    adjective, noun = _names(fid)
    return f"{adjective}-{_LATIN.get(noun, noun)}-{fid}".lower()


def display_name(fid: int) -> str:
    """Return a name that is marked as a sample."""
    return f"{' '.join(_names(fid))} (sample)"


def pfp_url(fid: int) -> str | None:
    """Return a missing picture's URL; None for one person in eleven."""
    return f"https://sample.invalid/pfp/{fid}.png" if _lot(fid) % 11 else None


def score(fid: int) -> float:
    """Return a score from 0 to 1."""
    return _lot(fid) % 101 / 100


def _user_data(fid: int) -> list[Any]:
    values = {"USERNAME": username(fid), "DISPLAY": display_name(fid), "PFP": pfp_url(fid), "BIO": _BIO}
    return [
        _message(fid, "USER_DATA_ADD", userDataBody={"type": f"USER_DATA_TYPE_{name}", "value": value})
        for name, value in values.items()
        if value is not None
    ]


def _verifications(fid: int) -> list[Any]:
    protocols = [(address, "PROTOCOL_ETHEREUM") for address in _eth_addresses(fid)]
    protocols += [(address, "PROTOCOL_SOLANA") for address in _sol_addresses(fid)]
    return [
        _message(
            fid,
            "VERIFICATION_ADD_ETH_ADDRESS",
            verificationAddAddressBody={
                "address": address,
                "claimSignature": "c2FtcGxl",
                "blockHash": "0x" + _digest(fid, "block"),
                "verificationType": 0,
                "chainId": 0,
                "protocol": protocol,
            },
        )
        for address, protocol in protocols
    ]


def _message(fid: int, kind: str, **body: Any) -> dict[str, Any]:
    return {
        "data": {
            "type": f"MESSAGE_TYPE_{kind}",
            "fid": fid,
            "timestamp": 1_700_000_000 + fid % 10_000_000 - EPOCH,
            "network": "FARCASTER_NETWORK_MAINNET",
            **body,
        },
        "hash": "0x" + _digest(fid, kind)[:40],
        "hashScheme": "HASH_SCHEME_BLAKE3",
        "signature": "c2FtcGxl",
        "signatureScheme": "SIGNATURE_SCHEME_ED25519",
        "signer": "0x" + _digest(fid, "signer"),
    }


def _names(fid: int) -> tuple[str, str]:
    lot = _lot(fid)
    return _FIRST[lot % len(_FIRST)], _SECOND[lot // 64 % len(_SECOND)]


def _eth_addresses(fid: int) -> list[str]:
    """Return up to two lower-case addresses, the older one first."""
    return [_hex_address(fid, str(number)) for number in range(_lot(fid) % 3)]


def _sol_addresses(fid: int) -> list[str]:
    return [str(Pubkey.from_bytes(bytes.fromhex(_digest(fid, "sol"))))] if _lot(fid) % 4 == 0 else []


def _hex_address(fid: int, use: str) -> str:
    return "0x" + _digest(fid, use)[:40]


def _lot(fid: int) -> int:
    return int(_digest(fid, "lot")[:8], 16)


def _digest(fid: int, use: str) -> str:
    return hashlib.sha256(f"{fid} {use}".encode()).hexdigest()


def _read_fid(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text, re.ASCII) else None

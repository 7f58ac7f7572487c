"""Refusals of the endpoints for users, administrators and agents."""

from uuid import UUID

from config.api.openapi_examples import BODIES
from tests.config.api.refusals.refusal_rows import (
    ANY_ADDRESS,
    BODY,
    EVM_ADDRESS,
    IS_BLANK,
    IS_REQUIRED,
    OBJECT,
    Refusal,
    broken,
    number,
    oversized,
    required,
    unknown,
    whole,
    wrong,
)
from tests.rows.changed_bodies import ABSENT

_FID = number(1, 2**63 - 1)
_INTERVAL = "must be one of 24h, 7d, 30d"

REFUSALS = {
    "createPretoken": (
        *whole(OBJECT, None, [], "5", 5),
        Refusal(
            {BODY: {}}, "keyword is required", dict.fromkeys(("keyword", "chain_id", "token_settings"), "is required")
        ),
        *wrong("keyword", "must not be blank", ""),
        *wrong("chain_id", "must be a chain where this service launches tokens: 8453", 5),
        *(row for part in ("token_settings", "vault_settings", "airdrop") for row in wrong(part, OBJECT, [], 5)),
        *wrong("token_settings.admins[0].recipient", EVM_ADDRESS, "0x1"),
        *broken(
            "vault_settings.percentage",
            "must be a number from 0 to 90, in percent with at most 2 decimals",
            vault_settings={"percentage": 91, "lockupDuration": 7},
        ),
        *oversized("token_settings.description"),
        *broken(
            "token_settings.social_context.id",
            "must be your own FID where the platform is Farcaster",
            **{"token_settings.social_context": {"platform": "farcaster", "id": "8"}},
        ),
    ),
    "deletePretoken": (
        *unknown("Pretoken not found"),
        *unknown("Pretoken not found", id=(str(UUID(int=1)), "x", "5", "\0", "0" * 5_000)),
    ),
    "beginAdminSession": (
        *whole("Invalid data. Expected a dictionary, but got list.", []),
        *whole("Invalid data. Expected a dictionary, but got str.", "text"),
        *wrong("username", IS_REQUIRED, ABSENT),
        *wrong("username", IS_BLANK, ""),
        *wrong("username", "Ensure this field has no more than 150 characters.", "x" * 151),
        *wrong("password", IS_REQUIRED, ABSENT),
        *wrong("password", "Not a valid string.", ["x"]),
        *wrong("password", "Ensure this field has no more than 1000 characters.", "x" * 1_001),
        *wrong("code", "Ensure this field has no more than 20 characters.", "1" * 21),
    ),
    "signIn": (
        *whole("Invalid data. Expected a dictionary, but got list.", []),
        *wrong("message", IS_REQUIRED, ABSENT),
        *wrong("message", IS_BLANK, ""),
        *wrong("message", "Not a valid string.", ["x"]),
        *wrong("message", "Ensure this field has no more than 4000 characters.", "x" * 4_001),
        *wrong("message", "must be a message as EIP-4361 specifies it", " ", "x", "<script>alert(1)</script>"),
        *wrong(
            "message",
            "must have the domain of this service, or of a page that may call it",
            BODIES["signIn"]["message"],
        ),
        *wrong("signature", IS_REQUIRED, ABSENT),
        *wrong("signature", IS_BLANK, ""),
        *wrong(
            "signature",
            "must be 0x followed by an even number of hex digits, at most 10000",
            *("00", "0x0", "0x" + "00" * 5_001, "0xzz", "0x00\n", 5, ["0x00"]),
        ),
    ),
    "listLeaderboard": (
        *wrong("interval", _INTERVAL, "1h", "24H", " 24h"),
        *wrong("limit", number(1, 100), "0", "101", "-1", "all"),
        *wrong("cursor", "must be given once", ["a", "b"]),
    ),
    **dict.fromkeys(
        ("getAgentStanding", "getOwnedAgentStanding"),
        (
            *required("agentId"),
            *wrong("agentId", "must have at most 100 characters", "x" * 101),
            *wrong("interval", _INTERVAL, "1h"),
            *unknown("Agent not found"),
        ),
    ),
    "getUserByFid": (
        *required("fid"),
        *wrong("fid", _FID, 0),
        *unknown("User not found", fid=(6, 2**63 - 1)),
    ),
    "getUserByAddress": (
        *required("address"),
        *wrong("address", ANY_ADDRESS, "0x12"),
        *unknown("User not found", address="0x" + "1" * 40),
    ),
    "getUserByName": (
        *required("name"),
        *wrong("name", "must have at most 255 characters", "a" * 256),
        *wrong("name", "must not be blank", " "),
        *unknown("User not found", name=("ada", "%", "@", "a" * 255)),
    ),
    "getUsersByFids": (
        *required("fids"),
        *wrong("fids", "must be 1 to 100 whole numbers, separated by commas", ",".join("1" * 101), "x"),
    ),
}

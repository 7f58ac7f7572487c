"""Refusals of the endpoints that partners write to, and of the lists of what they wrote."""

from typing import Any

from accounts.subscriptions.endpoint_bodies import EVENT_NAMES
from config.api.openapi_examples import BODIES, PARAMETERS
from tests.config.api.refusals.refusal_rows import (
    ADDRESS,
    ANY_ADDRESS,
    BODY,
    CHAIN,
    CURSOR,
    EVM_ADDRESS,
    FLAG,
    HEX_ELSEWHERE,
    IS_BLANK,
    IS_NULL,
    IS_REQUIRED,
    MINT,
    OBJECT,
    POOL,
    Refusal,
    Rows,
    broken,
    number,
    of_evm,
    oversized,
    required,
    unknown,
    whole,
    wrong,
)
from tests.rows.agent_events import agent
from tests.rows.airdrop_entries import tree_dump
from tests.rows.changed_bodies import ABSENT
from tests.rows.pictures import SVG, encoded, jpeg_of_scans, plain_picture, png_bomb
from tokens.chains.launching.merkle import build_tree

_HASH = "0x" + "ab" * 32
_NO_OBJECTS = (None, [], "text", 5, True)
_JSON_ID = number(0, 2**53 - 1)
_ENTRIES = [(ADDRESS, 1), ("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", 2)]
_POSTED = [{"account": account, "amount": amount} for account, amount in _ENTRIES]
_BUYERS = BODIES["savePresaleAllowlist"]["entries"]
_ROOT = build_tree([(account, amount * 10**18) for account, amount in _ENTRIES]).root
_ROOT_OF_ONE = build_tree(_ENTRIES[:1]).root
_BUYERS_ROOT = build_tree([(entry["address"], int(entry["allowedAmountWei"])) for entry in _BUYERS]).root
_TRANSACTION = "must be a transaction hash, 0x followed by 64 hex digits"
_ONE_OF_TWO = "must be given, or else tree, and not both"
_HASH_RULE = "must be a hash, 0x followed by 64 hex digits"

_PARTS = "token, rewards, pool, fees, vault, airdrop, presale, devBuy, context, chainId, dryRun"
_FLAT = {"name": "Dog", "symbol": "DOG", "requestKey": "k" * 32}
_NO_TOKEN = "is required: name, symbol, tokenAdmin and requestKey are keys of this object"
_NO_PRESALES = (
    *wrong("chainId", of_evm("on Solana there is no presale")[1], 101),
    *wrong("chainId", "must be a chain of this service with a presale contract", 42161),
    *wrong("chainId", CHAIN, 5),
)
_NO_HASHES = (_HASH[2:], _HASH + "0", "0x" + "g" * 64, f" {_HASH}", "0x" + "١" * 64)
_NO_ADDRESSES = ("0x12", ADDRESS + "\0", ADDRESS + "00", _HASH, "vitalik.eth")
_OF_AIRDROP = (
    *required("tokenAddress"),
    *wrong("tokenAddress", EVM_ADDRESS, *_NO_ADDRESSES),
    *wrong("tokenAddress", of_evm("on Solana there is no airdrop")[0], MINT),
)
DEPLOY = (
    *whole(OBJECT, *_NO_OBJECTS),
    *whole(_NO_TOKEN, {}, field="token"),
    Refusal(
        {BODY: _FLAT},
        f"token {_NO_TOKEN}",
        {"token": _NO_TOKEN} | dict.fromkeys(_FLAT, f"is not known; known are {_PARTS}"),
    ),
    *wrong("token", OBJECT, [], 5),
    *wrong("token.requestKey", "must be a text of 32 visible ASCII characters", 5),
    *wrong("token.requestKey", "is required", ABSENT),
    *wrong("token.name", "must not be blank", ""),
    *wrong("token.name", "is required", ABSENT),
    *wrong("chainId", "must be a chain where this service launches tokens: 8453", 5),
    *wrong("chainId", "must be an EVM chain, since on Solana there is no launch through this service", 101),
    *wrong("dryRun", FLAG, "maybe", 2, [], {}, 1.0),
    *broken(
        "vault.percentage",
        "must be a number from 0 to 90, in percent with at most 2 decimals",
        vault={"percentage": 91, "lockupDuration": 7},
    ),
    *wrong("rewards", "must be a list of 1 to 7 entries", 5, []),
    *(row for part in _PARTS.split(", ")[2:-2] for row in wrong(part, OBJECT, 5)),
    *oversized("token.description"),
    *wrong("surprise", f"is not known; known are {_PARTS}", 1),
)
_UNSUPPORTED = tuple(
    Refusal({"chainId": chain_id}, "Unsupported chain", {"chainId": "Unsupported chain"})
    for chain_id in (None, 0, -1, 999, 101, True, 31337.0, "x", "", [], {}, 2**63, 10**30, "9" * 5_000, "8453 ", "٣")
)
_SAVED = ("1", "2", "x", "9" * 19, "１")
_EVENT_OR_RANGE = "must be given, or else afterEventId, and not both"
_NO_WEBHOOK = unknown("Webhook endpoint not found", id=("1", "0", "x", "9" * 30, "-1", "１"))
_PUBLIC_URL = "must be an https:// URL of a public host, on port 443 and without credentials"
_HTTP_URL = "must be a URL that begins with https:// or http://"
_FIELDS = (
    *wrong(
        "url", _PUBLIC_URL, "http://a.example/", "https://user:pw@a.example/", "https://10.1.2.3/", "https://[::1]/"
    ),
    *wrong(
        "url", _PUBLIC_URL, "https://a.example:8443/", "https://2130706433/", "https://0x7f.1/", "https://localhost/"
    ),
    *wrong(
        "url",
        _HTTP_URL,
        "file:///etc/passwd",
        "https://",
        "https://a.example\\@127.0.0.1/",
        "https://a.example/\r\nX: y",
    ),
    *wrong("url", "must have at most 2048 characters", "https://a.example/" + "x" * 2_048),
    *wrong("url", "must be text", 5),
    *wrong("types", f"must be a list of at most {len(EVENT_NAMES)} entries", "token.indexed"),
    *broken("types[1]", f"must be {' or '.join(EVENT_NAMES)}", types=["token.indexed", "webhook.test"]),
    *wrong("chainIds", "must be a list of at most 50 entries", list(range(1, 100))),
    *broken("chainIds[0]", f"{number(1, 2**53 - 1)}, in chain ids", chainIds=[0]),
    *wrong("email", "must be a mail address, or empty", "nobody"),
    *wrong("description", "must have at most 200 characters", "d" * 201),
)


def _dump(field: str, rule: str, **changes: Any) -> Rows:
    return broken(field, rule, tree=tree_dump(_ENTRIES) | changes, entries=ABSENT)


REFUSALS = {
    "fetchByPoolAddresses": (
        *whole("No data provided", None),
        *whole(OBJECT, [], "text"),
        *wrong("poolAddresses", IS_REQUIRED, ABSENT),
        *wrong("poolAddresses", IS_NULL, None),
        *wrong("poolAddresses", "must be a list", _HASH, {"a": _HASH}),
        *wrong("poolAddresses", "must have at most 100 entries", [_HASH] * 101, ["x"] * 3_000),
        *broken("poolAddresses[1]", POOL, poolAddresses=[_HASH, "x"]),
        *broken("poolAddresses[0]", POOL, poolAddresses=[5]),
        *broken("poolAddresses[0]", IS_NULL, poolAddresses=[None]),
        *broken("poolAddresses[0]", POOL, poolAddresses=[[_HASH]]),
    ),
    "indexTransaction": (
        *(Refusal({BODY: body}, "The body must be a JSON object", {}) for body in _NO_OBJECTS),
        *(
            Refusal({"txHash": text}, "Invalid transaction hash format", {"txHash": "Invalid transaction hash format"})
            for text in (ABSENT, None, "", 5, [], {}, "0x12", *_NO_HASHES)
        ),
        *_UNSUPPORTED,
    ),
    "indexTokenByAddress": (
        *(Refusal({BODY: body}, "The body must be a JSON object", {}) for body in _NO_OBJECTS),
        *wrong("address", ANY_ADDRESS, ABSENT, None, "", 5, [], "0x12", _HASH, f" {ADDRESS}"),
        *wrong("address", HEX_ELSEWHERE, MINT),
        *_UNSUPPORTED,
    ),
    "saveDeployedToken": (
        *whole(OBJECT, [], "text", 5),
        *wrong("address", IS_NULL, None),
        *wrong("address", ANY_ADDRESS, 5, ADDRESS[2:], _HASH),
        *wrong("address", HEX_ELSEWHERE, MINT),
        *wrong("tx_hash", IS_BLANK, ""),
        *wrong("tx_hash", f"{_TRANSACTION}, or a base58 signature of 64 bytes", ADDRESS, [_HASH]),
        *wrong("tx_hash", _TRANSACTION, "5" * 88),
        *wrong("chain_id", number(1, 2**63 - 1), 0, True, 8453.5),
        *wrong("chain_id", "must be a chain that this service reads", 1),
        *wrong("chain_id", CHAIN, 999),
    ),
    "deployToken": DEPLOY,
    "deployTokenV4": DEPLOY,
    "getDeployStatus": (
        *unknown("Deployment not found", requestKey=(PARAMETERS["requestKey"], "5" * 32, "x", "é" * 32, "a/b", "\0")),
    ),
    "saveAirdrop": (
        *whole(OBJECT, *_NO_OBJECTS),
        *whole(_ONE_OF_TWO, {}, field="entries"),
        *whole(_ONE_OF_TWO, {"entries": _POSTED, "tree": tree_dump(_ENTRIES)}, field="entries"),
        *wrong("entries", "must be a list of 1 to 100000 entries", [], 5, {}),
        *broken("entries[2].account", "is in the list twice", entries=[*_POSTED, _POSTED[0]]),
        *wrong("merkleRoot", _HASH_RULE, "0x12"),
        *broken("merkleRoot", f"must be the root of the entries, which is {_ROOT}", merkleRoot=_HASH, entries=_POSTED),
        *wrong("tokenAddress", EVM_ADDRESS, "0x12"),
        *wrong("enqueue", FLAG, "x"),
        *wrong("delaySeconds", f"{number(0, 86_400)}, in seconds", "x", -1),
        *wrong("tree", "must be a JSON object, the dump of a StandardMerkleTree", 5, entries=ABSENT),
        *_dump("tree", "must have the format standard-v1 and the leafEncoding address, uint256", format="simple-v1"),
        *_dump(
            "tree.tree[0]",
            f"must be the root of the entries, which is {_ROOT_OF_ONE}",
            values=tree_dump(_ENTRIES[:1])["values"],
        ),
        *_dump("tree.tree[0]", _HASH_RULE, tree=[]),
        *_dump("tree.values", "must be a list of 1 to 100000 entries", values=[]),
        *_dump(
            "tree.values[0].value",
            "must be a list of an account and its wei, as a text of digits",
            values=[{"value": [ADDRESS, 5]}],
        ),
    ),
    "savePresaleAllowlist": (
        *whole(OBJECT, *_NO_OBJECTS),
        *wrong("entries", "is required", ABSENT),
        *wrong("entries", "must be a list of 1 to 10000 entries", [], _BUYERS * 10_001),
        *wrong("entries", "must have each address once", _BUYERS * 2),
        *wrong("entries[0].allowedAmountWei", "is required", ABSENT),
        *wrong(
            "entries[0].allowedAmountWei",
            f"must be wei as a text of digits, from 1 to {10**30}",
            *(1, "0", "1.5", "-1", "", str(10**30 + 1), "١"),
        ),
        *wrong("entries[0].address", "must not be the zero address", "0x" + "00" * 20),
        *wrong("merkleRoot", f"must be the root of the entries, which is {_BUYERS_ROOT}", _HASH),
    ),
    **dict.fromkeys(
        ("listSavedAirdrops", "listSavedAllowlists"),
        (*wrong("limit", number(1, 100), "0", "x", "101"), *wrong("before", number(1, 2**63 - 1), "x", "-1")),
    ),
    "deleteSavedAirdrop": unknown("Airdrop not found", id=_SAVED),
    "deleteSavedAllowlist": unknown("Allow-list not found", id=_SAVED),
    "listAirdrops": (*_OF_AIRDROP, *wrong("claimerAddress", EVM_ADDRESS, *_NO_ADDRESSES)),
    "listAllocations": (
        *_OF_AIRDROP,
        *wrong("limit", number(1, 1_000), "0", "1001", "x"),
        *wrong("cursor", CURSOR, "x", "eyJpZCI6MS41LCJrIjoxLCJzIjoiYWNjb3VudCIsImQiOiJhc2MifQ=="),
    ),
    "getAirdropProofs": (
        *_OF_AIRDROP,
        *required("claimerAddress"),
        *wrong("claimerAddress", EVM_ADDRESS, *_NO_ADDRESSES),
        *wrong("claimerAddress", of_evm("on Solana there is no airdrop")[0], MINT),
    ),
    "listPresales": (
        *required("chainId"),
        *_NO_PRESALES,
        *wrong("state", "must be active, successful, failed or launched", "over"),
        *wrong("owner", EVM_ADDRESS, "nonsense"),
        *wrong("tokenAdmin", EVM_ADDRESS, "nonsense"),
        *wrong("limit", number(1, 100), "-1", "x", 101),
        *wrong("offset", number(0, 1_000_000), "-1", "x"),
        *wrong("sort", "must be desc or asc", "up"),
    ),
    "getPresaleAllowlist": (
        *required("chainId", "presaleId"),
        *_NO_PRESALES,
        *wrong("presaleId", number(1, 2**53 - 1), "nonsense", -1),
    ),
    "getPresaleAllowlistProof": (
        *required("chainId", "presaleId", "buyerAddress"),
        *_NO_PRESALES,
        *wrong("presaleId", number(1, 2**53 - 1), "nonsense", -1),
        *wrong("buyerAddress", EVM_ADDRESS, "nonsense"),
    ),
    "uploadPicture": tuple(
        row
        for content, rule in (
            (b"", "it must be a PNG, JPEG, GIF or WebP file"),
            (SVG, "it must be a PNG, JPEG, GIF or WebP file"),
            (b"<!DOCTYPE html><html>", "it must be a PNG, JPEG, GIF or WebP file"),
            (encoded(plain_picture())[:80], "it must be whole: the file is truncated or damaged"),
            (png_bomb(60_000, 60_000), "it must have at most 40 megapixels"),
            (png_bomb(65_536, 1), "it must have at most 65535 pixels a side"),
            (jpeg_of_scans(500), "its pixels times its scans must be at most 400 million"),
            (encoded(plain_picture(), "BMP"), "it must be a PNG, JPEG, GIF or WebP file"),
        )
        for row in whole(f"The body is not a picture that can be used: {rule}", content)
    ),
    "uploadMetadata": (
        *whole(OBJECT, *_NO_OBJECTS, field="body"),
        *wrong("name", "must not be blank", ""),
        *wrong("symbol", "is required", None, ABSENT),
        *wrong("image", "must be a URL that begins with http:// or https:// or ipfs://", "javascript:alert(1)"),
        *wrong("image", "must be text", 5),
        *wrong("description", "must have at most 5000 characters", "x" * 5_001),
        *wrong("auditUrls", "must be a list of at most 50 entries", "https://audit.example"),
        *broken(
            "socialMediaUrls[0]",
            "must be a URL that begins with http:// or https://",
            socialMediaUrls=["file:///etc/passwd"],
        ),
        *wrong(
            "tokenAdmin", "is not known; known are name, symbol, image, description, socialMediaUrls, auditUrls", "0x"
        ),
        *whole(
            "must be a document of at most 16384 bytes, and has 20171",
            BODIES["uploadMetadata"]
            | {"description": "\u6f22" * 5_000, "auditUrls": [f"https://a.example/{'x' * 1_000}"] * 5},
            field="body",
        ),
    ),
    "reportAgentEvents": (
        *whole(OBJECT, *_NO_OBJECTS, field="body"),
        *wrong("events", "is required", ABSENT, None),
        *wrong("events", "must be a list of 1 to 1000 events", {}, [], [agent()] * 1_001),
        *wrong("source", "is not known; known are events", 1),
        *wrong("events[0]", OBJECT, 7),
        *broken(
            "events[1].type",
            "must be one of agent, run, action, interaction, trade, score",
            events=[agent(), {"type": "x"}],
        ),
    ),
    "createWebhook": (
        *whole(OBJECT, *_NO_OBJECTS, field="body"),
        *wrong("url", "is required", ABSENT),
        *_FIELDS,
        *wrong("secret", "is not known; known are url, description, types, chainIds, email", "mine"),
    ),
    "updateWebhook": (
        *whole(OBJECT, *_NO_OBJECTS, field="body"),
        *whole("must have one of url, description, types, chainIds, email, enabled", {}, field="body"),
        *_FIELDS,
        *wrong("enabled", FLAG, 5),
        *wrong("url", "is required", None),
        *wrong("secret", "is not known; known are description, enabled", "mine"),
        *_NO_WEBHOOK,
    ),
    **dict.fromkeys(("getWebhook", "deleteWebhook", "testWebhook", "rotateWebhookSecret"), _NO_WEBHOOK),
    "listWebhookDeliveries": (
        *_NO_WEBHOOK,
        *wrong("limit", number(1, 100), 0, "x"),
        *wrong("before", number(1, 2**53 - 1), "x", -1),
        *wrong("status", "must be one of pending, delivered, failed, cancelled", "x"),
    ),
    "replayWebhook": (
        *whole(OBJECT, *_NO_OBJECTS, field="body"),
        *wrong("eventId", _EVENT_OR_RANGE, ABSENT),
        *wrong("eventId", _EVENT_OR_RANGE, 1, afterEventId=1),
        *wrong("eventId", _EVENT_OR_RANGE, ABSENT, untilEventId=2),
        *wrong("untilEventId", "must not be given with eventId", 2),
        *wrong("untilEventId", "must be larger than afterEventId", 2, afterEventId=2, eventId=ABSENT),
        *wrong("afterEventId", f"{_JSON_ID}, in event ids", -1, eventId=ABSENT),
        *wrong("eventId", f"{_JSON_ID}, in event ids", "1"),
        *wrong("since", "is not known; known are eventId, afterEventId, untilEventId", 1),
        *_NO_WEBHOOK,
    ),
    "listEvents": (
        *wrong("limit", number(1, 500), 501, 0),
        *wrong("after", _JSON_ID, -1, "x"),
        *wrong("type", f"must be one of {', '.join(EVENT_NAMES)}", "nonsense"),
        *wrong("chainId", number(1, 2**53 - 1), 0),
    ),
}

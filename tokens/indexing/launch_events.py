"""Event types for tokens, fee claims and markets. Triggers on their tables store the events.

The triggers are in `token_events.sql`, `claim_events.sql` and `market_events.sql`.
"""

from config.events.event_types import EventType, Json
from config.parsing.response_types import open_object_schema
from tokens.installation.installed_launchpads import launchpad_of
from tokens.installation.installed_registry import registry

_TEXT: Json = {"type": "string"}
_MAYBE_TEXT: Json = {"type": ["string", "null"]}
_INTEGER: Json = {"type": "integer"}
_WEI: Json = {"type": "string", "pattern": "^[0-9]+$"}
_FLAG: Json = {"type": "boolean"}
_TIME: Json = {"type": "string", "format": "date-time"}
_SUBJECT = "Contract address of the token; on Solana the mint."

# Names and values as in the token record, except `generation`.
_TOKEN: dict[str, Json] = {
    "contract_address": _TEXT,
    "chain_id": _INTEGER,
    "generation": {
        "type": "string",
        "description": "Generation of the launchpad's contracts, such as v4; the name of a declared launchpad.",
    },
    "name": {"type": "string", "maxLength": 256, "description": "Cut to 256 characters."},
    "symbol": {"type": "string", "maxLength": 256, "description": "Cut to 256 characters."},
    "img_url": {"type": ["string", "null"], "maxLength": 2048, "description": "An http, https or ipfs URL."},
    "decimals": _INTEGER,
    "supply": {**_WEI, "type": ["string", "null"], "description": "Total supply at launch, in the smallest unit."},
    "admin": _MAYBE_TEXT,
    "msg_sender": _MAYBE_TEXT,
    "requestor_fid": {"type": ["integer", "null"]},
    "requestor_address": _MAYBE_TEXT,
    "pool_address": _MAYBE_TEXT,
    "paired_token": _MAYBE_TEXT,
    "pair": {"type": ["string", "null"], "description": "Symbol of the paired token."},
    "factory_address": _TEXT,
    "tx_hash": _TEXT,
    "log_index": _INTEGER,
    "block_number": _INTEGER,
    "block_hash": _TEXT,
    "deployed_at": {**_TIME, "description": "Block time of the launch."},
    "tags": open_object_schema(
        {"champagne": _FLAG, "verified": _FLAG, "knownInterfaceDeployer": _FLAG, "blocked": _FLAG},
    ),
}
# Absent in former versions' events, and for launchpads that are no longer declared.
_LAUNCHPAD: dict[str, Json] = {
    "launchpad": {"type": "string", "description": "Name of the token's launchpad."},
    "launchpadTitle": {"type": "string", "description": "Its title for display."},
}
_CHANGED: Json = {
    "type": "array",
    "items": _TEXT,
    "minItems": 1,
    "description": "Names of the stored fields that changed, such as admin, metadata or blocked. `GET"
    " /api/tokens/{chainId}/{address}` has their values.",
}
_CLAIM = open_object_schema(
    {
        "recipient": _TEXT,
        "currency": {
            "type": "string",
            "description": "Address of the ERC-20 that was paid; zero for the chain's coin.",
        },
        "amount": {**_WEI, "description": "In the smallest unit of the currency."},
        "token": {"type": ["string", "null"], "description": "The token of the claim; null if it is of no single one."},
        "txHash": _TEXT,
        "logIndex": _INTEGER,
        "blockNumber": _INTEGER,
        "blockHash": _TEXT,
        "at": {**_TIME, "description": "Block time."},
    }
)


def _launchpads() -> dict[str, Json]:
    names = (*registry().generations, *registry().launchpads)
    launchpads = ((name, launchpad_of(name)) for name in names)
    return {name: {"launchpad": pad.name, "launchpadTitle": pad.title} for name, pad in launchpads}


TOKEN_EVENTS = (
    EventType(
        name="token.indexed",
        summary="A launch is listed. Its block may still be dropped.",
        subject=_SUBJECT,
        data=open_object_schema(_TOKEN, _LAUNCHPAD),
        added=_launchpads,
    ),
    EventType(
        name="token.updated",
        summary="A listed token changed, on its chain or by a tag of an operator.",
        subject=_SUBJECT,
        data=open_object_schema({**_TOKEN, "changed": _CHANGED}, _LAUNCHPAD),
        added=_launchpads,
    ),
    EventType(
        name="token.reorged",
        summary="A listed token is gone: its block was dropped, or the token is in another block now.",
        subject=_SUBJECT,
        data=open_object_schema(_TOKEN, _LAUNCHPAD),
        added=_launchpads,
    ),
    EventType(
        name="token.confirmed",
        summary="The block of a token's launch is final.",
        subject=_SUBJECT,
        data=open_object_schema(_TOKEN, _LAUNCHPAD),
        added=_launchpads,
    ),
    EventType(
        name="fees.claimed",
        summary="Fees were paid to a recipient. The block may still be dropped.",
        subject="Address of the recipient.",
        data=_CLAIM,
    ),
    EventType(
        name="fees.reorged",
        summary="The block of a payment of fees was dropped.",
        subject="Address of the recipient.",
        data=_CLAIM,
    ),
    EventType(
        name="markets.changed",
        summary="Prices, trending scores or other market data of tokens on the chain changed.",
        subject="Chain id.",
        data=open_object_schema({}),
        is_stream_only=True,
    ),
)

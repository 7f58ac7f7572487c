"""Synthetic Solana transactions: derived from recorded ones, or executed by LiteSVM, in JSON-RPC form."""

import base64
import copy
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from base58 import b58encode
from solders.litesvm import LiteSVM
from solders.message import MessageAddressTableLookup, MessageV0
from solders.signature import Signature
from solders.transaction import VersionedTransaction
from solders.transaction_metadata import TransactionMetadata

from development.standins.solana_node import SolanaStandIn

Json = dict[str, Any]

EVENT_MARK = bytes.fromhex("e445a52e51cb9a1d")


def base58(data: bytes) -> str:
    """Encode bytes as base58."""
    return b58encode(data).decode()


def mark(kind: str, name: str) -> bytes:
    """Return Anchor's discriminator for an instruction (`global`) or an event (`event`)."""
    return hashlib.sha256(f"{kind}:{name}".encode()).digest()[:8]


def borsh_text(text: str | bytes) -> bytes:
    """Encode a text, prefixed by its length."""
    raw = text.encode() if isinstance(text, str) else text
    return len(raw).to_bytes(4, "little") + raw


def raw_of(node: SolanaStandIn, signature: str) -> Json:
    """Copy a transaction's `json` form, to be changed."""
    return copy.deepcopy(node.transactions[signature]["json"])


def keys_of(raw: Json) -> list[str]:
    """Return all accounts in a transaction, ordered by the instructions' account indexes."""
    loaded = raw["meta"]["loadedAddresses"]
    return [*raw["transaction"]["message"]["accountKeys"], *loaded["writable"], *loaded["readonly"]]


def parsed_of(raw: Json) -> Json:
    """Return the `jsonParsed` form for a `json` form, in which the node has parsed no instruction."""
    parsed, keys = copy.deepcopy(raw), keys_of(raw)
    message = parsed["transaction"]["message"]
    signers = message.pop("header")["numRequiredSignatures"]
    own = len(message["accountKeys"])
    message["accountKeys"] = [
        {"pubkey": key, "signer": place < signers, "source": "transaction" if place < own else "lookupTable"}
        for place, key in enumerate(keys)
    ]
    groups = [message, *parsed["meta"]["innerInstructions"]]
    for group in groups:
        group["instructions"] = [
            {"programId": keys[entry["programIdIndex"]], "accounts": [keys[n] for n in entry["accounts"]]}
            | {name: entry[name] for name in ("data", "stackHeight") if name in entry}
            for entry in group["instructions"]
        ]
    return parsed


def add_transaction(node: SolanaStandIn, raw: Json, *, number: int = 1) -> str:
    """Serve this transaction under its own signature, in the slot after the newest; return the signature."""
    raw["transaction"]["signatures"][0] = str(Signature(bytes([number]) * 64))
    raw["slot"] = node.slot + 1
    return node.hold({"json": raw, "jsonParsed": parsed_of(raw)})


def add_changed(node: SolanaStandIn, signature: str, change: Callable[[Json], object]) -> str:
    """Serve a changed copy of a recorded transaction; return its signature."""
    raw = raw_of(node, signature)
    change(raw)
    return add_transaction(node, raw)


def add_key(raw: Json, key: str) -> int:
    """Return an account's index in a transaction; it is appended without signature if missing."""
    keys: list[str] = raw["transaction"]["message"]["accountKeys"]
    if key not in keys:
        keys.append(key)
    return keys.index(key)


def outer(raw: Json) -> list[Json]:
    """Return the outer instructions in a `json` form."""
    found: list[Json] = raw["transaction"]["message"]["instructions"]
    return found


def inner(raw: Json, number: int = 0) -> list[Json]:
    """Return the inner instructions of the outer instruction with this number."""
    found: list[Json] = next(group for group in raw["meta"]["innerInstructions"] if group["index"] == number)[
        "instructions"
    ]
    return found


def executed(vm: LiteSVM, transaction: VersionedTransaction, *, loaded: Sequence[Sequence[str]] = ((), ())) -> Json:
    """Execute a transaction by LiteSVM; return its `json` form. `loaded`: the lookup tables' keys, writable first."""
    result = vm.send_transaction(transaction)
    assert isinstance(result, TransactionMetadata), result
    message = transaction.message
    body: Json = {
        "header": {
            "numRequiredSignatures": message.header.num_required_signatures,
            "numReadonlySignedAccounts": message.header.num_readonly_signed_accounts,
            "numReadonlyUnsignedAccounts": message.header.num_readonly_unsigned_accounts,
        },
        "accountKeys": [str(key) for key in message.account_keys],
        "recentBlockhash": str(message.recent_blockhash),
        "instructions": [_compiled(instruction) for instruction in message.instructions],
    }
    if isinstance(message, MessageV0):
        body["addressTableLookups"] = [_lookup(lookup) for lookup in message.address_table_lookups]
    groups = [
        {"index": number, "instructions": [_compiled(entry.instruction()) for entry in group]}
        for number, group in enumerate(result.inner_instructions())
        if group
    ]
    return {
        "slot": vm.get_clock().slot,
        "blockTime": 1_795_228_500,
        "version": 0 if isinstance(message, MessageV0) else "legacy",
        "meta": {
            "err": None,
            "innerInstructions": groups,
            "loadedAddresses": {"writable": list(loaded[0]), "readonly": list(loaded[1])},
        },
        "transaction": {"signatures": [str(entry) for entry in transaction.signatures], "message": body},
    }


def _lookup(lookup: MessageAddressTableLookup) -> Json:
    return {
        "accountKey": str(lookup.account_key),
        "writableIndexes": list(lookup.writable_indexes),
        "readonlyIndexes": list(lookup.readonly_indexes),
    }


def _compiled(instruction: Any) -> Json:
    return {
        "programIdIndex": instruction.program_id_index,
        "accounts": list(instruction.accounts),
        "data": base58(bytes(instruction.data)),
    }


def change_account(node: SolanaStandIn, address: str, place: int, content: bytes) -> None:
    """Change an account's bytes from an offset on."""
    account = node.accounts[address]
    data = bytearray(base64.b64decode(account["data"][0]))
    data[place : place + len(content)] = content
    node.accounts[address] = account | {"data": [base64.b64encode(data).decode(), "base64"]}

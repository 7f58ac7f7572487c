"""Solana transactions, parsed from two JSON-RPC encodings, which must agree. Pure.

Schemas: https://solana.com/docs/rpc/http/gettransaction and https://solana.com/docs/rpc/json-structures
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tokens.chains import addresses
from tokens.chains.errors import LogDecodingError
from tokens.chains.pool_types import LOG_INDEX_LIMIT
from tokens.chains.rpc.quantities import BLOCK_LIMIT, MalformedResponseError, parse_integer, validate_block_time

Json = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Instruction:
    """An instruction to one program.

    `index` counts all the transaction's instructions from 0, inner ones after the outer one that caused them; `outer`
    counts only the outer ones.
    """

    index: int
    outer: int
    program: str
    accounts: tuple[str, ...]
    # Base58. Decoded on demand: other programs' instructions may contain data that is slow to decode.
    text: str

    @property
    def data(self) -> bytes:
        """Return the instruction's data. Raises LogDecodingError for more than fits into any transaction."""
        try:
            return addresses.decode_base58(self.text)
        except ValueError as error:
            raise LogDecodingError(f"an instruction of {self.program}: {error}") from error


@dataclass(frozen=True, kw_only=True, slots=True)
class SolanaTransaction:
    """A transaction in the ledger, with the instructions that its programs executed."""

    signature: str
    slot: int
    # From 0, among the slot's transactions; None if the node does not return it.
    tx_index: int | None
    # Unix seconds; None if the node does not have it.
    block_time: int | None
    # A failed transaction has no effects.
    failed: bool
    # In the message's order; the first one pays the fee.
    signers: tuple[str, ...]
    instructions: tuple[Instruction, ...]


def parse_transaction(signature: str, *, raw: Any, parsed: Any) -> SolanaTransaction:
    """Parse the transaction with this signature from the encodings `json` and `jsonParsed`.

    The result comes from `json`: accounts by index, including lookup table accounts, and bytes. `jsonParsed` must
    contain the same accounts, and the same instructions as far as it leaves them unparsed.
    Raises MalformedResponseError.
    """
    try:
        read = _read_raw(raw)
        _compare(read, raw, parsed)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise MalformedResponseError(f"incomplete or contradictory transaction ({error!r:.100})") from error
    if read.signature != signature:
        raise MalformedResponseError("the transaction is not the requested one")
    return read


def _read_raw(form: Json) -> SolanaTransaction:
    message, meta = form["transaction"]["message"], form["meta"]
    keys = _account_keys(message, meta)
    signatures = form["transaction"]["signatures"]
    signers = message["header"]["numRequiredSignatures"]
    if not 0 < signers == len(signatures) <= len(message["accountKeys"]):
        raise ValueError("number of signatures and signers differ")
    return SolanaTransaction(
        signature=_text(signatures[0]),
        slot=(slot := parse_integer(form["slot"], below=BLOCK_LIMIT)),
        tx_index=None
        if form.get("transactionIndex") is None
        else parse_integer(form["transactionIndex"], below=LOG_INDEX_LIMIT),
        block_time=None
        if form["blockTime"] is None
        else validate_block_time(parse_integer(form["blockTime"]), block=slot),
        failed=meta["err"] is not None,
        signers=keys[:signers],
        instructions=tuple(
            Instruction(
                index=index,
                outer=outer,
                program=keys[parse_integer(entry["programIdIndex"])],
                accounts=tuple(keys[parse_integer(number)] for number in entry["accounts"]),
                text=_base58(entry["data"]),
            )
            for index, (outer, entry) in enumerate(_entries(message, meta))
        ),
    )


def _account_keys(message: Json, meta: Json) -> tuple[str, ...]:
    """Return all accounts in the order of instruction indexes: the message's own, then its lookup tables' accounts."""
    loaded = meta.get("loadedAddresses") or {"writable": [], "readonly": []}
    lookups = message.get("addressTableLookups") or []
    for kind in ("writable", "readonly"):
        if len(loaded[kind]) != sum(len(lookup[f"{kind}Indexes"]) for lookup in lookups):
            raise ValueError("number of accounts and lookup indexes differ")
    return tuple(_text(key) for key in (*message["accountKeys"], *loaded["writable"], *loaded["readonly"]))


def _entries(message: Json, meta: Json) -> Iterator[tuple[int, Json]]:
    """Yield each instruction after its outer instruction's number (its own, if outer), in execution order."""
    outer = message["instructions"]
    # A node that stores no inner instructions returns null; a transaction without any has an empty list.
    inner = {parse_integer(group["index"]): group["instructions"] for group in meta["innerInstructions"]}
    if len(inner) != len(meta["innerInstructions"]) or any(number >= len(outer) for number in inner):
        raise ValueError("inner instructions without an outer one")
    for number, entry in enumerate(outer):
        yield number, entry
        for caused in inner.get(number, ()):
            yield number, caused


def _compare(read: SolanaTransaction, raw: Json, parsed: Json) -> None:
    message, meta = parsed["transaction"]["message"], parsed["meta"]
    keys = message["accountKeys"]
    same = (
        parsed["slot"] == read.slot
        and parsed.get("transactionIndex") == read.tx_index
        and parsed["blockTime"] == read.block_time
        and parsed.get("version") == raw.get("version")
        and meta["err"] == raw["meta"]["err"]
        and parsed["transaction"]["signatures"] == raw["transaction"]["signatures"]
        and tuple(key["pubkey"] for key in keys) == _account_keys(raw["transaction"]["message"], raw["meta"])
        and tuple(key["pubkey"] for key in keys if key["signer"]) == read.signers
    )
    entries = list(_entries(message, meta))
    if not same or len(entries) != len(read.instructions):
        raise ValueError("the encodings are of different transactions")
    for instruction, (outer, entry) in zip(read.instructions, entries, strict=True):
        if (outer, entry["programId"]) != (instruction.outer, instruction.program) or not _matches(instruction, entry):
            raise ValueError("the encodings have different instructions")


def _matches(instruction: Instruction, entry: Json) -> bool:
    """Return whether a `jsonParsed` entry is this instruction, as far as the node left it unparsed."""
    if "parsed" in entry:
        return True
    return tuple(entry["accounts"]) == instruction.accounts and entry["data"] == instruction.text


def _base58(value: object) -> str:
    text = _text(value)
    if not addresses.is_base58(text):
        raise ValueError("data is not base58")
    return text


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("expected a string")
    return value

"""A transaction of Solana as two encodings of JSON-RPC tell of it, which must agree. Pure.

Shapes: https://solana.com/docs/rpc/http/gettransaction and https://solana.com/docs/rpc/json-structures
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tokens.chains import base58
from tokens.chains.rpc.quantities import YEAR_10000, Malformed, read_whole
from tokens.chains.types import LogUndecodable

Json = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Instruction:
    """What one program was asked to do.

    `index` counts all instructions of the transaction from 0, inner ones after the outer one that caused them; `outer`
    counts the outer ones alone.
    """

    index: int
    outer: int
    program: str
    accounts: tuple[str, ...]
    # Base58. Only what concerns us is decoded: anybody can fill the instructions of others with what takes long.
    text: str

    @property
    def data(self) -> bytes:
        """What the program was handed. Raises LogUndecodable for more than any transaction has room for."""
        try:
            return base58.decode(self.text)
        except ValueError as error:
            raise LogUndecodable(f"an instruction of {self.program}: {error}") from error


@dataclass(frozen=True, kw_only=True, slots=True)
class SolanaTransaction:
    """A transaction that is in the ledger, with what its programs did."""

    signature: str
    slot: int
    # Unix seconds; None where the node does not know.
    block_time: int | None
    # Whether it was undone.
    failed: bool
    # In the order of the message; the first one pays the fee.
    signers: tuple[str, ...]
    instructions: tuple[Instruction, ...]


def read_forms(signature: str, *, raw: Any, parsed: Any) -> SolanaTransaction:
    """The transaction of this signature out of the encodings `json` and `jsonParsed`.

    `json` is what is read: accounts by number, with those that lookup tables add, and bytes. `jsonParsed` must name the
    same accounts, and the same instructions as far as it leaves them unparsed. Raises Malformed.
    """
    try:
        read = _read_raw(raw)
        _compare(read, raw, parsed)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise Malformed(f"half a transaction, or two ({error!r:.100})") from error
    if read.signature != signature:
        raise Malformed("another transaction than the one asked for")
    return read


def _read_raw(form: Json) -> SolanaTransaction:
    message, meta = form["transaction"]["message"], form["meta"]
    keys = _account_keys(message, meta)
    signatures = form["transaction"]["signatures"]
    signers = message["header"]["numRequiredSignatures"]
    if not 0 < signers == len(signatures) <= len(message["accountKeys"]):
        raise ValueError("signatures without signers")
    return SolanaTransaction(
        signature=_text(signatures[0]),
        slot=read_whole(form["slot"]),
        block_time=None if form["blockTime"] is None else read_whole(form["blockTime"], below=YEAR_10000),
        failed=meta["err"] is not None,
        signers=keys[:signers],
        instructions=tuple(
            Instruction(
                index=index,
                outer=outer,
                program=keys[read_whole(entry["programIdIndex"])],
                accounts=tuple(keys[read_whole(number)] for number in entry["accounts"]),
                text=_base58(entry["data"]),
            )
            for index, (outer, entry) in enumerate(_entries(message, meta))
        ),
    )


def _account_keys(message: Json, meta: Json) -> tuple[str, ...]:
    """All accounts in the order that instructions count them: the message's own, then those of its lookup tables."""
    loaded = meta.get("loadedAddresses") or {"writable": [], "readonly": []}
    lookups = message.get("addressTableLookups") or []
    for kind in ("writable", "readonly"):
        if len(loaded[kind]) != sum(len(lookup[f"{kind}Indexes"]) for lookup in lookups):
            raise ValueError("lookup tables without their accounts")
    return tuple(_text(key) for key in (*message["accountKeys"], *loaded["writable"], *loaded["readonly"]))


def _entries(message: Json, meta: Json) -> Iterator[tuple[int, Json]]:
    """Each instruction with the number of the outer one that it is, or belongs to, in the order of execution."""
    outer = message["instructions"]
    # A node that keeps no inner ones says null, where a transaction without any has an empty list.
    inner = {read_whole(group["index"]): group["instructions"] for group in meta["innerInstructions"]}
    if len(inner) != len(meta["innerInstructions"]) or any(number >= len(outer) for number in inner):
        raise ValueError("inner instructions of none")
    for number, entry in enumerate(outer):
        yield number, entry
        for caused in inner.get(number, ()):
            yield number, caused


def _compare(read: SolanaTransaction, raw: Json, parsed: Json) -> None:
    message, meta = parsed["transaction"]["message"], parsed["meta"]
    keys = message["accountKeys"]
    same = (
        parsed["slot"] == read.slot
        and parsed["blockTime"] == read.block_time
        and parsed.get("version") == raw.get("version")
        and meta["err"] == raw["meta"]["err"]
        and parsed["transaction"]["signatures"] == raw["transaction"]["signatures"]
        and tuple(key["pubkey"] for key in keys) == _account_keys(raw["transaction"]["message"], raw["meta"])
        and tuple(key["pubkey"] for key in keys if key["signer"]) == read.signers
    )
    entries = list(_entries(message, meta))
    if not same or len(entries) != len(read.instructions):
        raise ValueError("the two forms tell of different transactions")
    for instruction, (outer, entry) in zip(read.instructions, entries, strict=True):
        if (outer, entry["programId"]) != (instruction.outer, instruction.program) or not _same(instruction, entry):
            raise ValueError("the two forms tell of different instructions")


def _same(instruction: Instruction, entry: Json) -> bool:
    """Whether an entry of `jsonParsed` is this instruction, as far as it was not parsed by the node."""
    if "parsed" in entry:
        return True
    return tuple(entry["accounts"]) == instruction.accounts and entry["data"] == instruction.text


def _base58(value: object) -> str:
    text = _text(value)
    if not base58.is_base58(text):
        raise ValueError("data that are not base58")
    return text


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("expected a text")
    return value

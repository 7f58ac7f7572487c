"""Solana mints and their descriptions, from token program accounts and Metaplex accounts. Pure.

An account that does not match its address is the node's fault, because the programs enforce these rules.

Source: https://github.com/solana-program/token and token-2022 (Mint, extensions as type, length and value), and
https://github.com/metaplex-foundation/mpl-token-metadata (Metadata).
"""

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from solders.pubkey import Pubkey
from solders.token.state import Mint

from tokens.chains.abi.layouts import clean_text
from tokens.chains.rpc.quantities import MalformedResponseError
from tokens.chains.solana.borsh import BorshError, BorshReader
from tokens.chains.solana.transaction_forms import Instruction

SPL_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
SPL_2022_PROGRAM = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
METADATA_PROGRAM = "metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s"

_MINT_BYTES = 82
# Token-2022 pads a mint to a token account's length. A byte with the account's kind and the extensions follow.
_PADDED_BYTES = 165
_IS_MINT = 1
_TOKEN_METADATA = 19

_METADATA_KEY = 4

# Discriminators for the token programs' instructions.
_INITIALIZE_MINT = (0, 20)
_MINT_TO = (7, 14)


@dataclass(frozen=True, kw_only=True, slots=True)
class MintDescription:
    """A mint's name and symbol, and its document's URI."""

    name: str
    symbol: str
    uri: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MintState:
    """A mint's state; `supply` is in smallest units."""

    decimals: int
    supply: int
    # From the mint's own account; None if it has no description, as with all mints in the older program.
    description: MintDescription | None


@lru_cache(maxsize=4096)
def metadata_address(mint: str) -> str:
    """Return the address of a mint's Metaplex metadata."""
    program = Pubkey.from_string(METADATA_PROGRAM)
    seeds = [b"metadata", bytes(program), bytes(Pubkey.from_string(mint))]
    return str(Pubkey.find_program_address(seeds, program)[0])


def read_mint(account: Any, *, mint: str) -> MintState | None:
    """Parse a mint account from `getMultipleAccounts` in base64; None if the account no longer exists.

    Raises MalformedResponseError.
    """
    owner, data = read_account(account)
    if not data:
        return None
    if owner not in (SPL_PROGRAM, SPL_2022_PROGRAM):
        raise MalformedResponseError("the mint belongs to no token program")
    try:
        state = Mint.from_bytes(data[:_MINT_BYTES])
        if not state.is_initialized or (owner == SPL_PROGRAM and len(data) != _MINT_BYTES):
            raise MalformedResponseError("the account of a token program is no mint")
        description = _read_extension(data, mint=mint)
    except ValueError as error:
        raise MalformedResponseError(f"the mint can't be decoded: {error}") from error
    return MintState(decimals=state.decimals, supply=state.supply, description=description)


def read_metadata(account: Any, *, mint: str) -> MintDescription | None:
    """Parse a Metaplex metadata account from `getMultipleAccounts`; None if it no longer exists.

    Raises MalformedResponseError.
    """
    owner, data = read_account(account)
    # A closed account keeps one byte, which is no valid key; and an address without account can receive coins.
    if owner != METADATA_PROGRAM or data[:1] != bytes([_METADATA_KEY]):
        return None
    reader = BorshReader(data[1:])
    try:
        reader.read_key()
        if reader.read_key() != mint:
            raise MalformedResponseError("metadata of another mint")
        return _read_description(reader)
    except BorshError as error:
        raise MalformedResponseError(f"the metadata can't be decoded: {error}") from error


def read_created_mint(instructions: Iterable[Instruction], *, mint: str) -> MintState | None:
    """Return the mint's decimals and minted supply after the transaction that created it; None if it created none."""
    decimals, supply = None, 0
    for instruction in instructions:
        if instruction.program not in (SPL_PROGRAM, SPL_2022_PROGRAM) or instruction.accounts[:1] != (mint,):
            continue
        data = instruction.data
        if data[:1] and data[0] in _INITIALIZE_MINT and len(data) > 1:
            decimals = data[1]
        elif data[:1] and data[0] in _MINT_TO and len(data) >= 9:
            supply += int.from_bytes(data[1:9], "little")
    return None if decimals is None else MintState(decimals=decimals, supply=supply, description=None)


def read_account(account: Any) -> tuple[str | None, bytes]:
    """Return owner and data from an RPC account in base64; None and no bytes if there is no account.

    Raises MalformedResponseError.
    """
    if account is None:
        return None, b""
    try:
        content, encoding = account["data"]
        if encoding != "base64":
            raise MalformedResponseError("the account is not in the requested encoding")
        return account["owner"], base64.b64decode(content, validate=True)
    except (KeyError, TypeError, ValueError) as error:
        raise MalformedResponseError(f"incomplete account ({error!r:.100})") from error


def _read_extension(data: bytes, *, mint: str) -> MintDescription | None:
    for kind, value in _extensions(data):
        if kind == _TOKEN_METADATA:
            reader = BorshReader(value)
            reader.read_key()
            if reader.read_key() != mint:
                raise MalformedResponseError("a description of another mint")
            return _read_description(reader)
    return None


def _extensions(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield type and value for each extension in a Token-2022 mint. Raises ValueError."""
    if len(data) <= _PADDED_BYTES:
        return
    reader = BorshReader(data[_PADDED_BYTES:])
    if reader.read_integer(1) != _IS_MINT:
        raise MalformedResponseError("the account of a token program is no mint")
    remaining = len(data) - _PADDED_BYTES - 1
    # After the last extension an account is padded with zeros, maybe too few for a type.
    while remaining >= 4:
        kind, length = reader.read_integer(2), reader.read_integer(2)
        if kind == 0:
            return
        yield kind, reader.read_bytes(length)
        remaining -= 4 + length


def _read_description(reader: BorshReader) -> MintDescription:
    """Return name, symbol and URI, which Metaplex pads with NULs. Raises BorshError."""
    name, symbol, uri = (clean_text(reader.read_bytes(reader.read_integer(4))) for _ in range(3))
    return MintDescription(name=name, symbol=symbol, uri=uri)

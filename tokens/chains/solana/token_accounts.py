"""Mints of Solana and what describes them: accounts of the token programs and of Metaplex. Pure.

An account that is not what its address says is the node's mistake, because programs keep these rules.

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
from tokens.chains.rpc.quantities import Malformed
from tokens.chains.solana.borsh import BorshError, BorshReader
from tokens.chains.solana.transaction_forms import Instruction

SPL_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
SPL_2022_PROGRAM = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
METADATA_PROGRAM = "metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s"

_MINT_BYTES = 82
# Token-2022 pads a mint to the length of a token account, says in a byte which of both it is, and goes on with
# extensions.
_PADDED_BYTES = 165
_IS_MINT = 1
_TOKEN_METADATA = 19

_METADATA_KEY = 4

# How the token programs number their instructions.
_INITIALIZE_MINT = (0, 20)
_MINT_TO = (7, 14)


@dataclass(frozen=True, kw_only=True, slots=True)
class Description:
    """What a mint is called, and where a document describes it."""

    name: str
    symbol: str
    uri: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MintState:
    """A mint as it is: `supply` in its smallest units."""

    decimals: int
    supply: int
    # What the mint's own account says; None where it says nothing, as with all of the older program.
    description: Description | None


@lru_cache(maxsize=4096)
def metadata_address(mint: str) -> str:
    """Where Metaplex describes a mint."""
    program = Pubkey.from_string(METADATA_PROGRAM)
    seeds = [b"metadata", bytes(program), bytes(Pubkey.from_string(mint))]
    return str(Pubkey.find_program_address(seeds, program)[0])


def read_mint(account: Any, *, mint: str) -> MintState | None:
    """The mint in an account as `getMultipleAccounts` tells of it, in base64; None where the account is gone.

    Raises Malformed.
    """
    owner, data = read_account(account)
    if not data:
        return None
    if owner not in (SPL_PROGRAM, SPL_2022_PROGRAM):
        raise Malformed("a mint that is of no token program")
    try:
        state = Mint.from_bytes(data[:_MINT_BYTES])
        if not state.is_initialized or (owner == SPL_PROGRAM and len(data) != _MINT_BYTES):
            raise Malformed("an account of a token program that is no mint")
        description = _read_extension(data, mint=mint)
    except ValueError as error:
        raise Malformed(f"a mint that can't be decoded: {error}") from error
    return MintState(decimals=state.decimals, supply=state.supply, description=description)


def read_metadata(account: Any, *, mint: str) -> Description | None:
    """What Metaplex says of a mint, out of an account as `getMultipleAccounts` tells of it; None where it is gone.

    Raises Malformed.
    """
    owner, data = read_account(account)
    # A closed one keeps a byte, which is no key of anything; and anybody may send coins to an address without account.
    if owner != METADATA_PROGRAM or data[:1] != bytes([_METADATA_KEY]):
        return None
    reader = BorshReader(data[1:])
    try:
        reader.key()
        if reader.key() != mint:
            raise Malformed("metadata of another mint")
        return _read_description(reader)
    except BorshError as error:
        raise Malformed(f"metadata that can't be decoded: {error}") from error


def read_minted(instructions: Iterable[Instruction], *, mint: str) -> MintState | None:
    """The mint as the transaction left it that made it: its decimals, and what was minted; None where it made none."""
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
    """Owner and data of an account as the RPC tells of it in base64; None and nothing where there is none.

    Raises Malformed.
    """
    if account is None:
        return None, b""
    try:
        content, encoding = account["data"]
        if encoding != "base64":
            raise Malformed("an account in another encoding than asked for")
        return account["owner"], base64.b64decode(content, validate=True)
    except (KeyError, TypeError, ValueError) as error:
        raise Malformed(f"half an account ({error!r:.100})") from error


def _read_extension(data: bytes, *, mint: str) -> Description | None:
    for kind, value in _extensions(data):
        if kind == _TOKEN_METADATA:
            reader = BorshReader(value)
            reader.key()
            if reader.key() != mint:
                raise Malformed("a description of another mint")
            return _read_description(reader)
    return None


def _extensions(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Type and value of each extension of a mint of Token-2022. Raises ValueError."""
    if len(data) <= _PADDED_BYTES:
        return
    reader = BorshReader(data[_PADDED_BYTES:])
    if reader.number(1) != _IS_MINT:
        raise Malformed("an account of a token program that is no mint")
    left = len(data) - _PADDED_BYTES - 1
    # The rest of an account, where no extension is any more, is zeros; the last may be too short for a type.
    while left >= 4:
        kind, length = reader.number(2), reader.number(2)
        if kind == 0:
            return
        yield kind, reader.take(length)
        left -= 4 + length


def _read_description(reader: BorshReader) -> Description:
    """Name, symbol and URI, which Metaplex fills up with NULs. Raises BorshError."""
    name, symbol, uri = (clean_text(reader.take(reader.number(4))) for _ in range(3))
    return Description(name=name, symbol=symbol, uri=uri)

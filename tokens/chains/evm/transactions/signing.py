"""Signing transactions of EIP-1559: with keys of our own, or by a signer that keeps them and is asked over HTTP.

No error's text holds a key or a signer's URL.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import rlp
from eth_keys.constants import SECPK1_N
from eth_keys.datatypes import PrivateKey, Signature
from eth_keys.exceptions import BadSignature
from eth_utils.crypto import keccak
from eth_utils.exceptions import ValidationError
from rlp.exceptions import DecodingError

from config.http import json_client
from tokens.chains.rpc.quantities import Malformed, read_data
from tokens.chains.rpc.responses import CallFailed, read_single
from tokens.chains.types import SignerRefused, SignerUnavailable

_METHOD = "eth_signTransaction"
# The first byte of a transaction of EIP-1559.
_TYPE = b"\x02"
# Those of the transaction, before the three of its signature.
_FIELDS = 9
# Characters of what a signer says.
_LONGEST_QUOTE = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class UnsignedTransaction:
    """A transaction of EIP-1559. `to` is EIP-55, `value` wei; both fees are the most that is paid, in wei a gas."""

    chain_id: int
    nonce: int
    to: str
    value: int
    data: bytes
    gas: int
    max_fee: int
    priority_fee: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Signed:
    """The bytes that nodes take, and their hash in lower-case hex."""

    raw: bytes
    tx_hash: str


class Signer(Protocol):
    """Whoever has keys. Addresses are EIP-55."""

    @property
    def addresses(self) -> frozenset[str]:
        """Of the keys it has, or should have."""

    def sign(self, tx: UnsignedTransaction, *, address: str) -> Signed:
        """Sign exactly this transaction with the key of the address.

        Raises SignerUnavailable where trying again may help, and SignerRefused where it doesn't: no key of the address,
        a policy against it, or an answer that is something else than what was asked for.
        """


class LocalSigner:
    """Keys in the memory of this process, of 32 bytes each."""

    def __init__(self, private_keys: Iterable[bytes]) -> None:
        held = map(PrivateKey, private_keys)
        self._keys: dict[str, PrivateKey] = {key.public_key.to_checksum_address(): key for key in held}

    @property
    def addresses(self) -> frozenset[str]:
        return frozenset(self._keys)

    def sign(self, tx: UnsignedTransaction, *, address: str) -> Signed:
        """As Signer says. The same transaction has the same signature, byte by byte (RFC 6979)."""
        if address not in self._keys:
            raise SignerRefused(f"there is no key of {address}")
        fields = _fields(tx)
        signature = self._keys[address].sign_msg_hash(_digest(fields))
        return _signed(_TYPE + rlp.encode([*fields, *map(_number, signature.vrs)]))


class RemoteSigner:
    """A signer over HTTP that answers `eth_signTransaction` as web3signer does, or as geth.

    Source: web3signer's documentation of its eth1 mode, and geth's `SignTransactionResult`.
    """

    def __init__(self, url: str, *, addresses: Iterable[str], timeout: float) -> None:
        """`timeout` is in seconds, for the answer's head and for its body, each."""
        self._url, self._addresses, self._timeout = url, frozenset(addresses), timeout

    @property
    def addresses(self) -> frozenset[str]:
        return self._addresses

    def sign(self, tx: UnsignedTransaction, *, address: str) -> Signed:
        """As Signer says."""
        if address not in self._addresses:
            raise SignerRefused(f"the signer is not asked for {address}")
        params = [_parameters(tx, address=address)]
        body = {"jsonrpc": "2.0", "id": 1, "method": _METHOD, "params": params}
        try:
            result = read_single(1, json_client.post_json(self._url, body, timeout=self._timeout), method=_METHOD)
        except json_client.Retryable as error:
            raise SignerUnavailable(f"the signer is not available: {_quote(str(error))}") from None
        except json_client.Permanent as error:
            raise SignerRefused(f"the signer refused: {error}") from None
        if isinstance(result, CallFailed):
            raise SignerRefused(f"the signer refused: {_quote(result.message)}")
        raw = _read_raw(result)
        _check(raw, tx, address=address)
        return _signed(raw)


class JointSigner:
    """Several signers as one. Where two have the same address, the first signs."""

    def __init__(self, signers: Iterable[Signer]) -> None:
        self._signers: dict[str, Signer] = {}
        for signer in signers:
            for address in signer.addresses:
                self._signers.setdefault(address, signer)

    @property
    def addresses(self) -> frozenset[str]:
        return frozenset(self._signers)

    def sign(self, tx: UnsignedTransaction, *, address: str) -> Signed:
        """As Signer says."""
        if address not in self._signers:
            raise SignerRefused(f"no signer has the key of {address}")
        return self._signers[address].sign(tx, address=address)


def _fields(tx: UnsignedTransaction) -> list[bytes | list[bytes]]:
    """What is signed, in the order of EIP-1559; the access list is empty."""
    return [
        _number(tx.chain_id),
        _number(tx.nonce),
        _number(tx.priority_fee),
        _number(tx.max_fee),
        _number(tx.gas),
        bytes.fromhex(tx.to.removeprefix("0x")),
        _number(tx.value),
        tx.data,
        [],
    ]


def _number(value: int) -> bytes:
    """As RLP writes numbers: big-endian, without leading zeros."""
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


def _digest(fields: list[bytes | list[bytes]]) -> bytes:
    return keccak(_TYPE + rlp.encode(fields))


def _signed(raw: bytes) -> Signed:
    return Signed(raw=raw, tx_hash="0x" + keccak(raw).hex())


def _parameters(tx: UnsignedTransaction, *, address: str) -> dict[str, str]:
    """web3signer takes its chain from its command line and passes over `chainId`; others want it."""
    return {
        "from": address,
        "to": tx.to,
        "chainId": hex(tx.chain_id),
        "nonce": hex(tx.nonce),
        "value": hex(tx.value),
        "data": "0x" + tx.data.hex(),
        "gas": hex(tx.gas),
        "maxFeePerGas": hex(tx.max_fee),
        "maxPriorityFeePerGas": hex(tx.priority_fee),
    }


def _quote(words: str) -> str:
    """The signer's own words in one short line, without the addresses of those that it asks in its turn."""
    return re.sub(r"\S+://\S+", "...", " ".join(words.split()))[:_LONGEST_QUOTE]


def _read_raw(result: object) -> bytes:
    """The bytes themselves (web3signer, anvil), or `raw` beside them taken apart (geth)."""
    try:
        return bytes.fromhex(read_data(result["raw"] if isinstance(result, dict) and "raw" in result else result)[2:])
    except Malformed:
        raise SignerRefused("the signer answered with something else than a transaction") from None


def _check(raw: bytes, tx: UnsignedTransaction, *, address: str) -> None:
    """Raises SignerRefused unless these are the bytes of this very transaction with a signature of the address."""
    fields = _fields(tx)
    try:
        # It refuses every spelling but the shortest, so that equal fields are equal bytes.
        found = rlp.decode(raw[1:]) if raw[:1] == _TYPE else []
    except DecodingError:
        found = []
    if found[:_FIELDS] != fields or len(found) != _FIELDS + 3:
        raise SignerRefused("the signer signed something else than it was asked to")
    if _who_signed(_digest(fields), found[_FIELDS:]) != address:
        raise SignerRefused("the signer's signature is not that of the address")


def _who_signed(digest: bytes, signature: list[bytes]) -> str | None:
    """The address, None where it is no signature that nodes take: since EIP-2, `s` is in the lower half."""
    if not all(isinstance(part, bytes) and not part.startswith(b"\0") for part in signature):
        return None
    parity, r, s = (int.from_bytes(part, "big") for part in signature)
    if s > SECPK1_N // 2:
        return None
    try:
        return Signature(vrs=(parity, r, s)).recover_public_key_from_msg_hash(digest).to_checksum_address()
    except (BadSignature, ValidationError):
        return None

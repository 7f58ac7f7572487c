"""Signing of EIP-1559 transactions: with local keys, or by a remote signer over HTTP.

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
from config.http.errors import PermanentError, RetryableError
from tokens.chains.errors import SignerRejectedError, SignerUnavailableError
from tokens.chains.rpc.quantities import MalformedResponseError, parse_data
from tokens.chains.rpc.responses import CallFailure, parse_response

_METHOD = "eth_signTransaction"
# Type byte of an EIP-1559 transaction.
_TYPE = b"\x02"
# Fields before the three of the signature.
_FIELDS = 9
# Characters of a signer's message that are quoted.
_LONGEST_QUOTE = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class UnsignedTransaction:
    """An EIP-1559 transaction. `to` is EIP-55, `value` wei; both fees are maxima in wei per gas."""

    chain_id: int
    nonce: int
    to: str
    value: int
    data: bytes
    gas: int
    max_fee: int
    priority_fee: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RawTransaction:
    """The signed bytes that nodes accept, and their hash in lower-case hex."""

    raw: bytes
    tx_hash: str


class Signer(Protocol):
    """A holder of keys. Addresses are EIP-55."""

    @property
    def addresses(self) -> frozenset[str]:
        """The addresses of its keys, configured or loaded."""

    def sign(self, tx: UnsignedTransaction, *, address: str) -> RawTransaction:
        """Sign exactly this transaction with the key of the address.

        Raises SignerUnavailableError where a retry may help, and SignerRejectedError where it doesn't: no key of the
        address, a policy against it, or a response other than the requested transaction.
        """


class LocalSigner:
    """Private keys of 32 bytes each, in the memory of this process."""

    def __init__(self, private_keys: Iterable[bytes]) -> None:
        held = map(PrivateKey, private_keys)
        self._keys: dict[str, PrivateKey] = {key.public_key.to_checksum_address(): key for key in held}

    @property
    def addresses(self) -> frozenset[str]:
        return frozenset(self._keys)

    def sign(self, tx: UnsignedTransaction, *, address: str) -> RawTransaction:
        """Sign as `Signer.sign`. The same transaction has the same signature, byte by byte (RFC 6979)."""
        if address not in self._keys:
            raise SignerRejectedError(f"there is no key of {address}")
        fields = _fields(tx)
        signature = self._keys[address].sign_msg_hash(_digest(fields))
        return _signed(_TYPE + rlp.encode([*fields, *map(_number, signature.vrs)]))


class RemoteSigner:
    """An HTTP signer that implements `eth_signTransaction` as web3signer does, or as geth.

    Source: web3signer's documentation of its eth1 mode, and geth's `SignTransactionResult`.
    """

    def __init__(self, url: str, *, addresses: Iterable[str], timeout: float) -> None:
        """Store the settings; `timeout` is in seconds, for the response's head and for its body, each."""
        self._url, self._addresses, self._timeout = url, frozenset(addresses), timeout

    @property
    def addresses(self) -> frozenset[str]:
        return self._addresses

    def sign(self, tx: UnsignedTransaction, *, address: str) -> RawTransaction:
        """Sign as `Signer.sign`."""
        if address not in self._addresses:
            raise SignerRejectedError(f"the signer is not configured for {address}")
        params = [_parameters(tx, address=address)]
        body = {"jsonrpc": "2.0", "id": 1, "method": _METHOD, "params": params}
        try:
            result = parse_response(1, json_client.post_json(self._url, body, timeout=self._timeout), method=_METHOD)
        except RetryableError as error:
            raise SignerUnavailableError(f"the signer is not available: {_quote(str(error))}") from None
        except PermanentError as error:
            raise SignerRejectedError(f"the signer refused: {error}") from None
        if isinstance(result, CallFailure):
            raise SignerRejectedError(f"the signer refused: {_quote(result.message)}")
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

    def sign(self, tx: UnsignedTransaction, *, address: str) -> RawTransaction:
        """Sign as `Signer.sign`."""
        if address not in self._signers:
            raise SignerRejectedError(f"no signer has the key of {address}")
        return self._signers[address].sign(tx, address=address)


def _fields(tx: UnsignedTransaction) -> list[bytes | list[bytes]]:
    """Return the signed fields in the order of EIP-1559; the access list is empty."""
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
    """Encode a number as RLP does: big-endian, without leading zeros."""
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


def _digest(fields: list[bytes | list[bytes]]) -> bytes:
    return keccak(_TYPE + rlp.encode(fields))


def _signed(raw: bytes) -> RawTransaction:
    return RawTransaction(raw=raw, tx_hash="0x" + keccak(raw).hex())


def _parameters(tx: UnsignedTransaction, *, address: str) -> dict[str, str]:
    """Build the JSON-RPC parameter.

    web3signer takes the chain from its command line and ignores `chainId`; others need it.
    """
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
    """Return the signer's message in one short line, without URLs of its upstreams."""
    return re.sub(r"\S+://\S+", "...", " ".join(words.split()))[:_LONGEST_QUOTE]


def _read_raw(result: object) -> bytes:
    """Return the signed bytes: the result itself (web3signer, anvil), or its `raw` (geth)."""
    try:
        return bytes.fromhex(parse_data(result["raw"] if isinstance(result, dict) and "raw" in result else result)[2:])
    except MalformedResponseError:
        raise SignerRejectedError("the signer returned something else than a transaction") from None


def _check(raw: bytes, tx: UnsignedTransaction, *, address: str) -> None:
    """Raise SignerRejectedError unless these are this very transaction's bytes with a signature of the address."""
    fields = _fields(tx)
    try:
        # rlp rejects every encoding but the shortest, so that equal fields are equal bytes.
        found = rlp.decode(raw[1:]) if raw[:1] == _TYPE else []
    except DecodingError:
        found = []
    if found[:_FIELDS] != fields or len(found) != _FIELDS + 3:
        raise SignerRejectedError("the signer signed something else than requested")
    if _recover_signer(_digest(fields), found[_FIELDS:]) != address:
        raise SignerRejectedError("the signer's signature is not that of the address")


def _recover_signer(digest: bytes, signature: list[bytes]) -> str | None:
    """Recover the address; None for a signature that nodes reject: since EIP-2, `s` is in the lower half."""
    if not all(isinstance(part, bytes) and not part.startswith(b"\0") for part in signature):
        return None
    parity, r, s = (int.from_bytes(part, "big") for part in signature)
    if s > SECPK1_N // 2:
        return None
    try:
        return Signature(vrs=(parity, r, s)).recover_public_key_from_msg_hash(digest).to_checksum_address()
    except (BadSignature, ValidationError):
        return None

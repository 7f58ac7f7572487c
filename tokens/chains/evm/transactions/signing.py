"""EIP-1559 transaction signing: with keys in this process, or by a remote signer over HTTP.

Only processes that sign may import this: eth-account takes about a second to import. No error's text has a key or a
signer's URL.
"""

import re
from dataclasses import dataclass
from typing import Any, Protocol

from eth_account import Account
from eth_account.typed_transactions.typed_transaction import TypedTransaction
from eth_keys.exceptions import BadSignature
from hexbytes import HexBytes
from rlp.exceptions import RLPException
from sha3 import keccak_256

from config.http import json_client
from config.http.errors import PermanentError, RetryableError
from config.http.request_ids import outgoing_headers
from tokens.chains.errors import SignerRejectedError, SignerUnavailableError
from tokens.chains.evm.transactions.keystores import Keystore
from tokens.chains.rpc.quantities import MalformedResponseError, parse_data
from tokens.chains.rpc.responses import CallFailure, parse_response

_METHOD = "eth_signTransaction"
# Since EIP-2, nodes reject a signature whose `s` is above half the order of secp256k1.
_HIGHEST_S = 0x7FFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFF_5D576E73_57A4501D_DFE92F46_681B20A0
# Maximum number of characters quoted from a signer's message.
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
    """Holder of the key for one address, which is EIP-55."""

    @property
    def address(self) -> str:
        """The address, configured or derived from the key."""

    def sign(self, tx: UnsignedTransaction) -> RawTransaction:
        """Sign exactly this transaction.

        Raises SignerUnavailableError where a retry may help, and SignerRejectedError where it doesn't: a policy against
        it, or a response other than the requested transaction.
        """


class LocalSigner:
    """A 32-byte private key in this process's memory."""

    def __init__(self, private_key: bytes) -> None:
        self._account = Account.from_key(private_key)
        self.address: str = self._account.address

    def sign(self, tx: UnsignedTransaction) -> RawTransaction:
        """Sign as `Signer.sign`. The same transaction has the same signature, byte by byte (RFC 6979)."""
        return _signed(bytes(self._account.sign_transaction(_fields(tx)).raw_transaction))


class RemoteSigner:
    """A key in an HTTP signer that implements `eth_signTransaction` like web3signer or geth.

    Source: web3signer's eth1 mode documentation, and geth's `SignTransactionResult`.
    """

    def __init__(self, url: str, *, address: str, timeout: float) -> None:
        """Store the settings; `timeout` is in seconds, for the response's head and for its body, each."""
        self._url, self.address, self._timeout = url, address, timeout

    def sign(self, tx: UnsignedTransaction) -> RawTransaction:
        """Sign as `Signer.sign`."""
        body = {"jsonrpc": "2.0", "id": 1, "method": _METHOD, "params": [_parameters(tx, address=self.address)]}
        try:
            answer = json_client.post_json(self._url, body, timeout=self._timeout, headers=outgoing_headers())
            result = parse_response(1, answer, method=_METHOD)
        except RetryableError as error:
            raise SignerUnavailableError(f"the signer is not available: {_quote(str(error))}") from None
        except PermanentError as error:
            raise SignerRejectedError(f"the signer refused: {error}") from None
        if isinstance(result, CallFailure):
            raise SignerRejectedError(f"the signer refused: {_quote(result.message)}")
        raw = _read_raw(result)
        _check(raw, tx, address=self.address)
        return _signed(raw)


def open_keystore(keystore: Keystore, *, password: str) -> LocalSigner:
    """Return the signer for a key file. This takes seconds by the format's design. Raises SignerRejectedError."""
    try:
        signer = LocalSigner(Account.decrypt(keystore.content, password))
    except Exception:
        # Malformed content may raise any error. `from None`: the cause of a wrong password must not be logged.
        raise SignerRejectedError(f"the keystore of {keystore.address} does not open with the password") from None
    if signer.address != keystore.address:
        raise SignerRejectedError(f"the keystore of {keystore.address} holds the key of another address")
    return signer


def _fields(tx: UnsignedTransaction) -> dict[str, Any]:
    return {
        "type": 2,
        "chainId": tx.chain_id,
        "nonce": tx.nonce,
        "to": tx.to,
        "value": tx.value,
        "data": tx.data,
        "gas": tx.gas,
        "maxFeePerGas": tx.max_fee,
        "maxPriorityFeePerGas": tx.priority_fee,
    }


def _signed(raw: bytes) -> RawTransaction:
    return RawTransaction(raw=raw, tx_hash="0x" + keccak_256(raw).hexdigest())


def _parameters(tx: UnsignedTransaction, *, address: str) -> dict[str, str]:
    """Build the JSON-RPC parameter.

    web3signer takes the chain from its command line and ignores `chainId`; others need it.
    """
    fields = _fields(tx) | {"from": address, "data": "0x" + tx.data.hex()}
    del fields["type"]
    return {name: hex(value) if isinstance(value, int) else value for name, value in fields.items()}


def _quote(words: str) -> str:
    """Return the signer's message in one short line, without upstream URLs."""
    return re.sub(r"\S+://\S+", "...", " ".join(words.split()))[:_LONGEST_QUOTE]


def _read_raw(result: object) -> bytes:
    """Return the signed bytes: the result itself (web3signer, anvil), or its `raw` (geth)."""
    try:
        return bytes.fromhex(parse_data(result["raw"] if isinstance(result, dict) and "raw" in result else result)[2:])
    except MalformedResponseError:
        raise SignerRejectedError("the signer returned something else than a transaction") from None


def _check(raw: bytes, tx: UnsignedTransaction, *, address: str) -> None:
    """Raise SignerRejectedError unless these bytes are this very transaction, signed by the address."""
    # The decoder rejects every encoding but the shortest.
    try:
        signed = TypedTransaction.from_bytes(HexBytes(raw))
        same = signed.hash() == TypedTransaction.from_dict(_fields(tx)).hash()
    except (RLPException, TypeError, ValueError):
        same = False
    if not same:
        raise SignerRejectedError("the signer signed something else than requested")
    try:
        ours = signed.vrs()[2] <= _HIGHEST_S and Account.recover_transaction(raw) == address
    except (BadSignature, ValueError):
        ours = False
    if not ours:
        raise SignerRejectedError("the signer's signature is not that of the address")

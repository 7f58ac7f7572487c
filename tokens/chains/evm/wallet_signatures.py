"""Signatures of texts by EVM wallets: by a key (EIP-191), or as the wallet's contract decides (EIP-1271, EIP-6492)."""

from pathlib import Path

from coincurve import PublicKey
from sha3 import keccak_256

from tokens.chains.abi.codec import declared_function, decode_values, encode_values
from tokens.chains.abi.layouts import MalformedDataError
from tokens.chains.addresses import checksum_bytes
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.responses import accept_executions

_IS_VALID = declared_function("function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4 result)")
# The selector as a whole word. Contracts that return their calldata return the selector with other bytes behind it.
_ACCEPTED = _IS_VALID.selector + "00" * 28
# A signature that ends with this contains the call that deploys the wallet.
_WRAPPED = bytes.fromhex("6492" * 16)
# Creation code of the development chain's contract SignatureCheck. The code that it returns is the wallet's word.
_CHECK = (Path(__file__).parent / "signature_check.hex").read_text(encoding="ascii").strip()

# Enough to deploy a wallet and to verify a passkey in Solidity. Without a limit, any contract could keep the node busy.
_GAS = hex(2_000_000)
# Any account without a balance: some contracts skip their checks if `tx.origin` is the zero address.
_SENDER = "0x" + "11" * 20
# Order of secp256k1. Of the two valid values for s, Ethereum accepts only the lower one (EIP-2).
_HIGHEST_S = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141 // 2


def hash_text(text: str) -> bytes:
    """Return the hash that a wallet signs for a text. Source: EIP-191, version 0x45."""
    content = text.encode()
    digest: bytes = keccak_256(b"\x19Ethereum Signed Message:\n%d%b" % (len(content), content)).digest()
    return digest


def is_signed_by_key(address: str, digest: bytes, signature: bytes) -> bool:
    """Return whether the key of an EIP-55 address signed: 32 bytes r, 32 bytes s in the lower half, and v, 27 or 28."""
    if len(signature) != 65 or signature[64] not in (27, 28) or int.from_bytes(signature[32:64]) > _HIGHEST_S:
        return False
    try:
        recoverable = signature[:64] + bytes([signature[64] - 27])
        key = PublicKey.from_signature_and_message(recoverable, digest, hasher=None)
    except ValueError:
        return False
    return checksum_bytes(keccak_256(key.format(compressed=False)[1:]).digest()[-20:]) == address


def is_accepted_by_contract(rpc: RpcClient, address: str, digest: bytes, signature: bytes) -> bool:
    """Return whether the contract at an address accepts a signature, with the state after the newest block.

    A contract that is not deployed yet is deployed in the same call if the signature contains its deployment; nothing
    is stored. An address without code accepts none. Raises NodeUnavailableError.
    """
    transaction = {"from": _SENDER, "gas": _GAS}
    if signature.endswith(_WRAPPED):
        try:
            factory, factory_call, inner = decode_values(("address", "bytes", "bytes"), signature[: -len(_WRAPPED)])
        except MalformedDataError:
            return False
        types = ("address", "bytes32", "bytes", "address", "bytes")
        transaction["data"] = _CHECK + encode_values(types, (address, digest, inner, factory, factory_call)).hex()
    else:
        transaction |= {"to": address, "data": _IS_VALID.encode_input(digest, signature)}
    (result,) = rpc.query([("eth_call", (transaction, "latest"))], parse=accept_executions)
    return isinstance(result, str) and result[: len(_ACCEPTED)].lower() == _ACCEPTED

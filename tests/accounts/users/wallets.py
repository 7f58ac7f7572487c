"""Wallets that sign in: messages, keys' signatures, and contracts on the development chain."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from django.test import Client
from eth_abi.abi import encode
from eth_account import Account
from eth_account.messages import encode_defunct

from development.devchain import node_client
from development.devchain.anvil import CHAIN_ID
from tests.nodes.devchain_tests import SENDER

SITE = "https://launch.example"
KEY = Account.from_key("0x" + "42" * 32)
OTHER_KEY = Account.from_key("0x" + "43" * 32)
HONEST, WRONG_VALUE, REVERTS, BURNS_GAS, LONG_RESULT, ECHO = range(6)
WRAPPER_END = bytes.fromhex("6492" * 16)
_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


def instant(seconds: float = 0) -> str:
    """Return the time so many seconds from now, as browsers write it."""
    moment = datetime.now(UTC) + timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def message(**changes: Any) -> str:
    """Return a message for SITE as the library `viem` writes it; a change replaces a field, or adds an optional one.

    A change may be a function: a time that a parameter of a test has would be old.
    """
    fields = {
        "domain": SITE.partition("://")[2],
        "address": KEY.address,
        "uri": SITE,
        "chain_id": CHAIN_ID,
        "nonce": "0" * 32,
        "issued_at": instant(),
    } | {name: value() if callable(value) else value for name, value in changes.items()}
    lines = [
        f"{fields['domain']} wants you to sign in with your Ethereum account:",
        fields["address"],
        "",
        *([fields["statement"]] if "statement" in fields else []),
        "",
        f"URI: {fields['uri']}",
        f"Version: {fields.get('version', 1)}",
        f"Chain ID: {fields['chain_id']}",
        f"Nonce: {fields['nonce']}",
        f"Issued At: {fields['issued_at']}",
    ]
    optional = {"expires_at": "Expiration Time", "valid_from": "Not Before", "request_id": "Request ID"}
    lines += [f"{name}: {fields[key]}" for key, name in optional.items() if key in fields]
    if "resources" in fields:
        lines += ["Resources:", *(f"- {uri}" for uri in fields["resources"])]
    return "\n".join(lines)


def sign(text: str, key: Any = KEY) -> bytes:
    return bytes(key.sign_message(encode_defunct(text=text)).signature)


def upper_s(signature: bytes) -> bytes:
    """Return the other signature by the same key, which anyone can compute."""
    s = _ORDER - int.from_bytes(signature[32:64])
    return signature[:32] + s.to_bytes(32) + bytes([55 - signature[64]])


def wrapped(signature: bytes, *, factory: str, call: str) -> bytes:
    """Return a signature of a wallet that may not be deployed (EIP-6492)."""
    return encode(["address", "bytes", "bytes"], [factory, bytes.fromhex(call[2:]), signature]) + WRAPPER_END


def deploy_factory(rpc_url: str) -> Any:
    """Deploy a factory of contract wallets, and return it as a contract."""
    code = node_client.load_artifact("SmartWalletFactory").bytecode
    sent = node_client.send_transaction(rpc_url, sender=SENDER, to=None, data=code)
    address = node_client.wait_for_receipt(rpc_url, sent)["contractAddress"]
    return node_client.bind_contract(rpc_url, "SmartWalletFactory", address)


def wallet_address(factory: Any, behavior: int = HONEST, key: Any = KEY) -> str:
    address: str = factory.functions.addressOf(key.address, behavior).call()
    return address


def deployment_call(factory: Any, behavior: int = HONEST, key: Any = KEY) -> str:
    call: str = factory.encode_abi("create", [key.address, behavior])
    return call


def deploy_wallet(rpc_url: str, factory: Any, behavior: int = HONEST, key: Any = KEY) -> str:
    """Deploy a contract wallet with this owner, unless it is, and return its address."""
    address = wallet_address(factory, behavior, key)
    if not node_client.connect(rpc_url).eth.get_code(address):
        node_client.transact(rpc_url, factory.functions.create(key.address, behavior), sender=SENDER)
    return address


def post_sign_in(client: Client, text: str, signature: bytes, **headers: str) -> Any:
    body = json.dumps({"message": text, "signature": f"0x{signature.hex()}"})
    return client.post("/api/sign-in", body, content_type="application/json", headers=headers)


def post_nonce(client: Client) -> Any:
    """Request a nonce; without a body, as the description has it."""
    return client.generic("POST", "/api/sign-in/nonce")


def new_nonce(client: Client) -> str:
    answer = post_nonce(client)
    assert answer.status_code == 200, answer.content
    nonce: str = answer.json()["nonce"]
    return nonce

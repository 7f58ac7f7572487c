"""Talking to the development chain's node with web3.py. Its ten accounts are unlocked: the node signs for them."""

import json
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from eth_typing import HexStr
from hexbytes import HexBytes
from web3 import HTTPProvider, Web3
from web3.contract import Contract
from web3.exceptions import TimeExhausted
from web3.types import RPCEndpoint, TxReceipt

# The compiled contracts, as compile.mjs wrote them into artifacts/.
_FOLDER = Path(__file__).resolve().parent / "artifacts"


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """A contract's interface, and the code that creates it (0x-prefixed, without constructor arguments)."""

    name: str
    abi: list[dict[str, Any]]
    bytecode: str


@cache
def load(name: str) -> Artifact:
    """The artifact of the contract of this name, such as "Factory". Raises FileNotFoundError where there is none."""
    content = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return Artifact(name=content["contractName"], abi=content["abi"], bytecode=content["bytecode"])


# More than any launch needs. Given always, so that the node needn't run every transaction a dozen times to estimate it.
GAS = 12_000_000
# What one block of the node holds.
BLOCK_GAS = 30_000_000


class TransactionReverted(Exception):
    """A transaction was mined and undone; the text holds its hash."""


@cache
def connect(rpc_url: str) -> Web3:
    """The node at the URL; one connection pool per URL in this process."""
    return Web3(HTTPProvider(rpc_url, request_kwargs={"timeout": 30}, exception_retry_configuration=None))


def contract(rpc_url: str, name: str, address: str) -> Contract:
    """The deployed contract of this name (an artifact's) at an EIP-55 address."""
    return connect(rpc_url).eth.contract(address=Web3.to_checksum_address(address), abi=load(name).abi)


def send(
    rpc_url: str, *, sender: str, to: str | None, data: str, value: int = 0, gas: int = GAS, nonce: int | None = None
) -> HexBytes:
    """Hand a transaction to the node, which signs it for one of its accounts; returns its hash and doesn't wait.

    `value` is in wei; `to` None creates a contract. A refused call is mined all the same, and reverted.
    """
    transaction: dict[str, Any] = {"from": sender, "data": data, "value": hex(value), "gas": hex(gas)}
    if to is not None:
        transaction["to"] = to
    if nonce is not None:
        transaction["nonce"] = hex(nonce)
    return HexBytes(
        HexStr(connect(rpc_url).manager.request_blocking(RPCEndpoint("eth_sendTransaction"), [transaction]))
    )


def wait(rpc_url: str, transaction: HexBytes, *, seconds: float = 30.0) -> TxReceipt:
    """The receipt, once mined. Raises TransactionReverted, or web3's TimeExhausted after the seconds."""
    eth, deadline = connect(rpc_url).eth, time.monotonic() + seconds
    receipt = eth.wait_for_transaction_receipt(transaction, timeout=seconds, poll_latency=0.005)
    # Now and then anvil has the receipt a moment before the transaction itself says in which block it is.
    while eth.get_transaction(transaction).get("blockHash") is None:
        if time.monotonic() > deadline:
            raise TimeExhausted(f"transaction {transaction.to_0x_hex()} names no block")
        time.sleep(0.005)
    if receipt["status"] != 1:
        raise TransactionReverted(f"transaction {transaction.to_0x_hex()} was reverted")
    return receipt


def mine_waiting(rpc_url: str) -> bool:
    """Have a block made where transactions wait; whether some did.

    A transaction that arrives makes one block, and what has no room in that waits for whoever comes next.
    """
    request = connect(rpc_url).manager.request_blocking
    waiting = int(request(RPCEndpoint("txpool_status"), [])["pending"], 16) > 0
    if waiting:
        request(RPCEndpoint("evm_mine"), [])
    return waiting


def transact(rpc_url: str, call: Any, *, sender: str, value: int = 0) -> TxReceipt:
    """Send a bound contract function, such as `token.functions.verify()`, and wait for its receipt as `wait` does."""
    return wait(rpc_url, call.transact({"from": sender, "gas": GAS, "value": value}))

"""web3.py client of the development chain's node, and its compiled contracts.

The node's accounts are unlocked: it signs for them.
"""

import json
import time
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from eth_typing import HexStr
from hexbytes import HexBytes
from requests import Session
from web3 import HTTPProvider, Web3
from web3.contract import Contract
from web3.exceptions import TimeExhausted
from web3.types import RPCEndpoint, TxReceipt

ARTIFACTS = Path(__file__).resolve().parent / "artifacts"
# Uniswap's own contracts, as their packages have them; without interfaces.
UNISWAP = ARTIFACTS.with_name("uniswap")


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """Compiled contract: its interface, and its creation code (0x-prefixed, without constructor arguments)."""

    name: str
    abi: list[dict[str, Any]]
    bytecode: str


@cache
def load_artifact(name: str) -> Artifact:
    """Return the artifact of a contract, such as "Factory" or "Permit2". Raises FileNotFoundError if there is none."""
    artifact = ARTIFACTS / f"{name}.json"
    content = json.loads((artifact if artifact.exists() else UNISWAP / artifact.name).read_text(encoding="utf-8"))
    return Artifact(name=content["contractName"], abi=content["abi"], bytecode=content["bytecode"])


# More than any launch needs. Always set, because an estimate runs every transaction a dozen times.
GAS = 12_000_000
# Gas limit of a block.
BLOCK_GAS = 30_000_000


class TransactionRevertedError(Exception):
    """Raised when a transaction was mined and reverted; the text has its hash."""


@cache
def connect(rpc_url: str) -> Web3:
    """Return the node at the URL; one connection pool per URL and process."""
    session = Session()
    # Each request would look for a proxy in all environment variables.
    session.trust_env = False
    kwargs = {"timeout": 30}
    web3 = Web3(HTTPProvider(rpc_url, kwargs, session=session, exception_retry_configuration=None))
    # The node validates, too; these layers convert each request anew, and read the chain id for each transaction.
    for layer in ("validation", "ens_name_to_address", "gas_price_strategy"):
        web3.middleware_onion.remove(layer)
    return web3


@lru_cache(maxsize=1000)
def bind_contract(rpc_url: str, name: str, address: str) -> Contract:
    """Return the deployed contract with this artifact name at an EIP-55 address."""
    return connect(rpc_url).eth.contract(address=Web3.to_checksum_address(address), abi=load_artifact(name).abi)


def send_transaction(
    rpc_url: str, *, sender: str, to: str | None, data: str, value: int = 0, gas: int = GAS, nonce: int | None = None
) -> HexBytes:
    """Send a transaction, which the node signs for one of its accounts; return its hash without waiting.

    `value` is in wei; `to` None creates a contract. A rejected call is mined all the same, and reverted.
    """
    transaction: dict[str, Any] = {"from": sender, "data": data, "value": hex(value), "gas": hex(gas)}
    if to is not None:
        transaction["to"] = to
    if nonce is not None:
        transaction["nonce"] = hex(nonce)
    return HexBytes(
        HexStr(connect(rpc_url).manager.request_blocking(RPCEndpoint("eth_sendTransaction"), [transaction]))
    )


def wait_for_receipt(rpc_url: str, transaction: HexBytes, *, seconds: float = 30.0) -> TxReceipt:
    """Return the receipt, once mined. Raises TransactionRevertedError, or web3's TimeExhausted after the seconds."""
    eth, deadline = connect(rpc_url).eth, time.monotonic() + seconds
    receipt = eth.wait_for_transaction_receipt(transaction, timeout=seconds, poll_latency=0.005)
    # Occasionally anvil has the receipt slightly before the transaction has its block.
    while eth.get_transaction(transaction).get("blockHash") is None:
        if time.monotonic() > deadline:
            raise TimeExhausted(f"transaction {transaction.to_0x_hex()} names no block")
        time.sleep(0.005)
    if receipt["status"] != 1:
        raise TransactionRevertedError(f"transaction {transaction.to_0x_hex()} was reverted")
    return receipt


def mine_waiting(rpc_url: str) -> bool:
    """Mine a block if transactions are pending; return whether some were.

    A new transaction triggers one block; whatever exceeds its gas limit stays pending until the next transaction.
    """
    request = connect(rpc_url).manager.request_blocking
    waiting = int(request(RPCEndpoint("txpool_status"), [])["pending"], 16) > 0
    if waiting:
        request(RPCEndpoint("evm_mine"), [])
    return waiting


def transact(rpc_url: str, call: Any, *, sender: str, value: int = 0) -> TxReceipt:
    """Send a bound contract function, such as `token.functions.verify()`, and return its receipt."""
    return wait_for_receipt(rpc_url, call.transact({"from": sender, "gas": GAS, "value": value}))

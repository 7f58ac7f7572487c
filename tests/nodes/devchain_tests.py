"""Shared parts for tests on the development chain: two accounts, mined launches, decoded logs, and expected reverts."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
from eth_utils.abi import event_abi_to_log_topic
from eth_utils.crypto import keccak
from web3.contract import Contract
from web3.exceptions import ContractCustomError
from web3.types import RPCEndpoint, TxReceipt

from development.devchain import node_client
from development.devchain.deploy_contracts import DevelopmentContracts
from development.devchain.launch_transactions import DevLaunchConfig, send_launch
from development.devchain.node_client import ARTIFACTS, load_artifact

# The node's accounts 1 and 2.
SENDER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
OTHER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
# Account 3, which owns nothing.
STRANGER = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"


def launched(deployment: DevelopmentContracts, config: DevLaunchConfig) -> TxReceipt:
    """Return the receipt of a launch by SENDER."""
    return node_client.wait_for_receipt(deployment.rpc_url, send_launch(deployment, config, sender=SENDER))


def launch_token(deployment: DevelopmentContracts, config: DevLaunchConfig) -> str:
    """Return the address of a token that SENDER launched."""
    token: str = dict(events_of(deployment, launched(deployment, config)))["TokenCreated"]["tokenAddress"]
    return token


def token_at(deployment: DevelopmentContracts, address: str) -> Contract:
    """Return a launched token as a contract."""
    return node_client.bind_contract(deployment.rpc_url, "Token", address)


def events_of(deployment: DevelopmentContracts, receipt: TxReceipt) -> list[tuple[str, dict[str, Any]]]:
    """Return (event name, arguments by name) of every log, in log order; fail on an undeclared event."""
    web3 = node_client.connect(deployment.rpc_url)
    events = []
    for log in receipt["logs"]:
        # ERC-20 and ERC-721 transfers share a topic; their indexed arguments differ in number.
        abi = _declarations()[(log["topics"][0].to_0x_hex(), len(log["topics"]) - 1)]
        decoded = web3.eth.contract(abi=[abi]).events[abi["name"]]().process_log(log)
        events.append((abi["name"], dict(decoded["args"])))
    return events


def let_pass(deployment: DevelopmentContracts, seconds: int) -> None:
    """Mine a block so many seconds after the newest one."""
    web3 = node_client.connect(deployment.rpc_url)
    time = web3.eth.get_block("latest")["timestamp"] + seconds
    web3.provider.make_request(RPCEndpoint("evm_setNextBlockTimestamp"), [time])
    web3.provider.make_request(RPCEndpoint("evm_mine"), [])


@contextmanager
def refused(error: str) -> Iterator[None]:
    """Expect a revert with the custom error that has this name, also from a nested contract."""
    with pytest.raises(ContractCustomError) as caught:
        yield
    assert str(caught.value.data)[:10] == "0x" + keccak(f"{error}()".encode())[:4].hex()


@cache
def _declarations() -> dict[tuple[str, int], dict[str, Any]]:
    found = {}
    for path in sorted(ARTIFACTS.glob("*.json")):
        for item in load_artifact(path.stem).abi:
            if item["type"] == "event":
                topic = "0x" + event_abi_to_log_topic(item).hex()
                found[(topic, sum(part["indexed"] for part in item["inputs"]))] = item
    return found

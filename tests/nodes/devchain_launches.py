"""Launches on a development node in tests, and block reverts."""

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hexbytes import HexBytes
from web3.types import RPCEndpoint

from development.devchain import node_client
from development.devchain.deploy_contracts import DevelopmentContracts
from development.devchain.launch_transactions import DevLaunchConfig, send_launch, send_launch_batch

# The node's account 1.
SENDER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
UNKNOWN_HASH = "0x" + "0a" * 32


@dataclass(frozen=True)
class Launchpad:
    """The development contracts on a node, with a different salt for each launch."""

    deployment: DevelopmentContracts

    @property
    def chain_id(self) -> int:
        return self.deployment.chain_id

    def send(self, config: DevLaunchConfig | None = None, **changes: Any) -> str:
        """Send a launch to the node; return its transaction's hash without waiting."""
        config = replace(config or DevLaunchConfig(), **({"salt": secrets.token_bytes(32)} | changes))
        return send_launch(self.deployment, config, sender=SENDER).to_0x_hex()

    def launch(self, config: DevLaunchConfig | None = None, **changes: Any) -> str:
        """Launch, wait until it is mined, and return the transaction's hash."""
        return self.mined(self.send(config, **changes))

    def launch_batch(self, *configs: DevLaunchConfig) -> str:
        """Launch several tokens in one transaction, mined."""
        salted = [replace(config, salt=secrets.token_bytes(32)) for config in configs]
        return self.mined(send_launch_batch(self.deployment, salted, sender=SENDER).to_0x_hex())

    def launch_plain(self, terms: tuple[str, str, str], *, paired: str, tick: int) -> str:
        """Launch by the declared launchpad with name, symbol and URI, mined; `tick` as if the token were currency 0."""
        at = self.deployment
        data = node_client.bind_contract(at.rpc_url, "PlainLaunchpad", at.plain_launchpad).encode_abi(
            "launch", [terms, paired, tick]
        )
        sent = node_client.send_transaction(at.rpc_url, sender=SENDER, to=at.plain_launchpad, data=data)
        return self.mined(sent.to_0x_hex())

    def transfer(self) -> str:
        """Mine a transaction that launches nothing, and return its hash."""
        return self.mined(
            node_client.send_transaction(self.deployment.rpc_url, sender=SENDER, to=SENDER, data="0x").to_0x_hex()
        )

    def reverted(self) -> str:
        """Mine a launch that the factory reverts, and return its hash."""
        transaction = send_launch(self.deployment, DevLaunchConfig(originating_chain_id=1), sender=SENDER)
        with pytest.raises(node_client.TransactionRevertedError):
            node_client.wait_for_receipt(self.deployment.rpc_url, transaction)
        return transaction.to_0x_hex()

    def mined(self, tx_hash: str) -> str:
        node_client.wait_for_receipt(self.deployment.rpc_url, HexBytes(tx_hash))
        return tx_hash

    def mine(self, blocks: int = 1) -> None:
        """Add empty blocks."""
        self.rpc("anvil_mine", hex(blocks))

    def snapshot(self) -> str:
        """Return a snapshot id for `revert`."""
        return str(self.rpc("evm_snapshot"))

    def revert(self, mark: str) -> None:
        """Drop all blocks after the snapshot, and mine another one in the first one's place, so that hashes differ."""
        assert self.rpc("evm_revert", mark)
        self.rpc("evm_increaseTime", 60)
        self.mine()

    @contextmanager
    def restored_node(self) -> Iterator[None]:
        """Restore the node's blocks, clock, accounts and settings after the block."""
        mark, accounts = self.snapshot(), self.rpc("eth_accounts")
        yield
        self.rpc("anvil_dropAllTransactions")
        self.rpc("evm_setAutomine", True)
        self.rpc("evm_revert", mark)
        # An impersonated account stays among the node's own.
        for account in set(self.rpc("eth_accounts")) - set(accounts):
            self.rpc("anvil_stopImpersonatingAccount", account)
        newest = self.rpc("eth_getBlockByNumber", "latest", False)
        # The node's clock went back with the blocks, and its next base fee did not.
        self.rpc("evm_setTime", max(int(time.time()), int(newest["timestamp"], 16) + 1))
        self.rpc("anvil_setNextBlockBaseFeePerGas", newest["baseFeePerGas"])

    def rpc(self, method: str, *params: Any) -> Any:
        return self.web3.manager.request_blocking(RPCEndpoint(method), list(params))

    @property
    def web3(self) -> Any:
        return node_client.connect(self.deployment.rpc_url)

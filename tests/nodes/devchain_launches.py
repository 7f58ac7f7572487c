"""Launching on a development node in tests, and taking its blocks back."""

import secrets
from dataclasses import dataclass, replace
from typing import Any

from hexbytes import HexBytes
from web3.types import RPCEndpoint

from development.devchain import node_client
from development.devchain.deploy_contracts import Deployment
from development.devchain.launch_transactions import LaunchConfig, launch, launch_batch

# Account 1 of the node.
SENDER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
UNKNOWN_HASH = "0x" + "0a" * 32


@dataclass(frozen=True)
class Launchpad:
    """The development contracts on a node, with launches whose salts differ."""

    deployment: Deployment

    @property
    def chain_id(self) -> int:
        return self.deployment.chain_id

    def send(self, config: LaunchConfig | None = None, **changes: Any) -> str:
        """Hand a launch to the node; returns its transaction's hash and doesn't wait."""
        config = replace(config or LaunchConfig(), **({"salt": secrets.token_bytes(32)} | changes))
        return launch(self.deployment, config, sender=SENDER).to_0x_hex()

    def launch(self, config: LaunchConfig | None = None, **changes: Any) -> str:
        """Launch, wait until it is mined, and return the transaction's hash."""
        return self.mined(self.send(config, **changes))

    def launch_batch(self, *configs: LaunchConfig) -> str:
        """Launch several tokens in one transaction, mined."""
        salted = [replace(config, salt=secrets.token_bytes(32)) for config in configs]
        return self.mined(launch_batch(self.deployment, salted, sender=SENDER).to_0x_hex())

    def transfer(self) -> str:
        """A mined transaction that launches nothing."""
        return self.mined(node_client.send(self.deployment.rpc_url, sender=SENDER, to=SENDER, data="0x").to_0x_hex())

    def reverted(self) -> str:
        """A mined launch that the factory refused."""
        transaction = launch(self.deployment, LaunchConfig(originating_chain_id=1), sender=SENDER)
        self.web3.eth.wait_for_transaction_receipt(transaction, poll_latency=0.005)
        return transaction.to_0x_hex()

    def mined(self, tx_hash: str) -> str:
        node_client.wait(self.deployment.rpc_url, HexBytes(tx_hash))
        return tx_hash

    def mine(self, blocks: int = 1) -> None:
        """Add empty blocks."""
        self.rpc("anvil_mine", hex(blocks))

    def snapshot(self) -> str:
        """A mark to which `revert` goes back."""
        return str(self.rpc("evm_snapshot"))

    def revert(self, mark: str) -> None:
        """Drop all blocks after the mark, and let another one take the first one's place, so that hashes differ."""
        assert self.rpc("evm_revert", mark)
        self.rpc("evm_increaseTime", 60)
        self.mine()

    def rpc(self, method: str, *params: Any) -> Any:
        return self.web3.manager.request_blocking(RPCEndpoint(method), list(params))

    @property
    def web3(self) -> Any:
        return node_client.connect(self.deployment.rpc_url)

"""Fixtures for tests of declarations: a recorded launchpad behind a node, and commands on a file."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from web3.logs import DISCARD

from development.devchain import node_client
from development.devchain.sample_swaps import allow
from tests.nodes.devchain_launches import SENDER, Launchpad
from tests.nodes.launchpad_recordings import CHAIN
from tests.nodes.recorded_launchpad import RecordedLaunchpad
from tests.nodes.recorded_node import Node


@pytest.fixture
def serve_launchpad(
    node: Node, settings: Any, tmp_path: Path, forget_chains: Callable[[], None]
) -> Callable[[str], RecordedLaunchpad]:
    """Return a function that installs a recording's chain, on a node that serves it."""

    def serve(name: str) -> RecordedLaunchpad:
        pad = RecordedLaunchpad(name, node)
        (tmp_path / "chains.toml").write_text(pad.chain())
        settings.CHAINS_FILES = (str(tmp_path / "chains.toml"),)
        settings.RPC_URLS, settings.RPC_ATTEMPTS = {CHAIN: (node.url,)}, 1
        forget_chains()
        return pad

    return serve


@pytest.fixture
def try_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., str]:
    """Return a function that runs `try_launchpad` on a file with this text, and returns what it prints."""

    def command(text: str, *arguments: str) -> str:
        (tmp_path / "own.toml").write_text(text)
        call_command("try_launchpad", str(tmp_path / "own.toml"), *arguments, skip_checks=False)
        return str(capsys.readouterr().out)

    return command


@dataclass(frozen=True)
class TradedCurve:
    """A token on the development chain's bonding curve, with its transactions' hashes."""

    node: Launchpad
    token: str
    launch: str

    def buy(self, value: int) -> str:
        """Buy for so many wei, and return the transaction's hash."""
        return self._transact("buy", self.token, 0, value=value)

    def sell(self, amount: int) -> str:
        """Sell so many smallest units, and return the transaction's hash."""
        at = self.node.deployment
        allow(at, self.token, SENDER, spender=at.curve_launchpad)
        return self._transact("sell", self.token, amount, 0)

    def claim(self) -> str:
        """Claim the creator's fees, and return the transaction's hash."""
        return self._transact("claimFees", self.token)

    def _transact(self, function: str, *arguments: object, value: int = 0) -> str:
        return transact_curve(self.node, function, *arguments, value=value)


def transact_curve(node: Launchpad, function: str, *arguments: object, value: int = 0) -> str:
    """Call a function on the curve's launchpad, and return the mined transaction's hash."""
    at = node.deployment
    data = node_client.bind_contract(at.rpc_url, "CurveLaunchpad", at.curve_launchpad).encode_abi(function, arguments)
    sent = node_client.send_transaction(at.rpc_url, sender=SENDER, to=at.curve_launchpad, data=data, value=value)
    return node.mined(sent.to_0x_hex())


@pytest.fixture
def launch_curve(launchpad: Launchpad) -> Callable[[], TradedCurve]:
    """Return a function that launches a token on the curve, with a first purchase by its creator."""
    at = launchpad.deployment
    curves = node_client.bind_contract(at.rpc_url, "CurveLaunchpad", at.curve_launchpad)

    def launch() -> TradedCurve:
        tx_hash = transact_curve(launchpad, "launch", "Night Ferry", "FERRY", "ipfs://ferry", value=10**17)
        (launched,) = curves.events.Launched().process_receipt(
            launchpad.web3.eth.get_transaction_receipt(tx_hash), errors=DISCARD
        )
        return TradedCurve(launchpad, launched["args"]["token"], tx_hash)

    return launch

"""Samples in docs/transactions.md, as written: a wallet signs prepared calls, and a chain mines them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from development.clients import CLIENTS
from development.devchain.anvil import CHAIN_ID
from tests.clients.quick_starts import read_guide_samples
from tests.clients.typescript_package import run_program
from tests.development.devchain.test_devchain_changes import accrue
from tests.nodes.devchain_launches import Launchpad
from tests.tokens.transactions.wallet_scenes import WalletScene

# In wei.
FEES = 10**15 + 1
# What the reader of the sample has before it.
_PYTHON = """
import os
from launchboard import Launchboard
from web3 import Web3
web3 = Web3(Web3.HTTPProvider(os.environ["RPC_URL"]))
account = web3.eth.account.from_key(os.environ["WALLET_KEY"])
weth, fees, first_nonce = os.environ["WETH"], {"maxFeePerGas": 10**11, "maxPriorityFeePerGas": 10**9}, 0
api = Launchboard(os.environ["SERVER"])
"""
# The wallet is a provider of EIP-1193, which sends each call from its own key and prints what it got.
_TYPESCRIPT = """
import { launchboard } from "launchboard-client";
import { createWalletClient, custom, http, type WalletSendCallsParameters } from "viem";
import { privateKeyToAccount } from "viem/accounts";
const account = privateKeyToAccount(process.env.WALLET_KEY as `0x${string}`);
const signer = createWalletClient({ account, transport: http(process.env.RPC_URL) });
const provider = {
  async request({ method, params }: { method: string; params: WalletSendCallsParameters }) {
    console.log(JSON.stringify([method, params]));
    for (const { to, data, value } of params[0].calls) {
      await signer.sendTransaction({ chain: null, to, data, value: BigInt(value ?? 0) });
    }
    return { id: "0x1" };
  },
};
const walletClient = createWalletClient({ transport: custom(provider) });
const api = launchboard(process.env.SERVER ?? "");
const from = account.address, weth = process.env.WETH ?? "";
"""


@pytest.fixture
def scene(
    live_server: Any, client: Any, own_launchpad: Launchpad, transactional_db: None, unmet_limits: None
) -> WalletScene:
    """Return a scene whose wallet has fees in the fee locker."""
    scene = WalletScene(own_launchpad, client)
    token = scene.launch()
    accrue(scene.launchpad.deployment, token, paired=FEES, launched=0)
    collector = WalletScene(own_launchpad, client)
    collector.mine(collector.prepare("collect-rewards", tokenAddresses=[token]))
    return scene


def read_sample(language: str) -> str:
    """Return the guide's sample, for the development chain."""
    (sample,) = read_guide_samples(language, guide="transactions.md")
    assert "8453" in sample
    return sample.replace("8453", str(CHAIN_ID))


def variables(scene: WalletScene, server: str) -> dict[str, str]:
    weth, key = scene.launchpad.deployment.wrapped_native, scene.account.key.to_0x_hex()
    return {"SERVER": server, "RPC_URL": scene.url, "WALLET_KEY": key, "WETH": weth}


def test_the_sample_in_python_claims_fees(scene: WalletScene, live_server: Any) -> None:
    environment = os.environ | variables(scene, live_server.url) | {"PYTHONPATH": str(CLIENTS / "python")}
    code = _PYTHON + read_sample("python")
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    weth = scene.launchpad.deployment.wrapped_native
    assert scene.balances([weth]) == {weth: FEES}


def test_a_wallet_gets_the_response_unchanged_from_viem(scene: WalletScene, live_server: Any, typescript: Path) -> None:
    weth = scene.launchpad.deployment.wrapped_native
    prepared = scene.prepare("claim-fees", currencies=[weth])["data"]
    output = run_program(_TYPESCRIPT + read_sample("ts"), typescript, **variables(scene, live_server.url))
    assert json.loads(output) == ["wallet_sendCalls", [prepared]]
    assert scene.balances([weth]) == {weth: FEES}

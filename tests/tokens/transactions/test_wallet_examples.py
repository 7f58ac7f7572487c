"""Examples on the page `/docs` with a wallet: calls that it signs and mines on a chain, and sign-ins."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Identity
from config.environment.issuers import read_issuers
from tests.accounts.users.wallets import message, new_nonce, sign
from tests.development.devchain.test_devchain_changes import accrue
from tests.nodes.devchain_launches import Launchpad
from tests.processes.example_code import read_examples, run_example
from tests.tokens.transactions.wallet_scenes import WalletScene

LANGUAGES = ("curl", "python", "typescript")
# In wei.
FEES = 10**15 + 1

Run = Callable[..., str]


@pytest.fixture
def scene(
    live_server: Any, client: Any, own_launchpad: Launchpad, transactional_db: None, unmet_limits: None, settings: Any
) -> WalletScene:
    settings.SITE_URL = live_server.url
    settings.IDENTITY_ISSUERS = read_issuers({"WALLET_SIGN_IN": "true"}, site_url=live_server.url)
    return WalletScene(own_launchpad, client)


@pytest.fixture
def run(scene: WalletScene, tmp_path: Path) -> Run:
    """Return a function that runs a task's example with the scene's wallet, and returns the output."""

    def run(task: str, language: str, **variables: str) -> str:
        code = read_examples(scene.client.get("/docs").text)[task, language]
        wallet = {"RPC_URL": scene.url, "WALLET_KEY": scene.account.key.to_0x_hex(), "WALLET": scene.address}
        return run_example(language, code, tmp_path, **wallet | variables)

    return run


@pytest.mark.parametrize("language", LANGUAGES)
def test_prepared_calls_are_signed_and_mined(language: str, scene: WalletScene, run: Run) -> None:
    weth, token = scene.launchpad.deployment.wrapped_native, scene.launch()
    accrue(scene.launchpad.deployment, token, paired=FEES, launched=0)
    output = run("transactions", language)
    if language == "curl":
        # The example only prepares.
        scene.mine(json.loads(output))
    else:
        assert f"{weth} {FEES}\n" in output
        assert output.count(" 1\n" if language == "python" else " success\n") == 2
    assert scene.launchpad.web3.eth.get_transaction_count(scene.address) == 2
    assert scene.balances([weth])[weth] == FEES


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_wallet_signs_in(language: str, scene: WalletScene, run: Run, settings: Any) -> None:
    signed = {}
    if language == "curl":
        # The example has what a wallet signed before.
        changes = {"domain": settings.SITE_URL.partition("://")[2], "uri": settings.SITE_URL, "address": scene.address}
        text = message(nonce=new_nonce(scene.client), **changes)
        signed = {"MESSAGE": text.replace("\n", "\\n"), "SIGNATURE": f"0x{sign(text, scene.account).hex()}"}
    assert "pendingPretokens" in run("signin", language, **signed)
    assert Identity.objects.get().subject == scene.address

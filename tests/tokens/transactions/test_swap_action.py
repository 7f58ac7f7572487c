"""POST /api/transactions/swap: quotes that hold to the wei when a wallet of its own signs and mines the calls."""

from pathlib import Path
from typing import Any

import pytest

from development.devchain.anvil import CHAIN_ID, LAUNCHPADS_FILE
from tests.nodes.devchain_launches import Launchpad
from tests.nodes.devchain_tests import OTHER
from tests.tokens.transactions.test_mined_actions import check_mined
from tests.tokens.transactions.wallet_scenes import ETHER, ZERO, WalletScene
from tokens.indexing.index_requests import index_transaction
from tokens.models import Token

pytestmark = pytest.mark.django_db


@pytest.fixture
def scene(client: Any, own_launchpad: Launchpad, unmet_limits: None) -> WalletScene:
    return WalletScene(own_launchpad, client)


def wrap(scene: WalletScene, wei: int) -> str:
    """Wrap some of the wallet's coins; return the wrapped coin."""
    weth = scene.contract("WrappedNative", scene.launchpad.deployment.wrapped_native)
    scene.launchpad.rpc("anvil_impersonateAccount", scene.address)
    scene.transact(weth.functions.deposit(), sender=scene.address, value=wei)
    return str(weth.address)


def swap(scene: WalletScene, **body: Any) -> dict[str, Any]:
    """Mine a swap, and prove its quote by the simulation and by the wallet's balances; return the response's quote."""
    answer = scene.prepare("swap", **body)
    quote: dict[str, Any] = answer["swap"]
    changes = check_mined(scene, "swap", body, [quote["currencyIn"], quote["currencyOut"]])
    assert changes == {
        quote["currencyIn"]: -int(quote["amountIn"]),
        quote["currencyOut"]: int(quote["amountOut"]),
    }
    return quote | {"calls": len(answer["data"]["calls"]), "validUntil": answer["validUntil"]}


def test_a_buyer_pays_coins_and_sells_again_for_coins(scene: WalletScene) -> None:
    token = scene.launch()

    bought = swap(scene, tokenAddress=token, side="buy", amount=str(ETHER))
    sold = swap(scene, tokenAddress=token, side="sell", amount=bought["amountOut"])
    again = swap(scene, tokenAddress=token, side="buy", exact="out", amount=bought["amountOut"])

    assert (bought["currencyIn"], bought["currencyOut"], bought["amountIn"]) == (ZERO, token, str(ETHER))
    assert (sold["currencyIn"], sold["currencyOut"], sold["amountIn"]) == (token, ZERO, bought["amountOut"])
    assert again["amountOut"] == bought["amountOut"]
    # A sale takes the token's approval for Permit2, and Permit2's for the router.
    assert [each["calls"] for each in (bought, sold, again)] == [1, 3, 1]
    assert bought["validUntil"] == bought["deadline"]
    # 1 % for the liquidity and a fifth of it for the launchpad, on top.
    (lp, hook) = bought["fees"]
    assert (lp["kind"], lp["rate"], hook["kind"], hook["rate"]) == ("lp", 10_000, "hook", None)
    assert int(lp["amount"]) == pytest.approx(ETHER / 1.002 / 100, rel=1e-9)
    assert int(hook["amount"]) == pytest.approx(int(lp["amount"]) / 5, rel=1e-9)
    assert 0.05 < bought["priceImpact"] < 0.15


def test_the_pools_own_currency_is_paid_through_permit2_and_small_allowances_are_raised(scene: WalletScene) -> None:
    token, weth = scene.launch(), wrap(scene, 10 * ETHER)
    body = {"tokenAddress": token, "side": "buy", "currency": "paired"}

    first = swap(scene, **body, amount=str(ETHER), deadlineSeconds=86_400)
    at = scene.launchpad.deployment
    scene.transact(scene.contract("Token", weth).functions.approve(at.permit2, 2**256 - 1), sender=scene.address)
    # Permit2 still lacks the router's allowance.
    second = swap(scene, **body, amount=str(ETHER), exact="in")
    out = swap(scene, **body, amount=first["amountOut"], exact="out", slippageBps=0)

    assert [each["calls"] for each in (first, second, out)] == [3, 2, 2]
    assert (first["currencyIn"], out["mostIn"]) == (weth, out["amountIn"])
    assert int(first["leastOut"]) == -(-int(first["amountOut"]) * 99 // 100)


def test_a_declared_launchpads_token_is_swapped_in_its_pool_without_a_hook(
    scene: WalletScene, settings: Any, forget_chains: Any
) -> None:
    settings.CHAINS_FILES = (*settings.CHAINS_FILES, str(LAUNCHPADS_FILE))
    settings.LAUNCHPADS = {CHAIN_ID: ("clanker", "plain")}
    forget_chains()
    weth = scene.launchpad.deployment.wrapped_native
    # About 10 ether for the whole supply.
    tx_hash = scene.launchpad.launch_plain(("Plain", "PLAIN", ""), paired=weth, tick=-184_200)
    (token,) = index_transaction(chain_id=CHAIN_ID, tx_hash=tx_hash)
    body = {"tokenAddress": token}

    bought = swap(scene, **body, side="buy", amount=str(ETHER))
    first_sale = swap(scene, **body, side="sell", exact="out", amount=str(ETHER // 2))
    unsold = int(bought["amountOut"]) - int(first_sale["amountIn"])
    second_sale = swap(scene, **body, side="sell", amount=str(unsold))

    # The pool's own fee on each side, and none for a launchpad.
    assert [[(fee["kind"], fee["rate"]) for fee in each["fees"]] for each in (bought, first_sale, second_sale)] == [
        [("lp", 3_000)]
    ] * 3
    returned = int(first_sale["amountOut"]) + int(second_sale["amountOut"])
    # A fee's part of the tokens would have been the last ones bought, at the highest price.
    assert ETHER * 0.997**2 < returned < ETHER * 0.997


def refusal(scene: WalletScene, **body: Any) -> tuple[int, str]:
    answer = scene.post("swap", **({"side": "buy", "amount": "1000"} | body))
    return answer.status_code, answer.json()["error"]


def test_what_would_fail_is_refused(scene: WalletScene) -> None:
    token = scene.launch()
    at = {"tokenAddress": token}

    assert refusal(scene, tokenAddress=scene.address) == (404, "Token not found")
    too_little = (400, "The swap is not possible: the pool has too little liquidity for the amount")
    assert refusal(scene, **at, exact="out", amount=str(10**29)) == too_little
    bought = swap(scene, **at, side="buy", amount="1000000")["amountOut"]
    assert refusal(scene, **at, side="sell", amount="1") == (
        400,
        "The swap is not possible: the amount is too small: the other side would be 0",
    )
    scene.launchpad.rpc("anvil_impersonateAccount", scene.address)
    scene.transact(scene.contract("Token", token).functions.transfer(OTHER, int(bought)), sender=scene.address)
    assert refusal(scene, **at, side="sell", amount=bought) == (
        400,
        "Call 3 would be reverted: Error(string): TRANSFER_FROM_FAILED",
    )
    assert refusal(scene, **at, amount=str(20_000 * ETHER))[0] == 400
    assert refusal(scene, **at, amount=str(10**38)) == (
        400,
        "amount must be a whole number as a text of digits, from 1 to 10^38 - 1",
    )
    Token.objects.update(pool_config={"tickSpacing": 60, "hook": None})
    assert refusal(scene, **at) == (400, "The swap is not possible: the key of the token's pool is unknown")
    Token.objects.update(pool_address="", paired_token="")
    assert refusal(scene, **at) == (400, "tokenAddress must be a token with a pool")


def test_a_pool_of_another_currency_takes_no_coins(scene: WalletScene) -> None:
    usd = scene.launchpad.deployment.usd
    token = scene.launch(paired_token=usd)
    scene.transact(scene.contract("UsdStandIn", usd).functions.mint(scene.address, 10**12))

    bought = swap(scene, tokenAddress=token, side="buy", amount=str(10**9))

    assert (bought["currencyIn"], bought["calls"]) == (usd, 3)
    assert refusal(scene, tokenAddress=token, currency="native") == (
        400,
        f"The swap is not possible: the token's pool takes {usd}, not the native coin",
    )


def test_a_chain_without_a_quoter_in_the_registry_has_no_swaps(
    scene: WalletScene, chains_file: Path, settings: Any, forget_chains: Any, tmp_path: Path
) -> None:
    token = scene.launch()
    lines = chains_file.read_text(encoding="utf-8").splitlines()
    (tmp_path / "chains.toml").write_text("\n".join(line for line in lines if not line.startswith("v4_quoter")))
    settings.CHAINS_FILES = (str(tmp_path / "chains.toml"),)
    forget_chains()

    assert refusal(scene, tokenAddress=token) == (
        400,
        "chainId must be a chain with swaps: the registry has no v4_quoter of the chain",
    )
    assert scene.post("swap", tokenAddress=token, side="buy", amount="1", chainId=CHAIN_ID + 1).status_code == 400

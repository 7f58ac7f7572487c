"""POST /api/transactions/{action}: exactly the returned calls, signed by a wallet of its own and mined.

What the wallet has before and after differs by what the simulation returned, to the wei.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from development.devchain.launch_transactions import DevAirdropShare, DevVaultShare
from tests.development.devchain.test_devchain_changes import accrue
from tests.nodes.devchain_launches import Launchpad
from tests.nodes.devchain_tests import OTHER, SENDER
from tests.rows.factories import PartnerKeyFactory
from tests.tokens.transactions.wallet_scenes import DAY, ETHER, VAULTED, ZERO, WalletScene
from tokens.chains.evm.action_calls import ACTION_CALLS
from tokens.chains.launching.merkle import build_tree
from tokens.deploying.airdrop_proofs import store_saved_tree
from tokens.models import Token, TreeKind

pytestmark = pytest.mark.django_db

ROOT = "0x" + "ab" * 32
# Body, and currencies of which the wallet may gain or lose.
Case = tuple[dict[str, Any], list[str]]


@pytest.fixture
def scene(client: Any, own_launchpad: Launchpad, unmet_limits: None) -> WalletScene:
    return WalletScene(own_launchpad, client)


def of_token(**body: Any) -> Callable[[WalletScene], Case]:
    def prepare(scene: WalletScene) -> Case:
        token = scene.launch()
        return {"tokenAddress": token} | body, [token]

    return prepare


def collect(scene: WalletScene) -> Case:
    token = scene.launch()
    accrue(scene.launchpad.deployment, token, paired=10**15 + 1, launched=0)
    return {"tokenAddresses": [token]}, [token, scene.launchpad.deployment.wrapped_native]


def claim(scene: WalletScene) -> Case:
    body, currencies = collect(scene)
    return body | {"currencies": currencies[1:]}, currencies


def vault(scene: WalletScene) -> Case:
    token = scene.launch(vault=DevVaultShare(admin=scene.address))
    scene.wait(41 * DAY)
    return {"tokenAddress": token}, [token]


def vault_admin(scene: WalletScene) -> Case:
    body, currencies = vault(scene)
    return body | {"newAdmin": OTHER}, currencies


def airdrop(scene: WalletScene) -> Case:
    entries = ((scene.address, 10**24 + 1), (OTHER, 10**23), (SENDER, 7))
    store_saved_tree(PartnerKeyFactory(), kind=TreeKind.AIRDROP, tree=build_tree(entries), entries=entries)
    token = scene.launch(airdrop=DevAirdropShare(admin=scene.address, entries=entries))
    scene.wait(DAY + DAY // 3)
    return {"tokenAddress": token}, [token]


def open_airdrop(**body: Any) -> Callable[[WalletScene], Case]:
    def prepare(scene: WalletScene) -> Case:
        token = scene.launch(airdrop=DevAirdropShare(admin=scene.address))
        scene.wait(17 * DAY)
        return {"tokenAddress": token} | body, [token]

    return prepare


def of_presale(
    *, paid: int = 0, ends: bool = False, allowlist: bool = False, **body: Any
) -> Callable[[WalletScene], Case]:
    def prepare(scene: WalletScene) -> Case:
        sale = scene.start_presale(allowlist=(scene.address, OTHER) if allowlist else ())
        currencies = [ZERO]
        if paid:
            scene.mine(scene.prepare("presale-buy", presaleId=sale, amount=str(paid)))
        if ends:
            answer = scene.prepare("presale-end", presaleId=sale, salt=ROOT)
            scene.mine(answer)
            currencies.append(answer["predictedAddress"])
            scene.wait(7 * DAY)
        return {"presaleId": sale} | body, currencies

    return prepare


# (action, layout, variant) -> the scene's preparation.
CASES: dict[tuple[str, str, str], Callable[[WalletScene], Case]] = {
    ("collect-rewards", "v4", ""): collect,
    ("claim-fees", "v4", ""): claim,
    ("claim-vault", "v4", ""): vault,
    ("update-vault-admin", "v4", ""): vault_admin,
    ("claim-airdrop", "v4", ""): airdrop,
    ("update-airdrop-admin", "v4", ""): open_airdrop(newAdmin=OTHER),
    ("update-airdrop-root", "v4", ""): open_airdrop(merkleRoot=ROOT),
    ("reclaim-airdrop", "v4", ""): open_airdrop(),
    ("update-image", "v4", ""): of_token(image="ipfs://new"),
    ("update-metadata", "v4", ""): of_token(description='<b>"new"</b>', auditUrls=["https://audit.example"]),
    ("update-admin", "v4", ""): of_token(newAdmin=OTHER),
    ("verify", "v4", ""): of_token(),
    ("update-reward-recipient", "v4", ""): of_token(rewardIndex=0, newRecipient=OTHER),
    ("update-reward-admin", "v4", ""): of_token(rewardIndex=0, newAdmin=OTHER),
    ("update-fee-preference", "v4", ""): of_token(rewardIndex=0, rewardsToken="Paired"),
    ("presale-buy", "presales", "below the goal"): of_presale(amount=str(ETHER + 1)),
    ("presale-buy", "presales", "beyond the goal"): of_presale(amount=str(5 * ETHER)),
    ("presale-withdraw", "presales", ""): of_presale(paid=ETHER, amount="12345"),
    ("presale-end", "presales", ""): of_presale(paid=2 * ETHER, salt=ROOT),
    ("presale-claim", "presales", ""): of_presale(paid=2 * ETHER, ends=True),
    ("presale-collect", "presales", ""): of_presale(paid=2 * ETHER, ends=True),
    ("update-allowlist-root", "presales", ""): of_presale(allowlist=True, merkleRoot=ROOT),
    ("update-allowlist-buyer", "presales", ""): of_presale(allowlist=True, buyer=OTHER, amount="5"),
    ("update-allowlist-state", "presales", ""): of_presale(allowlist=True, enabled=False),
}


def check_mined(scene: WalletScene, action: str, body: dict[str, Any], currencies: list[str]) -> dict[str, int]:
    """Mine an action's calls, compare the wallet's balances with the simulation, and return its changes."""
    answer = scene.prepare(action, **body)
    changes = {change["currency"]: int(change["amount"]) for change in answer["simulation"]["changes"]}
    watched = [*dict.fromkeys([ZERO, *currencies, *changes])]
    before = scene.balances(watched)
    receipts = scene.mine(answer)
    after = scene.balances(watched)
    after[ZERO] += sum(receipt["gasUsed"] * receipt["effectiveGasPrice"] for receipt in receipts)
    assert {name: after[name] - before[name] for name in watched if after[name] != before[name]} == changes
    assert [receipt["gasUsed"] for receipt in receipts] == [call["gasUsed"] for call in answer["simulation"]["calls"]]
    assert receipts[0]["blockNumber"] == answer["simulation"]["blockNumber"] + 1
    assert len(answer["texts"]) == len(receipts)
    return changes


# Actions that pay the wallet, or take something from it.
PAYING = {"claim-fees", "claim-vault", "claim-airdrop", "reclaim-airdrop"} | {
    "presale-buy",
    "presale-withdraw",
    "presale-claim",
    "presale-collect",
}


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_the_calls_do_what_the_simulation_returned(scene: WalletScene, case: tuple[str, str, str]) -> None:
    body, currencies = CASES[case](scene)
    changes = check_mined(scene, case[0], body, currencies)
    assert bool(changes) == (case[0] in PAYING)


# Action -> body of each variant, besides the token.
LEGACY: dict[str, list[dict[str, Any]]] = {
    "update-image": [{"image": "ipfs://new"}],
    "update-metadata": [{"description": "new"}],
    "verify": [{}],
    "update-reward-recipient": [{"rewardIndex": index, "newRecipient": SENDER} for index in (0, 1)],
    "update-reward-admin": [{"rewardIndex": index, "newAdmin": SENDER} for index in (0, 1)],
    "claim-vault": [{"amount": "123456"}, {"amount": "1", "recipient": OTHER}],
    "update-vault-admin": [{"newAdmin": OTHER}],
}
# Layout -> generation. The factories of all three have the same function for rewards.
COLLECTING = {"v1": "v2", "v3": "v3", "v3_1": "v3.1"}


def test_they_do_so_for_tokens_of_earlier_generations(
    scene: WalletScene, chains_file: Path, settings: Any, forget_chains: Any
) -> None:
    token, positions = scene.launch_legacy(chains_file, settings, forget_chains)
    weth = scene.contract("WrappedNative", scene.launchpad.deployment.wrapped_native)
    scene.wait(2 * DAY)
    fees = (10_001, 33_333)
    scene.transact(weth.functions.deposit(), sender=scene.address, value=3 * fees[1])
    for currency in (scene.contract("Token", token), weth):
        scene.transact(currency.functions.approve(positions.address, 10**30), sender=scene.address)
    amounts = fees if token.lower() < weth.address.lower() else fees[::-1]
    for generation in COLLECTING.values():
        Token.objects.update(generation=generation)
        scene.transact(positions.functions.accrue(1, *amounts), sender=scene.address)
        changes = check_mined(scene, "collect-rewards", {"tokenAddresses": [token]}, [token, weth.address])
        # 40 % are the creator's.
        assert changes == {token: 4_000, weth.address: 13_333}
    seen: dict[str, dict[str, int]] = {}
    for action, bodies in LEGACY.items():
        for body in bodies:
            changes = check_mined(scene, action, {"tokenAddress": token} | body, [token, weth.address])
            seen[action] = seen.get(action) or changes
    assert seen["claim-vault"] == {token: 123_456}
    vault = scene.post("claim-vault", tokenAddress=token, amount=str(VAULTED))
    assert vault.json()["error"] == "The transaction would be reverted: Unauthorized()"


def test_each_function_has_a_case() -> None:
    covered = {(action, layout) for action, layout, _ in CASES} | {(action, "v3_1") for action in LEGACY}
    covered |= {("collect-rewards", layout) for layout in COLLECTING}
    assert {(action, layout) for action, layouts in ACTION_CALLS.items() for layout in layouts} == covered

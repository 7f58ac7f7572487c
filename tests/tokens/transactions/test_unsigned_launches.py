"""POST /api/transactions/launch: the calldata of a deployment, signed and mined by a wallet of its own."""

import secrets
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from config.environment.secret import Secret
from development.devchain.anvil import CHAIN_ID, DEPLOYER, DEPLOYER_KEY
from tests.nodes.devchain_launches import Launchpad
from tests.rows import launch_requests as orders
from tests.tokens.transactions.test_mined_actions import check_mined
from tests.tokens.transactions.wallet_scenes import ETHER, ZERO, WalletScene
from tokens.chains.evm.unsigned_calls import UnsignedCall
from tokens.deploying.launch_request import parse_launch_request
from tokens.deploying.simulation import simulate_deployment
from tokens.installation.installed_signers import installed_signers
from tokens.models.deployment import Deployment
from tokens.transactions.actions import ACTIONS
from tokens.transactions.unsigned_launches import launch_calls, parse_launch

pytestmark = pytest.mark.django_db

ADMIN, OTHER = orders.ADMIN, orders.WALLET
PATH = "/api/transactions/launch"


@pytest.fixture
def scene(client: Any, own_launchpad: Launchpad, unmet_limits: None) -> WalletScene:
    return WalletScene(own_launchpad, client)


def test_a_launch_with_a_purchase_is_mined_as_simulated(scene: WalletScene) -> None:
    body = orders.order(
        devBuy={"ethAmount": 0.25, "recipient": scene.address}, vault={"percentage": 5, "lockupDuration": 8}
    )
    predicted = scene.prepare("launch", **body)["predictedAddress"]
    changes = check_mined(scene, "launch", body, [ZERO])
    assert changes.keys() == {ZERO, predicted}
    assert changes[ZERO] == -ETHER // 4
    assert scene.contract("Token", predicted).functions.admin().call() == ADMIN
    # The same key is the same token.
    refused = scene.post("launch", **body)
    assert (refused.status_code, refused.json()["error"][:32]) == (400, "The transaction would be reverte")


def test_a_presale_is_started_by_a_wallet_that_may(client: Any, own_launchpad: Launchpad, unmet_limits: None) -> None:
    scene = WalletScene(own_launchpad, client)
    body = orders.order(presale={"minEthGoal": 1, "maxEthGoal": 2, "presaleDuration": 3600})
    refused = scene.post("launch", **body).json()
    assert refused == {"error": "The transaction would be reverted: Unauthorized()"}
    answer = scene.prepare("launch", **{"from": DEPLOYER}, **body)
    assert answer["texts"] == ['Start the presale of the token "Dog" ("DOG").']
    assert answer["predictedAddress"] is None


def test_a_name_does_not_reverse_the_text_that_quotes_it(scene: WalletScene) -> None:
    body = orders.order(token={"name": "Dög\u202e", "symbol": "ДОГ"})
    assert scene.prepare("launch", **body)["texts"] == ['Launch the token "D\\u00f6g\\u202e" ("ДОГ").']


SHARE = st.integers(1, 4_000).map(lambda bps: bps / 100)
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(str.strip)
ACCOUNT = st.binary(min_size=20, max_size=20).filter(any).map(lambda raw: "0x" + raw.hex())
BODIES = st.fixed_dictionaries(
    {
        "token": st.fixed_dictionaries(
            {"name": TEXT, "symbol": TEXT, "tokenAdmin": ACCOUNT},
            optional={"description": TEXT, "image": st.just("ipfs://a"), "auditUrls": st.just(["https://a.example"])},
        ),
    },
    optional={
        "fees": st.sampled_from(
            [{"type": "dynamic"}, {"type": "static", "clankerFee": 2, "pairedFee": 1}, {"type": "static"}]
        ),
        "vault": st.fixed_dictionaries({"percentage": SHARE, "lockupDuration": st.integers(7, 900)}),
        "airdrop": st.fixed_dictionaries(
            {
                "entries": st.lists(ACCOUNT, min_size=1, max_size=5, unique=True).map(
                    lambda accounts: [{"account": each, "amount": 250_000_000} for each in accounts]
                ),
                "lockupDuration": st.integers(1, 90),
            }
        ),
        "rewards": st.tuples(ACCOUNT, ACCOUNT).map(
            lambda pair: [
                {"admin": pair[0], "recipient": pair[1], "allocation": 60, "rewardsToken": "Paired"},
                {"admin": pair[1], "recipient": pair[0], "allocation": 40},
            ]
        ),
        "pool": st.fixed_dictionaries(
            {"type": st.sampled_from(["standard", "project"]), "initialMarketCap": st.integers(1, 10**6)}
        ),
        "devBuy": st.integers(1, 10**6).map(lambda amount: {"ethAmount": amount / 10**6}),
        "context": st.fixed_dictionaries({"interface": TEXT, "id": TEXT}),
    },
)


@given(body=BODIES)
@hypothesis_settings(max_examples=20)
def test_the_bytes_are_those_of_a_deployment(launchpad: Launchpad, body: dict[str, Any]) -> None:
    body = orders.order(token=body["token"]) | {name: part for name, part in body.items() if name != "token"}
    values = parse_launch({"from": OTHER, **body}) | {"partner": None}
    (unsigned,) = launch_calls(ACTIONS["launch"], values)
    deployment = simulate_deployment(parse_launch_request(body), body=body, partner=None, sender=OTHER).deployment
    assert (unsigned.to, unsigned.value) == (deployment.to_address, deployment.value)
    # The wallet's salt is its own; all else is equal.
    assert _without_salt(unsigned) == deployment.calldata.hex().replace(deployment.salt[2:], "")


def _without_salt(call: UnsignedCall) -> str:
    """Return the calldata without the salt, the fourth word of the token's configuration."""
    data = call.data[2:]
    # Selector, offset of the configuration, five offsets of its parts, then admin, two offsets and the salt.
    start = 8 + 64 * (1 + 5 + 3)
    return data[:start] + data[start + 64 :]


def test_a_partners_bytes_are_exactly_those_of_its_deployment(
    client: Any, launchpad: Launchpad, deploy_key: dict[str, str], settings: Any, unmet_limits: None
) -> None:
    settings.DEPLOYER_KEYS = {CHAIN_ID: (Secret(DEPLOYER_KEY),)}
    settings.DEPLOYER_KEYSTORES, settings.DEPLOYER_REMOTE = {}, {}
    installed_signers.cache_clear()
    body = orders.order(token={"requestKey": secrets.token_hex(16)})
    post = {"content_type": "application/json", "headers": deploy_key}
    prepared = client.post(PATH, {"from": DEPLOYER, **body}, **post).json()
    other = client.post(PATH, {"from": OTHER, **body}, **post).json()
    public = client.post(PATH, {"from": OTHER, **body}, content_type="application/json").json()
    deployed = client.post("/api/tokens/deploy", body, **post).json()
    deployment = Deployment.objects.get(request_key=body["token"]["requestKey"])
    assert prepared["data"]["calls"] == other["data"]["calls"]
    assert prepared["data"]["calls"] == [
        {"to": deployment.to_address, "data": "0x" + bytes(deployment.calldata).hex(), "value": "0x0"}
    ]
    assert prepared["predictedAddress"] == deployed["expectedAddress"] != public["predictedAddress"]

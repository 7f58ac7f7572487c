"""The launchpad's SDK and this service: 500 random launches have the same calls, byte for byte."""

import json
from typing import Any

import pytest

from development.devchain.anvil import CHAIN_ID
from tests.nodes.devchain_launches import Launchpad
from tests.nodes.devchain_tests import SENDER
from tests.tokens.transactions.sdk_launches import PAIRS, RECORDING, SEED, digest, random_bodies
from tokens.chains.launching.launch_calls import encode_launch
from tokens.chains.registry.chains import load_registry
from tokens.deploying.simulation import resolve_launch
from tokens.transactions.unsigned_launches import parse_launch

# The SDK's own default.
_SALT = "0x" + "00" * 32


@pytest.fixture(autouse=True)
def all_chains(settings: Any, forget_chains: Any) -> None:
    # Nothing is called there.
    settings.RPC_URLS = dict.fromkeys(PAIRS, ("http://127.0.0.1:9",))
    forget_chains()


def encoded(body: dict[str, Any]) -> str:
    """Return the digest of the call for a body."""
    request = parse_launch({"from": body["token"]["tokenAdmin"], **body})["request"]
    chain, config = resolve_launch(request)
    calls = encode_launch(chain.info, config, salt=_SALT)
    call = calls.presale_start or calls.launch
    return digest(call.to, call.value, call.data)


def test_random_launches_are_the_sdks() -> None:
    recording = json.loads(RECORDING.read_text())
    bodies = random_bodies()
    assert (recording["seed"], len(recording["digests"])) == (SEED, len(bodies)) == (44, 500)
    different = [body for body, recorded in zip(bodies, recording["digests"], strict=True) if encoded(body) != recorded]
    assert different == []


@pytest.mark.django_db
def test_answers_of_the_endpoint_are_the_sdks(
    client: Any,
    own_launchpad: Launchpad,
    settings: Any,
    forget_chains: Any,
    unmet_limits: None,
    request: pytest.FixtureRequest,
) -> None:
    settings.RPC_URLS = {8453: (own_launchpad.deployment.rpc_url,)}
    forget_chains()
    # A factory that accepts every launch: its simulation is not compared here.
    own_launchpad.rpc("anvil_setChainId", 8453)
    # The node's other states return by themselves.
    request.addfinalizer(lambda: own_launchpad.rpc("anvil_setChainId", CHAIN_ID))
    (factory,) = load_registry().chain(8453).addresses("factory", "v4")
    own_launchpad.rpc("anvil_setCode", factory, "0x60206000f3")
    sent = 0
    for body, recorded in zip(random_bodies(), json.loads(RECORDING.read_text())["digests"], strict=True):
        if body["chainId"] == 8453 and "presale" not in body:
            answer = client.post("/api/transactions/launch", {"from": SENDER, **body}, content_type="application/json")
            assert answer.status_code == 200, answer.content
            (call,) = answer.json()["data"]["calls"]
            # The fourth word in the token's configuration, after six offsets, the admin and two offsets.
            salt = slice(10 + 64 * 9, 10 + 64 * 10)
            data = call["data"][: salt.start] + _SALT[2:] + call["data"][salt.stop :]
            assert digest(call["to"], int(call["value"], 16), data) == recorded, body
            sent += 1
    assert sent >= 30


def test_the_random_launches_have_everything_that_both_express() -> None:
    bodies = random_bodies()
    for part in ("fees", "rewards", "vault", "airdrop", "presale", "devBuy"):
        assert sum(part in body for body in bodies) >= 40, part
    assert {body["chainId"] for body in bodies} == PAIRS.keys()
    pairs = {pair for chain in PAIRS.values() for pair in chain}
    assert {body["pool"]["pairedToken"] for body in bodies} == {*pairs, "WETH"}

"""POST /api/transactions/{action}: proofs of allow-lists, refused calls, limits, and nodes that do not simulate."""

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack
from typing import Any

import pytest

from accounts.models import PartnerKey
from config.processes.concurrency_limits import SLOTS, THREADS, BusyError, node_slot, public_node_slot
from development.devchain.anvil import CHAIN_ID
from tests.development.devchain.test_devchain_changes import accrue
from tests.nodes.devchain_launches import Launchpad
from tests.nodes.devchain_tests import OTHER
from tests.rows.factories import PartnerKeyFactory
from tests.tokens.transactions.test_mined_actions import check_mined
from tests.tokens.transactions.wallet_scenes import ETHER, ZERO, WalletScene
from tokens.chains.errors import NodeUnavailableError
from tokens.chains.launching.merkle import build_tree
from tokens.deploying.airdrop_proofs import store_saved_tree
from tokens.installation.installed_chains import installed_chain
from tokens.models import TreeKind
from tokens.transactions.actions import ACTIONS
from tokens.transactions.preparing import prepare

pytestmark = pytest.mark.django_db

# It has no coins.
POOR = "0x" + "12" * 20


@pytest.fixture
def scene(client: Any, own_launchpad: Launchpad, unmet_limits: None) -> WalletScene:
    return WalletScene(own_launchpad, client)


def test_a_listed_buyer_needs_no_proof_in_the_body(scene: WalletScene) -> None:
    entries = [(scene.address, 2 * ETHER), (OTHER, 2 * ETHER)]
    store_saved_tree(PartnerKeyFactory(), kind=TreeKind.ALLOWLIST, tree=build_tree(entries), entries=entries)
    sale = scene.start_presale(allowlist=(scene.address, OTHER))
    unlisted = scene.post("presale-buy", presaleId=sale, amount="5", proof="0x")
    assert unlisted.json()["error"] == "The transaction would be reverted: AllowlistAmountExceeded(0)"
    changes = check_mined(scene, "presale-buy", {"presaleId": sale, "amount": str(ETHER)}, [ZERO])
    assert changes == {ZERO: -ETHER}


def test_a_wallet_without_coins_needs_them_only_for_what_it_sends(scene: WalletScene) -> None:
    token = scene.launch()
    sale = scene.start_presale()
    accrue(scene.launchpad.deployment, token, paired=0, launched=10**18)
    body = {"from": POOR, "tokenAddresses": [token], "currencies": [token], "feeOwner": scene.address}
    assert scene.prepare("claim-fees", **body)["simulation"]["changes"] == []
    refused = scene.post("presale-buy", **{"from": POOR}, presaleId=sale, amount="1")
    rule = "has fewer coins than the calls send"
    assert (refused.status_code, refused.json()) == (
        400,
        {"error": f"from {rule}", "details": [{"field": "from", "message": rule}]},
    )


def test_the_contracts_error_is_named_with_the_call(scene: WalletScene) -> None:
    token = scene.launch()
    weth = scene.launchpad.deployment.wrapped_native
    other = scene.post("update-image", **{"from": OTHER}, tokenAddress=token, image="")
    assert (other.status_code, other.json()) == (400, {"error": "The transaction would be reverted: NotAdmin()"})
    accrue(scene.launchpad.deployment, token, paired=0, launched=10**18)
    claim = scene.post("claim-fees", tokenAddresses=[token], currencies=[token, weth])
    assert claim.json()["error"] == "Call 3 would be reverted: NoFeesToClaim()"


def test_a_field_that_a_call_would_ignore_is_refused(scene: WalletScene) -> None:
    token = scene.launch()
    rule = "must not be given for clanker_v4 tokens"
    assert scene.post("claim-vault", tokenAddress=token, amount="1").json()["error"] == f"amount {rule}"
    assert scene.post("claim-vault", tokenAddress=token, recipient=OTHER).json()["error"] == f"recipient {rule}"


def test_it_is_for_pages_from_any_origin_and_nothing_is_stored(scene: WalletScene, queue: Any) -> None:
    token = scene.launch()
    answer = scene.client.post(
        "/api/transactions/verify",
        {"from": scene.address, "chainId": CHAIN_ID, "tokenAddress": token},
        content_type="application/json",
        headers={"Origin": "https://wallet.example"},
    )
    assert answer.status_code == 200
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert answer.json()["data"] == {
        "version": "2.0.0",
        "from": scene.address,
        "chainId": hex(CHAIN_ID),
        "atomicRequired": False,
        "calls": [{"to": token, "data": "0xfc735e99", "value": "0x0"}],
    }
    assert queue() == []


def test_it_is_limited_by_address_and_by_key(
    client: Any, settings: Any, no_calls: None, read_key: dict[str, str], launchpad: Launchpad
) -> None:
    settings.RATE_LIMIT_TRANSACTIONS, settings.RATE_LIMIT_TRANSACTIONS_ANONYMOUS = 2, 1
    body = {"from": OTHER, "chainId": CHAIN_ID, "tokenAddress": OTHER}

    def post(**headers: str) -> int:
        answer = client.post("/api/transactions/verify", body, content_type="application/json", headers=headers)
        return int(answer.status_code)

    assert [post() for _ in range(2)] == [404, 429]
    assert [post(**read_key) for _ in range(3)] == [404, 404, 429]
    assert post(**{"x-api-key": "lb_live_wrong"}) == 401


def test_a_chain_whose_nodes_do_not_simulate_is_unavailable(scene: WalletScene) -> None:
    chain = installed_chain(CHAIN_ID)
    token = scene.launch()
    (endpoint,) = chain.rpc._endpoints
    endpoint.mark_unsupported("eth_simulateV1", seconds=60)
    answer = scene.post("verify", tokenAddress=token)
    assert (answer.status_code, answer.json()) == (503, {"error": "The chain is not available"})
    with pytest.raises(NodeUnavailableError):
        chain.simulate_calls([], sender=OTHER)


def test_partners_that_wait_for_a_node_leave_a_thread(launchpad: Launchpad) -> None:
    body = {"from": OTHER, "chainId": CHAIN_ID, "tokenAddress": OTHER, "side": "buy", "amount": "1"}
    with ThreadPoolExecutor(THREADS) as pool, ExitStack() as slots:
        for _ in range(SLOTS):
            slots.enter_context(node_slot())
        calls = [pool.submit(prepare, ACTIONS["swap"], body, partner=PartnerKey()) for _ in range(THREADS)]
        refused, waiting = wait(calls, timeout=2, return_when=FIRST_COMPLETED)
        assert (len(refused), len(waiting)) == (1, THREADS - 1)
        assert isinstance(refused.pop().exception(), BusyError)


def test_an_anonymous_request_that_gets_no_slot_builds_nothing(launchpad: Launchpad) -> None:
    body = {"from": OTHER, "chainId": CHAIN_ID, "tokenAddress": OTHER}
    with ThreadPoolExecutor(2) as pool, public_node_slot():
        calls = [pool.submit(prepare, ACTIONS["verify"], body, partner=None) for _ in range(2)]
        refused, waiting = wait(calls, return_when=FIRST_COMPLETED)
        assert (len(refused), len(waiting)) == (1, 1)
        # If it had been built, its error would be about the unknown token.
        assert isinstance(refused.pop().exception(), BusyError)

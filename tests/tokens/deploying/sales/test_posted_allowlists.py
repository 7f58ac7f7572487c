"""Tests of allow-lists that partners post to `/api/presales/allowlists`, on the contracts of the development chain."""

import json
import secrets
from typing import Any

import pytest
from web3.exceptions import ContractCustomError

from accounts.keys import credentials
from accounts.models import Scope
from development.devchain import node_client
from development.devchain.anvil import CHAIN_ID
from tests.development.devchain import test_devchain_presale as sales
from tests.nodes.devchain_tests import OTHER, SENDER, STRANGER, refused
from tests.rows.airdrop_entries import build_by_peer, sample_entries
from tests.tokens.deploying.sales.conftest import set_enabled, set_root
from tokens.chains.launching.merkle import build_tree
from tokens.models import SavedTree, SavedTreeEntry, TreeKind

pytestmark = pytest.mark.django_db

PATH, PROOF, SAVED = (
    "/api/presales/allowlists",
    "/api/presales/allowlists/proof",
    "/api/presales/allowlists/saved",
)
ETHER = 10**18
# Each buyer with an amount of its own, by address.
ENTRIES = sorted([(OTHER, ETHER), (SENDER, 2 * ETHER), *((account, 5) for account, _ in sample_entries(3))])
TREE = build_tree(ENTRIES)


def in_body(entries: Any = ENTRIES) -> list[dict[str, str]]:
    return [{"address": address, "allowedAmountWei": str(wei)} for address, wei in entries]


@pytest.fixture
def post(client, deploy_key):
    """Send a body with a key; return the response."""

    def post(headers=deploy_key, **body):
        return client.post(PATH, json.dumps(body), content_type="application/json", headers=headers)

    return post


@pytest.fixture
def presale(contracts):
    return node_client.bind_contract(contracts.rpc_url, "Presale", contracts.presale)


def start(contracts: Any, presale: Any, *, root: str = TREE.root) -> int:
    """Have another wallet than ours start a presale with this root; return its id once it is in a block."""
    listed = {"allowlist": contracts.presale_allowlist, "allowlistInitializationData": bytes.fromhex(root[2:])}
    return sales.start(contracts, presale, **listed)


def buyers_of(presale_id: int) -> dict[str, Any]:
    return {"chainId": CHAIN_ID, "presaleId": presale_id}


def test_entries_are_saved_once_and_their_root_is_returned(post):
    first, again = post(entries=in_body()), post(entries=in_body(ENTRIES[::-1]), merkleRoot=TREE.root)
    stored = SavedTree.objects.get()
    answer = {"id": stored.pk, "merkleRoot": TREE.root, "entries": 5, "createdAt": first.json()["createdAt"]}
    assert (first.status_code, first.json()) == (200, answer | {"success": True})
    assert again.json() == first.json()
    assert (stored.kind, SavedTreeEntry.objects.count()) == (TreeKind.ALLOWLIST, 5)
    assert TREE.root == build_by_peer([ENTRIES], roots_only=True)[0].root


def test_a_buyer_of_a_presale_that_another_wallet_started_buys_with_the_proof(
    post, get, client, contracts, presale, forget_presales
):
    presale_id = start(contracts, presale)
    missing = client.get(PATH, buyers_of(presale_id))
    assert (missing.status_code, missing.json()) == (404, {"error": "Presale not found"})
    post(entries=in_body())
    assert get(PATH, **buyers_of(presale_id)) == {
        "presaleId": presale_id,
        "chainId": CHAIN_ID,
        "merkleRoot": TREE.root,
        "allocations": in_body(),
    }
    (peer,) = build_by_peer([ENTRIES])
    for (address, wei), proof in zip(ENTRIES, peer.proofs, strict=True):
        found = get(PROOF, **buyers_of(presale_id), buyerAddress=address.lower())
        assert found.pop("encodedProof").startswith("0x")
        assert found == {"isAllowed": True, "proof": proof, "allowedAmountWei": str(wei)}
    found = get(PROOF, **buyers_of(presale_id), buyerAddress=STRANGER)
    assert found == {"isAllowed": False, "proof": [], "encodedProof": None, "allowedAmountWei": "0"}

    found = get(PROOF, **buyers_of(presale_id), buyerAddress=OTHER)
    call = presale.functions.buyIntoPresaleWithProof(presale_id, found["encodedProof"])
    node_client.transact(contracts.rpc_url, call, sender=OTHER, value=ETHER)
    # No more than the amount, and by no other account.
    with pytest.raises(ContractCustomError):
        call.call({"from": OTHER, "value": 1})
    with refused("InvalidProof"):
        call.call({"from": SENDER, "value": 1})


def test_the_root_is_read_once_for_several_requests(post, get, contracts, presale, settings, forget_chains):
    presale_id = start(contracts, presale)
    post(entries=in_body())
    first = get(PATH, **buyers_of(presale_id))
    settings.RPC_URLS, settings.RPC_ATTEMPTS = {CHAIN_ID: ("http://127.0.0.1:9",)}, 1
    forget_chains()
    assert get(PATH, **buyers_of(presale_id)) == first
    assert get(PROOF, **buyers_of(presale_id), buyerAddress=SENDER)["isAllowed"]


def test_a_node_that_is_away_is_no_fault_of_the_caller(contracts, client, settings, forget_chains):
    settings.RPC_URLS, settings.RPC_ATTEMPTS = {CHAIN_ID: ("http://127.0.0.1:9",)}, 1
    forget_chains()
    for path in (PATH, PROOF):
        answer = client.get(path, buyers_of(1) | {"buyerAddress": SENDER})
        assert (answer.status_code, answer.json()) == (503, {"error": "The chain is not available"})


def test_a_presale_of_others_without_an_allow_list_is_open(get, contracts, presale):
    presale_id = sales.start(contracts, presale)
    found = get(PATH, **buyers_of(presale_id))
    assert (found["merkleRoot"], found["allocations"]) == (None, [])
    found = get(PROOF, **buyers_of(presale_id), buyerAddress=STRANGER)
    assert found == {"isAllowed": True, "proof": [], "encodedProof": None, "allowedAmountWei": str(3 * ETHER)}


def test_the_owner_of_a_presale_may_replace_the_root_and_disable_the_list(
    post, get, contracts, presale, own_launchpad, forget_presales
):
    presale_id = start(contracts, presale, root="0x" + secrets.token_hex(32))
    post(entries=in_body())
    set_root(own_launchpad, presale_id, TREE.root)
    assert get(PROOF, **buyers_of(presale_id), buyerAddress=OTHER)["isAllowed"]
    set_enabled(own_launchpad, presale_id, False)
    forget_presales()
    found = get(PATH, **buyers_of(presale_id))
    assert (found["merkleRoot"], found["allocations"]) == (None, [])


def test_an_unknown_presale_is_not_found(contracts, client):
    answer = client.get(PATH, buyers_of(99))
    assert (answer.status_code, answer.json()) == (404, {"error": "Presale not found"})


def test_partners_list_and_delete_their_own(client, post, deploy_key, get, contracts, presale):
    other = {"x-api-key": credentials.issue_key("Other", scopes=[Scope.DEPLOY])}
    saved = [post(entries=in_body(ENTRIES[:size])).json() for size in (1, 2, 5)]
    strange = post(entries=in_body(), headers=other).json()
    own = [{name: value for name, value in each.items() if name != "success"} for each in saved[::-1]]
    page = client.get(SAVED, {"limit": 2}, headers=deploy_key).json()
    assert page == {"data": own[:2], "cursor": own[1]["id"]}
    assert client.get("/api/airdrops/saved", headers=deploy_key).json()["data"] == []
    assert client.delete(f"{SAVED}/{strange['id']}", headers=deploy_key).json() == {"error": "Allow-list not found"}
    assert client.delete(f"/api/airdrops/saved/{own[0]['id']}", headers=deploy_key).status_code == 404
    presale_id = start(contracts, presale)
    assert client.delete(f"{SAVED}/{own[0]['id']}", headers=deploy_key).json() == {"success": True}
    # The other key has saved the same entries.
    assert get(PATH, **buyers_of(presale_id))["allocations"] == in_body()
    assert client.delete(f"{SAVED}/{strange['id']}", headers=other).status_code == 200
    assert client.get(PATH, buyers_of(presale_id)).status_code == 404


def test_the_same_entries_as_an_airdrop_are_one_row(client, post, deploy_key):
    entries = [{"account": address, "amount": str(wei)} for address, wei in ENTRIES]
    answer = client.post(
        "/api/airdrops", json.dumps({"entries": entries}), content_type="application/json", headers=deploy_key
    )
    assert post(entries=in_body()).json()["id"] == answer.json()["id"]


def test_a_list_of_the_largest_size_and_amounts_is_saved(post):
    entries = [(f"0x{number:040x}", 10**30 - number) for number in range(1, 10_001)]
    answer = post(entries=in_body(entries))
    assert (answer.status_code, answer.json()["entries"]) == (200, 10_000)


def test_the_limits_are_those_of_saved_airdrops(post, client, settings, deploy_key):
    assert post(entries=in_body()).status_code == 200
    SavedTree.objects.update(entry_count=999_999, kind=TreeKind.AIRDROP)
    text = "A key may have 1000000 saved entries, and has 999999: delete some of them first"
    assert post(entries=in_body(ENTRIES[:2])).json() == {"error": text}
    settings.RATE_LIMIT_DEPLOY = 1
    assert [post(entries=in_body()).status_code for _ in range(2)][1] == 429

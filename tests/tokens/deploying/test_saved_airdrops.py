"""Tests of `/api/airdrops`: saving entries, and lists of a token's and of a partner's airdrops."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.keys import credentials
from accounts.models import PartnerKey, Scope
from tests.rows.airdrop_entries import build_by_peer, sample_entries, tree_dump
from tests.rows.factories import DeploymentFactory, TokenFactory
from tokens.chains.launching.merkle import build_tree
from tokens.deploying import airdrop_proofs, saved_airdrops
from tokens.models import SavedTree, SavedTreeEntry

pytestmark = pytest.mark.django_db

PATH, ALLOCATIONS, SAVED, CLAIM = (
    "/api/airdrops",
    "/api/airdrops/allocations",
    "/api/airdrops/saved",
    "/api/airdrops/claim",
)
TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
ENTRIES = sample_entries(5)
TREE = build_tree(ENTRIES)
CLAIMER, AMOUNT = ENTRIES[3]


def in_body(entries: Any = ENTRIES) -> list[dict[str, str]]:
    return [{"account": account, "amount": str(amount)} for account, amount in entries]


def launched(root: str = TREE.root, **columns: Any) -> Any:
    """Index a token whose airdrop has this root."""
    airdrop = {"amount": "1", "merkleRoot": root, "admin": TOKEN, "lockup": None}
    return TokenFactory(**{"contract_address": TOKEN, "extensions": {"airdrop": airdrop}} | columns)


@pytest.fixture
def save(client, deploy_key):
    """Send a body with a key; return the response."""

    def save(headers=deploy_key, **body):
        return client.post(PATH, json.dumps(body), content_type="application/json", headers=headers)

    return save


@pytest.fixture
def get(client):
    def get(path, **parameters):
        answer = client.get(path, {"tokenAddress": TOKEN} | parameters)
        assert answer.status_code == 200, answer.content
        return answer.json()

    return get


@pytest.mark.parametrize(
    "body",
    [
        {"entries": in_body()},
        {"entries": in_body(reversed(ENTRIES)), "merkleRoot": TREE.root.upper().replace("0X", "0x")},
        {"tree": tree_dump(ENTRIES), "merkleRoot": TREE.root, "tokenAddress": TOKEN},
        {"tree": tree_dump(ENTRIES), "enqueue": True, "delaySeconds": 10},
    ],
)
def test_entries_are_saved_once_and_their_root_is_returned(save, body):
    first, again = save(**body), save(**body)
    stored = SavedTree.objects.get()
    assert (first.status_code, first.json()) == (
        200,
        {
            "id": stored.pk,
            "merkleRoot": TREE.root,
            "amount": str(sum(amount for _, amount in ENTRIES)),
            "entries": 5,
            "createdAt": first.json()["createdAt"],
            "success": True,
        },
    )
    assert again.json() == first.json()
    assert SavedTreeEntry.objects.count() == 5
    assert bytes(stored.nodes) == TREE.nodes
    assert TREE.root == build_by_peer([ENTRIES], roots_only=True)[0].root


def test_whole_tokens_are_json_numbers(save):
    entries = [{"account": CLAIMER, "amount": 3}]
    assert save(entries=entries).json()["amount"] == str(3 * 10**18)


def problem(answer: Any) -> tuple[int, list[str]]:
    return answer.status_code, [f"{each['field']} {each['message']}" for each in answer.json()["details"]]


def test_an_indexed_token_has_to_have_the_root(save):
    launched("0x" + "ab" * 32)
    rule = f"tokenAddress must be a token whose airdrop has the root of the entries, which is {TREE.root}"
    assert problem(save(entries=in_body(), tokenAddress=TOKEN)) == (400, [rule])
    TokenFactory(contract_address=TOKEN, chain_id=1, extensions={"airdrop": {"merkleRoot": TREE.root}})
    assert save(entries=in_body(), tokenAddress=TOKEN).status_code == 200


def test_a_token_has_the_saved_airdrop_of_its_root(save, get, django_assert_num_queries):
    save(entries=in_body())
    nothing = {"claims": [], "airdrops": []}
    assert get(PATH, claimerAddress=CLAIMER) == nothing
    assert get(CLAIM, claimerAddress=CLAIMER) == {"proofs": []}
    token = launched()
    airdrop = {"merkleRoot": TREE.root, "amount": str(sum(amount for _, amount in ENTRIES)), "entries": 5}
    with django_assert_num_queries(2):
        assert get(PATH, claimerAddress=CLAIMER.lower()) == {"claims": [str(AMOUNT)], "airdrops": [airdrop]}
    with django_assert_num_queries(1):
        assert get(PATH) == {"claims": [], "airdrops": [airdrop]}
    (proof,) = get(CLAIM, claimerAddress=CLAIMER)["proofs"]
    (peer,) = build_by_peer([ENTRIES])
    assert proof == {"proof": peer.proofs[3], "entry": {"account": CLAIMER, "amount": str(AMOUNT)}}
    token.unindexed = True
    token.save()
    assert get(PATH, claimerAddress=CLAIMER) == nothing


def test_the_same_airdrop_of_several_sources_is_one(save, get):
    for scopes in ([Scope.DEPLOY], [Scope.DEPLOY, Scope.READ]):
        save(entries=in_body(), headers={"x-api-key": credentials.issue_key("Another", scopes=scopes)})
    deployment = DeploymentFactory(expected_address=TOKEN, status="mined")
    airdrop_proofs.store_tree(deployment, tree=TREE, entries=ENTRIES)
    launched()
    assert SavedTree.objects.count() == 2
    assert len(get(PATH)["airdrops"]) == len(get(CLAIM, claimerAddress=CLAIMER)["proofs"]) == 1
    assert len(get(ALLOCATIONS)["allocations"]) == 5


def test_allocations_are_walked_through_in_pages(save, get):
    deployment, more = DeploymentFactory(expected_address=TOKEN, status="mined"), sample_entries(9)[5:]
    airdrop_proofs.store_tree(deployment, tree=build_tree(more), entries=more)
    save(entries=in_body())
    launched()
    for limit in range(1, 11):
        found, cursor = [], None
        while cursor is not None or not found:
            page = get(ALLOCATIONS, limit=limit, **({"cursor": cursor} if cursor else {}))
            assert len(page["allocations"]) <= limit
            found += page["allocations"]
            cursor = page["cursor"]
        assert sorted(map(str, found)) == sorted(map(str, in_body([*ENTRIES, *more])))


def test_partners_list_and_delete_their_own(client, save, deploy_key, get):
    other = {"x-api-key": credentials.issue_key("Other", scopes=[Scope.DEPLOY])}
    saved = [save(entries=in_body(sample_entries(size))).json() for size in (1, 2, 3)]
    strange = save(entries=in_body(), headers=other).json()
    own = [{name: value for name, value in each.items() if name != "success"} for each in saved[::-1]]
    page = client.get(SAVED, {"limit": 2}, headers=deploy_key).json()
    assert page == {"data": own[:2], "cursor": own[1]["id"]}
    assert client.get(SAVED, {"before": page["cursor"]}, headers=deploy_key).json() == {"data": own[2:], "cursor": None}
    assert client.delete(f"{SAVED}/{strange['id']}", headers=deploy_key).status_code == 404
    answer = client.delete(f"{SAVED}/{own[0]['id']}", headers=deploy_key)
    assert (answer.status_code, answer.json(), answer.headers["Cache-Control"]) == (200, {"success": True}, "no-store")
    assert client.delete(f"{SAVED}/{own[0]['id']}", headers=deploy_key).status_code == 404
    assert SavedTree.objects.count() == 3
    assert SavedTreeEntry.objects.count() == 1 + 2 + 5


def test_lists_of_own_airdrops_read_no_nodes(client, save, deploy_key):
    save(entries=in_body())
    client.get(SAVED, headers=deploy_key)
    with CaptureQueriesContext(connection) as queries:
        client.get(SAVED, headers=deploy_key)
    assert len(queries) == 2 and not any('"nodes"' in query["sql"] for query in queries)


def test_a_key_has_a_limit_of_saved_entries(save):
    assert save(entries=in_body()).status_code == 200
    SavedTree.objects.update(entry_count=999_998)
    answer = save(entries=in_body(sample_entries(3)))
    text = "A key may have 1000000 saved entries, and has 999998: delete some of them first"
    assert (answer.status_code, answer.json()) == (409, {"error": text})
    assert save(entries=in_body(sample_entries(2))).status_code == 200
    # What is saved is returned still.
    assert save(entries=in_body()).status_code == 200


def test_the_daily_limit_of_launch_requests_counts_for_saving_only(client, save, settings, deploy_key):
    settings.RATE_LIMIT_DEPLOY = 1
    assert save(entries=in_body()).status_code == 200
    assert save(entries=in_body()).status_code == 429
    assert client.get(PATH, {"tokenAddress": TOKEN}, headers=deploy_key).status_code == 200


def test_an_airdrop_of_a_hundred_thousand_entries_fits_into_a_body(save):
    entries = [{"account": f"0x{number:040x}", "amount": 1000 + number} for number in range(1, 100_001)]
    answer = save(entries=entries)
    assert (answer.status_code, answer.json()["entries"]) == (200, 100_000)
    assert SavedTreeEntry.objects.count() == 100_000
    assert save(entries=[*entries, entries[0]]).json()["details"][0]["field"] == "entries"


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_save_the_same_entries_once(deploy_key):
    partner = PartnerKey.objects.get()
    request = saved_airdrops.AirdropRequest(entries=tuple(ENTRIES))
    with ThreadPoolExecutor(4) as pool:
        saved = list(pool.map(lambda _: save_by_itself(request, partner), range(8)))
    assert set(saved) == {SavedTree.objects.get().pk}
    assert SavedTreeEntry.objects.count() == len(ENTRIES)


def save_by_itself(request: Any, partner: PartnerKey) -> int:
    try:
        return saved_airdrops.save_airdrop(request, partner=partner).pk
    finally:
        connection.close()

"""Tests of `POST /api/tokens/index` and `POST /api/tokens/index-by-address`."""

import json

import pytest

from development.devchain.anvil import CHAIN_ID
from development.devchain.launch_transactions import DevLaunchConfig
from tests.nodes.devchain_launches import UNKNOWN_HASH
from tests.nodes.recordings import decoded, mined
from tests.nodes.solana.recorded import LAUNCH, MINT, SPL_MINT
from tokens.models import IndexRequest, Token

pytestmark = pytest.mark.django_db

PATH, BY_ADDRESS = "/api/tokens/index", "/api/tokens/index-by-address"
NO_LAUNCH = "address must be a token that a known factory launched"
# 64 bytes in base58.
SIGNATURE = "5" * 88
EVM = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
FAILED = {"error": "Failed to index transaction"}


@pytest.fixture
def post(client, index_key):
    """Send a JSON body with a key and return the response."""
    return lambda body: client.post(PATH, json.dumps(body), content_type="application/json", headers=index_key)


def refused(text, field):
    return {"error": text, "details": [{"field": field, "message": text.removeprefix(f"{field} ")}]}


@pytest.mark.parametrize(
    ("tx_hash", "chain_id"),
    [
        (SIGNATURE, CHAIN_ID),
        (SIGNATURE, None),
        (UNKNOWN_HASH, 101),
        (UNKNOWN_HASH, "101"),
        (SIGNATURE[2:], 101),
        (SIGNATURE + "5", 101),
        (SIGNATURE[:-1] + "l", 101),
        (f"{SIGNATURE} ", 101),
        ("So11111111111111111111111111111111111111112", 101),
    ],
)
def test_it_refuses_what_names_transactions_on_another_kind_of_chain(launchpad, post, settings, tx_hash, chain_id):
    settings.RPC_URLS = settings.RPC_URLS | {101: ("http://127.0.0.1:9",)}
    body = {"txHash": tx_hash} | ({} if chain_id is None else {"chainId": chain_id})
    answer = post(body)
    assert (answer.status_code, answer.json()) == (400, refused("Invalid transaction hash format", "txHash"))
    assert not IndexRequest.objects.exists()


def test_it_indexes_a_launch_on_solana_by_its_signature(installed_solana_node, post, settings):
    for body in ({"txHash": LAUNCH, "chainId": 101}, {"tx_hash": LAUNCH, "chain_id": "101"}, {"txHash": LAUNCH}):
        answer = post(body)
        url = f"{settings.SITE_URL}/tokens/101/{MINT}"
        assert (answer.status_code, answer.json()) == (200, {"success": True, "address": MINT, "url": url})
    token, request = Token.objects.get(), IndexRequest.objects.get()
    assert (token.contract_address, token.tx_hash, token.chain_id) == (MINT, LAUNCH, 101)
    assert (request.tx_hash, request.status) == (LAUNCH, "confirmed")


@pytest.mark.parametrize("signature", [SPL_MINT, SIGNATURE])
def test_it_refuses_what_is_no_launch_on_solana(installed_solana_node, post, queue, signature):
    answer = post({"txHash": signature, "chainId": 101})
    assert (answer.status_code, answer.json()) == (400, FAILED)
    assert not Token.objects.exists()
    # A plain mint never becomes a launch; a transaction that is unknown to all nodes may come.
    assert IndexRequest.objects.get().status == ("failed" if signature == SPL_MINT else "pending")


def test_without_a_chain_the_only_one_with_a_node_is_meant(launchpad, post):
    assert post({"txHash": launchpad.launch()}).status_code == 200
    assert Token.objects.get().chain_id == CHAIN_ID


def test_without_a_chain_the_registrys_first_with_a_node_is_meant(installed_node, post, settings):
    settings.RPC_URLS = {1: ("http://127.0.0.1:9",)} | settings.RPC_URLS
    (launch,) = mined("deploy-plain").decode()
    assert post({"txHash": launch.tx_hash}).status_code == 200
    assert Token.objects.get().chain_id == 8453


@pytest.mark.parametrize("kind", ["transfer", "reverted"])
def test_it_refuses_a_transaction_without_a_launch_for_good(launchpad, post, queue, kind):
    answer = post({"txHash": getattr(launchpad, kind)(), "chainId": CHAIN_ID})
    assert (answer.status_code, answer.json()) == (400, FAILED)
    assert answer.headers["Cache-Control"] == "no-store"
    assert IndexRequest.objects.get().status == "failed"
    assert queue() == []


def test_an_unknown_transaction_is_tried_again_later(launchpad, post, queue):
    for _ in range(2):
        answer = post({"txHash": UNKNOWN_HASH, "chainId": CHAIN_ID})
        assert (answer.status_code, answer.json()) == (400, FAILED)
    request = IndexRequest.objects.get()
    assert (request.chain_id, request.tx_hash, request.status) == (CHAIN_ID, UNKNOWN_HASH, "pending")
    # The second caller found the schedule there.
    (message,) = queue()
    assert (message.task, message.args) == ("tokens.tasks.index_transaction", [CHAIN_ID, UNKNOWN_HASH])
    assert message.eta is not None


def test_a_node_that_is_away_is_no_fault_of_the_caller(launchpad, post, queue, settings, forget_chains):
    settings.RPC_URLS = {CHAIN_ID: ("http://secret:key@127.0.0.1:9/path",)}
    settings.RPC_ATTEMPTS = 1
    forget_chains()
    answer = post({"txHash": UNKNOWN_HASH, "chainId": CHAIN_ID})
    assert (answer.status_code, answer.json()) == (503, {"error": "The chain is not available"})
    assert answer.headers["Retry-After"] == "15"
    assert answer.headers["Cache-Control"] == "no-store"
    assert IndexRequest.objects.get().status == "pending"
    assert len(queue()) == 1


def test_it_indexes_a_launch_at_once(launchpad, post, client, queue, settings):
    settings.SITE_URL = "https://launchboard.example"
    answer = post({"txHash": launchpad.launch(), "chainId": CHAIN_ID})
    (record,) = client.get("/api/tokens").json()["data"]
    address = record["contract_address"]
    assert answer.status_code == 200
    assert answer.json() == {
        "success": True,
        "address": address,
        "url": f"https://launchboard.example/tokens/{CHAIN_ID}/{address}",
    }
    assert queue() == []


def test_it_names_all_tokens_of_a_transaction(launchpad, post):
    names = ["First", "Second"]
    answer = post(
        {"txHash": launchpad.launch_batch(*[DevLaunchConfig(name=name) for name in names]), "chainId": CHAIN_ID}
    )
    body = answer.json()
    found = dict(Token.objects.values_list("contract_address", "name"))
    assert [found[address] for address in body["addresses"]] == names
    assert body["address"] == body["addresses"][0]


@pytest.mark.parametrize(
    "spell",
    [
        lambda tx_hash: {"tx_hash": tx_hash, "chain_id": CHAIN_ID},
        lambda tx_hash: {"txHash": "0X" + tx_hash[2:].upper(), "chainId": str(CHAIN_ID)},
        lambda tx_hash: {"txHash": tx_hash, "tx_hash": "x", "chainId": CHAIN_ID, "chain_id": 1, "other": {}},
    ],
)
def test_it_takes_other_spellings(launchpad, post, spell):
    tx_hash = launchpad.launch()
    assert post(spell(tx_hash)).status_code == 200
    assert IndexRequest.objects.get().tx_hash == tx_hash


def test_indexing_again_refreshes_and_keeps_id_and_tags(launchpad, post):
    body = {"txHash": launchpad.launch(), "chainId": CHAIN_ID}
    first = post(body)
    before = Token.objects.get()
    Token.objects.update(blocked=True, name="Stale")
    assert post(body).json() == first.json()
    after = Token.objects.get()
    assert (after.pk, after.blocked, after.name) == (before.pk, True, before.name)


@pytest.fixture
def recorded(installed_node, settings, post):
    """Post a transaction of the recorded chain, and return the response."""
    settings.SITE_URL = "https://launchboard.example"
    return lambda label: post({"txHash": decoded(label)["hash"], "chainId": 8453})


def test_it_refuses_what_happened_to_tokens_that_it_does_not_know(recorded, queue):
    answer = recorded("token-update-image")
    assert (answer.status_code, answer.json()) == (400, FAILED)
    request = IndexRequest.objects.get()
    assert (request.status, "no event of a known token" in request.last_error) == ("failed", True)
    assert queue() == []


def test_it_names_the_token_to_which_something_happened(recorded, client):
    launched = recorded("deploy-plain").json()
    answer = recorded("token-update-image")
    assert (answer.status_code, answer.json()) == (200, launched)
    assert client.get("/api/tokens").json()["data"][0]["img_url"] == "ipfs://new-image"


def test_a_claim_in_a_currency_belongs_to_no_one_token(recorded):
    answer = recorded("claim-weth-plain")
    assert (answer.status_code, answer.json()) == (200, {"success": True, "address": None, "url": None})
    assert IndexRequest.objects.get().status == "indexed"


# By address.


@pytest.fixture
def post_address(client, index_key):
    """Send a JSON body with a key to the endpoint of addresses, and return the response."""
    return lambda body: client.post(BY_ADDRESS, json.dumps(body), content_type="application/json", headers=index_key)


@pytest.fixture
def launched(launchpad, post):
    """Launch a token and forget it; return its address and transaction."""
    tx_hash = launchpad.launch()
    address = post({"txHash": tx_hash, "chainId": CHAIN_ID}).json()["address"]
    Token.objects.all().delete()
    IndexRequest.objects.all().delete()
    return address, tx_hash


@pytest.mark.parametrize(
    "spell",
    [
        lambda address: {"address": address, "chainId": CHAIN_ID},
        lambda address: {"address": address.lower(), "chain_id": str(CHAIN_ID)},
        lambda address: {"address": address},
    ],
)
def test_a_token_is_indexed_by_its_address(launched, post_address, settings, queue, spell):
    settings.SITE_URL = "https://launchboard.example"
    address, tx_hash = launched
    for _ in range(2):
        answer = post_address(spell(address))
        assert (answer.status_code, answer.json()) == (
            200,
            {
                "success": True,
                "message": "Token indexed successfully",
                "address": address,
                "txHash": tx_hash,
                "url": f"https://launchboard.example/tokens/{CHAIN_ID}/{address}",
            },
        )
    assert Token.objects.get().contract_address == address
    assert IndexRequest.objects.get().tx_hash == tx_hash
    assert queue() == []


def test_an_indexed_token_needs_no_search(installed_node, post, post_address):
    (launch,) = mined("deploy-plain").decode()
    assert post({"txHash": launch.tx_hash, "chainId": 8453}).status_code == 200
    answer = post_address({"address": launch.token, "chainId": 8453})
    assert (answer.status_code, answer.json()["txHash"]) == (200, launch.tx_hash)
    assert not installed_node.call_count("eth_getCode")


@pytest.mark.parametrize("name", ["wrapped_native", "factory"])
def test_an_address_without_a_launch_is_refused(launchpad, post_address, queue, name):
    answer = post_address({"address": getattr(launchpad.deployment, name), "chainId": CHAIN_ID})
    assert (answer.status_code, answer.json()) == (400, refused(NO_LAUNCH, "address"))
    assert not IndexRequest.objects.exists() and queue() == []


def test_on_solana_only_indexed_tokens_are_found(installed_solana_node, post, post_address):
    answer = post_address({"address": MINT, "chainId": 101})
    assert (answer.status_code, answer.json()) == (400, refused(NO_LAUNCH, "address"))
    post({"txHash": LAUNCH, "chainId": 101})
    answer = post_address({"address": MINT, "chainId": 101})
    assert (answer.status_code, answer.json()["txHash"]) == (200, LAUNCH)


def test_a_search_without_a_node_is_retried_later(launchpad, post_address, queue, settings, forget_chains):
    settings.RPC_URLS, settings.RPC_ATTEMPTS = {CHAIN_ID: ("http://secret:key@127.0.0.1:9/path",)}, 1
    forget_chains()
    answer = post_address({"address": EVM, "chainId": CHAIN_ID})
    assert (answer.status_code, answer.json()) == (503, {"error": "The chain is not available"})
    assert "Retry-After" in answer.headers
    assert not IndexRequest.objects.exists() and queue() == []


def test_a_transaction_that_a_node_made_up_is_no_launch_of_the_token(installed_node, post_address):
    (launch,), (other,) = (mined(label).decode() for label in ("deploy-plain", "deploy-vault"))
    logs = installed_node.answers["eth_getLogs"]
    installed_node.answers |= {
        "eth_getCode": lambda address, block: "0x60" if int(block, 16) >= launch.block_number else "0x",
        "eth_getLogs": lambda query: [log | {"transactionHash": other.tx_hash} for log in logs(query)],
    }
    answer = post_address({"address": launch.token, "chainId": 8453})
    assert (answer.status_code, answer.json()) == (400, refused(NO_LAUNCH, "address"))
    assert not Token.objects.filter(contract_address=launch.token).exists()

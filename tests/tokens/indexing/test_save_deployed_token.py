"""Tests of `POST /api/tokens/save-deployed-token/from-ui`, which trusts no field that a user sends."""

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Person
from tests.config.operators.admin_pages import figures, shown
from tests.nodes.devchain_launches import UNKNOWN_HASH
from tests.nodes.recordings import decoded
from tests.nodes.solana.recorded import LAUNCH as RECORDED_LAUNCH
from tests.nodes.solana.recorded import MINT as RECORDED_MINT
from tests.processes.at_once import call_at_once
from tests.rows.factories import IndexRequestFactory, PersonFactory, SavedTokenFactory, TokenFactory
from tests.rows.user_tokens import APP_ID, as_user, bearer
from tokens.indexing import index_requests, saved_tokens, tasks
from tokens.models import IndexRequest, SavedToken, Token

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("installed_node")]

PATH = "/api/tokens/save-deployed-token/from-ui"
LAUNCH = decoded("deploy-plain")["hash"]
FALSE = "0x" + "aB" * 20
FALSE_SHOWN = "0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB"
FID = 4242
MINT, SIGNATURE = "So11111111111111111111111111111111111111112", "5" * 88


@pytest.fixture
def me(issuer):
    return as_user(issuer, FID)


def save_body(**changes):
    return {"address": FALSE, "tx_hash": LAUNCH, "chain_id": 8453} | changes


def save(client, body, headers=None):
    return client.post(PATH, json.dumps(body), content_type="application/json", headers=headers)


def index_due(*, seconds=5.5):
    """Run the worker's tasks that the sweeper finds due in so many seconds."""
    for chain_id, tx_hash in index_requests.claim_due_requests(timezone.now() + timedelta(seconds=seconds)):
        tasks.index_transaction(chain_id, tx_hash)


def state():
    return SavedToken.objects.with_state().get().state


def launched():
    """Return the address that the recorded launch really has."""
    index_requests.index_transaction(chain_id=8453, tx_hash=LAUNCH)
    address = Token.objects.get().contract_address
    Token.objects.all().delete()
    IndexRequest.objects.all().delete()
    return address


def listed(client, **query):
    return [row["contract_address"] for row in client.get("/api/tokens", query).json()["data"]]


@pytest.mark.parametrize(
    ("changes", "field", "rule"),
    [
        ({"address": MINT}, "address", "must be a 20-byte hex address on a chain other than Solana"),
        ({"tx_hash": SIGNATURE}, "tx_hash", "must be a transaction hash, 0x followed by 64 hex digits"),
        ({"chain_id": 101, "tx_hash": SIGNATURE}, "address", "must be base58 of 32 bytes: chain 101 is Solana"),
        ({"chain_id": 101, "address": MINT}, "tx_hash", "must be a base58 signature of 64 bytes: chain 101 is Solana"),
    ],
)
def test_it_refuses_what_another_kind_of_chain_has(client, me, settings, forget_chains, changes, field, rule):
    settings.RPC_URLS = settings.RPC_URLS | {101: ("http://127.0.0.1:9",)}
    forget_chains()
    answer = save(client, save_body(**changes), me)
    assert answer.status_code == 400
    assert answer.json()["details"] == [{"field": field, "message": rule}]
    assert not IndexRequest.objects.exists() and not SavedToken.objects.exists()


@pytest.mark.parametrize(("address", "expected"), [(RECORDED_MINT, "confirmed"), (MINT, "refuted")])
def test_the_chain_decides_on_solana_too(installed_solana_node, client, me, address, expected):
    assert save(client, save_body(address=address, tx_hash=RECORDED_LAUNCH, chain_id=101), me).status_code == 200
    index_due()
    assert state() == expected
    assert listed(client) == [RECORDED_MINT]


def test_it_requires_all_three(client):
    answer = save(client, {})
    assert {detail["field"] for detail in answer.json()["details"]} == {"address", "tx_hash", "chain_id"}


def test_a_strangers_request_is_only_queued(client, queue):
    answer = save(client, save_body())
    assert (answer.status_code, answer.json()) == (200, {"success": True, "tokenAddress": FALSE_SHOWN})
    request = IndexRequest.objects.get()
    assert (request.chain_id, request.tx_hash, request.status, request.from_page) == (8453, LAUNCH, "pending", True)
    assert (SavedToken.objects.count(), Person.objects.count(), Token.objects.count()) == (0, 0, 0)
    # Nothing that could be lost.
    assert queue() == []


def test_a_users_request_is_saved_at_once(client, me):
    answer = save(client, save_body(), me)
    assert (answer.status_code, answer.json()) == (200, {"success": True, "tokenAddress": FALSE_SHOWN})
    saved = SavedToken.objects.with_state().get()
    assert (saved.person.fid, saved.chain_id, saved.tx_hash) == (FID, 8453, LAUNCH)
    assert (saved.contract_address, saved.state) == (FALSE_SHOWN, "unindexed")
    assert (IndexRequest.objects.count(), Token.objects.count()) == (1, 0)


@pytest.mark.parametrize(
    "body",
    [
        {"address": FALSE.upper().replace("X", "x"), "txHash": LAUNCH, "chainId": "8453"},
        {"address": FALSE, "tx_hash": "0X" + LAUNCH[2:].upper(), "chain_id": 8453, "txHash": 1, "more": {}},
    ],
)
def test_it_takes_other_spellings(client, me, body):
    answer = save(client, body, me)
    assert (answer.status_code, answer.json()["tokenAddress"]) == (200, FALSE_SHOWN)
    assert SavedToken.objects.get().tx_hash == LAUNCH


def test_the_same_again_is_one_row_and_another_address_or_user_another(client, me, issuer):
    for _ in range(2):
        assert save(client, save_body(), me).json() == {"success": True, "tokenAddress": FALSE_SHOWN}
    assert SavedToken.objects.count() == 1
    save(client, save_body(address="0x" + "12" * 20), me)
    save(client, save_body(), as_user(issuer, FID + 1))
    assert (SavedToken.objects.count(), IndexRequest.objects.count()) == (3, 1)


def test_a_user_who_proves_to_be_another_has_saved_it_already(client, issuer):
    subject = "did:privy:saver"
    save(client, save_body(), bearer(issuer.privy(subject, app_id=APP_ID)))
    save(client, save_body(address="0x" + "12" * 20), as_user(issuer, FID))
    identity = bearer(issuer.privy(subject, app_id=APP_ID, fid=FID))
    assert save(client, save_body(), identity).status_code == 200
    assert SavedToken.objects.count() == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("signed_in", [False, True])
def test_clients_at_once_make_one_row(me, client, signed_in):
    # Created before, since the first calls of a user race for the user's own row.
    save(client, save_body(tx_hash=UNKNOWN_HASH), me)
    answers = call_at_once([lambda: save(Client(), save_body(), me if signed_in else None)] * 8)
    assert [answer.status_code for answer in answers] == [200] * 8
    assert SavedToken.objects.filter(tx_hash=LAUNCH).count() == signed_in
    assert IndexRequest.objects.filter(tx_hash=LAUNCH).count() == 1


def test_it_is_looked_for_five_seconds_later(client):
    before = timezone.now()
    save(client, save_body())
    assert index_requests.claim_due_requests(before + timedelta(seconds=4.9)) == []
    assert index_requests.claim_due_requests(timezone.now() + timedelta(seconds=5)) == [(8453, LAUNCH)]


def test_the_chain_confirms_what_is_true(client, me):
    address = launched()
    save(client, save_body(address=address.lower()), me)
    assert (state(), listed(client)) == ("unindexed", [])
    index_due()
    assert (state(), listed(client)) == ("confirmed", [address])


@pytest.mark.parametrize("signed_in", [False, True])
def test_the_chain_wins_over_what_is_false(client, read_key, me, signed_in):
    address = launched()
    save(client, save_body(), me if signed_in else None)
    for _ in range(2):
        for query in ({"q": FALSE}, {"q": FALSE_SHOWN}, {"chainId": 8453, "fid": FID}):
            assert listed(client, **query) == []
        assert client.get("/api/get-token-by-address", {"address": FALSE}, headers=read_key).status_code == 404
        assert client.get(f"/tokens/8453/{FALSE_SHOWN}").status_code == 404
        assert client.get("/api/tokens/fetch-deployed-by-fid", {"fid": FID}).json()["data"] == []
        index_due()
    assert listed(client) == [address]
    assert client.get("/api/tokens").json()["total"] == 1
    if signed_in:
        assert state() == "refuted"
        assert SavedToken.objects.with_findings().get().launched == [address]


def test_saving_a_launch_does_not_change_its_requestor(client, me):
    index_requests.index_transaction(chain_id=8453, tx_hash=LAUNCH)
    before = Token.objects.values("requestor_fid", "requestor_address", "msg_sender").get()
    save(client, save_body(address=Token.objects.get().contract_address), me)
    index_due()
    index_requests.index_transaction(chain_id=8453, tx_hash=LAUNCH)
    assert Token.objects.values("requestor_fid", "requestor_address", "msg_sender").get() == before
    assert before["requestor_fid"] != FID


def test_a_reorg_leaves_it_unindexed_until_the_launch_comes_again(client, me):
    save(client, save_body(address=launched()), me)
    index_due()
    index_requests.unwind_request(IndexRequest.objects.get())
    assert (state(), listed(client)) == ("unindexed", [])
    index_due()
    assert state() == "confirmed"


@pytest.mark.parametrize("tx_hash", [UNKNOWN_HASH, decoded("token-update-image")["hash"]])
def test_what_was_never_mined_or_holds_no_launch_stays_visible_as_failed(client, me, settings, tx_hash):
    settings.INDEX_MAX_ATTEMPTS = 2
    save(client, save_body(tx_hash=tx_hash), me)
    assert state() == "unindexed"
    for _ in range(2):
        index_due(seconds=200)
    assert state() == "failed"
    saved = SavedToken.objects.with_findings().get()
    request = IndexRequest.objects.get()
    assert (request.status, saved.launched, saved.error) == ("failed", [], request.last_error)
    assert request.last_error


def test_what_is_stored_already_is_requested_from_no_node(client, me, installed_node):
    token = TokenFactory(chain_id=8453, tx_hash=LAUNCH)
    save(client, save_body(address=token.contract_address), me)
    save(client, save_body(), me)
    assert not IndexRequest.objects.exists()
    states = {saved.contract_address: saved.state for saved in SavedToken.objects.with_state()}
    assert states == {token.contract_address: "confirmed", FALSE_SHOWN: "refuted"}
    assert installed_node.received == []


@pytest.mark.parametrize("status", ["failed", "orphaned"])
def test_what_failed_before_starts_anew(client, status):
    IndexRequestFactory(chain_id=8453, tx_hash=LAUNCH, status=status, attempts=12, last_error="unknown")
    save(client, save_body())
    request = IndexRequest.objects.get()
    assert (request.status, request.attempts, request.from_page) == ("pending", 0, False)
    index_due()
    assert Token.objects.count() == 1


def test_what_is_being_looked_for_keeps_its_schedule(client):
    later = timezone.now() + timedelta(minutes=5)
    IndexRequestFactory(chain_id=8453, tx_hash=LAUNCH, attempts=9, due_at=later)
    before = IndexRequest.objects.values().get()
    save(client, save_body())
    assert IndexRequest.objects.values().get() == before


def test_what_a_partner_requests_too_is_no_longer_a_strangers(client, index_key):
    save(client, save_body(tx_hash=UNKNOWN_HASH))
    body = {"txHash": UNKNOWN_HASH, "chainId": 8453}
    client.post("/api/tokens/index", body, content_type="application/json", headers=index_key)
    assert IndexRequest.objects.get().from_page is False


@pytest.fixture
def limited(settings, no_calls):
    """Limit each user to two calls an hour, and a stranger to one."""
    settings.RATE_LIMIT_SAVE_TOKEN, settings.RATE_LIMIT_SAVE_TOKEN_ANONYMOUS = 2, 1


def test_strangers_and_users_are_limited_each_by_their_own(client, me, issuer, limited):
    assert [save(client, save_body()).status_code for _ in range(2)] == [200, 429]
    answers = [save(client, save_body(), me) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2].json() == {"error": "Too many requests. Please try again later."}
    assert answers[2].headers["RateLimit-Limit"] == "2"
    assert 3_500 < int(answers[2].headers["Retry-After"]) <= 3_600
    assert save(client, save_body(), as_user(issuer, FID + 1)).status_code == 200


def test_strangers_have_to_wait_while_they_cannot_be_counted(client, me, limited, settings, unused_port):
    settings.REDIS_URL = f"redis://127.0.0.1:{unused_port}/0"
    answer = save(client, save_body())
    assert (answer.status_code, answer.json()) == (503, {"error": "Service is temporarily unavailable"})
    assert not IndexRequest.objects.exists()
    assert save(client, save_body(), me).status_code == 200


def test_a_user_has_so_many_and_no_more(client, me):
    save(client, save_body(), me)
    person = Person.objects.get()
    made = [
        SavedToken(person=person, chain_id=8453, tx_hash=f"0x{number:064x}", contract_address=FALSE_SHOWN)
        for number in range(saved_tokens.MAX_SAVED - 1)
    ]
    SavedToken.objects.bulk_create(made)
    answer = save(client, save_body(tx_hash=UNKNOWN_HASH), me)
    assert (answer.status_code, answer.json()) == (409, {"error": "1000 tokens are saved, which is the most"})
    assert not IndexRequest.objects.filter(tx_hash=UNKNOWN_HASH).exists()
    assert save(client, save_body(), me).status_code == 200


def test_what_the_chain_has_not_confirmed_is_pruned_when_it_is_old(settings):
    settings.SAVED_TOKEN_DAYS = 3
    old, processes = (timezone.now() - timedelta(days=days) for days in (3.1, 2.9))
    token = TokenFactory(chain_id=8453)
    true = SavedTokenFactory(tx_hash=token.tx_hash, contract_address=token.contract_address, created_at=old)
    SavedTokenFactory(tx_hash=token.tx_hash, created_at=old)
    fresh = SavedTokenFactory(created_at=processes)
    requests = [
        IndexRequestFactory(status=status, from_page=from_page)
        for status, from_page in (("failed", True), ("failed", False), ("pending", True), ("indexed", True))
    ]
    IndexRequest.objects.update(updated_at=old)
    recent = IndexRequestFactory(status="failed", from_page=True)
    tasks.prune_saved_tokens()
    assert set(SavedToken.objects.all()) == {true, fresh}
    assert set(IndexRequest.objects.all()) == {*requests[1:], recent}


def test_operators_see_whose_it_is_and_what_is_on_chain(operator):
    page = reverse("admin:tokens_savedtoken_changelist")
    token = TokenFactory(chain_id=8453)
    rows = {
        "confirmed": SavedTokenFactory(tx_hash=token.tx_hash, contract_address=token.contract_address),
        "refuted": SavedTokenFactory(tx_hash=token.tx_hash),
        "failed": SavedTokenFactory(tx_hash=UNKNOWN_HASH),
        "unindexed": SavedTokenFactory(person=PersonFactory(linked=True, linked_to=PersonFactory(fid=777))),
    }
    IndexRequestFactory(chain_id=8453, tx_hash=UNKNOWN_HASH, status="failed", last_error="never heard of it")
    for name, row in rows.items():
        assert shown(operator, page, state=name) == [row.pk]
        assert row.contract_address in operator.get(f"{page}{row.pk}/change/").content.decode()
        assert shown(operator, page, q=row.contract_address) == [row.pk]
    text = operator.get(page).content.decode()
    assert "never heard of it" in text and "FID 777" in text
    assert shown(operator, page, q="777") == [rows["unindexed"].pk]
    assert set(shown(operator, page, q=token.tx_hash)) == {rows["confirmed"].pk, rows["refuted"].pk}


def test_requests_of_strangers_alert_no_operator(operator):
    IndexRequestFactory(status="failed", from_page=True)
    assert not any(figure.is_alarming for figure in figures(operator, "Index requests").values())

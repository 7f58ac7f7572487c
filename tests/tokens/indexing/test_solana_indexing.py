"""Indexing of Solana's transactions: by signature, as a launch that is final, with its document and its claims."""

import dataclasses

import pytest
from django.db import transaction

from tests.nodes.solana.changed import mint
from tests.nodes.solana.recorded import CLAIM, CONFIG, CREATE_CONFIG, CREATOR, LAUNCH, MINT, POOL, PROGRAM, WRAPPED_SOL
from tests.rows.factories import TokenFactory
from tests.rows.written_facts import recorded_facts, write_all
from tokens.chains.errors import LaunchNotFoundError
from tokens.indexing import chain_lock, index_requests, tasks
from tokens.indexing.writing import write_transactions
from tokens.installation.installed_registry import registry
from tokens.models import FeeClaim, IndexRequest, LaunchFacts, Token, TokenDocument, TokenEvent

pytestmark = pytest.mark.django_db

SOLANA = 101


@pytest.fixture
def node(faulty_solana, settings, forget_chains):
    settings.RPC_ATTEMPTS, settings.RPC_PATIENCE_SECONDS = 1, 5.0
    forget_chains()
    return faulty_solana


def index(signature):
    return index_requests.index_transaction(chain_id=SOLANA, tx_hash=signature)


def request():
    return IndexRequest.objects.get(chain_id=SOLANA)


def test_a_transaction_that_launched_nothing_is_refused(node):
    with pytest.raises(LaunchNotFoundError):
        index(CREATE_CONFIG)
    assert request().status == "failed"
    assert not Token.objects.exists()


def test_a_transaction_that_no_node_has_yet_is_retried(node):
    node.missing.add(LAUNCH)
    with pytest.raises(index_requests.IndexingPostponedError):
        index(LAUNCH)
    assert request().status == "pending"
    node.missing.clear()
    assert index(LAUNCH) == (MINT,)
    assert request().status == "confirmed"


def test_a_launch_is_final_at_once(node):
    assert index(LAUNCH) == (MINT,)
    found = request()
    assert (found.status, found.block_number, found.block_hash) == ("confirmed", 1003, "")
    token = Token.objects.get()
    assert (token.contract_address, token.pool_address, token.generation) == (MINT, POOL, "solana")
    assert (token.tx_hash, token.block_number, token.block_hash) == (LAUNCH, 1003, "")
    assert (token.pair, token.paired_token, token.factory_address) == ("SOL", WRAPPED_SOL, PROGRAM)
    assert (token.supply, token.decimals, token.starting_market_cap) == (10**15, 6, None)
    assert (token.admin, token.launch_warnings) == (CREATOR, [])


def test_a_launch_that_is_indexed_again_is_refreshed(node):
    index(LAUNCH)
    Token.objects.update(name="another", champagne=True)
    index(LAUNCH)
    token = Token.objects.get()
    assert token.name != "another"
    assert token.champagne
    assert (request().status, TokenDocument.objects.count()) == ("confirmed", 1)


def test_what_was_indexed_stays_where_a_node_does_not_have_it(node):
    index(LAUNCH)
    node.transactions[LAUNCH] = node.transactions[CREATE_CONFIG] | {}
    for form in ("json", "jsonParsed"):
        node.transactions[LAUNCH][form] = node.transactions[CREATE_CONFIG][form]
    with pytest.raises(index_requests.IndexingPostponedError):
        index(LAUNCH)
    assert Token.objects.on_chain().exists()
    node.missing.add(LAUNCH)
    with pytest.raises(index_requests.IndexingPostponedError):
        index(LAUNCH)
    assert Token.objects.on_chain().exists()
    assert request().status == "confirmed"


def test_confirming_is_of_evm_chains_only(node, settings):
    index(LAUNCH)
    tasks.confirm_index_requests()
    tasks.confirm_chain(SOLANA)
    assert request().status == "confirmed"


def test_a_launch_requests_its_document_once(node):
    index(LAUNCH)
    document = TokenDocument.objects.get()
    assert (document.token.contract_address, document.status, document.attempts) == (MINT, "pending", 0)
    assert document.uri == LaunchFacts.objects.get().facts["uri"]
    TokenDocument.objects.update(status="fetched", content={"description": "x"}, attempts=2)
    index(LAUNCH)
    document.refresh_from_db()
    assert (document.status, document.attempts, document.content) == ("fetched", 2, {"description": "x"})
    TokenDocument.objects.update(uri="https://example.com/before")
    index(LAUNCH)
    document.refresh_from_db()
    assert (document.status, document.attempts, document.content) == ("pending", 0, {"description": "x"})


def test_launches_of_other_chains_request_none_and_keep_the_shape_of_their_facts():
    write_all(recorded_facts())
    assert not TokenDocument.objects.exists()
    assert not {"uri", "decimals"} & set(LaunchFacts.objects.first().facts)
    assert set(Token.objects.values_list("decimals", flat=True)) == {18}


def test_a_claim_is_an_event_of_its_pools_token(node):
    index(LAUNCH)
    assert index(CLAIM) == (MINT,)
    event = TokenEvent.objects.get()
    assert (event.kind, event.emitter, event.token.contract_address) == ("fees_claimed", PROGRAM, MINT)
    (amount,) = FeeClaim.objects.values_list("amount", flat=True)
    assert event.arguments == {
        "pool": POOL,
        "paid_to": "creator",
        "claimer": CREATOR,
        "amounts": {MINT: "0", WRAPPED_SOL: str(amount)},
    }
    index(CLAIM)
    assert (TokenEvent.objects.count(), FeeClaim.objects.count()) == (1, 1)


def test_a_claim_of_an_unknown_pool_has_no_token(node):
    with pytest.raises(LaunchNotFoundError):
        index(CLAIM)
    assert not TokenEvent.objects.exists()


def test_a_claim_that_another_program_logs_is_not_trusted(node):
    index(LAUNCH)
    facts = index_requests.installed_launch_chain(SOLANA).read_transaction(CLAIM)
    (claim,) = facts.pool_claims
    made_up = dataclasses.replace(claim, program=CONFIG)
    with transaction.atomic():
        chain_lock.lock_exclusive(SOLANA)
        written = write_transactions([dataclasses.replace(facts, pool_claims=(made_up,))], chain=registry().solana)
    assert written.events == 0


def test_a_pool_of_another_chain_is_another_one(node):
    TokenFactory(pool_address=POOL)
    with pytest.raises(LaunchNotFoundError):
        index(CLAIM)


@pytest.mark.parametrize(("currency", "total"), [(WRAPPED_SOL, 4_000_000 * 2), (MINT, 0)])
def test_the_claimed_fees_are_returned(node, client, read_key, currency, total):
    index(LAUNCH)
    index(CLAIM)
    of_other = node.launch("other")
    index(list(node.transactions)[-1])
    second = node.claim("second", of="other")
    index(second)
    assert of_other == mint("other")
    answer = client.get(f"/api/get-claimed-fees/{currency}/{CREATOR}", {"chainId": SOLANA}, headers=read_key)
    assert answer.status_code == 200
    found = answer.json()
    assert (found["totalClaimed"], found["claimCount"]) == (str(total), 2 if total else 0)
    assert set(found["txHashes"]) == ({CLAIM, second} if total else set())

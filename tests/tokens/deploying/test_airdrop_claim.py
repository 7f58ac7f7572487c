"""Tests of `GET /api/airdrops/claim`."""

import os

import pytest
from django.db import IntegrityError, connection, transaction

from development.devchain import node_client as node
from development.devchain.airdrop_tree import merkle_proof
from development.devchain.launch_transactions import DAY, DevAirdropShare, DevLaunchConfig
from tests.nodes.devchain_tests import OTHER, SENDER, launch_token, let_pass, token_at
from tests.rows.airdrop_entries import sample_entries
from tests.rows.factories import DeploymentFactory, TokenFactory
from tokens.chains.launching.merkle import build_tree
from tokens.deploying import airdrop_proofs
from tokens.models import AirdropEntry, AirdropTree, DeploymentStatus

pytestmark = pytest.mark.django_db

PATH = "/api/airdrops/claim"
TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
ENTRIES = sample_entries(5)
CLAIMER, AMOUNT = ENTRIES[3]


@pytest.fixture
def give():
    """Store a mined deployment of the token whose airdrop has these entries; other columns by name."""

    def give(entries=ENTRIES, **columns):
        launched = DeploymentFactory(**({"expected_address": TOKEN, "status": DeploymentStatus.MINED} | columns))
        airdrop_proofs.store_tree(launched, tree=build_tree(entries), entries=entries)
        return launched

    return give


@pytest.fixture
def fetch(client):
    """Request a claimer's proofs; return the response."""
    return lambda claimer=CLAIMER, token=TOKEN: client.get(PATH, {"tokenAddress": token, "claimerAddress": claimer})


def test_a_token_that_was_not_deployed_here_has_no_proofs(fetch):
    TokenFactory(contract_address=TOKEN)
    answer = fetch()
    assert (answer.status_code, answer.json()) == (200, {"proofs": []})


def test_an_account_without_a_part_has_no_proofs(fetch, give):
    give()
    assert fetch(SENDER).json() == {"proofs": []}
    assert fetch(token=SENDER).json() == {"proofs": []}


@pytest.mark.parametrize("status", [DeploymentStatus.ENQUEUED, DeploymentStatus.SUBMITTED, DeploymentStatus.FAILED])
def test_a_token_that_is_not_on_its_chain_has_no_proofs(fetch, give, status):
    give(status=status)
    assert fetch().json() == {"proofs": []}


def test_a_listed_token_that_a_reorg_took_back_has_no_proofs(fetch, give):
    given = give(status=DeploymentStatus.INDEXED, token=TokenFactory(contract_address=TOKEN, unindexed=True))
    assert fetch().json() == {"proofs": []}
    given.token.unindexed = False
    given.token.save()
    assert len(fetch().json()["proofs"]) == 1


def test_it_gives_the_proof_of_the_accounts_entry(fetch, give, django_assert_num_queries):
    give()
    give(sample_entries(9), expected_address=SENDER)
    with django_assert_num_queries(2):
        answer = fetch(CLAIMER.lower(), "0X" + TOKEN[2:].upper())
    proof = [f"0x{node.hex()}" for node in merkle_proof(ENTRIES, (CLAIMER, AMOUNT))]
    assert answer.json() == {"proofs": [{"proof": proof, "entry": {"account": CLAIMER, "amount": str(AMOUNT)}}]}
    assert answer.headers["Cache-Control"] == "public, s-maxage=2"


def test_the_only_account_needs_no_hashes(fetch, give):
    give([(CLAIMER, 2**256 - 1)])
    assert fetch().json() == {"proofs": [{"proof": [], "entry": {"account": CLAIMER, "amount": str(2**256 - 1)}}]}


def test_tokens_of_two_chains_with_one_address_have_a_proof_each(fetch, give):
    give()
    give(sample_entries(9), chain_id=84532)
    expected = [merkle_proof(entries, (CLAIMER, AMOUNT)) for entries in (ENTRIES, sample_entries(9))]
    assert [found["proof"] for found in fetch().json()["proofs"]] == [
        [f"0x{node.hex()}" for node in proof] for proof in expected
    ]


def test_an_account_has_one_entry(give):
    with pytest.raises(IntegrityError), transaction.atomic():
        give([ENTRIES[0], ENTRIES[0]])
    assert not AirdropTree.objects.exists()


def test_it_keeps_every_entry_with_its_place_and_the_sum(give):
    entries = sample_entries(1_000)
    stored = give(entries).airdrop
    tree = build_tree(entries)
    rows = AirdropEntry.objects.filter(tree=stored).order_by("pk").values_list("account", "amount", "position")
    assert list(rows) == [(*entry, place) for entry, place in zip(entries, tree.positions, strict=True)]
    assert (stored.root, stored.amount) == (tree.root, sum(amount for _, amount in entries))
    assert bytes(AirdropTree.objects.get(pk=stored.pk).nodes) == tree.nodes


def test_nodes_are_stored_so_that_a_few_can_be_read():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attstorage FROM pg_attribute WHERE attrelid = 'tokens_airdroptree'::regclass AND attname = 'nodes'"
        )
        assert cursor.fetchone() == ("e",)


def test_the_airdrop_contract_pays_for_a_served_proof(client, give, own_launchpad):
    entries = [(OTHER, 3 * 10**26), (SENDER, 10**26), *((account, 10**20) for account, _ in sample_entries(20))]
    deployed = own_launchpad.deployment
    share = DevAirdropShare(admin=SENDER, entries=tuple(entries), bps=500, vesting=0)
    token = launch_token(deployed, DevLaunchConfig(salt=os.urandom(32), airdrop=share))
    give(entries, expected_address=token, chain_id=deployed.chain_id)
    let_pass(deployed, DAY)
    contract = node.bind_contract(deployed.rpc_url, "Airdrop", deployed.airdrop)
    for account, amount in entries[:3]:
        answer = client.get(PATH, {"tokenAddress": token, "claimerAddress": account})
        (found,) = answer.json()["proofs"]
        proof = [bytes.fromhex(text[2:]) for text in found["proof"]]
        claim = contract.functions.claim(token, found["entry"]["account"], int(found["entry"]["amount"]), proof)
        node.transact(deployed.rpc_url, claim, sender=OTHER)
        assert token_at(deployed, token).functions.balanceOf(account).call() == amount

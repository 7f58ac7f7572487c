"""Claims of fees by the creators of pools on Solana, which name no account that is followed."""

import pytest

from tests.nodes.solana.changed import pool
from tests.nodes.solana.recorded import CLAIM, CONFIG, LAUNCH, POOL
from tests.rows.factories import SolanaTokenFactory
from tokens.following.leader_loops import LeaderSession
from tokens.following.solana.pool_loop import PoolWatch
from tokens.indexing import index_requests
from tokens.installation.installed_chains import installed_solana
from tokens.models import FeeClaim, FollowedAccount, LaunchFacts, ListedSignature, Token

# Recording a failure, or its end, closes old connections, and with them the transaction of a test.
pytestmark = pytest.mark.django_db(transaction=True)

SOLANA = 101


@pytest.fixture
def node(faulty_solana):
    index_requests.index_transaction(chain_id=SOLANA, tx_hash=LAUNCH)
    faulty_solana.calls.clear()
    return faulty_solana


@pytest.fixture
def watch(node):
    return PoolWatch(installed_solana())


def run_once(watch):
    watch.run_once(LeaderSession(SOLANA))


def claims():
    return list(FeeClaim.objects.values_list("event__tx_hash", flat=True))


def test_a_claim_is_found_by_its_pool(node, watch):
    run_once(watch)
    assert claims() == [CLAIM]
    assert FollowedAccount.objects.get().address == POOL


def test_a_pool_whose_claims_are_known_is_not_read(node, watch):
    index_requests.index_transaction(chain_id=SOLANA, tx_hash=CLAIM)
    node.calls.clear()
    run_once(watch)
    assert not FollowedAccount.objects.exists()
    assert {call["method"] for call in node.calls} - {"getGenesisHash"} == {"getMultipleAccounts"}


def test_a_pool_that_was_read_is_listed_again_and_not_read(node, watch):
    run_once(watch)
    listed = len(node.signatures())
    run_once(watch)
    run_once(PoolWatch(installed_solana()))
    assert len(node.signatures()) == listed


def test_a_claim_that_is_listed_late_is_found_the_next_time(node, watch):
    node.unlisted.add(CLAIM)
    run_once(watch)
    assert not claims()
    node.unlisted.clear()
    run_once(watch)
    assert claims() == [CLAIM]


def test_what_is_never_listed_is_not_looked_for_without_end(node, watch):
    node.unlisted.add(CLAIM)
    for _ in range(6):
        run_once(watch)
    # Three times, in two pages each.
    assert len(node.signatures()) <= 6


def test_a_pool_without_an_account_holds_up_no_other(node, watch):
    node.launch("without an account")
    index_requests.index_transaction(chain_id=SOLANA, tx_hash=list(node.transactions)[-1])
    run_once(watch)
    assert claims() == [CLAIM]


def test_a_pool_whose_claim_no_node_gives_holds_up_no_other(node, watch):
    # The walk reaches it first.
    Token.objects.all().delete()
    node.launch("stuck")
    index_requests.index_transaction(chain_id=SOLANA, tx_hash=list(node.transactions)[-1])
    index_requests.index_transaction(chain_id=SOLANA, tx_hash=LAUNCH)
    node.accounts[pool("stuck")] = node.accounts[POOL]
    stuck = node.claim("claim", of="stuck")
    node.missing.add(stuck)
    run_once(watch)
    assert claims() == [CLAIM]
    node.missing.clear()
    run_once(watch)
    assert sorted(claims()) == sorted([CLAIM, stuck])


def test_a_node_that_has_forgotten_the_launch_is_not_trusted(node, watch):
    node.swap("later", slot=1004)
    node.unlisted = {LAUNCH, CLAIM}
    for _ in range(5):
        run_once(watch)
    assert not claims()
    node.unlisted.clear()
    run_once(watch)
    assert claims() == [CLAIM]


def test_a_walk_ends_with_its_turn(node, watch):
    index_requests.index_transaction(chain_id=SOLANA, tx_hash=CLAIM)
    for token in SolanaTokenFactory.create_batch(201):
        LaunchFacts.objects.create(token=token, facts={})
    ended = LeaderSession(SOLANA)
    ended.ended.set()
    node.calls.clear()
    watch.run_once(ended)
    accounts = [call["params"][0] for call in node.calls if call["method"] == "getMultipleAccounts"]
    assert [len(addresses) for addresses in accounts if CONFIG not in addresses] == [100]


def test_nothing_before_the_launch_is_read(node, watch):
    early = node.swap("early", slot=900)
    run_once(watch)
    assert early not in node.read()
    assert not ListedSignature.objects.filter(slot__lt=1003).exists()

"""Trades of blocks that were read before their token, or its quote token's decimals, were known (indexing/backlogs)."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests.nodes.followed import Followed
from tests.nodes.following_chain import DEPTH, final, install, wrong_rows
from tests.nodes.log_encoding import encode_values
from tests.simulator import SimulatedChain, Traffic, serve
from tests.tokens.following.test_verified_completeness import check, read
from tokens.indexing import index_requests
from tokens.indexing.backlogs import backlog_rounds
from tokens.models import LaunchFacts, PoolBacklog, PoolTrade, Token

pytestmark = pytest.mark.django_db

CHAIN = 8453
TRAFFIC = Traffic(launches=1.0, events=0.1, noise=0.0, swaps=2.0)
# Views of quote tokens that a proxy without code, or a node with a fault, does not return.
DECIMALS = "decimals()"


@pytest.fixture
def chain():
    grown = SimulatedChain(5, traffic=TRAFFIC)
    grown.mine(60)
    return grown


@pytest.fixture
def node(chain, settings, forget_chains, tmp_path):
    with serve(chain, seed=1) as running:
        install(chain, running.url, settings=settings, forget=forget_chains, directory=tmp_path)
        yield running


@pytest.fixture
def reverting(chain, node):
    """Read the chain while decimals() of all quote tokens beyond the registry reverts; return their addresses."""
    quotes = {name[0] for name in chain.views if name[1] == DECIMALS}
    for quote in quotes:
        del chain.views[quote, DECIMALS]
    read(chain)
    return quotes


def repair(chain, quotes):
    chain.views |= {(quote, DECIMALS): encode_values(("uint8",), (18,)) for quote in quotes}


def swaps_by_token(chain, *, above=-1, to=None):
    """Return address -> number of swaps, without tokens that were not traded."""
    counts = {}
    for entry in chain.truth(blocks=chain.blocks[: (final(chain) if to is None else to) + 1]).pool_logs:
        if hasattr(entry.log, "is_buy") and entry.at.block_number > above:
            counts[entry.log.token] = counts.get(entry.log.token, 0) + 1
    return counts


def stored_trades(token):
    return PoolTrade.objects.filter(token=token).count()


def undecoded(chain, quotes):
    """Return the traded tokens whose quote token is among these."""
    traded = swaps_by_token(chain)
    return [
        token
        for token in Token.objects.all()
        if token.paired_token.lower() in quotes and token.contract_address in traded
    ]


def page(token):
    return Client().get(f"/tokens/{CHAIN}/{token.contract_address}").text


def due_now():
    PoolBacklog.objects.update(due_at=timezone.now() - timedelta(seconds=1))


def test_an_index_call_stores_the_trades_of_the_past_once_the_decimals_are_returned(chain, reverting):
    tokens = undecoded(chain, reverting)
    assert tokens
    assert not any(stored_trades(token) for token in tokens)
    assert "Trades are missing: the paired token has not returned its decimals." in page(tokens[0])
    repair(chain, reverting)
    for token in tokens[:3]:
        index_requests.index_transaction(chain_id=CHAIN, tx_hash=token.tx_hash)
        assert LaunchFacts.objects.get(token=token).facts["pool"]["pair_decimals"] == "18"
        assert stored_trades(token) == swaps_by_token(chain)[token.contract_address]


def test_the_decimals_are_requested_again_without_a_call(chain, reverting):
    tokens = undecoded(chain, reverting)
    due_now()
    assert backlog_rounds.read_due_backlogs() == 0
    backlog = PoolBacklog.objects.get(token=tokens[0])
    assert "returns no decimals" in backlog.last_error
    assert backlog.due_at > timezone.now() + timedelta(seconds=30)
    repair(chain, reverting)
    while PoolBacklog.objects.exists():
        due_now()
        assert backlog_rounds.read_due_backlogs()
    assert wrong_rows(chain, to=final(chain)) == []
    assert "Trades are missing" not in page(tokens[0])


def test_a_node_that_returns_no_decimals_later_takes_none_away(chain, reverting):
    token = undecoded(chain, reverting)[0]
    repair(chain, reverting)
    index_requests.index_transaction(chain_id=CHAIN, tx_hash=token.tx_hash)
    for quote in reverting:
        del chain.views[quote, DECIMALS]
    index_requests.index_transaction(chain_id=CHAIN, tx_hash=token.tx_hash)
    facts = LaunchFacts.objects.get(token=token).facts
    assert facts["pool"]["pair_decimals"] == "18"
    assert stored_trades(token) == swaps_by_token(chain)[token.contract_address]


def test_trades_in_the_reorg_window_of_a_token_that_is_indexed_later_are_read(chain, node):
    followed = Followed(CHAIN)
    followed.catch_up()
    head = chain.head.number
    assert min(followed.window()) == head - DEPTH
    traded = swaps_by_token(chain, above=head - DEPTH - 1, to=head)
    tokens = chain.truth(blocks=chain.blocks[: head - DEPTH]).tokens
    launches = {address: tokens[address].at.tx_hash for address in tokens.keys() & traded.keys()}
    assert launches
    for address, tx_hash in launches.items():
        index_requests.index_transaction(chain_id=CHAIN, tx_hash=tx_hash)
        assert stored_trades(Token.objects.get(contract_address=address)) == traded[address]
    # Blocks that were read meanwhile are read again.
    chain.mine(3)
    followed.catch_up()
    due_now()
    assert backlog_rounds.read_due_backlogs() >= len(launches)
    traded = swaps_by_token(chain, above=head - DEPTH - 1, to=head + 3)
    for address in launches:
        assert stored_trades(Token.objects.get(contract_address=address)) == traded[address]


def test_verification_changes_nothing_of_a_repaired_token(chain, reverting):
    tokens = undecoded(chain, reverting)
    repair(chain, reverting)
    due_now()
    while PoolBacklog.objects.exists():
        due_now()
        backlog_rounds.read_due_backlogs()
    for quote in reverting:
        del chain.views[quote, DECIMALS]
    written = dict(Token.objects.values_list("pk", "last_indexed"))
    run = read(chain)
    assert sum(step.missing + step.invented for step in check(run)) == 0
    assert dict(Token.objects.values_list("pk", "last_indexed")) == written
    assert stored_trades(tokens[0]) == swaps_by_token(chain)[tokens[0].contract_address]

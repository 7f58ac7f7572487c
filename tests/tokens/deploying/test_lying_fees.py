"""Fees that nodes suggest: the development chain behind relays, one with false tips."""

from contextlib import ExitStack
from decimal import Decimal

import pytest

from development.devchain.anvil import CHAIN_ID
from tests.nodes.relay import relay
from tests.rows.deploying import long_ago, row, versions, wallet
from tokens.deploying.sending.gas import WEI_PER_GWEI
from tokens.deploying.sending.submit import submit_deployment
from tokens.installation.installed_chains import installed_chain

pytestmark = pytest.mark.django_db

LIE = 49 * WEI_PER_GWEI


def lying(tip):
    """Return a function that changes a node's responses: it suggests this tip, and reports it for recent blocks."""

    def lie(request, answer):
        calls, results = (request, answer) if isinstance(request, list) else ([request], [answer])
        by_id = {call["id"]: call["method"] for call in calls}
        for result in results:
            method = by_id[result["id"]]
            if method == "eth_maxPriorityFeePerGas":
                result["result"] = hex(tip)
            elif method == "eth_feeHistory":
                result["result"]["reward"] = [[hex(tip)] for _ in result["result"]["gasUsedRatio"]]
        return answer

    return lie


@pytest.fixture
def use_nodes(ground, settings, forget_chains):
    """Return a function that installs the chain with one lying node, at this index, and so many honest ones."""
    with ExitStack() as stack:

        def use(*, liar, honest, tip=LIE):
            url = ground.contracts.rpc_url
            urls = [stack.enter_context(relay(url)) for _ in range(honest)]
            urls.insert(liar, stack.enter_context(relay(url, change=lying(tip))))
            settings.RPC_URLS = {CHAIN_ID: tuple(urls)}
            forget_chains()

        yield use


@pytest.mark.parametrize(("liar", "honest"), [(0, 1), (1, 1), (0, 2), (1, 2), (2, 2)])
def test_one_lying_node_costs_nothing_and_is_an_alarm(ground, use_nodes, liar, honest):
    expected = installed_chain(CHAIN_ID).read_fees().priority_fee
    use_nodes(liar=liar, honest=honest)
    order = ground.submitted()
    assert versions(order)[0].priority_fee == expected <= WEI_PER_GWEI
    assert wallet().alerts == {"tip": f"node {liar + 1} suggests far more than the other nodes or recent blocks"}


def test_the_alarm_ends_with_its_cause(ground, use_nodes, settings, forget_chains):
    use_nodes(liar=0, honest=1)
    ground.submitted()
    assert wallet().alerts
    settings.RPC_URLS = {CHAIN_ID: (ground.contracts.rpc_url,)}
    forget_chains()
    ground.submitted()
    assert wallet().alerts == {}


def test_the_only_node_raises_the_tip_to_its_cap_and_replacements_get_through(ground, use_nodes):
    use_nodes(liar=0, honest=0)
    order = ground.order()
    assert submit_deployment(order.pk)
    (first,) = versions(order)
    cap = installed_chain(CHAIN_ID).info.priority_fee_cap
    # The chain's base fee is one gwei.
    assert first.priority_fee == cap < LIE
    assert wallet().alerts == {"tip": "the suggested priority fee is above its cap, and is not paid in full"}
    # No block takes it.
    long_ago(first, seconds=16)
    ground.set_base_fee(first.max_fee * 3 // 2)
    ground.watch()
    _, second = versions(order)
    assert second.priority_fee * 8 >= first.priority_fee * 9 and second.priority_fee > cap
    assert second.max_fee * 8 >= first.max_fee * 9
    assert ground.pending() == [second.tx_hash]
    ground.mine()
    ground.watch()
    assert (row(order).status, row(order).tx_hash) == ("indexed", second.tx_hash)


def test_a_replacement_mends_a_tip_that_a_node_has_lowered(ground, use_nodes):
    use_nodes(liar=0, honest=1, tip=0)
    order = ground.submitted()
    (first,) = versions(order)
    # Two nodes differ: the alarm names the higher one.
    assert (first.priority_fee, wallet().alerts["tip"][:6]) == (0, "node 2")
    long_ago(first, seconds=16)
    ground.set_base_fee(first.max_fee * 3 // 2)
    ground.watch()
    # Anvil suggests one gwei.
    assert versions(order)[1].priority_fee == WEI_PER_GWEI


def test_a_replacement_stays_within_the_wallets_limit(ground, use_nodes, settings):
    use_nodes(liar=0, honest=0)
    order = ground.submitted()
    (first,) = versions(order)
    settings.DEPLOY_MAX_FEES_GWEI = {CHAIN_ID: Decimal(first.max_fee) / WEI_PER_GWEI}
    long_ago(first, seconds=16)
    ground.set_base_fee(first.max_fee // 2)
    ground.watch()
    assert len(versions(order)) == 1
    assert "nonce 0 waits: " in wallet().alerts["fees"]

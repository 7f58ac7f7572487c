"""Logs, transactions and receipts that one node lacks or has wrong, and another one has right."""

import pytest

from tests.nodes.following_chain import install
from tests.simulator import Faults, SimulatedChain, serve
from tests.tokens.following.test_verified_completeness import BUSY
from tokens.chains.errors import InconsistentResponseError, TransactionNotFoundError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.types import BlockHeader


@pytest.fixture(scope="module")
def chain():
    grown = SimulatedChain(21, traffic=BUSY)
    grown.mine(16)
    return grown


@pytest.fixture
def install_nodes(chain, settings, forget_chains, tmp_path):
    def install_urls(*urls):
        settings.RPC_PATIENCE_SECONDS = 2.0
        return install(chain, *urls, settings=settings, forget=forget_chains, directory=tmp_path)

    return install_urls


def sorted_headers(installed: Chain) -> list[BlockHeader]:
    headers = installed.read_headers(range(installed.read_head() + 1))
    return [headers[number] for number in sorted(headers)]


@pytest.mark.parametrize("by_blocks", [False, True], ids=["range", "blocks"])
def test_the_next_node_is_used_for_logs_that_transactions_read_in_full_contradict(chain, install_nodes, by_blocks):
    def read(installed):
        if by_blocks:
            return installed.read_blocks(sorted_headers(installed))
        return installed.read_range(0, chain.head.number)

    with serve(chain, faults=Faults(log_index_shift=1)) as lying, serve(chain) as honest:
        expected = read(install_nodes(honest.url))
        assert read(install_nodes(lying.url, honest.url)) == expected
        assert lying.received["eth_getLogs"]
        with pytest.raises(InconsistentResponseError):
            read(install_nodes(lying.url))


def test_the_next_node_is_used_for_transactions_that_one_has_pruned(chain, install_nodes):
    tx_hash = next(entry.hash for block in chain.blocks for entry in block.transactions if entry.launches)
    with (
        serve(chain, faults=Faults(pruned_to=chain.head.number, prunes_receipts=True)) as pruned,
        serve(chain) as honest,
    ):
        expected = install_nodes(honest.url).read_transaction(tx_hash)
        installed = install_nodes(pruned.url, honest.url)
        assert installed.read_transaction(tx_hash) == expected
        headers = sorted_headers(installed)
        assert installed.read_receipts(headers) == install_nodes(honest.url).read_receipts(headers)
        with pytest.raises(TransactionNotFoundError):
            install_nodes(pruned.url).read_transaction(tx_hash)

"""Tests of the chain that is meant by requests without one, by the nodes of the installation."""

import pytest

from tokens.installation.installed_registry import DefaultFor, default_chain

BASE, ETHEREUM, SOLANA = 8453, 1, 101
# No market data provider covers it.
TESTNET = 84532


@pytest.mark.parametrize(
    ("nodes", "indexing", "evm_address", "market_data"),
    [
        ([], BASE, BASE, BASE),
        ([SOLANA, ETHEREUM], ETHEREUM, ETHEREUM, ETHEREUM),
        ([SOLANA], SOLANA, BASE, SOLANA),
        ([ETHEREUM, TESTNET], TESTNET, TESTNET, ETHEREUM),
    ],
)
def test_the_first_fitting_chain_with_a_node_is_meant(settings, nodes, indexing, evm_address, market_data):
    settings.RPC_URLS = dict.fromkeys(nodes, ("https://node.example",))
    settings.MARKET_PROVIDER_CHAINS = (BASE, ETHEREUM, SOLANA, TESTNET)
    assert {purpose: default_chain(purpose).chain_id for purpose in DefaultFor} == {
        DefaultFor.INDEXING: indexing,
        DefaultFor.EVM_ADDRESS: evm_address,
        DefaultFor.MARKET_DATA: market_data,
        # A change of nodes sends no launch to another chain.
        DefaultFor.LAUNCH: BASE,
    }

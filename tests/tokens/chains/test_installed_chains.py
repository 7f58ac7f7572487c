"""tokens/installation/installed_chains.py: the chains of the settings, and their second opinions."""

import pytest

from tokens.installation.installed_chains import (
    UnsupportedChainError,
    installed_chain,
    installed_chain_second_node_first,
)


@pytest.mark.parametrize("installed", [installed_chain, installed_chain_second_node_first])
@pytest.mark.parametrize(("chain_id", "reason"), [(8453, "RPC_URLS_8453"), (7, "registry")])
def test_a_chain_without_a_node_or_a_name_is_not_installed(settings, forget_chains, installed, chain_id, reason):
    settings.RPC_URLS = {7: ("http://127.0.0.1/",)}
    forget_chains()
    with pytest.raises(UnsupportedChainError, match=reason):
        installed(chain_id)


def test_a_second_opinion_is_the_second_nodes(settings, forget_chains, node, second_node):
    settings.RPC_URLS = {8453: (node.url, second_node.url)}
    forget_chains()
    assert installed_chain(8453).read_newest_header() == installed_chain_second_node_first(8453).read_newest_header()
    assert (node.call_count("eth_getBlockByNumber"), second_node.call_count("eth_getBlockByNumber")) == (1, 1)
    second_node.answers["eth_getBlockByNumber"] = lambda *_: None
    assert installed_chain_second_node_first(8453).read_newest_header().number == 209


def test_a_second_opinion_names_nodes_by_their_places_in_the_setting(
    settings, forget_chains, node, second_node, caplog
):
    settings.RPC_URLS = {8453: (node.url, second_node.url)}
    forget_chains()
    second_node.answers["eth_chainId"] = lambda *_: "0x1"
    installed_chain_second_node_first(8453).read_newest_header()
    assert [record.getMessage() for record in caplog.records] == ["chain 8453, node 2: it is a node of another chain"]


def test_a_second_opinion_of_one_node_is_its_own(settings, forget_chains, node):
    settings.RPC_URLS = {8453: (node.url,)}
    forget_chains()
    assert installed_chain_second_node_first(8453).read_newest_header().number == 209


def test_ranges_begin_as_long_as_in_the_settings(settings, forget_chains, node):
    settings.RPC_URLS = {8453: (node.url,)}
    settings.FOLLOW_RANGE_BLOCKS, settings.FOLLOW_LONGEST_RANGE_BLOCKS = 7, 10
    forget_chains()
    chain = installed_chain(8453)
    assert chain.range_blocks() == 7
    chain.read_range(0, 6)
    assert chain.range_blocks() == 10

"""`manage.py check`: its messages about the chain settings."""

from pathlib import Path

import pytest
from django.core.checks import run_checks

from development.devchain.anvil import CHAIN_ID
from tokens.chains.registry import chains


@pytest.fixture
def check(settings, forget_chains):
    """Return a function that runs the checks with these settings and returns the ids and texts of the messages."""

    def run(*, rpc_urls, chains_files=(), deploy=False):
        settings.RPC_URLS, settings.CHAINS_FILES = rpc_urls, tuple(map(str, chains_files))
        forget_chains()
        messages = run_checks(include_deployment_checks=deploy)
        return [(message.id, message.msg) for message in messages if (message.id or "").startswith("tokens.")]

    return run


def test_it_names_every_mistake_in_the_operators_file(check, tmp_path):
    file = tmp_path / "chains.toml"
    file.write_text("[chains.abc]\nname = 5\n[chains.7]\nname = 5\n", encoding="utf-8")
    found = check(rpc_urls={}, chains_files=[file])
    assert len(found) > 1
    assert {number for number, _ in found} == {"tokens.E001"}
    assert all(text.startswith(f"CHAINS_FILE: {file}") for _, text in found)


def test_it_names_a_missing_file(check, tmp_path):
    ((number, text),) = check(rpc_urls={}, chains_files=[tmp_path / "nowhere.toml"])
    assert number == "tokens.E001"
    assert text == f"CHAINS_FILE: {tmp_path / 'nowhere.toml'}: can't be read: No such file or directory"


def test_it_names_a_node_of_an_unknown_chain(check):
    ((number, text),) = check(rpc_urls={424_242: ("http://127.0.0.1:9",), 8453: ("http://127.0.0.1:9",)})
    assert (number, text) == (
        "tokens.E002",
        "RPC_URLS_424242 is set, and chain 424242 is not in the registry.",
    )


def test_it_names_chains_of_the_provider_that_it_can_not_have(check, settings):
    settings.MARKET_PROVIDER_CHAINS = (8453, 424_242, 84_532)
    assert check(rpc_urls={}) == [
        ("tokens.W006", "MARKET_PROVIDER_CHAINS has chain 424242, which is not in the registry."),
        ("tokens.W006", "MARKET_PROVIDER_CHAINS has chain 84532, which has no market_network."),
    ]


@pytest.mark.parametrize("chain_id", [0, 101, 8453])
def test_the_home_page_may_start_with_all_chains_or_a_chain_of_the_registry(check, settings, chain_id):
    settings.SITE_DEFAULT_CHAIN = chain_id
    assert check(rpc_urls={}) == []


def test_it_names_an_unknown_first_chain_of_the_home_page(check, settings):
    settings.SITE_DEFAULT_CHAIN = 424_242
    assert check(rpc_urls={}) == [("tokens.W007", "SITE_DEFAULT_CHAIN is 424242, which is not in the registry.")]


def test_it_is_content_with_chains_of_the_operators_files(check, deployment, chains_file, tmp_path):
    other = tmp_path / "other.toml"
    other.write_text('[chains.7]\nname = "Seven"\nnative = "S"\nfinality_depth = 1\n', encoding="utf-8")
    nodes = {CHAIN_ID: (deployment.rpc_url,), 7: ("http://127.0.0.1:9",)}
    assert check(rpc_urls=nodes, chains_files=[other, chains_file], deploy=True) == []


def test_only_the_check_for_deployment_misses_nodes(check):
    assert check(rpc_urls={}) == []
    assert [number for number, _ in check(rpc_urls={}, deploy=True)] == ["tokens.W001"]


def test_it_names_settings_of_following_for_a_chain_without_a_node(check, settings):
    settings.RPC_WS_URLS, settings.FOLLOW_FROM = {8453: "ws://127.0.0.1:9"}, {84532: 5}
    found = check(rpc_urls={84532: ("http://127.0.0.1:9",)})
    assert found == [("tokens.W002", "RPC_WS_URL_8453 is set, and RPC_URLS_8453 is not: the chain is not followed.")]


def test_it_names_settings_of_following_that_mean_nothing_on_solana(check, settings):
    settings.RPC_WS_URLS, settings.FOLLOW_FROM = {101: "ws://127.0.0.1:9"}, {101: 5}
    found = check(rpc_urls={101: ("http://127.0.0.1:9",)})
    assert ("tokens.W002", "RPC_WS_URL_101 is set, and chain 101 is Solana: it has no effect.") in found
    assert not [text for _, text in found if "FOLLOW_FROM" in text]


def test_it_names_a_misspelt_variable(check, settings, monkeypatch):
    settings.ENV_FILE_VARIABLES = ("RPC_URL_8453",)
    monkeypatch.setenv("FOLLOW_VERIFI", "logs")
    assert check(rpc_urls={}) == [
        ("tokens.W005", "FOLLOW_VERIFI is set, and no setting has this name; is FOLLOW_VERIFY meant?"),
        ("tokens.W005", "RPC_URL_8453 is set in .env, and no setting has this name; is RPC_URLS_<chainId> meant?"),
    ]


def test_it_names_mistakes_in_the_choice_of_launchpads(check, settings, tmp_path):
    bare = tmp_path / "bare.toml"
    launchpads = Path(chains.__file__).with_name("launchpads.toml").read_text().replace("8453 = ", "7 = ")
    bare.write_text(f'{launchpads}\n[chains.7]\nname = "Seven"\nnative = "S"\nfinality_depth = 1\n', encoding="utf-8")
    settings.LAUNCHPADS = {424_242: ("zora",), 1: ("clanker", "nowhere"), 7: ("zora",)}
    found = check(rpc_urls={}, chains_files=[bare])
    assert [message for message in found if message[0] != "tokens.W002"] == [
        ("tokens.E001", "LAUNCHPADS_1: nowhere is no launchpad of chain 1: expected one of clanker, doppler."),
        ("tokens.E001", "LAUNCHPADS_7: zora has v3 pools, and chain 7 has no v3_factory."),
        ("tokens.E001", "LAUNCHPADS_7: zora has v4 pools, and chain 7 has no v4_pool_manager."),
        ("tokens.E001", "LAUNCHPADS_424242: chain 424242 is not in the registry."),
    ]


def test_it_names_launchpads_of_chains_that_are_not_followed(check, settings):
    settings.LAUNCHPADS = {8453: ("zora",), 101: ("clanker",)}
    assert check(rpc_urls={}) == [
        ("tokens.W002", "LAUNCHPADS_8453 is set, and RPC_URLS_8453 is not: the chain is not followed."),
        ("tokens.W002", "LAUNCHPADS_101 is set, and chain 101 is Solana: it has no effect."),
    ]

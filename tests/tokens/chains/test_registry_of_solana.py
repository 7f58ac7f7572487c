"""tokens/chains/registry: the entries of Solana, and error messages about an operator's file."""

from pathlib import Path

import pytest

from tests.nodes.solana import recorded
from tests.nodes.solana.recorded import allow_list
from tests.tokens.chains.test_registry import mistakes, write
from tokens.chains.registry.chains import RegistryError, load_registry
from tokens.installation.installed_chains import UnsupportedChainError, installed_chain, installed_solana
from tokens.installation.installed_registry import evm_chain_ids, registry

EVM_ADDRESS = "0x1111111111111111111111111111111111111111"


def contract(**fields: str) -> str:
    return "{ " + ", ".join(f'{name} = "{value}"' for name, value in fields.items()) + " }"


GOOD = contract(role="launch_config", generation="solana", address=recorded.CONFIG)


@pytest.mark.parametrize(
    "address",
    [
        "",
        EVM_ADDRESS,
        recorded.CONFIG + "1",
        recorded.CONFIG[1:],
        "0" + recorded.CONFIG[1:],
        " " + recorded.CONFIG,
        recorded.LAUNCH,
    ],
)
def test_it_refuses_an_address_that_is_no_base58_of_32_bytes(tmp_path: Path, address: str) -> None:
    entry = contract(role="launch_config", generation="solana", address=address)

    found = mistakes(write(tmp_path, f"[chains.solana]\ncontracts = [{GOOD}, {entry}]"))

    assert [place for place, _ in found] == ["chains.solana.contracts[1].address"]
    assert "base58 of 32 bytes" in found[0][1]


@pytest.mark.parametrize(
    ("fields", "key", "rule"),
    [
        ({"role": "factory", "generation": "solana"}, "role", "unknown role"),
        ({"role": "locker"}, "role", "unknown role"),
        ({"role": "launch_config"}, "generation", "a launch_config belongs to a generation"),
        ({"role": "launch_creator"}, "generation", "a launch_creator belongs to a generation"),
        ({"role": "launch_program"}, "generation", "a launch_program belongs to a generation"),
        ({"role": "launch_config", "generation": "v4"}, "generation", "unknown generation"),
        ({"role": "launch_config", "generation": "v9"}, "generation", "unknown generation"),
    ],
)
def test_it_refuses_a_contract_of_solana(tmp_path: Path, fields: dict[str, str], key: str, rule: str) -> None:
    entry = contract(**fields, address=recorded.CREATOR)

    found = mistakes(write(tmp_path, f"[chains.solana]\ncontracts = [{GOOD}, {entry}]"))

    assert [place for place, _ in found] == [f"chains.solana.contracts[1].{key}"]
    assert rule in found[0][1]


@pytest.mark.parametrize(
    ("fields", "keys"),
    [
        ({"role": "launch_config", "generation": "v4", "address": EVM_ADDRESS}, ["role"]),
        ({"role": "factory", "generation": "solana", "address": EVM_ADDRESS}, ["generation"]),
        ({"role": "vault", "address": recorded.CONFIG}, ["address"]),
    ],
)
def test_it_refuses_what_is_of_solana_on_an_evm_chain(tmp_path: Path, fields: dict[str, str], keys: list[str]) -> None:
    found = mistakes(write(tmp_path, f"[chains.8453]\ncontracts = [{contract(**fields)}]"))

    assert [place for place, _ in found] == [f"chains.8453.contracts[0].{key}" for key in keys]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("finality_depth = 5", "finality_depth"),
        (f'v3_factory = "{EVM_ADDRESS}"', "v3_factory"),
        ('genesis_hash = "mainnet"', "genesis_hash"),
        (f'wrapped_native = "{EVM_ADDRESS}"', "wrapped_native"),
        (f'known_deployers = ["{EVM_ADDRESS}"]', "known_deployers[0]"),
        (
            f'quote_tokens = [{{ symbol = "X", address = "{recorded.MINT}", decimals = 6, tick = 0 }}]',
            "quote_tokens[0].tick",
        ),
    ],
)
def test_it_refuses_what_solana_does_not_have(tmp_path: Path, text: str, place: str) -> None:
    found = mistakes(write(tmp_path, f"[chains.solana]\n{text}"))

    assert [where for where, _ in found] == [f"chains.solana.{place}"]


def test_it_refuses_a_config_listed_twice(tmp_path: Path) -> None:
    assert mistakes(write(tmp_path, f"[chains.solana]\ncontracts = [{GOOD}, {GOOD}]"))


@pytest.mark.parametrize("chain_id", [1, 8453, 4663])
def test_it_refuses_an_id_of_solana_that_is_another_chains(chain_id: int) -> None:
    with pytest.raises(RegistryError) as caught:
        load_registry(solana_chain_id=chain_id)

    (mistake,) = caught.value.mistakes
    assert str(mistake) == f"settings: SOLANA_CHAIN_ID: {chain_id} is the id of another chain in the registry"


def test_it_refuses_an_id_of_solana_that_an_operators_chain_has(tmp_path: Path) -> None:
    file = write(tmp_path, '[chains.101]\nname = "Local"\nnative = "ETH"\nfinality_depth = 1\n')

    with pytest.raises(RegistryError, match="SOLANA_CHAIN_ID"):
        load_registry(file)
    assert load_registry(file, solana_chain_id=102).solana.chain_id == 102


def test_solana_has_the_id_of_the_setting_and_what_a_launch_needs() -> None:
    solana = load_registry(solana_chain_id=900).chain(900)

    assert (solana.name, solana.native, solana.finality_depth, solana.is_solana) == ("Solana", "SOL", 0, True)
    assert solana.addresses("launch_program") == (recorded.PROGRAM,)
    assert solana.addresses("launch_config") == solana.addresses("launch_creator") == ()
    assert {quote.symbol: quote.decimals for quote in solana.quote_tokens.values()} == {
        "SOL": 9,
        "USDC": 6,
        "USDT": 6,
    }
    assert [chain.chain_id for chain in load_registry().chains.values() if chain.is_solana] == [101]


def test_an_operators_config_is_added_with_its_letters_as_they_are(tmp_path: Path) -> None:
    solana = load_registry(allow_list(tmp_path / "operator.toml")).solana

    assert solana.addresses("launch_config", "solana") == (recorded.CONFIG,)
    assert solana.role(recorded.CONFIG) == "launch_config"
    assert solana.role(recorded.CONFIG.lower()) is None
    assert solana.addresses("launch_program") == (recorded.PROGRAM,)


def test_solana_is_installed_apart_from_evm_chains(installed_solana_node, settings) -> None:
    settings.RPC_URLS = {8453: ("http://127.0.0.1/",), **settings.RPC_URLS}

    assert installed_solana().read_transaction(recorded.LAUNCH).launches[0].chain_id == settings.SOLANA_CHAIN_ID
    assert installed_solana().info is registry().solana
    assert evm_chain_ids() == (8453,)
    with pytest.raises(UnsupportedChainError, match="only EVM chains"):
        installed_chain(settings.SOLANA_CHAIN_ID)


def test_solana_without_a_node_is_not_installed(settings, forget_chains) -> None:
    settings.RPC_URLS = {}
    forget_chains()

    with pytest.raises(UnsupportedChainError, match="RPC_URLS_101"):
        installed_solana()

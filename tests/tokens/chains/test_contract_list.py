"""Tests of `GET /api/metadata/factories` and `GET /api/metadata/contracts`."""

import pytest

from tokens.chains.registry.chains import load_registry
from tokens.chains.registry.entry_rules import ROLES

FACTORIES, CONTRACTS = "/api/metadata/factories", "/api/metadata/contracts"
V4_CREATED = "0x9299d1d1a88d8e1abdc591ae7a167a6bc63a8f17d695804e9091ee33aa89fb67"
V3_1_CREATED = "0x6b04d68ca5c822b9c981d731c83ecb1356b96c8596c7659d397d234856a4537b"

# No answer needs the database.


@pytest.fixture
def listed(client, settings):
    """Return a path's entries; only one chain in the registry has a node."""
    settings.RPC_URLS = {8453: ("http://127.0.0.1:9",)}

    def get(path, **parameters):
        answer = client.get(path, parameters)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "public, s-maxage=300"), answer.content
        return answer.json()

    return get


def test_factories_have_their_generation_and_the_topic_of_their_launches(listed):
    found = {entry["address"]: entry for entry in listed(FACTORIES, chainId=8453)}
    of_generations = [entry["generation"] for entry in found.values() if entry["launchpad"] == "clanker"]
    assert of_generations == ["v0", "v1", "v2", "v3", "v3.1", "v4"]
    assert found["0xE85A59c628F7d27878ACeB4bf3b35733630083a9"] == {
        "name": "clanker_v4 factory",
        "chainId": 8453,
        "chain": "Base",
        "indexed": True,
        "address": "0xE85A59c628F7d27878ACeB4bf3b35733630083a9",
        "role": "factory",
        "launchpad": "clanker",
        "launchpadTitle": "Clanker",
        "generation": "v4",
        "version": "4",
        "type": "clanker_v4",
        "events": {"tokenCreated": V4_CREATED, "launches": [V4_CREATED]},
    }
    assert found["0x2A787b2362021cC3eEa3C24C4748a6cD5B687382"]["events"]["tokenCreated"] == V3_1_CREATED


def test_all_factories_and_contracts_of_all_chains_are_listed(listed):
    registry = load_registry()
    contracts = [contract for chain in registry.chains.values() for contract in chain.contracts.values()]
    found = listed(CONTRACTS)
    compiled = [entry for entry in found if entry["launchpad"] in (None, "clanker")]
    assert [(entry["chainId"], entry["address"], entry["role"]) for entry in compiled] == [
        (contract.chain_id, contract.address, contract.role) for contract in contracts
    ]
    assert listed(FACTORIES) == [entry for entry in found if entry["role"] == "factory"]
    assert {entry["indexed"] for entry in found if entry["chainId"] != 8453} == {False}


def test_contracts_of_declared_launchpads_have_the_topics_of_their_launches(listed, settings):
    settings.LAUNCHPADS = {8453: ("zora",)}
    factories = listed(FACTORIES, chainId=8453)
    [zora] = [entry for entry in factories if entry["address"] == "0x777777751622c0d3258f214F9DF38E35BF45baF3"]
    topics = zora.pop("events")["launches"]
    assert len(topics) == len(set(topics)) == 4
    # A content coin's topic, from a public explorer.
    assert "0x2de436107c2096e039c98bbcc3c5a2560583738ce15c234557eecb4d3221aa81" in topics
    assert zora == {
        "name": "zora factory",
        "chainId": 8453,
        "chain": "Base",
        "indexed": True,
        "address": "0x777777751622c0d3258f214F9DF38E35BF45baF3",
        "role": "factory",
        "launchpad": "zora",
        "launchpadTitle": "Zora",
        "generation": None,
        "version": None,
        "type": "zora",
    }
    assert {entry["launchpad"]: entry["indexed"] for entry in factories} == {
        "clanker": False,
        "zora": True,
        "flaunch": False,
        "doppler": False,
        "bankr": False,
        "liquid": False,
        "virtuals": False,
    }
    assert {entry["indexed"] for entry in listed(CONTRACTS, chainId=8453) if entry["launchpad"] is None} == {True}


@pytest.mark.parametrize("role", ROLES)
def test_contracts_are_filtered_by_chain_and_role(listed, role):
    found = listed(CONTRACTS, role=role, chainId=8453)
    assert found == [entry for entry in listed(CONTRACTS) if (entry["role"], entry["chainId"]) == (role, 8453)]
    assert found


def test_a_shared_contract_has_no_generation_and_solana_has_accounts(listed):
    (shared,) = listed(CONTRACTS, role="fee_spender")
    assert (shared["name"], shared["generation"], shared["version"], shared["type"]) == (
        "fee_spender",
        None,
        None,
        None,
    )
    assert {entry["role"] for entry in listed(CONTRACTS, chainId=101)} <= {
        *("launch_program", "launch_config", "launch_creator"),
    }
    assert listed(FACTORIES, chainId=101) == []


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [({"chainId": "x"}, "chainId must be a whole number"), ({"role": "x"}, "role must be one of")],
)
def test_a_refusal_names_the_parameter_and_its_rule(client, parameters, rule):
    answer = client.get(CONTRACTS, parameters)
    assert (answer.status_code, answer.json()["error"].startswith(rule)) == (400, True)

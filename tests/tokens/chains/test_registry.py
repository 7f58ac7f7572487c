"""tokens/chains/registry: built-in data against an independent list, operators' files, and error messages."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from eth_utils.address import is_checksum_address

from tokens.chains.registry.chains import BUILT_IN_FILE, RegistryError, UnknownChainError, load_registry

# Written from the launchpad's public tables, independently of the registry.
FACTORIES = {
    8453: {
        "v0": "0x250c9FB2b411B48273f69879007803790A6AeA47",
        "v1": "0x9B84fcE5Dcd9a38d2D01d5D72373F6b6b067c3e1",
        "v2": "0x732560fa1d1A76350b1A500155BA978031B53833",
        "v3": "0x375C15db32D28cEcdcAB5C03Ab889bf15cbD2c5E",
        "v3.1": "0x2A787b2362021cC3eEa3C24C4748a6cD5B687382",
        "v4": "0xE85A59c628F7d27878ACeB4bf3b35733630083a9",
    },
    84532: {
        "v3.1": "0x2A787b2362021cC3eEa3C24C4748a6cD5B687382",
        "v4": "0xE85A59c628F7d27878ACeB4bf3b35733630083a9",
    },
    1: {"v4": "0x6C8599779B03B00AAaE63C6378830919Abb75473"},
    42161: {"v4": "0xEb9D2A726Edffc887a574dC7f46b3a3638E8E44f"},
    130: {"v4": "0xE85A59c628F7d27878ACeB4bf3b35733630083a9"},
    143: {"v4": "0xF9a0C289Eab6B571c6247094a853810987E5B26D"},
    56: {"v4": "0xea30438E0B5f99096cb05A8Da63be55A6A298F6a"},
    4663: {"v4": "0xD3f2cC1731b7Fd17f28798835C2E02f0a1839A94"},
    2741: {"v3.1": "0x043ac6264F5A45c7518DC480b348Da41bdabbac2"},
    10143: {"v3.1": "0xA0C65813DD1Cde7092922a57548Ec1eD25994318"},
}
FEE_LOCKERS = {
    8453: "0xF3622742b1E446D92e45E22923Ef11C2fcD55D68",
    84532: "0x42A95190B4088C88Dd904d930c79deC1158bF09D",
    1: "0xA9C0a423f0092176fC48d7B50a1fCae8cf5BB441",
    42161: "0x92C0DCbAba17b0F5f3a7537dA82c0F80520e4dF6",
    130: "0x1d5A0F0BD3eA07F78FC14577f053de7A3FEc35B2",
    143: "0x46B77BaCFd712D79131F1AD7611794869483C353",
    56: "0x67D04Ae42F03D9b63dE0E6F2d82bB186A0306bBb",
    4663: "0x88db2340bE5991B2b5Fca2Baee39B5CE048Cd70c",
}
WRAPPED = {
    8453: "0x4200000000000000000000000000000000000006",
    84532: "0x4200000000000000000000000000000000000006",
    1: "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
    42161: "0x82aF49447D8a07e3bd95BD0d56f35241523fBab1",
    130: "0x4200000000000000000000000000000000000006",
    143: "0x3bd359C1119dA7Da1D913D1C4D2B7c461115433A",
    56: "0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c",
    4663: "0x0Bd7D308f8E1639FAb988df18A8011f41EAcAD73",
    2741: "0x3439153EB7AF838Ad19d56E1571FBD09333C2809",
    10143: "0x760AfE86e5de5fa0Ee542fc7B7B713e1c5425701",
}
# The layouts of the SDK's calls: hooks for static and dynamic fees, and the module against snipers.
LAUNCHES = {
    8453: ("wrapped", "wrapped", "descending", True),
    84532: ("wrapped", "wrapped", "none", False),
    1: ("wrapped", None, "descending", True),
    42161: ("bare", "bare", "none", False),
    130: ("bare", "bare", "none", False),
    143: ("wrapped", None, "descending", False),
    56: ("wrapped", "wrapped", "descending", False),
    4663: ("wrapped", "wrapped", "descending", False),
    2741: (None, None, None, False),
    10143: (None, None, None, False),
}
TYPES = {
    "v0": ("proxy", "v0"),
    "v1": ("clanker", "v1"),
    "v2": ("clanker_v2", "v1"),
    "v3": ("clanker_v3", "v3"),
    "v3.1": ("clanker_v3_1", "v3_1"),
    "v4": ("clanker_v4", "v4"),
    "solana": ("clanker_solana", "dbc"),
    "liquid": ("liquid", "v4"),
}
ADDRESS = "0x1111111111111111111111111111111111111111"
OTHER = "0x2222222222222222222222222222222222222222"
NEW_CHAIN = '[chains.31337]\nname = "Local"\nnative = "ETH"\nfinality_depth = 1\n'


def write(folder: Path, text: str, name: str = "operator.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def mistakes(*files: Path) -> list[tuple[str, str]]:
    with pytest.raises(RegistryError) as caught:
        load_registry(*files)
    return [(mistake.key_path, mistake.rule) for mistake in caught.value.mistakes]


# Refusals


@pytest.mark.parametrize(
    ("text", "place", "rule"),
    [
        ("[chains.1]\nfinality_depth = 0", "chains.1.finality_depth", "a whole number from 1"),
        ("[chains.1]\nfinality_depth = -5", "chains.1.finality_depth", "a whole number from 1"),
        ("[chains.1]\nfinality_depth = true", "chains.1.finality_depth", "a whole number from 1"),
        ("[chains.1]\nfinality_depth = 1.5", "chains.1.finality_depth", "a whole number from 1"),
        ("[chains.1]\nmax_priority_fee_gwei = 0", "chains.1.max_priority_fee_gwei", "from 0.000001 to 10000, in gwei"),
        (
            "[chains.1]\nmax_priority_fee_gwei = 1e5",
            "chains.1.max_priority_fee_gwei",
            "from 0.000001 to 10000, in gwei",
        ),
        (
            "[chains.1]\nmax_priority_fee_gwei = nan",
            "chains.1.max_priority_fee_gwei",
            "from 0.000001 to 10000, in gwei",
        ),
        (
            "[chains.1]\nmax_priority_fee_gwei = true",
            "chains.1.max_priority_fee_gwei",
            "from 0.000001 to 10000, in gwei",
        ),
        (
            '[chains.1]\nmax_priority_fee_gwei = "1"',
            "chains.1.max_priority_fee_gwei",
            "from 0.000001 to 10000, in gwei",
        ),
        ("[chains.1]\nfinalty_depth = 5", "chains.1.finalty_depth", "unknown key"),
        ('[chains.1]\nname = " "', "chains.1.name", "not empty"),
        ('[chains.1]\nexplorer = "etherscan.io"', "chains.1.explorer", "https://"),
        ('[chains.1]\nmarket_network = "Base/../x"', "chains.1.market_network", "id of the network"),
        ('[chains.1]\nmarket_network = ""', "chains.1.market_network", "id of the network"),
        ("[chains.1]\nwrapped_native = 5", "chains.1.wrapped_native", "40 hexadecimal digits"),
        ("[chains]\n1 = 5", "chains.1", "expected a table"),
        ("[chains.base]\n", "chains.base", "expected a chain id"),
        ("[chains.01]\n", "chains.01", "expected a chain id"),
        ("[chains.31337]\nname = 'A'\nnative = 'A'", "chains.31337.finality_depth", "missing"),
        ("[chains.1]\ncontracts = 5", "chains.1.contracts", "list of entries"),
        ("[chains.1]\ncontracts = ['0x1']", "chains.1.contracts", "list of entries"),
        ("[chains.1]\nknown_deployers = '0x1'", "chains.1.known_deployers", "list of addresses"),
        ("[chains.1]\nknown_deployers = ['0x1']", "chains.1.known_deployers[0]", "40 hexadecimal digits"),
        ("[generations.v9]\ntype = 'x'\nevent = 'v9'", "generations.v9.event", "unknown event"),
        ("[generations.v9]\nevent = 'v4'", "generations.v9.type", "missing"),
        ("[generations.v9]\ntype = 'x'\nevent = 'v4'\nversion = 9", "generations.v9.version", "such as 4 or 4.2"),
        ("[generations.v9]\ntype = 'x'\nevent = 'v4'\nversion = 'nine'", "generations.v9.version", "such as 4 or 4.2"),
        ("[chain.1]\nname = 'x'", "chain", "unknown table"),
        ("generations = []", "generations", "expected tables"),
    ],
)
def test_it_refuses_a_table_and_names_the_place(tmp_path: Path, text: str, place: str, rule: str) -> None:
    found = mistakes(write(tmp_path, text))

    assert [where for where, _ in found] == [place]
    assert rule in found[0][1]


@pytest.mark.parametrize(
    ("entry", "key", "rule"),
    [
        ('role = "vault", address = "0x1234"', "address", "40 hexadecimal digits"),
        (f'role = "vault", address = "{ADDRESS}11"', "address", "40 hexadecimal digits"),
        ('role = "vault", address = "0x6c8599779B03B00AAaE63C6378830919Abb75473"', "address", "checksum"),
        ('role = "vault", address = "0x0000000000000000000000000000000000000000"', "address", "zero address"),
        ('role = "vault"', "address", "missing"),
        (f'role = "vaults", address = "{ADDRESS}"', "role", "unknown role"),
        (f'role = ["vault"], address = "{ADDRESS}"', "role", "unknown role"),
        (f'role = "vault", generation = "v7", address = "{ADDRESS}"', "generation", "unknown generation"),
        (f'role = "vault", generation = [], address = "{ADDRESS}"', "generation", "unknown generation"),
        (f'role = "factory", address = "{ADDRESS}"', "generation", "a factory belongs to a generation"),
        (f'role = "vault", adress = "{OTHER}", address = "{ADDRESS}"', "adress", "unknown key"),
        (f'role = "vault", address = "{ADDRESS}", deploy = "v5"', "deploy", "unknown layout"),
        (f'role = "vault", address = "{ADDRESS}", deploy = "bare"', "deploy", "layout of a vault: expected one of v4"),
        (f'role = "fee_locker", address = "{ADDRESS}", deploy = "v4"', "deploy", "takes no part in launches"),
    ],
)
def test_it_refuses_a_contract_and_names_the_entry(tmp_path: Path, entry: str, key: str, rule: str) -> None:
    good = f'{{ role = "vault", generation = "v4", address = "{OTHER}" }}'

    found = mistakes(write(tmp_path, f"[chains.1]\ncontracts = [{good}, {{ {entry} }}]"))

    assert [where for where, _ in found] == [f"chains.1.contracts[1].{key}"]
    assert rule in found[0][1]


def test_it_refuses_two_contracts_for_launches_in_one_role(tmp_path: Path) -> None:
    listed = ", ".join(
        f'{{ role = "static_hook", generation = "v4", address = "{address}", deploy = "{layout}" }}'
        for address, layout in ((ADDRESS, "bare"), (OTHER, "wrapped"))
    )

    found = mistakes(write(tmp_path, f"[chains.1]\ncontracts = [{listed}]"))

    assert found == [
        ("chains.1.contracts[1].deploy", "launches use one static_hook, and this list has another one before")
    ]


@pytest.mark.parametrize(
    ("entry", "key", "rule"),
    [
        (f'symbol = "A", address = "{ADDRESS}", decimals = 37', "decimals", "from 0 to 36"),
        (f'symbol = "A", address = "{ADDRESS}", decimals = -1', "decimals", "from 0 to 36"),
        (f'symbol = "A", address = "{ADDRESS}"', "decimals", "missing"),
        (f'symbol = "A", address = "{ADDRESS}", decimals = 6, tick = 887273', "tick", "from -887272 to 887272"),
        (f'symbol = "", address = "{ADDRESS}", decimals = 6', "symbol", "not empty"),
    ],
)
def test_it_refuses_a_quote_token_and_names_the_entry(tmp_path: Path, entry: str, key: str, rule: str) -> None:
    found = mistakes(write(tmp_path, f"[chains.1]\nquote_tokens = [{{ {entry} }}]"))

    assert [where for where, _ in found] == [f"chains.1.quote_tokens[0].{key}"]
    assert rule in found[0][1]


@pytest.mark.parametrize("table", ["contracts", "quote_tokens"])
def test_it_refuses_an_address_listed_twice_however_it_is_written(tmp_path: Path, table: str) -> None:
    entry = 'role = "vault"' if table == "contracts" else 'symbol = "A", decimals = 18'
    checksummed = "0x6C8599779B03B00AAaE63C6378830919Abb75473"
    listed = ", ".join(f'{{ {entry}, address = "{text}" }}' for text in (checksummed, checksummed.lower()))

    found = mistakes(write(tmp_path, f"[chains.1]\n{table} = [{listed}]"))

    assert found == [(f"chains.1.{table}[1].address", f"{checksummed} is listed twice in this list")]


@pytest.mark.parametrize(
    ("starting_tick", "positions", "place", "rule"),
    [
        (-200, [], "", "expected 1 to 7 positions"),
        (-200, [(-200, 200, 9_999)], "", "add up to 10000"),
        (-200, [(-400, 200, 10_000)], "", "begin at the starting tick"),
        (-200, [(-200, -200, 10_000)], "[0]", "must be below"),
        (-200, [(-200, 900_000, 10_000)], "[0].tick_upper", "from -887272 to 887272"),
    ],
)
def test_it_refuses_positions_that_no_launch_could_have(
    tmp_path: Path, starting_tick: int, positions: list[tuple[int, int, int]], place: str, rule: str
) -> None:
    listed = ", ".join(f"{{ tick_lower = {a}, tick_upper = {b}, bps = {c} }}" for a, b, c in positions)

    found = mistakes(
        write(tmp_path, f"[presets.mine]\nstarting_tick = {starting_tick}\npositions = [{listed}]"),
    )

    assert [where for where, _ in found] == [f"presets.mine.positions{place}"]
    assert rule in found[0][1]


def test_it_reports_every_mistake_of_every_file_at_once(tmp_path: Path) -> None:
    first = write(tmp_path, "[chains.1]\nfinality_depth = 0\nname = ''", "first.toml")
    second = write(tmp_path, "[chains.1]\nnote = 'x'", "second.toml")

    with pytest.raises(RegistryError) as caught:
        load_registry(first, second)

    assert [(mistake.file, mistake.key_path) for mistake in caught.value.mistakes] == [
        (str(first), "chains.1.finality_depth"),
        (str(first), "chains.1.name"),
        (str(second), "chains.1.note"),
    ]
    lines = str(caught.value).splitlines()
    assert lines[0] == f"{first}: chains.1.finality_depth: expected a whole number from 1 to 10000000"
    assert len(lines) == 3


def test_it_refuses_a_generation_with_a_name_too_long_to_keep(tmp_path: Path) -> None:
    path = write(tmp_path, f'[generations.{"v" * 33}]\ntype = "t"\nevent = "v4"\n')

    with pytest.raises(RegistryError, match="expected a name of at most 32 characters"):
        load_registry(path)


@pytest.fixture
def default_recursion_limit() -> Iterator[None]:
    """Limit the recursion as Python does: a library raises the limit."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("a = " + "[" * 5_000 + "]" * 5_000, "is nested too deeply"),
        ("a = " + "1" * 5_000, "has a number with too many digits"),
    ],
    ids=["lists", "digits"],
)
@pytest.mark.usefixtures("default_recursion_limit")
def test_it_refuses_text_that_no_reader_can_hold(tmp_path: Path, text: str, rule: str) -> None:
    path = write(tmp_path, text)

    with pytest.raises(RegistryError, match=re.escape(f"{path}: {rule}")):
        load_registry(path)


def test_it_refuses_text_that_is_not_toml_and_names_the_line(tmp_path: Path) -> None:
    path = write(tmp_path, "[chains.1]\nname = \n")

    with pytest.raises(RegistryError, match=re.escape(f"{path}: is not TOML: ") + ".*line 2"):
        load_registry(path)


def test_it_refuses_a_file_that_is_missing_or_not_text(tmp_path: Path) -> None:
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    missing = tmp_path / "missing.toml"

    with pytest.raises(RegistryError) as caught:
        load_registry(binary, missing)

    assert [str(mistake) for mistake in caught.value.mistakes] == [
        f"{binary}: can't be read: it is not UTF-8",
        f"{missing}: can't be read: No such file or directory",
    ]


def test_an_unknown_chain_is_an_error_of_its_own() -> None:
    with pytest.raises(UnknownChainError, match="chain 97 is not in the registry"):
        load_registry().chain(97)


# The built-in data


def test_every_chain_has_its_factories_and_no_others() -> None:
    found = {
        chain_id: {generation.name: key for key, generation in chain.factories.items()}
        for chain_id, chain in load_registry().chains.items()
        if not chain.is_solana
    }

    assert found == {
        chain_id: {name: address.lower() for name, address in factories.items()}
        for chain_id, factories in FACTORIES.items()
    }


def test_every_generation_has_its_label_and_event() -> None:
    assert {name: (entry.type, entry.event) for name, entry in load_registry().generations.items()} == TYPES


@pytest.mark.parametrize(("chain_id", "address"), FEE_LOCKERS.items())
def test_every_chain_of_v4_has_its_fee_locker(chain_id: int, address: str) -> None:
    assert load_registry().chain(chain_id).addresses("fee_locker", "v4") == (address,)


@pytest.mark.parametrize("chain_id", FEE_LOCKERS)
def test_every_chain_of_v4_can_read_pools_and_positions(chain_id: int) -> None:
    chain = load_registry().chain(chain_id)

    assert chain.v4_pool_manager and chain.v4_position_manager and chain.v4_state_view
    for role in ("locker", "vault", "airdrop", "dev_buy", "static_hook", "mev_module"):
        assert chain.addresses(role, "v4"), role


@pytest.mark.parametrize(("chain_id", "layouts"), LAUNCHES.items())
def test_every_chain_of_v4_has_what_launches_use(chain_id: int, layouts: tuple[str | None, ...]) -> None:
    def deploy(role: str) -> str | None:
        contract = load_registry().chain(chain_id).deploying(role)
        return contract.deploy if contract else None

    *modules, presale = layouts
    assert [deploy(role) for role in ("static_hook", "dynamic_hook", "mev_module")] == modules
    for role in ("presale", "presale_allowlist"):
        assert deploy(role) == ("v4" if presale else None), role
    of_all = {"factory": "v4", "locker": "preferences", "vault": "v4", "airdrop": "v4", "dev_buy": "v4"}
    for role, layout in of_all.items():
        assert deploy(role) == (layout if layouts[0] else None), role


def test_base_launches_with_the_contracts_that_the_sdk_names() -> None:
    base = load_registry().chain(8453)

    found = {role: base.deploying(role) for role in ("locker", "airdrop", "static_hook", "dynamic_hook", "mev_module")}
    assert {role: contract.address for role, contract in found.items() if contract} == {
        "locker": "0x63D2DfEA64b3433F4071A98665bcD7Ca14d93496",
        "airdrop": "0xf652B3610D75D81871bf96DB50825d9af28391E0",
        "static_hook": "0xb429d62f8f3bFFb98CdB9569533eA23bF0Ba28CC",
        "dynamic_hook": "0xd60D6B218116cFd801E28F78d011a203D2b068Cc",
        "mev_module": "0xebB25BB797D82CB78E1bc70406b13233c0854413",
    }


@pytest.mark.parametrize("chain_id", [8453, 84532, 2741, 10143])
def test_every_chain_of_older_generations_can_read_pools_and_positions(chain_id: int) -> None:
    chain = load_registry().chain(chain_id)

    assert chain.v3_factory and chain.v3_position_manager
    assert chain.addresses("locker", "v3.1") and chain.addresses("vault", "v3.1")


@pytest.mark.parametrize(("chain_id", "address"), WRAPPED.items())
def test_every_chain_quotes_in_its_wrapped_coin(chain_id: int, address: str) -> None:
    chain = load_registry().chain(chain_id)

    assert chain.wrapped_native == address
    assert chain.quote_tokens[address.lower()].decimals == 18
    assert chain.finality_depth > 1


def test_base_is_the_default_chain_with_its_depth_and_quote_tokens() -> None:
    base = next(iter(load_registry().chains.values()))

    assert (base.chain_id, base.name, base.native, base.finality_depth) == (8453, "Base", "ETH", 900)
    usdc = base.quote_tokens["0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"]
    assert (usdc.symbol, usdc.decimals, usdc.tick) == ("USDC", 6, None)
    assert base.quote_tokens["0x4200000000000000000000000000000000000006"].tick == -230400
    assert base.quote_tokens["0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf"].decimals == 8


@pytest.mark.parametrize(
    ("address", "roles"),
    [
        (
            "0x33e2eda238edcf470309b8c6d228986a1204c8f9",
            {8453: ("locker", "v3.1"), 84532: ("locker", "v4"), 1: ("mev_module", "v4"), 56: ("mev_module", "v4")},
        ),
        (
            "0xf3622742b1e446d92e45e22923ef11c2fcd55d68",
            {8453: ("fee_locker", "v4"), 42161: ("locker", "v4")},
        ),
        (
            "0x42a95190b4088c88dd904d930c79dec1158bf09d",
            {8453: ("vault", "v3.1"), 84532: ("fee_locker", "v4"), 130: ("mev_module", "v4")},
        ),
        (
            "0xa1da0600eb4a9f3d4a892feaa2c2caf80a4a2f14",
            {84532: ("locker", "v3.1"), 1: ("vault", "v4"), 42161: ("vault", "v4")},
        ),
        (
            "0xe143f9872a33c955f23cf442bb4b1efb3a7402a2",
            {8453: ("mev_module", "v4"), 130: ("airdrop", "v4")},
        ),
    ],
)
def test_one_address_is_another_contract_on_another_chain(address: str, roles: dict[int, tuple[str, str]]) -> None:
    found = {
        chain_id: (contract.role, contract.generation.name if contract.generation else None)
        for chain_id, chain in load_registry().chains.items()
        if (contract := chain.contracts.get(address))
    }

    assert found == roles


def test_base_keeps_the_older_contracts_too() -> None:
    base = load_registry().chain(8453)

    assert base.addresses("locker_factory") == (
        "0x515d45F06EdD179565aa2796388417ED65E88939",
        "0x18db5Fce22bE8814B7E31FBDA2f6488d607A1172",
    )
    assert base.addresses("locker", "v2") == ("0x618A9840691334eE8d24445a4AdA4284Bf42417D",)
    assert base.addresses("locker", "v3") == ("0x5eC4f99F342038c67a312a166Ff56e6D70383D86",)
    assert base.addresses("presale") == (
        "0x71cDc0bDF30F5601fb0ac80Cf1d20B771342C035",
        "0xeeBbC567C3D612f50a67820f39CDD30dcCF7E6b8",
    )
    assert "0x29d17C1A8D851d7d4cA97FAe97AcAdb398D9cCE0" in base.addresses("locker", "v4")
    assert "0x56Fa0Da89eD94822e46734e736d34Cab72dF344F" in base.addresses("airdrop", "v4")
    assert base.contracts["0x10f4485d6f90239b72c6a5ead2f2320993d285e4"].generation is None


def test_a_factory_is_found_by_its_lower_case_address_only_on_its_chain() -> None:
    registry = load_registry()
    ethereum = "0x6c8599779b03b00aaae63c6378830919abb75473"

    generation = registry.chain(1).factory_generation(ethereum)
    assert generation is not None and generation.type == "clanker_v4"
    assert registry.chain(8453).factory_generation(ethereum) is None


def test_a_locker_is_no_factory() -> None:
    assert load_registry().chain(8453).factory_generation("0x33e2eda238edcf470309b8c6d228986a1204c8f9") is None


def test_the_presets_have_the_position_lists_of_the_sdk() -> None:
    presets = load_registry().presets

    assert [(p.tick_lower, p.tick_upper, p.bps) for p in presets["standard"].positions] == [(-230400, -120000, 10_000)]
    assert [p.bps for p in presets["project"].positions] == [1_000, 5_000, 1_500, 2_000, 500]
    assert {name: preset.starting_tick for name, preset in presets.items()} == {
        "standard": -230400,
        "project": -230400,
        "twenty_eth": -223400,
    }


def test_every_address_of_the_built_in_file_is_checksummed() -> None:
    # Ids of v4 pools have 64 digits.
    written = re.findall(r'"(0x(?![0-9a-f]{64}")[^"]*)"', BUILT_IN_FILE.read_text(encoding="utf-8"))

    assert len(written) > 100
    assert [address for address in written if not is_checksum_address(address)] == []


def test_chains_have_the_market_data_providers_ids() -> None:
    chains = load_registry().chains
    assert {chain_id: chains[chain_id].market_network for chain_id in (8453, 1, 56, 84532)} == {
        8453: "base",
        1: "eth",
        56: "bsc",
        84532: None,
    }


# An operator's files


def test_an_operator_adds_a_chain_after_the_others(tmp_path: Path) -> None:
    contracts = f'contracts = [{{ role = "factory", generation = "v4", address = "{ADDRESS}" }}]\n'

    registry = load_registry(write(tmp_path, NEW_CHAIN + contracts))

    assert list(registry.chains)[-1] == 31337
    assert next(iter(registry.chains)) == 8453
    chain = registry.chain(31337)
    assert (chain.name, chain.finality_depth, chain.explorer, chain.wrapped_native) == ("Local", 1, None, None)
    assert {key: generation.name for key, generation in chain.factories.items()} == {ADDRESS: "v4"}


def test_an_operators_contract_takes_launches_over_from_the_built_in_one(tmp_path: Path) -> None:
    entry = f'{{ role = "static_hook", generation = "v4", address = "{ADDRESS}", deploy = "bare" }}'

    base = load_registry(write(tmp_path, f"[chains.8453]\ncontracts = [{entry}]")).chain(8453)

    hook = base.deploying("static_hook")
    assert hook is not None and (hook.address, hook.deploy) == (ADDRESS, "bare")
    other = base.deploying("dynamic_hook")
    assert other is not None and other.deploy == "wrapped"


def test_an_operator_adds_a_generation_and_its_factory_in_any_order_of_files(tmp_path: Path) -> None:
    contract = f'{{ role = "factory", generation = "v5", address = "{ADDRESS}" }}'
    factory = write(tmp_path, f"[chains.8453]\ncontracts = [{contract}]", "factory.toml")
    generation = write(tmp_path, '[generations.v5]\ntype = "clanker_v5"\nevent = "v4"', "generation.toml")

    found = load_registry(factory, generation).chain(8453).factory_generation(ADDRESS)

    assert found is not None and (found.name, found.type, found.event) == ("v5", "clanker_v5", "v4")


def test_an_operator_changes_one_scalar_and_keeps_the_rest(tmp_path: Path) -> None:
    chain = load_registry(write(tmp_path, "[chains.8453]\nfinality_depth = 30")).chain(8453)

    assert (chain.finality_depth, chain.name) == (30, "Base")
    assert set(chain.contracts) == set(load_registry().chain(8453).contracts)


def test_an_entry_with_a_known_address_replaces_it_and_others_are_added(tmp_path: Path) -> None:
    replaced = "0x8e845ead15737bf71904a30bddd3aee76d6adf6c"
    text = f"""[chains.8453]
    contracts = [
        {{ role = "airdrop", generation = "v4", address = "{replaced}" }},
        {{ role = "vault", generation = "v4", address = "{ADDRESS}" }},
    ]
    quote_tokens = [
        {{ symbol = "USD", address = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", decimals = 6, tick = 5 }},
    ]
    """

    base = load_registry(write(tmp_path, text)).chain(8453)

    assert base.contracts[replaced].role == "airdrop"
    assert base.contracts[replaced].address == "0x8E845EAd15737bF71904A30BdDD3aEE76d6ADF6C"
    assert base.addresses("vault", "v4") == (ADDRESS,)
    usdc = base.quote_tokens["0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"]
    assert (usdc.symbol, usdc.tick) == ("USD", 5)
    assert len(base.quote_tokens) == len(load_registry().chain(8453).quote_tokens)


def test_known_deployers_of_several_files_add_up_in_lower_case(tmp_path: Path) -> None:
    first = write(
        tmp_path, '[chains.1]\nknown_deployers = ["0x6C8599779B03B00AAaE63C6378830919Abb75473"]', "first.toml"
    )
    second = write(tmp_path, f'[chains.1]\nknown_deployers = ["{ADDRESS}"]', "second.toml")

    assert load_registry(first, second).chain(1).known_deployers == {
        "0x6c8599779b03b00aaae63c6378830919abb75473",
        ADDRESS,
    }


def test_a_preset_of_the_same_name_is_replaced_as_a_whole(tmp_path: Path) -> None:
    positions = "{ tick_lower = -200, tick_upper = 200, bps = 10000 }"

    presets = load_registry(
        write(tmp_path, f"[presets.project]\nstarting_tick = -200\npositions = [{positions}]")
    ).presets

    assert (presets["project"].starting_tick, len(presets["project"].positions)) == (-200, 1)
    assert presets["standard"].starting_tick == -230400


def test_a_later_file_completes_a_chain_of_an_earlier_one(tmp_path: Path) -> None:
    first = write(tmp_path, NEW_CHAIN, "first.toml")
    second = write(tmp_path, '[chains.31337]\nexplorer = "http://127.0.0.1:4000/"', "second.toml")

    chain = load_registry(first, second).chain(31337)

    assert (chain.name, chain.explorer) == ("Local", "http://127.0.0.1:4000")


def test_the_loaded_registry_is_immutable() -> None:
    base = load_registry().chain(8453)

    with pytest.raises(TypeError):
        base.contracts[ADDRESS] = base.contracts["0x33e2eda238edcf470309b8c6d228986a1204c8f9"]
    with pytest.raises(AttributeError):
        base.finality_depth = 1


def test_a_chain_with_a_router_has_all_that_swaps_need() -> None:
    routed = {chain_id: chain for chain_id, chain in load_registry().chains.items() if chain.universal_router}

    assert set(routed) == {8453, 84532, 1, 42161, 130, 143, 56}
    for chain in routed.values():
        assert chain.permit2 and chain.v4_quoter and chain.v4_state_view and chain.wrapped_native
        # Generations up to v3.1 have pools where the registry has v3's factory.
        assert bool(chain.v3_quoter) == bool(chain.v3_factory)

"""Declared claims and changes of launchpads: keys, emitters, and the place of each mistake in the file."""

import pytest

from tokens.chains.evm.logs.log_filters import log_filters
from tokens.chains.registry.chains import RegistryError, load_registry

CHAIN = 8453
FACTORY, ESCROW, NFT = (f"0x{digit * 40}" for digit in "123")
LAUNCH = f"""
[launchpads.coins]
pool = "v4"

[[launchpads.coins.launch]]
contracts = {{ {CHAIN} = ["{FACTORY}"] }}
event = "Launched(address indexed coin, bytes32 poolId, uint256 nft)"
token = "coin"
pool_id = "poolId"
"""
OF_NFT = f'nft = {{ id = "nft", contracts = {{ "{FACTORY}" = "{NFT}" }} }}\n'
CLAIM = """
[[launchpads.coins.claim]]
event = "Paid(bytes32 indexed poolId, address coin, address indexed to, address currency, uint8 a, uint8 b, int8 c)"
"""
BY_POOL = f'{CLAIM}pool_id = "poolId"\nrecipient = "to"\n'
AMOUNTS = 'amount0 = "a"\namount1 = "b"\n'
CHANGE = """
[[launchpads.coins.change]]
event = "Transfer(address indexed from, address indexed to, uint256 indexed id)"
set = "creator"
to = "to"
"""


@pytest.fixture
def load(tmp_path):
    def read(text: str):
        file = tmp_path / "own.toml"
        file.write_text(text)
        return load_registry(file, launchpads={CHAIN: ("coins",)})

    return read


def mistakes(load, text: str) -> list[tuple[str, str]]:
    with pytest.raises(RegistryError) as raised:
        load(text)
    return [(mistake.key_path.removeprefix("launchpads.coins."), mistake.rule) for mistake in raised.value.mistakes]


def sources(load, text: str) -> set[str]:
    """Return the addresses that may emit the declared events; an empty one where any may."""
    return {address for address, _ in load(text).chain(CHAIN).token_events}


@pytest.mark.parametrize(
    ("event", "addresses"),
    [
        (BY_POOL + AMOUNTS, {FACTORY}),
        (f'{BY_POOL}{AMOUNTS}by = "hook"', {""}),
        (f'{BY_POOL}{AMOUNTS}by = {{ {CHAIN} = ["{ESCROW}"], 1 = ["{NFT}"] }}', {ESCROW}),
        (f'{CLAIM}{AMOUNTS}recipient = "to"\ntoken = "coin"', {FACTORY}),
        (f'{CLAIM}{AMOUNTS}recipient = "to"\nby = "pool"', {""}),
        (f'{CLAIM}{AMOUNTS}recipient = "to"', {""}),
        (f'{CHANGE}nft_id = "id"', {NFT}),
    ],
)
def test_events_are_read_of_their_emitters(load, event, addresses):
    text = LAUNCH + OF_NFT + event
    assert sources(load, text) == addresses
    chain = load(text).chain(CHAIN)
    assert (addresses - {""}) | {FACTORY} <= chain.emitters
    ((_, topic0),) = chain.token_events
    of_contracts, of_any = log_filters(chain)
    assert topic0 in (of_any if addresses == {""} else of_contracts).topics


@pytest.mark.parametrize(
    ("amounts", "currency"),
    [
        ('token_amount = "a"', ""),
        ('quote_amount = "a"', ""),
        ('token_amount = "a"\nquote_amount = "b"', ""),
        ('amount = "a"', 'currency = "currency"'),
    ],
)
def test_amounts_are_of_the_pool_the_token_the_quote_or_a_currency(load, amounts, currency):
    (pad,) = load(f"{LAUNCH}{BY_POOL}{amounts}\n{currency}").chain(CHAIN).launchpads
    assert [sorted(claim.amounts) for claim in pad.claims] == [
        sorted(line.partition(" ")[0] for line in amounts.splitlines())
    ]


_AMOUNTS_RULE = "expected amount0 and amount1, token_amount or quote_amount or both, or amount"
_CURRENCY_RULE = "expected beside amount, and nowhere else: the argument with its currency"


@pytest.mark.parametrize(
    ("event", "place", "rule"),
    [
        (BY_POOL, "claim[0]", _AMOUNTS_RULE),
        (f'{BY_POOL}amount0 = "a"', "claim[0]", _AMOUNTS_RULE),
        (f'{BY_POOL}{AMOUNTS}amount = "a"', "claim[0]", _AMOUNTS_RULE),
        (f'{BY_POOL}amount = "a"', "claim[0].currency", _CURRENCY_RULE),
        (f'{BY_POOL}{AMOUNTS}currency = "currency"', "claim[0].currency", _CURRENCY_RULE),
        (f'{BY_POOL}amount0 = "a"\namount1 = "c"', "claim[0].amount1", "c is int8: expected uint8 or uint16"),
        (f'{CLAIM}{AMOUNTS}pool_id = "poolId"', "claim[0].recipient", "expected a text that is not empty"),
        (f'{CLAIM}{AMOUNTS}pool_id = "a"\nrecipient = "to"', "claim[0].pool_id", "a is uint8: expected bytes32"),
        (f'{BY_POOL}{AMOUNTS}token = "coin"', "claim[0].pool_id", "expected one of token, pool_id, nft_id"),
        (f'{BY_POOL}{AMOUNTS}by = "pool"', "claim[0].by", "expected without an argument that names the token"),
        (f'{CLAIM}{AMOUNTS}recipient = "to"\nby = "hook"', "claim[0].by", "expected beside token or pool_id only"),
        (f'{BY_POOL}{AMOUNTS}by = "locker"', "claim[0].by", 'expected "pool", "hook", or chains and contracts'),
        (f'{BY_POOL}{AMOUNTS}by = {{ base = ["{NFT}"] }}', "claim[0].by.base", "expected the id of an EVM chain"),
        (
            f'{BY_POOL}{AMOUNTS}by = {{ 1 = ["x"] }}',
            "claim[0].by.1[0]",
            "expected 0x and 40 hexadecimal digits, in quotes",
        ),
        (f'{BY_POOL}{AMOUNTS}to = "to"', "claim[0].to", "unknown key: expected one of amount, amount0, amount1, by,"),
        (f'{CHANGE}nft_id = "id"', "change[0].nft_id", "no launch has `nft`, by which a token is found"),
        (f'{CHANGE}nft_id = "to"', "change[0].nft_id", "to is address: expected uint8"),
        (
            CHANGE.replace('"creator"', '"pool"').replace('"to"', '"to"\npool = "v2"\nnft_id = "id"'),
            "change[0].set",
            "a pool is set by an event that has the token, or that the token emits",
        ),
        (f'{BY_POOL}{AMOUNTS}{BY_POOL}token_amount = "a"', "launchpads.coins", "is declared twice"),
    ],
)
def test_each_mistake_has_its_place(load, event, place, rule):
    found = mistakes(load, LAUNCH + event)
    assert any(at == place and rule in text for at, text in found), found


@pytest.mark.parametrize(
    ("nft", "place"),
    [
        ('nft = "nft"', "launch[0].nft"),
        ('nft = { id = "nft" }', "launch[0].nft"),
        (f'nft = {{ id = "coin", contracts = {{ "{FACTORY}" = "{NFT}" }} }}', "launch[0].nft.id"),
        (f'nft = {{ id = "nft", contracts = {{ "{FACTORY}" = "1" }} }}', f"launch[0].nft.contracts.{FACTORY}"),
    ],
)
def test_an_nft_is_an_id_and_the_contract_of_each_launching_one(load, nft, place):
    assert [at for at, _ in mistakes(load, f"{LAUNCH}{nft}\n")] == [place]

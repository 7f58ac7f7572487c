"""Reference pools in tokens/chains/registry: built-in ones against Uniswap's formulas, and operators' entries."""

from pathlib import Path

import pytest
from sha3 import keccak_256

from tokens.chains.registry.chains import RegistryError, load_registry

USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
WETH = "0x4200000000000000000000000000000000000006"
POOL = "0x1111111111111111111111111111111111111111"
# Uniswap's published factories (docs.uniswap.org, v3 deployments), and its pools' creation code hash.
V3_FACTORY = "0x1F98431c8aD98523631AE4a59f267346ea31F984"
FACTORIES = {
    8453: "0x33128a8fC17869897dcE68Ed026d694621f6FDfD",
    1: V3_FACTORY,
    42161: V3_FACTORY,
    56: "0xdB1d10011AD0Ff90774D0C6Bb92e5C5c8b4461F7",
}
POOL_CODE = "e34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54"
FEES = {8453: (500, 3000), 1: (500, 3000), 42161: (500, 3000), 56: (100, 500)}
NATIVE = "0x" + "00" * 20


def word(value: str | int) -> bytes:
    return (int(value, 16) if isinstance(value, str) else value).to_bytes(32)


def v3_pool(factory: str, token: str, other: str, fee: int) -> str:
    """Return a Uniswap v3 pool's CREATE2 address, in lower case."""
    token0, token1 = sorted((token.lower(), other.lower()))
    salt = keccak_256(word(token0) + word(token1) + word(fee)).digest()
    created = b"\xff" + bytes.fromhex(factory[2:]) + salt + bytes.fromhex(POOL_CODE)
    return "0x" + keccak_256(created).hexdigest()[-40:]


def v4_pool_id(currency0: str, currency1: str, fee: int, tick_spacing: int) -> str:
    """Return a Uniswap v4 pool's id, without a hook."""
    key = (currency0, currency1, fee, tick_spacing, NATIVE)
    return "0x" + keccak_256(b"".join(map(word, key))).hexdigest()


def entries(tmp_path: Path, text: str, chain: str = "8453") -> Path:
    path = tmp_path / "operator.toml"
    path.write_text(f"[chains.{chain}]\n{text}", encoding="utf-8")
    return path


def mistakes(path: Path) -> list[tuple[str, str]]:
    with pytest.raises(RegistryError) as caught:
        load_registry(path)
    return [(mistake.key_path, mistake.rule) for mistake in caught.value.mistakes]


def test_the_formula_gives_well_known_pools() -> None:
    # The two largest pools for ETH and USDC, which explorers label.
    ethereum = load_registry().chain(1).quote_tokens.values()
    weth, usdc = (token.address for token in ethereum)
    assert v3_pool(V3_FACTORY, weth, usdc, 500) == "0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640"
    assert v3_pool(FACTORIES[8453], WETH, USDC, 500) == "0xd0b53d9277642d899df5c87a3966a349a798f224"


@pytest.mark.parametrize("chain_id", FACTORIES)
def test_v3_pools_follow_from_factory_tokens_and_fee(chain_id: int) -> None:
    chain = load_registry().chain(chain_id)

    assert [pool.pool for pool in chain.reference_pools] == [
        v3_pool(FACTORIES[chain_id], str(chain.wrapped_native), pool.stable, fee)
        for pool, fee in zip(chain.reference_pools, FEES[chain_id], strict=True)
    ]
    for pool in chain.reference_pools:
        assert pool.currency == chain.wrapped_native
        assert pool.is_currency0 == (pool.currency.lower() < pool.stable.lower())
        assert chain.quote_tokens[pool.stable.lower()].stable


def test_unichain_has_a_v4_pool_of_the_native_coin() -> None:
    chain = load_registry().chain(130)
    (pool,) = chain.reference_pools

    assert pool.pool == v4_pool_id(NATIVE, pool.stable, 500, 10)
    # WETH's address is above USDC's, and the native coin's is 0.
    assert (pool.currency, pool.is_currency0) == (WETH, True)
    assert (pool.currency_decimals, pool.stable_decimals) == (18, 6)


def test_only_dollar_coins_are_stable() -> None:
    chains = load_registry().chains.values()

    found = {chain.quote_tokens[key].symbol for chain in chains for key in chain.stable_tokens}

    assert found == {"USDC", "USDT", "USDG", "USDC.e"}
    assert load_registry().chain(8453).stable_tokens == {USDC.lower()}


def test_chains_without_a_certain_pool_have_none() -> None:
    without = {chain.chain_id for chain in load_registry().chains.values() if not chain.reference_pools}

    assert without == {84532, 143, 4663, 2741, 10143, 101}


def test_an_operators_list_replaces_the_built_in_one(tmp_path: Path) -> None:
    cbbtc = "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf"
    path = entries(
        tmp_path,
        f'reference_pools = [{{ pool = "{POOL}", currency = "{cbbtc}", stable = "{USDC}" }},\n'
        f'{{ pool = "0x{"AB" * 32}", stable = "{USDC}", native = true }}]',
    )

    bitcoin, native = load_registry(path).chain(8453).reference_pools

    assert (bitcoin.pool, bitcoin.currency, bitcoin.currency_decimals) == (POOL, cbbtc, 8)
    assert not bitcoin.is_currency0
    assert (native.pool, native.currency, native.is_currency0) == ("0x" + "ab" * 32, WETH, True)


def test_the_stable_token_of_a_reference_pool_counts_as_stable(tmp_path: Path) -> None:
    # An operator's entry from before `stable` existed replaces the built-in one.
    path = entries(tmp_path, f'quote_tokens = [{{ symbol = "USDC", address = "{USDC}", decimals = 6 }}]')

    chain = load_registry(path).chain(8453)

    assert not chain.quote_tokens[USDC.lower()].stable
    assert chain.stable_tokens == {USDC.lower()}


@pytest.mark.parametrize(
    ("entry", "key", "rule"),
    [
        (f'stable = "{USDC}"', ".pool", "missing"),
        (f'pool = "{POOL}"', ".stable", "missing"),
        (f'pool = "0x1234", stable = "{USDC}"', ".pool", "or the 64 of a v4 pool's id"),
        (f'pool = 500, stable = "{USDC}"', ".pool", "or the 64 of a v4 pool's id"),
        (f'pool = "0xD0b53D9277642d899DF5C87A3966A349A798F224", stable = "{USDC}"', ".pool", "EIP-55"),
        (f'pool = "{POOL}", stable = "{USDC}", fee = 500', ".fee", "unknown key"),
        (f'pool = "{POOL}", stable = "{USDC}", native = 1', ".native", "true or false"),
        (f'pool = "{POOL}", stable = "{USDC}", native = true, currency = "{WETH}"', ".currency", "leave it out"),
        (f'pool = "{POOL}", stable = "{POOL}"', ".stable", "a quote token of this chain"),
        (f'pool = "{POOL}", stable = "{USDC}", currency = "{POOL}"', ".currency", "a quote token of this chain"),
    ],
)
def test_it_refuses_a_reference_pool_and_names_the_entry(tmp_path: Path, entry: str, key: str, rule: str) -> None:
    found = mistakes(entries(tmp_path, f"reference_pools = [{{ {entry} }}]"))

    assert [where for where, _ in found] == [f"chains.8453.reference_pools[0]{key}"]
    assert rule in found[0][1]


def test_it_refuses_one_pool_twice(tmp_path: Path) -> None:
    entry = f'{{ pool = "{POOL}", stable = "{USDC}" }}'

    assert mistakes(entries(tmp_path, f"reference_pools = [{entry}, {entry}]")) == [
        ("chains.8453.reference_pools[1].pool", f"{POOL} is listed twice in this list")
    ]


def test_solana_has_stable_tokens_and_no_reference_pools(tmp_path: Path) -> None:
    assert len(load_registry().solana.stable_tokens) == 2
    ((place, rule),) = mistakes(entries(tmp_path, "reference_pools = []", chain="solana"))
    assert place == "chains.solana.reference_pools"
    assert rule.startswith("unknown key")

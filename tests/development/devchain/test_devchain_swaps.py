"""Swaps on the development chain: Uniswap's arithmetic, fees, and the locker's conversions."""

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from development.devchain import node_client
from development.devchain.anvil import CHAIN_ID
from development.devchain.deploy_contracts import DevelopmentContracts
from development.devchain.launch_transactions import (
    TOKEN_SUPPLY,
    DevAirdropShare,
    DevLaunchConfig,
    DevVaultShare,
    DynamicFees,
    LaunchPurchase,
    Recipient,
    StaticFees,
)
from tests.nodes.devchain_tests import OTHER, SENDER, STRANGER, events_of, launched, refused, token_at
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.pool_types import select_pools
from tokens.chains.registry.chains import load_registry
from tokens.chains.rpc.client import RpcClient

RECORDED = Path(__file__).parents[2] / "data" / "transactions"
ETHER = 10**18
UNLIMITED = 2**256 - 1


@dataclass(frozen=True)
class Pool:
    """A launched token's pool, with the router that SENDER trades through."""

    at: DevelopmentContracts
    token: str
    paired: str
    key: tuple[str, str, int, int, str]
    # Each position's liquidity.
    liquidity: tuple[int, ...] = ()

    @property
    def id(self) -> bytes:
        return keccak(encode(["address", "address", "uint24", "int24", "address"], self.key))

    def router(self) -> Any:
        return node_client.bind_contract(self.at.rpc_url, "SwapRouter", self.at.swap_router)

    def buy(self, wei: int) -> list[tuple[str, dict[str, Any]]]:
        call = self.router().functions.swap(self.key, self.at.wrapped_native, wei, 0)
        return events_of(self.at, node_client.transact(self.at.rpc_url, call, sender=SENDER, value=wei))

    def sell(self, amount: int) -> list[tuple[str, dict[str, Any]]]:
        approve(self.at, self.token)
        call = self.router().functions.swap(self.key, self.token, amount, 0)
        return events_of(self.at, node_client.transact(self.at.rpc_url, call, sender=SENDER))

    def balance(self, owner: str) -> int:
        """Return the owner's balance in the paired token."""
        amount: int = token_at(self.at, self.paired).functions.balanceOf(owner).call()
        return amount

    def collect_fees(self) -> list[tuple[str, dict[str, Any]]]:
        locker = node_client.bind_contract(self.at.rpc_url, "Locker", self.at.locker)
        call = locker.functions.collectRewards(self.token)
        return events_of(self.at, node_client.transact(self.at.rpc_url, call, sender=STRANGER))


def open_pool(at: DevelopmentContracts, config: DevLaunchConfig, *, token_first: bool | None = None) -> Pool:
    """Launch a token and return its pool; `token_first` decides whether its address is below the paired token's."""
    paired = config.paired_token or at.wrapped_native
    while True:
        events = events_of(at, launched(at, replace(config, salt=os.urandom(32))))
        token, opened = dict(events)["TokenCreated"]["tokenAddress"], dict(events)["Initialize"]
        if token_first in (None, token.lower() < paired.lower()):
            key = tuple(opened[name] for name in ("currency0", "currency1", "fee", "tickSpacing", "hooks"))
            added = tuple(values["liquidityDelta"] for name, values in events if name == "ModifyLiquidity")
            return Pool(at, token, paired, key, added)


def pool_of_ether(at: DevelopmentContracts) -> Pool:
    """Return the pool in which "buying" is to get dollars."""
    return Pool(at, at.usd, at.wrapped_native, at.dollar_pool_key)


def approve(at: DevelopmentContracts, token: str) -> None:
    call = token_at(at, token).functions.approve(at.swap_router, UNLIMITED)
    node_client.transact(at.rpc_url, call, sender=SENDER)


def swaps_in(events: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    return [values for name, values in events if name == "Swap"]


def recorded_swaps(name: str) -> list[dict[str, int]]:
    """Return the swaps' numbers in a transaction that was recorded with the real contracts."""
    found = json.loads((RECORDED / f"{name}.json").read_text())
    return [numbers(log["args"]) for log in found["decodedLogs"] if log["event"] == "Swap"]


def numbers(swap: dict[str, Any]) -> dict[str, int]:
    fields = ("amount0", "amount1", "sqrtPriceX96", "liquidity", "tick", "fee")
    return {field: int(swap[field]) for field in fields}


@pytest.mark.parametrize(
    ("name", "config", "token_first", "wei"),
    [
        ("token1", DevLaunchConfig(), False, ETHER // 2),
        ("airdrop", DevLaunchConfig(airdrop=DevAirdropShare(admin=SENDER, bps=25)), True, ETHER // 2),
        ("vault", DevLaunchConfig(vault=DevVaultShare(admin=SENDER)), False, ETHER // 2),
        ("devbuy", DevLaunchConfig(own_buy=LaunchPurchase(recipient=OTHER)), False, ETHER // 2),
    ],
)
def test_a_buy_and_a_sale_are_those_of_the_real_contracts(
    deployment: DevelopmentContracts, name: str, config: DevLaunchConfig, token_first: bool, wei: int
) -> None:
    pool = open_pool(deployment, config, token_first=token_first)
    bought, sold = recorded_swaps(f"swap-buy-{name}"), recorded_swaps(f"swap-sell-{name}")

    buy = swaps_in(pool.buy(wei))
    sale = swaps_in(pool.sell(-min(sold[0]["amount0"], sold[0]["amount1"])))

    assert ([numbers(swap) for swap in buy], [numbers(swap) for swap in sale]) == (bought, sold)
    assert {(swap["id"], swap["sender"]) for swap in buy + sale} == {(pool.id, deployment.swap_router)}


def test_the_lockers_conversion_is_that_of_the_real_contracts(deployment: DevelopmentContracts) -> None:
    shares = ((SENDER, 7_000, "Paired"), (OTHER, 2_000, "Clanker"), (STRANGER, 1_000, "Both"))
    recipients = tuple(Recipient(admin=who, recipient=who, bps=bps, wants=wants) for who, bps, wants in shares)
    pool = open_pool(deployment, DevLaunchConfig(recipients=recipients), token_first=True)
    converted, sold = recorded_swaps("swap-sell-multi-recipients")

    buy = swaps_in(pool.buy(2 * ETHER))
    collection = pool.collect_fees()
    sale = swaps_in(pool.sell(-sold["amount0"]))

    assert [numbers(swap) for swap in buy] == recorded_swaps("swap-buy-multi-recipients")
    assert [numbers(swap) for swap in swaps_in(collection)] == [converted]
    assert [swap["sender"] for swap in swaps_in(collection)] == [deployment.swap_router]
    assert dict(collection)["FeesSwapped"]["amountOut"] == 27767774075933629853401276
    assert [numbers(swap) for swap in sale] == [sold]


@pytest.mark.parametrize("token_first", [True, False], ids=["token0", "token1"])
def test_each_direction_has_its_fee_and_the_factory_gets_a_fifth_on_top(
    deployment: DevelopmentContracts, token_first: bool
) -> None:
    config = DevLaunchConfig(fees=StaticFees(launched=20_000, paired=5_000))
    pool = open_pool(deployment, config, token_first=token_first)
    team = pool.balance(deployment.factory)

    [buy] = swaps_in(pool.buy(ETHER))
    fee = pool.balance(deployment.factory) - team
    into, out = (buy["amount1"], buy["amount0"]) if token_first else (buy["amount0"], buy["amount1"])
    assert (buy["fee"], fee, -into) == (5_000, ETHER * 1_000 // 1_001_000, ETHER - fee)
    assert token_at(deployment, pool.token).functions.balanceOf(SENDER).call() == out

    events = pool.sell(out // 2)
    [sale] = swaps_in(events)
    gained, paid = (sale["amount1"], sale["amount0"]) if token_first else (sale["amount0"], sale["amount1"])
    assert (sale["fee"], -paid) == (20_000, out // 2)
    assert pool.balance(deployment.factory) - team - fee == gained * 4_000 // 1_000_000
    assert dict(events)["Withdrawal"]["wad"] == gained - gained * 4_000 // 1_000_000


def test_a_dynamic_pool_takes_its_base_fee(deployment: DevelopmentContracts) -> None:
    pool = open_pool(deployment, DevLaunchConfig(fees=DynamicFees(base_fee=7_500)))

    assert [swap["fee"] for swap in swaps_in(pool.buy(ETHER))] == [7_500]


@pytest.mark.parametrize("token_first", [True, False], ids=["token0", "token1"])
def test_a_swap_crosses_positions_and_gaps_and_ends_where_the_liquidity_does(
    deployment: DevelopmentContracts, token_first: bool
) -> None:
    # The first position is small, and nothing is between the two.
    positions = ((-230_400, -226_400, 500), (-220_000, -180_000, 9_500))
    pool = open_pool(deployment, DevLaunchConfig(positions=positions), token_first=token_first)

    [first] = swaps_in(pool.buy(ETHER // 10))
    [second] = swaps_in(pool.buy(10 * ETHER))
    events = pool.buy(1_000 * ETHER)
    [last] = swaps_in(events)

    small, large = pool.liquidity
    sign = 1 if token_first else -1
    assert first["liquidity"] == small != large == second["liquidity"]
    assert -230_400 < sign * first["tick"] < -226_400 and -220_000 < sign * second["tick"] < -180_000
    # For a price at a range's lower end, Uniswap's tick is the one below.
    assert (last["liquidity"], last["tick"]) == (0, -180_000 if token_first else 179_999)
    # The rest is returned.
    assert dict(events)["Withdrawal"]["wad"] > 800 * ETHER
    balance = token_at(deployment, pool.token).functions.balanceOf(SENDER).call()
    assert TOKEN_SUPPLY - 10**12 < balance < TOKEN_SUPPLY
    state = node_client.bind_contract(deployment.rpc_url, "PoolManager", deployment.pool_manager).functions
    assert state.getSlot0(pool.id).call()[:2] == [last["sqrtPriceX96"], last["tick"]]
    with refused("NoLiquidity"):
        pool.router().functions.swap(pool.key, pool.paired, 1, 0).call({"from": SENDER, "value": 1})

    [sale] = swaps_in(pool.sell(balance))

    assert sale["liquidity"] == small == state.getLiquidity(pool.id).call()
    assert -230_400 < sign * sale["tick"] < -226_400


def test_native_currency_has_a_price_in_dollars_which_trades_move_little(deployment: DevelopmentContracts) -> None:
    pool = pool_of_ether(deployment)
    usd = token_at(deployment, deployment.usd).functions
    before = usd.balanceOf(SENDER).call()

    [sale] = swaps_in(pool.buy(ETHER))

    dollars = usd.balanceOf(SENDER).call() - before
    assert dollars == pytest.approx(2_999e6, rel=0.002)
    approve(deployment, deployment.usd)
    call = pool.router().functions.swap(pool.key, deployment.usd, dollars, 0)
    [purchase] = swaps_in(events_of(deployment, node_client.transact(deployment.rpc_url, call, sender=SENDER)))
    assert purchase["sqrtPriceX96"] == pytest.approx(sale["sqrtPriceX96"], rel=0.001)
    assert "0x" + sale["id"].hex() == deployment.dollar_pool_id == "0x" + purchase["id"].hex()


def test_that_price_is_on_the_chain_before_all_launches(deployment: DevelopmentContracts) -> None:
    pools = node_client.bind_contract(deployment.rpc_url, "PoolManager", deployment.pool_manager)
    first = pools.events.Swap().get_logs(from_block=0)[0]

    assert "0x" + first["args"]["id"].hex() == deployment.dollar_pool_id
    launches = node_client.bind_contract(deployment.rpc_url, "Factory", deployment.factory).events.TokenCreated()
    assert all(first["blockNumber"] < launch["blockNumber"] for launch in launches.get_logs(from_block=0))


def test_the_router_takes_what_it_was_sent_and_no_worse_price(deployment: DevelopmentContracts) -> None:
    pool = open_pool(deployment, DevLaunchConfig())
    swap = pool.router().functions.swap
    with refused("InvalidValue"):
        swap(pool.key, pool.paired, ETHER, 0).call({"from": SENDER, "value": 1})
    with refused("InsufficientOutput"):
        swap(pool.key, pool.paired, ETHER, TOKEN_SUPPLY).call({"from": SENDER, "value": ETHER})


def test_the_service_reads_the_swaps(deployment: DevelopmentContracts, chains_file: Path) -> None:
    web3 = node_client.connect(deployment.rpc_url)
    first = web3.eth.block_number + 1
    pool = open_pool(deployment, DevLaunchConfig(), token_first=True)
    [bought] = swaps_in(pool.buy(ETHER))
    [sold] = swaps_in(pool.sell(bought["amount0"] // 3))
    [priced] = swaps_in(pool_of_ether(deployment).buy(ETHER))
    chain = Chain(
        info=load_registry(chains_file).chain(CHAIN_ID),
        rpc=RpcClient(chain_id=CHAIN_ID, urls=(deployment.rpc_url,)),
    )

    facts = chain.read_range(
        first,
        web3.eth.block_number,
        pools=select_pools([deployment.dollar_pool_id]),
    )

    emitted = [(-swap["amount0"], -swap["amount1"], swap["sqrtPriceX96"]) for swap in (bought, sold, priced)]
    ours = ["0x" + pool.id.hex(), deployment.dollar_pool_id]
    swaps = [swap for swap in facts.swaps if swap.pool in ours]
    assert [(swap.amount0, swap.amount1, swap.sqrt_price) for swap in swaps] == emitted
    assert {swap.sender for swap in swaps} == {deployment.swap_router}
    changes = [change.liquidity for change in facts.liquidity_changes if change.pool == ours[0]]
    assert changes == list(pool.liquidity)

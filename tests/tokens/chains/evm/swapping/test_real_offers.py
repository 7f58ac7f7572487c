"""Swap offers in pools of Uniswap's own contracts, with the launchpad's own hooks, lockers and MEV modules."""

from collections.abc import Iterator
from random import Random

import pytest
from eth_abi.abi import encode

from development.devchain import anvil
from development.devchain.anvil import CHAIN_ID
from development.devchain.deploy_contracts import deploy_contracts
from tests.tokens.chains.evm.swapping.real_pools import (
    RealLaunchpad,
    create,
    deploy_launchpad,
    open_coin_pool,
    open_v3_pool,
)
from tests.tokens.chains.evm.swapping.signed_swaps import ETHER, SwapWallet, fund, swap_at_random
from tokens.chains.errors import SwapUnavailableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.swapping.routes import NATIVE_COIN, SwapPool
from tokens.chains.evm.swapping.swap_offers import SwapOffer
from tokens.chains.registry.chains import load_registry
from tokens.chains.rpc.client import RpcClient

# Starting and ending fee, and seconds: the SDK's defaults.
STARTING_FEE, ENDING_FEE, SECONDS = 666_777, 41_673, 15
MEV_DATA = encode(["uint24", "uint24", "uint256"], [STARTING_FEE, ENDING_FEE, SECONDS])


@pytest.fixture(scope="module")
def launchpad(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealLaunchpad]:
    """Create the contracts on a node of their own, whose clock the tests move."""
    file = tmp_path_factory.mktemp("real") / "chains.toml"
    with anvil.run_anvil() as url:
        yield deploy_launchpad(deploy_contracts(url, chains_file=file), load_registry(file).chain(CHAIN_ID))


@pytest.fixture(scope="module")
def descending(launchpad: RealLaunchpad) -> str:
    """Return the MEV module whose fee falls with time."""
    return create(launchpad.url, "ClankerMevDescendingFees")


@pytest.fixture
def wallet(launchpad: RealLaunchpad) -> SwapWallet:
    chain = Chain(info=launchpad.info, rpc=RpcClient(chain_id=CHAIN_ID, urls=(launchpad.url,)))
    wallet = SwapWallet(chain=chain, url=launchpad.url)
    fund(wallet, launchpad.at, amount=100 * ETHER)
    return wallet


def pools_of(launchpad: RealLaunchpad, descending: str) -> list[tuple[SwapPool, str]]:
    """Open pools of v3, and of v4: with fixed and dynamic fees, each preference, and with the coin itself."""
    return [
        open_v3_pool(launchpad.at),
        open_coin_pool(launchpad),
        launchpad.launch(mev_module=descending, mev_data=MEV_DATA, preference=1),
        launchpad.launch(mev_module=descending, mev_data=MEV_DATA, is_dynamic=True),
        launchpad.launch(mev_module=descending, mev_data=MEV_DATA, fees=(20_000, 30_000), preference=2),
    ]


def test_random_swaps_give_exactly_what_was_quoted(
    launchpad: RealLaunchpad, descending: str, wallet: SwapWallet
) -> None:
    outcomes = swap_at_random(wallet, pools_of(launchpad, descending), Random(4), count=80)

    assert min(outcomes[f"{side} exact {exact}"] for side in ("buy", "sell") for exact in ("in", "out")) > 0, outcomes


@pytest.mark.slow
def test_300_random_swaps_give_exactly_what_was_quoted(
    launchpad: RealLaunchpad, descending: str, wallet: SwapWallet
) -> None:
    pools = [pool for _ in range(4) for pool in pools_of(launchpad, descending)]

    outcomes = swap_at_random(wallet, pools, Random(300), count=300)

    assert sum(count for kind, count in outcomes.items() if not kind.startswith("refused")) > 150, outcomes


def buy(wallet: SwapWallet, pool: tuple[SwapPool, str]) -> SwapOffer:
    return wallet.offer(*pool, is_purchase=True, is_exact_in=True, amount=ETHER)


def test_the_first_seconds_cost_the_sniper_fee_which_falls_with_time(
    launchpad: RealLaunchpad, descending: str, wallet: SwapWallet
) -> None:
    pool = launchpad.launch(mev_module=descending, mev_data=MEV_DATA)
    currencies = (NATIVE_COIN, pool[1])

    first = buy(wallet, pool)
    assert wallet.mined_changes(first, currencies) == [-ETHER, first.quote.amount_out]
    (fee, hook) = first.costs.fees
    assert (fee.kind, hook.kind) == ("sniper", "hook")
    assert ENDING_FEE < (fee.rate or 0) <= STARTING_FEE

    # Five seconds after the simulated block the fee is lower, and the same bytes give more.
    second = buy(wallet, pool)
    paid, received = wallet.mined_changes(second, currencies, time=second.simulation.time + 5)
    assert (paid, received > second.quote.amount_out) == (-ETHER, True)

    wallet.request("evm_increaseTime", 2 * SECONDS)
    wallet.request("evm_mine")
    last = buy(wallet, pool)
    assert wallet.mined_changes(last, currencies) == [-ETHER, last.quote.amount_out]
    assert [(fee.kind, fee.rate) for fee in last.costs.fees] == [("lp", 10_000), ("hook", None)]


def test_auction_blocks_are_refused_and_then_cost_the_sniper_fee(launchpad: RealLaunchpad, wallet: SwapWallet) -> None:
    addresses = [launchpad.locker, launchpad.locker, launchpad.fee_locker, launchpad.at.wrapped_native]
    auction = create(launchpad.url, "ClankerSniperAuctionV2", ["address"] * 4, addresses)
    pool = launchpad.launch(mev_module=auction, mev_data=MEV_DATA)

    with pytest.raises(SwapUnavailableError, match=r"NotAuctionBlock\(\)$"):
        buy(wallet, pool)
    wallet.request("evm_mine")
    # The auction's own block, in which only a bid may swap.
    with pytest.raises(SwapUnavailableError, match="no reason$"):
        buy(wallet, pool)
    wallet.request("evm_mine")
    offer = buy(wallet, pool)

    assert wallet.mined_changes(offer, (NATIVE_COIN, pool[1])) == [-ETHER, offer.quote.amount_out]
    assert offer.costs.fees[0].kind == "sniper"


def test_a_v3_pool_takes_no_more_than_it_has_liquidity_for(launchpad: RealLaunchpad, wallet: SwapWallet) -> None:
    pool = open_v3_pool(launchpad.at)

    with pytest.raises(SwapUnavailableError, match="too little liquidity"):
        wallet.offer(*pool, is_purchase=True, is_exact_in=True, amount=500_000 * ETHER)
    wallet.mine(buy(wallet, pool))
    half = wallet.balance(pool[1]) // 2
    offer = wallet.offer(*pool, is_purchase=False, is_exact_in=True, amount=half)

    assert wallet.mined_changes(offer, (pool[1], NATIVE_COIN)) == [-half, offer.quote.amount_out]
    assert [(fee.kind, fee.rate) for fee in offer.costs.fees] == [("lp", 10_000)]
    assert len(offer.calls) == 3


def test_a_deadline_and_a_limit_hold_on_the_chain(launchpad: RealLaunchpad, wallet: SwapWallet) -> None:
    pool = open_v3_pool(launchpad.at)
    offer = wallet.offer(*pool, is_purchase=True, is_exact_in=True, amount=ETHER, slippage_bps=100)
    wallet.mine(wallet.offer(*pool, is_purchase=True, is_exact_in=True, amount=ETHER))
    late = wallet.offer(*pool, is_purchase=True, is_exact_in=True, amount=ETHER, deadline=offer.simulation.time + 60)

    # Another's purchase has moved the price by more than the slippage.
    assert [receipt["status"] for receipt in wallet.mine(offer, time=late.simulation.time)] == [0]
    assert [receipt["status"] for receipt in wallet.mine(late, time=offer.simulation.time + 61)] == [0]

"""Swap offers on the development chain: Uniswap's own quoter and router in the development contracts' v4 pools."""

from pathlib import Path
from random import Random

import pytest

from development.devchain.anvil import CHAIN_ID
from development.devchain.deploy_contracts import DevelopmentContracts
from development.devchain.launch_transactions import DevLaunchConfig, DynamicFees, Recipient
from tests.development.devchain.test_devchain_swaps import Pool, open_pool
from tests.nodes.devchain_tests import SENDER
from tests.tokens.chains.evm.swapping.signed_swaps import ETHER, SwapWallet, fund, swap_at_random
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.swapping.routes import SwapPool, describe_pool
from tokens.chains.registry.chains import load_registry
from tokens.chains.rpc.client import RpcClient

CONVERTING = (Recipient(admin=SENDER, recipient=SENDER, bps=10_000, wants="Paired"),)


@pytest.fixture
def wallet(deployment: DevelopmentContracts, chains_file: Path) -> SwapWallet:
    info = load_registry(chains_file).chain(CHAIN_ID)
    chain = Chain(info=info, rpc=RpcClient(chain_id=CHAIN_ID, urls=(deployment.rpc_url,)))
    return SwapWallet(chain=chain, url=deployment.rpc_url)


def described(pool: Pool) -> SwapPool:
    return describe_pool(
        "0x" + pool.id.hex(),
        token=pool.token,
        paired=pool.paired,
        tick_spacing=pool.key[3],
        hook=pool.key[4],
        wrapped_native=pool.at.wrapped_native,
    )


def launch_pools(at: DevelopmentContracts) -> list[tuple[SwapPool, str]]:
    """Launch tokens on both sides of the wrapped coin, with fees of both kinds, with conversions, and in dollars."""
    configs = [
        (DevLaunchConfig(), True),
        (DevLaunchConfig(fees=DynamicFees()), False),
        (DevLaunchConfig(recipients=CONVERTING), None),
        (DevLaunchConfig(paired_token=at.usd), None),
    ]
    pools = [open_pool(at, config, token_first=token_first) for config, token_first in configs]
    return [(described(pool), pool.token) for pool in pools]


def test_random_swaps_give_exactly_what_was_quoted(deployment: DevelopmentContracts, wallet: SwapWallet) -> None:
    fund(wallet, deployment, amount=20 * ETHER)

    outcomes = swap_at_random(wallet, launch_pools(deployment), Random(44), count=40)

    assert min(outcomes[f"{side} exact {exact}"] for side in ("buy", "sell") for exact in ("in", "out")) > 0, outcomes
    assert sum(outcomes.values()) == 40


@pytest.mark.slow
def test_300_random_swaps_give_exactly_what_was_quoted(deployment: DevelopmentContracts, wallet: SwapWallet) -> None:
    fund(wallet, deployment, amount=200 * ETHER)

    outcomes = swap_at_random(wallet, launch_pools(deployment), Random(300), count=300)

    assert sum(count for kind, count in outcomes.items() if not kind.startswith("refused")) > 100, outcomes

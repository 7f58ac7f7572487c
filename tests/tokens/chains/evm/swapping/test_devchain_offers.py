"""Swap offers on the development chain: Uniswap's own quoter and router in the development contracts' v4 pools."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from development.devchain import node_client
from development.devchain.anvil import CHAIN_ID
from development.devchain.deploy_contracts import DevelopmentContracts
from development.devchain.launch_transactions import DevLaunchConfig, DynamicFees, Recipient
from tests.development.devchain.test_devchain_swaps import Pool, open_pool
from tests.nodes.devchain_tests import SENDER
from tests.tokens.chains.evm.swapping.signed_swaps import ETHER, SwapWallet, draw_amount
from tokens.chains.errors import CallWouldRevertError, SwapUnavailableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.swapping.routes import NATIVE_COIN, SwapPool, describe_pool
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


def swap_at_random(
    wallet: SwapWallet, pools: list[tuple[SwapPool, str]], random: Random, *, count: int
) -> Counter[str]:
    """Make random swaps, each mined from the offered bytes; count offers by kind, and refusals by reason."""
    outcomes = Counter[str]()
    for _ in range(count):
        pool, token = random.choice(pools)
        paired = next(each for each in pool.currencies if each != token)
        is_purchase, is_exact_in = random.random() < 0.6, random.random() < 0.5
        is_native = paired == wallet.chain.info.wrapped_native and random.random() < 0.6
        # Up to a thousand times what the pool holds, and what wallets own.
        largest = 10**23 if is_purchase == is_exact_in else 10**32
        if not is_purchase and is_exact_in and random.random() < 0.8:
            largest = wallet.balance(token) or largest
        currency = NATIVE_COIN if is_native else paired
        currencies = (currency, token) if is_purchase else (token, currency)
        amount = draw_amount(random, largest=largest)
        try:
            offer = wallet.offer(
                pool, token, is_purchase=is_purchase, is_exact_in=is_exact_in, is_native=is_native, amount=amount
            )
        except (SwapUnavailableError, CallWouldRevertError) as error:
            outcomes[f"refused: {str(error)[:70]}"] += 1
            continue
        assert wallet.mined_changes(offer, currencies) == [-offer.quote.amount_in, offer.quote.amount_out]
        assert amount == (offer.quote.amount_in if is_exact_in else offer.quote.amount_out)
        assert router_balance(wallet, pool) == 0
        outcomes[f"{'buy' if is_purchase else 'sell'} exact {'in' if is_exact_in else 'out'}"] += 1
    return outcomes


def router_balance(wallet: SwapWallet, pool: SwapPool) -> int:
    """Return what the router has left, coins included; whatever it has, any caller may take."""
    router = wallet.chain.info.universal_router or ""
    tokens = (node_client.bind_contract(wallet.url, "Token", each) for each in pool.currencies)
    return wallet.web3.eth.get_balance(router) + sum(each.functions.balanceOf(router).call() for each in tokens)


def fund(wallet: SwapWallet, at: DevelopmentContracts, *, amount: int) -> None:
    """Give the wallet wrapped coins, and dollars."""
    native = node_client.bind_contract(wallet.url, "WrappedNative", at.wrapped_native)
    node_client.transact(wallet.url, native.functions.deposit(), sender=SENDER, value=amount)
    node_client.transact(wallet.url, native.functions.transfer(wallet.address, amount), sender=SENDER)
    usd = node_client.bind_contract(wallet.url, "UsdStandIn", at.usd)
    node_client.transact(wallet.url, usd.functions.mint(wallet.address, 10**24), sender=SENDER)


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

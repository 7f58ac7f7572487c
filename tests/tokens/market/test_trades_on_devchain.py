"""GET .../trades on a development chain: what wallets paid and got, and a fee collection that any account starts."""

from typing import Any

import pytest
from django.test import Client

from config.redis.connection import redis_client
from development.devchain import node_client
from development.devchain.anvil import CHAIN_ID, TRADERS
from development.devchain.launch_transactions import Recipient
from development.devchain.sample_swaps import allow, sell, swap
from development.devchain.traded_samples import TradedSample
from development.devchain.trader import SampleTraders
from tests.nodes.followed import Followed
from tests.simulator import SimulatedChain
from tokens.following.coverage import open_live_coverage
from tokens.installation.installed_chains import installed_chain

pytestmark = pytest.mark.django_db

PAID = 10**17


@pytest.fixture
def sample(own_launchpad: Any, settings: Any) -> TradedSample:
    """Follow the chain from its newest block on, and launch a token whose recipient wants the paired token only."""
    redis_client().flushdb()
    settings.RATE_LIMIT_PUBLIC = 0
    first = int(own_launchpad.rpc("eth_blockNumber"), 16)
    settings.FOLLOW_FROM = {CHAIN_ID: first}
    open_live_coverage(installed_chain(CHAIN_ID).info, final=first)
    Followed(CHAIN_ID).catch_up()
    owner = node_client.connect(own_launchpad.deployment.rpc_url).eth.accounts[1]
    own_launchpad.launch(recipients=(Recipient(admin=owner, recipient=owner, bps=10_000, wants="Paired"),))
    traders = SampleTraders(own_launchpad.deployment.rpc_url, random=SimulatedChain(7).rng)
    traders.trade_once()
    return list(traders._tokens.values())[-1]


def trades_of(sample: TradedSample) -> list[dict[str, Any]]:
    Followed(CHAIN_ID).catch_up()
    trades: list[dict[str, Any]] = Client().get(f"/api/tokens/{CHAIN_ID}/{sample.address}/trades").json()["data"]
    return trades


def test_amounts_are_what_wallets_pay_and_get(own_launchpad: Any, sample: TradedSample) -> None:
    at = own_launchpad.deployment
    eth = node_client.connect(at.rpc_url).eth
    wallet = eth.accounts[-TRADERS]
    own = node_client.bind_contract(at.rpc_url, "Token", sample.address)
    held = own.functions.balanceOf(wallet).call()
    swap(at, sample.key, wallet, currency=at.wrapped_native, amount=PAID)
    bought = own.functions.balanceOf(wallet).call() - held
    allow(at, sample.address, wallet, spender=at.swap_router)
    before = eth.get_balance(wallet)
    sell(at, sample, wallet, share=1)
    # The router pays native coin, which also paid the gas.
    receipt = eth.get_transaction_receipt(eth.get_block("latest")["transactions"][-1])
    received = eth.get_balance(wallet) - before + receipt["gasUsed"] * receipt["effectiveGasPrice"]
    sale, purchase = trades_of(sample)[:2]
    amounts = [(int(trade["amountToken"]), int(trade["amountQuote"])) for trade in (purchase, sale)]
    assert amounts == [(bought, PAID), (bought + held, received)]
    assert [trade["side"] for trade in (purchase, sale)] == ["buy", "sell"]
    # 0.2 % on top.
    assert int(purchase["poolAmountQuote"]) + int(purchase["protocolFee"]) == PAID
    assert int(purchase["protocolFee"]) == pytest.approx(PAID * 0.002, rel=0.003)
    assert int(sale["poolAmountQuote"]) - int(sale["protocolFee"]) == received


def test_a_collection_that_anybody_starts_is_nobodys_trade(own_launchpad: Any, sample: TradedSample) -> None:
    at = own_launchpad.deployment
    anybody = node_client.connect(at.rpc_url).eth.accounts[-TRADERS]
    swap(at, sample.key, anybody, currency=at.wrapped_native, amount=PAID)
    allow(at, sample.address, anybody, spender=at.swap_router)
    sell(at, sample, anybody, share=1)
    trades = trades_of(sample)
    counts = market_counts(sample)
    locker = node_client.bind_contract(at.rpc_url, "Locker", at.locker)
    node_client.transact(at.rpc_url, locker.functions.collectRewards(sample.address), sender=anybody)
    conversion, *others = trades_of(sample)
    assert others == trades
    # Fees in the token are sold through the router, whichever account sends the transaction.
    assert (conversion["trader"], conversion["side"]) == (at.locker, "sell")
    assert market_counts(sample) == counts


def market_counts(sample: TradedSample) -> dict[str, Any]:
    """Return the token's counts and volume on its newest day."""
    candles = Client().get(f"/api/tokens/{CHAIN_ID}/{sample.address}/candles?interval=1d&currency=quote").json()["data"]
    return {name: candles[-1][name] for name in ("trades", "buys", "sells", "volumeQuote")}

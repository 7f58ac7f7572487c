"""Feeds that are on, an explorer, a development chain with trades, and a simulated one with a block each hour."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from config.redis.connection import redis_client
from development.devchain.anvil import CHAIN_ID
from development.devchain.launch_transactions import DevLaunchConfig
from development.devchain.trader import SampleTraders
from development.standins.explorer_server import ExplorerStandIn
from tests.nodes.followed import Followed
from tests.nodes.following_chain import install
from tests.simulator import Node, SimulatedChain, Traffic, serve
from tests.tokens.feeds.feed_worlds import CHAIN
from tokens.following.coverage import open_live_coverage
from tokens.installation.installed_chains import installed_chain
from tokens.models import Coverage

FEEDS = ("dexscreener", "dextools", "udf", "daily")


@pytest.fixture(autouse=True)
def feeds(settings: Any) -> None:
    """Enable all feeds, with nothing cached from other tests."""
    redis_client().flushdb()
    settings.FEEDS = FEEDS
    settings.RATE_LIMIT_PUBLIC = 0


@pytest.fixture
def explorer(settings: Any) -> Iterator[ExplorerStandIn]:
    """Run an explorer for two chains. It has no token yet."""
    with ExplorerStandIn() as running:
        settings.EXPLORER_URLS = {CHAIN: running.url, CHAIN_ID: running.url}
        yield running


@pytest.fixture
def followed_launchpad(own_launchpad: Any, settings: Any) -> Any:
    """Follow a development chain from its newest block on, and launch tokens with its coin and a dollar as pairs."""
    first = int(own_launchpad.rpc("eth_blockNumber"), 16)
    settings.FOLLOW_FROM = {CHAIN_ID: first}
    open_live_coverage(installed_chain(CHAIN_ID).info, final=first)
    Followed(CHAIN_ID).catch_up()
    own_launchpad.launch()
    own_launchpad.launch(paired_token=own_launchpad.deployment.usd, tick=-424_400)
    return own_launchpad


@pytest.fixture
def traded(followed_launchpad: Any) -> Any:
    """Launch a batch as well, trade all tokens, and follow the chain."""
    followed_launchpad.launch_batch(DevLaunchConfig(), DevLaunchConfig())
    # The same trades in every run.
    traders = SampleTraders(followed_launchpad.deployment.rpc_url, random=SimulatedChain(7).rng)
    for _ in range(60):
        traders.trade_once()
    Followed(CHAIN_ID).catch_up()
    followed_launchpad.mine(6)
    Followed(CHAIN_ID).catch_up()
    return followed_launchpad


@pytest.fixture
def follow_hours(
    settings: Any, forget_chains: Any, tmp_path: Any
) -> Iterator[Callable[..., tuple[SimulatedChain, Node]]]:
    """Return a function that follows a new chain with a block each hour, and returns it with its node."""
    with ExitStack() as nodes:

        def follow(traffic: Traffic, *, hours: int, verified: int) -> tuple[SimulatedChain, Node]:
            settings.FOLLOW_FROM = {CHAIN: 0}
            chain = SimulatedChain(41, traffic=traffic, block_seconds=3600)
            chain.mine(hours)
            node = nodes.enter_context(serve(chain))
            install(chain, node.url, settings=settings, forget=forget_chains, directory=tmp_path)
            node.pinned = chain.blocks[:1]
            open_live_coverage(installed_chain(CHAIN).info, final=-1)
            followed = Followed(CHAIN)
            followed.catch_up()
            node.pinned = None
            followed.catch_up()
            Coverage.objects.update(followed_to=chain.head.number, verified_to=verified)
            return chain, node

        yield follow

"""Feeds that are on, an explorer, a development chain with trades, and a simulated one with a block each hour."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from config.redis.connection import redis_client
from development.devchain.anvil import CHAIN_ID, LAUNCHPADS_FILE
from development.devchain.deploy_contracts import DevelopmentContracts
from development.devchain.launch_transactions import DevLaunchConfig
from development.devchain.trader import SampleTraders
from development.standins.explorer_server import ExplorerStandIn
from tests.conftest import ModuleWorld
from tests.nodes.devchain_launches import Launchpad
from tests.nodes.followed import Followed
from tests.nodes.following_chain import install
from tests.simulator import Node, SimulatedChain, Traffic, serve
from tests.tokens.feeds.feed_worlds import CHAIN, follow_to_final
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


@pytest.fixture(scope="module")
def followed_launchpad(
    second_deployment: DevelopmentContracts, chains_file: Path, module_world: ModuleWorld
) -> Iterator[Launchpad]:
    """Follow a development chain from its newest block on, once for all tests of a module."""
    settings, launchpad = module_world.settings, Launchpad(second_deployment)
    settings.CHAINS_FILES = (str(chains_file), str(LAUNCHPADS_FILE))
    settings.LAUNCHPADS = {CHAIN_ID: ("clanker", "curve", "plain")}
    settings.RPC_URLS = {CHAIN_ID: (second_deployment.rpc_url,)}
    first = int(launchpad.rpc("eth_blockNumber"), 16)
    settings.FOLLOW_FROM = {CHAIN_ID: first}
    module_world.forget_chains()
    with launchpad.restored_node():
        open_live_coverage(installed_chain(CHAIN_ID).info, final=first)
        Followed(CHAIN_ID).catch_up()
        yield launchpad


@pytest.fixture(scope="module")
def paired_launches(followed_launchpad: Launchpad) -> Launchpad:
    """Launch tokens with the chain's coin and a dollar as pairs."""
    followed_launchpad.launch()
    followed_launchpad.launch(paired_token=followed_launchpad.deployment.usd, tick=-424_400)
    return followed_launchpad


@pytest.fixture(scope="module")
def traded_launches(paired_launches: Launchpad) -> Launchpad:
    """Launch a batch as well, trade all tokens, and follow the chain."""
    paired_launches.launch_batch(DevLaunchConfig(), DevLaunchConfig())
    # The same trades in every run.
    traders = SampleTraders(paired_launches.deployment.rpc_url, random=SimulatedChain(7).rng)
    for _ in range(60):
        traders.trade_once()
    follow_to_final(paired_launches)
    return paired_launches


@pytest.fixture
def traded(traded_launches: Launchpad) -> Iterator[Launchpad]:
    """Return the chain with trades; its node returns to this state after the test."""
    with traded_launches.restored_node():
        yield traded_launches


@contextmanager
def followed_hours(
    traffic: Traffic, *, hours: int, verified: int, world: ModuleWorld, directory: Path
) -> Iterator[tuple[SimulatedChain, Node]]:
    """Follow a new chain with a block each hour, and yield it with its node."""
    world.settings.FOLLOW_FROM = {CHAIN: 0}
    chain = SimulatedChain(41, traffic=traffic, block_seconds=3600)
    chain.mine(hours)
    with serve(chain) as node:
        install(chain, node.url, settings=world.settings, forget=world.forget_chains, directory=directory)
        node.pinned = chain.blocks[:1]
        open_live_coverage(installed_chain(CHAIN).info, final=-1)
        followed = Followed(CHAIN)
        followed.catch_up()
        node.pinned = None
        followed.catch_up()
        Coverage.objects.update(followed_to=chain.head.number, verified_to=verified)
        yield chain, node


@pytest.fixture(scope="module")
def follow_hours(
    module_world: ModuleWorld, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., tuple[SimulatedChain, Node]]]:
    """Return a function that does so for a module's tests."""
    with ExitStack() as nodes:
        yield lambda traffic, **options: nodes.enter_context(
            followed_hours(traffic, **options, world=module_world, directory=tmp_path_factory.mktemp("chain"))
        )

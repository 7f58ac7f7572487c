"""The selection of pools that are read of a chain (tokens/following/followed_pools.py)."""

from dataclasses import replace

import pytest

from tests.nodes.recordings import base
from tests.rows.factories import TokenFactory
from tests.rows.written_facts import drawn_launches, launch_facts_of
from tokens.chains.pool_types import EVERY_POOL, PoolSelection
from tokens.following.followed_pools import MAX_NAMED_POOLS, FollowedPools, select_followed_pools

pytestmark = pytest.mark.django_db

CHAIN = 8453
V3_POOL, V4_POOL = "0x" + "aB" * 20, "0x" + "cd" * 32


def references() -> frozenset[str]:
    return frozenset(reference.pool for reference in base().reference_pools)


def test_pools_of_canonical_tokens_and_reference_pools_are_named():
    TokenFactory(chain_id=CHAIN, pool_address=V3_POOL)
    TokenFactory(chain_id=CHAIN, pool_address=V4_POOL, blocked=True)
    TokenFactory(chain_id=CHAIN, pool_address="")
    TokenFactory(chain_id=CHAIN, pool_address="0x" + "11" * 32, unindexed=True)
    TokenFactory(chain_id=1, pool_address="0x" + "22" * 32)
    found = select_followed_pools(base())
    assert found == PoolSelection(v3_pools=references() | {V3_POOL.lower()}, v4_pools=frozenset({V4_POOL}))


def test_of_many_pools_all_of_the_chain_are_read():
    for number in range(MAX_NAMED_POOLS):
        TokenFactory(chain_id=CHAIN, pool_address=f"0x{number:064x}")
    named = select_followed_pools(base())
    assert named is not None and len(named.v4_pools or ()) == MAX_NAMED_POOLS
    TokenFactory(chain_id=CHAIN, pool_address=V4_POOL)
    assert select_followed_pools(base()) == EVERY_POOL


def test_a_chain_with_the_providers_data_reads_no_pools(settings):
    settings.MARKET_PROVIDER_CHAINS = {CHAIN}
    TokenFactory(chain_id=CHAIN, pool_address=V4_POOL)
    assert select_followed_pools(base()) is None


def launches(*pools: str | None):
    """Return transactions with one launch each, into these pools."""
    launch = next(launch for launch in drawn_launches(10) if launch.pool)
    return launch_facts_of(replace(launch, pool=pool and replace(launch.pool, address=pool)) for pool in pools)


def test_launched_pools_are_added_and_the_selection_is_another_one():
    pools = FollowedPools(PoolSelection(v3_pools=frozenset(), v4_pools=frozenset({V4_POOL})))
    before = pools.selection
    pools.add_launched(launches(V4_POOL, None))
    assert pools.selection is before
    pools.add_launched(launches(V3_POOL, "0x" + "33" * 32))
    assert pools.selection == PoolSelection(
        v3_pools=frozenset({V3_POOL.lower()}), v4_pools=frozenset({V4_POOL, "0x" + "33" * 32})
    )
    assert before is not None and before.v3_pools == frozenset()


def test_too_many_launched_pools_make_it_all_of_the_chain():
    pools = FollowedPools(PoolSelection(v3_pools=frozenset(), v4_pools=frozenset()))
    pools.add_launched(launches(*(f"0x{number:064x}" for number in range(MAX_NAMED_POOLS + 1))))
    assert pools.selection == EVERY_POOL
    every = pools.selection
    pools.add_launched(launches(V3_POOL))
    assert pools.selection is every


def test_no_pools_stay_none():
    pools = FollowedPools(None)
    pools.add_launched(launches(V3_POOL))
    assert pools.selection is None

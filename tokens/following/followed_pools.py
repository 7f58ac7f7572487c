"""Pools whose swaps and liquidity changes are read from a chain."""

from collections.abc import Iterable
from dataclasses import dataclass

from tokens.chains.evm.logs.log_facts import new_pools
from tokens.chains.pool_types import EVERY_POOL, PoolSelection, select_pools
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import TransactionFacts
from tokens.installation.market_sources import has_own_trades
from tokens.models import Token

# With more pools, all of the chain's pools are read and foreign logs dropped: nodes refuse longer filters.
MAX_NAMED_POOLS = 200


def select_followed_pools(chain: ChainInfo) -> PoolSelection | None:
    """Return the pools of the chain's tokens, and its reference pools; None if its trades are not read. One query."""
    if not has_own_trades(chain.chain_id):
        return None
    launched = Token.objects.on_chain().filter(chain_id=chain.chain_id).exclude(pool_address="")
    # Unsorted, so that an index returns the first rows. Former pools are included, even of a switched-off launchpad.
    present = launched.order_by().values_list("pool_address", flat=True)
    former = launched.order_by().filter(pools__isnull=False).values_list("pools__pool_address", flat=True)
    most = MAX_NAMED_POOLS + 1
    pools = set(present[:most].union(former[:most], all=True))
    if len(pools) > MAX_NAMED_POOLS:
        return EVERY_POOL
    return select_pools(pools | {reference.pool for reference in chain.reference_pools})


def includes_followed_pools(pools: PoolSelection | None, chain: ChainInfo) -> bool:
    """Return whether the selection has all pools that `select_followed_pools` returns now. One query."""
    current = select_followed_pools(chain)
    return current is None or (pools is not None and pools.includes_all(current))


def is_named(pools: PoolSelection) -> bool:
    """Return whether the selection lists its pools by name."""
    return pools.v3_pools is not None and pools.v4_pools is not None


@dataclass
class FollowedPools:
    """Pool selection for one long reading. Pools are added as the reading finds their launches.

    A range that was requested before an earlier one launched a pool may lack the pool's logs.
    """

    # A new object after each addition. None if no trades are read.
    selection: PoolSelection | None

    def add_launched(self, transactions: Iterable[TransactionFacts]) -> None:
        """Add the launches' pools, and pools that tokens move to."""
        if self.selection is None:
            return
        launched = {pool for facts in transactions for pool in new_pools(facts)}
        if new := {address for address in launched if not self.selection.includes(address)}:
            grown = self.selection.adding(new)
            count = len(grown.v3_pools or ()) + len(grown.v4_pools or ())
            self.selection = grown if count <= MAX_NAMED_POOLS else EVERY_POOL

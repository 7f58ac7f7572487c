"""The pools whose swaps and liquidity changes are read of a chain."""

from collections.abc import Iterable
from dataclasses import dataclass

from tokens.chains.evm.logs.log_facts import new_pools
from tokens.chains.pool_types import EVERY_POOL, PoolSelection, select_pools
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import TransactionFacts
from tokens.installation.market_sources import has_own_trades
from tokens.models import Token

# From so many pools on, all of the chain are read and foreign ones dropped: nodes refuse longer filters.
MAX_NAMED_POOLS = 200


def select_followed_pools(chain: ChainInfo) -> PoolSelection | None:
    """Return the pools of the chain's tokens and its reference pools; None where its trades are not read. One query."""
    if not has_own_trades(chain.chain_id):
        return None
    launched = Token.objects.on_chain().filter(chain_id=chain.chain_id).exclude(pool_address="")
    # In no sequence: the first ones that an index has. Former pools, too, also of a launchpad that is switched off.
    present = launched.order_by().values_list("pool_address", flat=True)
    former = launched.order_by().filter(pools__isnull=False).values_list("pools__pool_address", flat=True)
    most = MAX_NAMED_POOLS + 1
    pools = set(present[:most].union(former[:most], all=True))
    if len(pools) > MAX_NAMED_POOLS:
        return EVERY_POOL
    return select_pools(pools | {reference.pool for reference in chain.reference_pools})


def includes_followed_pools(pools: PoolSelection | None, chain: ChainInfo) -> bool:
    """Return whether the selection has all pools that `select_followed_pools` returns now. One query."""
    now = select_followed_pools(chain)
    return now is None or (pools is not None and pools.includes_all(now))


def is_named(pools: PoolSelection) -> bool:
    """Return whether the selection names each of its pools."""
    return pools.v3_pools is not None and pools.v4_pools is not None


@dataclass
class FollowedPools:
    """The selection of one reading of many blocks, to which pools are added as their launches are found.

    A range that was requested before an earlier one launched a pool may lack the pool's logs.
    """

    # A new object after each addition. None where no trades are read.
    selection: PoolSelection | None

    def add_launched(self, transactions: Iterable[TransactionFacts]) -> None:
        """Add the pools of these launches, and those that tokens move to."""
        if self.selection is None:
            return
        launched = {pool for facts in transactions for pool in new_pools(facts)}
        if new := {address for address in launched if not self.selection.includes(address)}:
            grown = self.selection.adding(new)
            count = len(grown.v3_pools or ()) + len(grown.v4_pools or ())
            self.selection = grown if count <= MAX_NAMED_POOLS else EVERY_POOL

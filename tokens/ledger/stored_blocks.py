"""The blocks of which a chain's events or trades are stored without a gap."""

from collections import defaultdict
from collections.abc import Callable, Collection

from tokens.chains.registry.chains import ChainInfo
from tokens.following.solana.followed_accounts import followed_addresses
from tokens.installation.installed_registry import registry
from tokens.models import ChainHead, Coverage, FollowedAccount
from tokens.models.followed_chain import first_gapless_block

# Reason of an unknown fact: the blocks since the launch are not all read.
HISTORY_NOT_READ = "history_not_read"


def first_blocks(chain_ids: Collection[int], covers: Callable[[Coverage, ChainInfo], bool]) -> dict[int, int]:
    """Return chain id -> the block since which all that `covers` selects is stored; two queries, and one for Solana.

    Chains that are not followed, or of which older blocks are still read, are absent. On Solana it is the slot since
    which all transactions of the registry's accounts are read.
    """
    chains = {chain_id: chain for chain_id, chain in registry().chains.items() if chain_id in chain_ids}
    newest = dict(ChainHead.objects.filter(pk__in=chains).values_list("chain_id", "followed"))
    rows: dict[int, list[Coverage]] = defaultdict(list)
    for row in Coverage.objects.filter(chain_id__in=chains):
        if covers(row, chains[row.chain_id]):
            rows[row.chain_id].append(row)
    found = {
        chain_id: _first_slot(chain) if chain.is_solana else _first_block(rows[chain_id], newest=newest.get(chain_id))
        for chain_id, chain in chains.items()
    }
    return {chain_id: first for chain_id, first in found.items() if first is not None}


def _first_slot(chain: ChainInfo) -> int | None:
    # Pools have rows as well, each from the launch of its token on.
    addresses = followed_addresses(chain)
    read = FollowedAccount.objects.filter(
        chain_id=chain.chain_id, address__in=addresses, complete_to__isnull=False
    ).values_list("first_slot", flat=True)
    return max(read, default=None) if len(read) == len(addresses) else None


def _first_block(rows: Collection[Coverage], *, newest: int | None) -> int | None:
    """Return the first block of the gapless range up to the newest one that the head has written; None without one."""
    live = [row.followed_to for row in rows if row.last_block is None]
    # A row that is behind may find tokens that the blocks above are about.
    if not live or min(live) < max(*live, newest or 0):
        return None
    return first_gapless_block(rows, before=max(live) + 1)

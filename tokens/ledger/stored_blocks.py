"""Block ranges whose events or trades are stored without a gap."""

from collections import defaultdict
from collections.abc import Callable, Collection

from tokens.chains.registry.chains import ChainInfo
from tokens.following.solana.followed_accounts import followed_addresses
from tokens.installation.installed_registry import registry
from tokens.models import ChainHead, Coverage, FollowedAccount
from tokens.models.followed_chain import first_gapless_block

# Reason for an unknown fact: not all blocks since the launch are read.
HISTORY_NOT_READ = "history_not_read"


def first_blocks(chain_ids: Collection[int], covers: Callable[[Coverage, ChainInfo], bool]) -> dict[int, int]:
    """Return chain id -> the first block since which the rows that `covers` selects have no gap.

    Two queries, and one for Solana. Chains that are not followed, or whose backfill is incomplete, are absent. Solana's
    value is the first slot since which all transactions with the registry's accounts are read.
    """
    chains = {chain_id: chain for chain_id, chain in registry().chains.items() if chain_id in chain_ids}
    newest = dict(ChainHead.objects.filter(pk__in=chains).values_list("chain_id", "followed"))
    rows: dict[int, list[Coverage]] = defaultdict(list)
    for row in Coverage.objects.filter(chain_id__in=chains):
        if covers(row, chains[row.chain_id]):
            rows[row.chain_id].append(row)
    blocks = {
        chain_id: _first_slot(chain) if chain.is_solana else _first_block(rows[chain_id], newest=newest.get(chain_id))
        for chain_id, chain in chains.items()
    }
    return {chain_id: block for chain_id, block in blocks.items() if block is not None}


def _first_slot(chain: ChainInfo) -> int | None:
    # Pools have rows as well, each since its token's launch.
    addresses = followed_addresses(chain)
    first_slots = FollowedAccount.objects.filter(
        chain_id=chain.chain_id, address__in=addresses, complete_to__isnull=False
    ).values_list("first_slot", flat=True)
    return max(first_slots, default=None) if len(first_slots) == len(addresses) else None


def _first_block(rows: Collection[Coverage], *, newest: int | None) -> int | None:
    """Return the first block in the gapless range that ends at the newest written block; None without such a range."""
    live = [row.followed_to for row in rows if row.last_block is None]
    # A row that is behind may still find tokens that newer blocks trade.
    if not live or min(live) < max(*live, newest or 0):
        return None
    return first_gapless_block(rows, before=max(live) + 1)

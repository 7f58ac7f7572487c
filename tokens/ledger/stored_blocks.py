"""The blocks of which a chain's events or trades are stored without a gap."""

from collections.abc import Callable, Collection

from tokens.chains.registry.chains import ChainInfo
from tokens.installation.installed_registry import registry
from tokens.models import ChainHead, Coverage, FollowedAccount

# Reason of an unknown fact: the blocks since the launch are not all read.
HISTORY_NOT_READ = "history_not_read"


def first_blocks(chain_ids: Collection[int], covers: Callable[[Coverage, ChainInfo], bool]) -> dict[int, int]:
    """Return chain id -> the block since which all that `covers` selects is stored; three queries.

    Chains that are not followed, or of which older blocks are still read, are absent. On Solana it is the slot since
    which all transactions of the registry's accounts are read.
    """
    chains = registry().chains
    newest = dict(ChainHead.objects.filter(pk__in=chain_ids).values_list("chain_id", "followed"))
    rows: dict[int, list[Coverage]] = {}
    for row in Coverage.objects.filter(chain_id__in=chain_ids):
        if row.chain_id in chains and covers(row, chains[row.chain_id]):
            rows.setdefault(row.chain_id, []).append(row)
    found = {}
    for chain_id, of_chain in rows.items():
        first = _first_block(of_chain, newest=newest.get(chain_id))
        if first is not None:
            found[chain_id] = first
    for account in FollowedAccount.objects.filter(chain_id__in=chain_ids, complete_to__isnull=False):
        found[account.chain_id] = max(found.get(account.chain_id, 0), account.first_slot)
    return found


def _first_block(rows: Collection[Coverage], *, newest: int | None) -> int | None:
    """Return the first block of the gapless range up to the newest one that the head has written; None without one."""
    live = [row for row in rows if row.last_block is None]
    end = max((row.followed_to for row in live), default=0)
    # A row that is behind may find tokens that the blocks above are about.
    if not live or min(row.followed_to for row in live) < max(end, newest or 0):
        return None
    first = end + 1
    for row in sorted(rows, key=lambda row: row.followed_to, reverse=True):
        if row.followed_to >= first - 1:
            first = min(first, row.first_block)
    return first

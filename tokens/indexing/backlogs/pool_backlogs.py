"""Pool backlogs: opened with the launch, and read by blocks into trades and liquidity changes."""

import logging
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from config.http.errors import RetryableError
from tokens.chains.errors import BlockNotCanonicalError, NodeUnavailableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.pool_types import select_pools
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import Launch, RangeFacts
from tokens.indexing import chain_lock
from tokens.indexing.backlogs.known_decimals import has_decimals, lacks_decimals
from tokens.installation.market_sources import has_own_trades
from tokens.models import Coverage, FollowedBlock, IndexRequest, PoolBacklog, Token
from tokens.models.expressions import equals_any
from tokens.trades import trade_writing

logger = logging.getLogger(__name__)


# An index call reads at most so many blocks by itself, so that its caller does not wait for a long history.
INLINE_BLOCKS = 1_000
# The most blocks in the reorg window that are read at once.
_WINDOW_BLOCKS = 100
# A follower that reads blocks while a token is written may lack its pool: by then it has written these blocks.
_SETTLED = timedelta(minutes=1)


class WindowMovedError(RetryableError):
    """The reorg window changed while its blocks were read, or the node has another branch."""


def open_undecoded(launches: Iterable[Launch], *, chain: ChainInfo) -> None:
    """Open a backlog from its launch on for each launch whose quote token's decimals are unknown.

    Call it in the database transaction that writes the launches, after their tokens. At most two statements.
    """
    lacking = {launch.token: launch.block_number for launch in launches if lacks_decimals(launch)}
    if lacking and _has_pool_logs(chain):
        _open(lacking, chain)


def open_unread(launches: Iterable[Launch], *, chain: ChainInfo) -> None:
    """Open a backlog over the reorg window for launches that the follower had not written when it read these blocks.

    Final blocks are left to `manage.py backfill --trades`. Call it as `open_undecoded`.
    """
    window = _window(chain.chain_id)
    if not window or not _has_pool_logs(chain):
        return
    unread = {
        launch.token: max(launch.block_number, min(window))
        for launch in launches
        if launch.pool and launch.pool.address and launch.block_number <= max(window)
    }
    if unread:
        _open(unread, chain)


def read_at_once(chain: Chain, tx_hash: str) -> None:
    """Store pool logs in at most INLINE_BLOCKS blocks for the transaction's tokens with a backlog, if a node responds.

    The backlog stays unchanged, since a follower may read blocks meanwhile: `read_backlog` reads all of them again.
    """
    backlogs = PoolBacklog.objects.filter(token__chain_id=chain.info.chain_id, token__tx_hash=tx_hash)
    for backlog in backlogs.select_related("token__launch"):
        first, end = backlog.next_block, backlog.next_block + INLINE_BLOCKS
        try:
            while has_decimals(backlog.token) and (pool_logs := _read_logs(backlog.token, chain, first=first, end=end)):
                with transaction.atomic():
                    _store(pool_logs, chain)
                first = pool_logs.reading.last + 1
        except (NodeUnavailableError, BlockNotCanonicalError, WindowMovedError) as error:
            logger.warning("chain=%s trades of %s are read later: %s", chain.info.chain_id, tx_hash, error)


def read_backlog(backlog: PoolBacklog, chain: Chain) -> bool:
    """Store the pool logs in a claimed backlog's next blocks. Return whether more may remain.

    A backlog ends at the chain's newest block that was read; its row is then deleted. Raises NodeUnavailableError,
    BlockNotCanonicalError and WindowMovedError.
    """
    held = PoolBacklog.objects.held([backlog])
    pool_logs = _read_logs(backlog.token, chain, first=backlog.next_block)
    if pool_logs is None:
        held.delete()
        return False
    with transaction.atomic():
        _store(pool_logs, chain)
        moved = held.update(next_block=pool_logs.reading.last + 1)
    backlog.next_block = pool_logs.reading.last + 1
    return bool(moved)


class _PoolLogs(NamedTuple):
    """One pool's logs in some blocks; `window` has the hashes of blocks that a reorg may still drop."""

    reading: RangeFacts
    window: Mapping[int, str]


def _read_logs(token: Token, chain: Chain, *, first: int, end: int | None = None) -> _PoolLogs | None:
    """Read the token's pool logs from a block on; return None if no later block of the chain was read."""
    chain_id, pools = chain.info.chain_id, select_pools([token.pool_address])
    window = _window(chain_id)
    covered = Coverage.objects.filter(chain_id=chain_id).aggregate(last=Max("followed_to"))["last"]
    final = min(window) - 1 if window else covered
    if final is not None and first <= final:
        last = min(final, first + chain.range_blocks() - 1, final if end is None else end - 1)
        return _PoolLogs(chain.read_range(first, last, addresses=(), pools=pools), {}) if first <= last else None
    hashes = {number: block_hash for number, block_hash in window.items() if number >= first}
    numbers = sorted(hashes)[:_WINDOW_BLOCKS]
    if not numbers:
        return None
    headers = chain.read_headers(numbers)
    if {number: header.hash for number, header in headers.items()} != {number: hashes[number] for number in numbers}:
        raise WindowMovedError(f"chain {chain_id}: its node has other blocks than those that are followed")
    reading = chain.read_blocks([headers[number] for number in numbers], pools=pools)
    return _PoolLogs(reading, {number: hashes[number] for number in numbers})


def _store(pool_logs: _PoolLogs, chain: Chain) -> None:
    """Write the logs, in a database transaction. Raises WindowMovedError."""
    chain_id, reading = chain.info.chain_id, pool_logs.reading
    chain_lock.lock_exclusive(chain_id)
    if pool_logs.window and not pool_logs.window.items() <= _window(chain_id).items():
        raise WindowMovedError(f"chain {chain_id}: the followed blocks changed while they were read")
    stored = trade_writing.store_trades(reading.swaps, reading.liquidity_changes, chain=chain.info, live=True)
    trade_writing.recount_tokens(chain_id, stored.token_ids)
    IndexRequest.objects.add_undecodable(chain_id, reading.undecodable)


def _window(chain_id: int) -> dict[int, str]:
    """Return followed blocks: number -> hash."""
    return dict(FollowedBlock.objects.filter(chain_id=chain_id).values_list("number", "hash"))


def _has_pool_logs(chain: ChainInfo) -> bool:
    return not chain.is_solana and has_own_trades(chain.chain_id)


def _open(blocks: Mapping[str, int], chain: ChainInfo) -> None:
    """Open backlogs by address -> first block. An open one begins at that block, and keeps its schedule."""
    tokens = Token.objects.filter(equals_any("contract_address", blocks), chain_id=chain.chain_id)
    due_at = timezone.now() + _SETTLED
    PoolBacklog.objects.bulk_create(
        [
            PoolBacklog(token_id=pk, next_block=blocks[address], due_at=due_at)
            for pk, address in tokens.values_list("pk", "contract_address")
        ],
        update_conflicts=True,
        update_fields=["next_block"],
        unique_fields=["token"],
    )

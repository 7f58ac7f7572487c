"""A chain's blocks that feeds serve: final, indexed with trades, and within the retention of trades."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings
from django.utils import timezone

from config.processes.concurrency_limits import node_slot
from config.redis.single_flight import CacheTimes, fetch_shared
from tokens.chains.errors import NodeUnavailableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import query_deadline
from tokens.following.chain_heads import read_final_block
from tokens.following.coverage import covers_trades
from tokens.following.reorg_window import read_blocks
from tokens.installation.installed_chains import installed_chain
from tokens.installation.installed_registry import registry
from tokens.installation.market_sources import has_own_trades
from tokens.models import Coverage
from tokens.models.followed_chain import first_gapless_block
from tokens.trades.retention import trades_from

# Blocks that are read at once in a search by time.
_PROBES = 16
_NODE_SECONDS = 10.0
_HOUR, _DAY = 3_600, 86_400
_CACHE_TIMES = CacheTimes(fresh=_DAY, ttl=2 * _DAY, wait_timeout=15.0, lock_ttl=30.0)


class NotServedError(Exception):
    """Raised for a chain without a block that feeds serve, with the reason."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServedBlocks:
    """The first and the last block that feeds serve; `verified` is the last one that was also read a second time."""

    first: int
    last: int
    verified: int


def find_feed_chain(chain_id: int) -> ChainInfo:
    """Return a chain that feeds cover: an EVM chain with market data from its own trades. Raises NotServedError."""
    chain = registry().chains.get(chain_id)
    if chain is None or chain.is_solana or not has_own_trades(chain_id):
        raise NotServedError("must be an EVM chain of this installation, with market data from its own trades")
    return chain


def feed_chains() -> list[ChainInfo]:
    """Return the chains that feeds cover and that have a node, in the order of the registry."""
    return [
        chain
        for chain in registry().chains.values()
        if chain.chain_id in settings.RPC_URLS and not chain.is_solana and has_own_trades(chain.chain_id)
    ]


def read_served_blocks(chain: ChainInfo) -> ServedBlocks:
    """Return the blocks that feeds serve. Two queries. Raises NotServedError.

    The last one is final and written with trades for every contract that is followed: no reorg replaces it, and no row
    is still to be added. A halted chain serves none.
    """
    final = read_final_block(chain.chain_id)
    rows = [row for row in Coverage.objects.filter(chain_id=chain.chain_id) if covers_trades(row, chain)]
    live = [row for row in rows if row.last_block is None]
    if final is None or not live:
        raise NotServedError("No block of this chain is served: it is not followed with trades, or it is halted")
    first = first_gapless_block(rows, before=max(row.first_block for row in live))
    if (oldest := trades_from(timezone.now())) is not None:
        first = max(first, find_block_from(chain, oldest))
    last = min(final, *(row.followed_to for row in live))
    if last < first:
        raise NotServedError("No block of this chain is served yet: none is final and indexed")
    return ServedBlocks(first=first, last=last, verified=min(last, *(row.verified_to for row in live)))


def read_block_time(chain: ChainInfo, number: int) -> int:
    """Return a block's Unix seconds from the reorg window or a node. Raises NodeUnavailableError."""
    if block := read_blocks(chain.chain_id, [number]).get(number):
        return int(block.at.timestamp())
    with node_slot(), query_deadline(_NODE_SECONDS):
        return _read_times(installed_chain(chain.chain_id), [number])[number]


def find_block_from(chain: ChainInfo, moment: datetime) -> int:
    """Return the first block at or after this time, by a few calls to a node once a day for all callers.

    Raises NotServedError while no final block has it, and NodeUnavailableError.
    """
    seconds = int(moment.timestamp())

    def search() -> int:
        final = read_final_block(chain.chain_id) or 0
        with node_slot(), query_deadline(_NODE_SECONDS):
            number = first_block_from(installed_chain(chain.chain_id), seconds, newest=final)
        if number > final:
            # Not cached: a later block may still have an earlier time.
            raise NotServedError(f"No final block of this chain has the time {seconds} or a later one yet")
        return number

    return int(fetch_shared(f"feeds:block:{chain.chain_id}:{seconds}", search, times=_CACHE_TIMES).value)


def find_block_at(chain: ChainInfo, seconds: int, *, newest: int) -> int:
    """Return the youngest block at or before this time, in Unix seconds.

    Each hour's first block is cached for a day for all callers, so that a search covers one hour's blocks. Raises
    NotServedError unless the block `newest` is younger and the first one is not; and NodeUnavailableError.
    """
    if seconds >= read_block_time(chain, newest):
        # A newer block may have the same time.
        raise NotServedError("No served block is younger than this time yet")
    hour = seconds - seconds % _HOUR
    oldest = find_block_from(chain, datetime.fromtimestamp(hour, UTC))
    try:
        end = min(find_block_from(chain, datetime.fromtimestamp(hour + _HOUR, UTC)), newest)
    except NotServedError:
        end = newest
    with node_slot(), query_deadline(_NODE_SECONDS):
        number = first_block_from(installed_chain(chain.chain_id), seconds + 1, newest=end, oldest=oldest)
    if number == 0:
        raise NotServedError("No block is as old as this time")
    return number - 1


def first_block_from(chain: Chain, seconds: int, *, newest: int, oldest: int = 0) -> int:
    """Return the first block at or after this time from `oldest` on; `newest` + 1 if there is none.

    Raises NodeUnavailableError.
    """
    low, high = oldest, newest + 1
    while low < high:
        numbers = range(low, high, -(-(high - low) // _PROBES))
        times = _read_times(chain, numbers)
        reached = next((number for number in numbers if times[number] >= seconds), high)
        low = max((number + 1 for number in numbers if times[number] < seconds), default=low)
        high = reached
    return low


def _read_times(chain: Chain, numbers: Collection[int]) -> dict[int, int]:
    headers = chain.read_headers(numbers)
    if len(headers) < len(numbers):
        raise NodeUnavailableError("no node has the block")
    return {number: header.time for number, header in headers.items()}

"""Facts of validated logs: decoded, and completed by further calls where the logs are not sufficient."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain as chained

from tokens.chains.abi.codec import Log
from tokens.chains.errors import InconsistentResponseError, LaunchNotFoundError, LogDecodingError
from tokens.chains.evm.generations.event_decoding import moved_pool
from tokens.chains.evm.generations.launch_completion import complete_launches
from tokens.chains.evm.generations.launch_layouts import launch_layouts
from tokens.chains.evm.generations.transaction_decoding import decode_mined
from tokens.chains.evm.headers import read_times
from tokens.chains.evm.logs.log_decoding import decode_logs, own_topics
from tokens.chains.evm.logs.log_filters import LogFilter
from tokens.chains.evm.logs.log_places import sender_of, undecodable_log
from tokens.chains.evm.logs.log_validation import filter_watched, reported_times
from tokens.chains.evm.logs.pool_logs import PoolLogs, decode_pool_logs, join_pool_logs, pool_topics
from tokens.chains.evm.logs.swap_fees import attach_reports, report_topics
from tokens.chains.evm.transactions.transaction_receipts import read_in_blocks
from tokens.chains.pool_types import PoolSelection, UndecodableLog, position_of
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import RpcClient
from tokens.chains.types import RangeFacts, TransactionFacts


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidLogs:
    """Validated logs of a run of blocks in chain order: those of launches and events, and those of pools, decoded."""

    events: Sequence[Log]
    pools: PoolLogs
    # Block number -> hash, of the blocks of these logs.
    hashes: Mapping[int, str]
    # Block hash -> Unix seconds, as far as the node reported it.
    times: Mapping[str, int]
    # Transaction hash -> sender (EIP-55), of the launches and events; none where only logs were read.
    senders: Mapping[str, str]
    # How many logs the node returned.
    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LogFacts:
    """What logs show, in chain order."""

    transactions: Sequence[TransactionFacts]
    pools: PoolLogs
    # Of transactions that are left out; the others are those of `transactions` and `pools`.
    undecodable: Sequence[UndecodableLog] = ()

    def launched_pools(self) -> set[str]:
        """Return the pools of the launches, and those that tokens move to, as `Token.pool_address` has them."""
        return {pool for facts in self.transactions for pool in new_pools(facts)}

    def all_undecodable(self) -> Iterator[UndecodableLog]:
        """Yield the logs of trusted contracts that are left out."""
        yield from self.undecodable
        yield from self.pools.undecodable
        for facts in self.transactions:
            yield from facts.undecodable

    def added_to(self, pools: PoolSelection | None) -> PoolSelection | None:
        """Return the selection for the blocks after these: launched pools are always in it."""
        return None if pools is None else pools.adding(self.launched_pools())


def new_pools(facts: TransactionFacts) -> Iterator[str]:
    """Yield the pools of a transaction's launches, and those that tokens move to."""
    for launch in facts.launches:
        yield from filter(None, (launch.pool and launch.pool.address, launch.next_pool))
    yield from filter(None, map(moved_pool, facts.event_logs))


def split_logs(
    logs: Sequence[Log],
    *,
    chain: ChainInfo,
    pools: Sequence[LogFilter],
    without: Collection[int] = (),
    times: Mapping[str, int] | None = None,
    senders: Mapping[str, object] | None = None,
) -> ValidLogs:
    """Separate validated logs of pools from the others and decode them; those that none of the filters match are left.

    Conversions of fees, fees of hooks and parts of swaps that hooks fill become part of their swaps.

    The blocks `without` are left out. `times` are those of the blocks by hash, where known otherwise than from the
    logs; `senders` as in `decode_pool_logs`. Raises RetryableError for a malformed log of a pool.
    """
    events: list[Log] = []
    of_pools: list[Log] = []
    beside: list[Log] = []
    topics_of_pools, topics_beside = pool_topics(chain), report_topics(chain)
    for log in [log for log in logs if int(log["blockNumber"], 16) not in without] if without else logs:
        topic0 = log["topics"][0]
        (of_pools if topic0 in topics_of_pools else beside if topic0 in topics_beside else events).append(log)
    if len(pools) > 1:
        of_pools = filter_watched(of_pools, pools)
    kept = [*events, *of_pools]
    with_events = {log["transactionHash"] for log in events}
    known = reported_times(kept) if times is None else times
    blocks = {(log["blockNumber"], log["blockHash"]) for log in kept}
    pool_logs = decode_pool_logs(
        of_pools,
        chain=chain,
        times=known,
        senders=senders or {},
        any_v3=any(log_filter.addresses is None for log_filter in pools),
    )
    return ValidLogs(
        events=events,
        pools=attach_reports(pool_logs, beside, chain=chain),
        hashes={int(number, 16): block_hash for number, block_hash in blocks},
        times=known,
        senders={tx_hash: sender for tx_hash in with_events if (sender := sender_of(tx_hash, senders or {}))},
        count=len(logs),
    )


def join_logs(parts: Sequence[ValidLogs]) -> ValidLogs:
    """Return the logs of consecutive runs of blocks as those of one."""
    return ValidLogs(
        events=[log for part in parts for log in part.events],
        pools=join_pool_logs(part.pools for part in parts),
        hashes={number: block_hash for part in parts for number, block_hash in part.hashes.items()},
        times={block_hash: time for part in parts for block_hash, time in part.times.items()},
        senders={tx_hash: sender for part in parts for tx_hash, sender in part.senders.items()},
        count=sum(part.count for part in parts),
    )


def join_facts(first: int, last: int, parts: Iterable[LogFacts]) -> RangeFacts:
    """Return the facts of consecutive runs of blocks, from the first to the last block, as one."""
    found = list(parts)
    pools = join_pool_logs(part.pools for part in found)
    return RangeFacts(
        first=first,
        last=last,
        transactions=tuple(chained.from_iterable(part.transactions for part in found)),
        swaps=tuple(pools.swaps),
        liquidity_changes=tuple(pools.liquidity_changes),
        # A log may be of two readings of its block.
        undecodable=tuple(sorted({each for part in found for each in part.all_undecodable()}, key=position_of)),
    )


def read_facts(rpc: RpcClient, chain: ChainInfo, logs: ValidLogs) -> LogFacts:
    """Return the transactions of the logs, where incomplete read in full, and the logs of pools with all times.

    Raises NodeUnavailableError.
    """
    untimed = {number: block_hash for number, block_hash in logs.hashes.items() if block_hash not in logs.times}
    times = read_times(rpc, untimed)
    transactions, undecodable = _read_transactions(rpc, chain, logs, times={**logs.times, **times})
    return LogFacts(
        transactions=transactions,
        pools=logs.pools.with_times({number: times[block_hash] for number, block_hash in untimed.items()}),
        undecodable=undecodable,
    )


def _read_transactions(
    rpc: RpcClient, chain: ChainInfo, logs: ValidLogs, *, times: Mapping[str, int]
) -> tuple[list[TransactionFacts], list[UndecodableLog]]:
    """Decode logs of launches and events to transactions in chain order; incomplete ones are read in full.

    Return the undecodable logs of the others, too: a retry would fail the same way.
    """
    decoded = decode_logs(chain, logs.events, times=times, senders=logs.senders)
    read = [*decoded.transactions, *decoded.undecodable]
    if decoded.incomplete:
        read += _read_incomplete(rpc, chain, decoded.incomplete, logs.events, times=times)
    # Together: the views of all launches are one request.
    completed = complete_launches(rpc, chain, [each for each in read if isinstance(each, TransactionFacts)])
    found = {facts.tx_hash: facts for facts in completed if not facts.is_empty}
    order = dict.fromkeys(log["transactionHash"] for log in logs.events)
    transactions = [found[tx_hash] for tx_hash in order if tx_hash in found]
    return transactions, [each for each in read if isinstance(each, UndecodableLog)]


def _read_incomplete(
    rpc: RpcClient, chain: ChainInfo, tx_hashes: Sequence[str], logs: Sequence[Log], *, times: Mapping[str, int]
) -> Iterator[TransactionFacts | UndecodableLog]:
    """Read and decode transactions in full, by hash, and verify that they hold all of their logs.

    Raises NodeUnavailableError.
    """
    told = defaultdict[str, list[Log]](list)
    for log in logs:
        told[log["transactionHash"]].append(log)
    numbers = {tx_hash: int(told[tx_hash][0]["blockNumber"], 16) for tx_hash in tx_hashes}
    for mined in read_in_blocks(rpc, chain, numbers, times=times):
        try:
            facts = decode_mined(mined)
        except LogDecodingError as error:
            yield error.log or undecodable_log(told[mined.hash][0], launchpad="", reason=str(error))
        except LaunchNotFoundError as error:
            raise InconsistentResponseError(f"chain {chain.chain_id}: a response without the logs") from error
        else:
            _require_whole(chain, facts, told[mined.hash])
            yield facts


def _require_whole(chain: ChainInfo, facts: TransactionFacts, logs: Sequence[Log]) -> None:
    """Raise InconsistentResponseError if a transaction read in full lacks an event or launch that the logs contain."""
    told = {event.log_index for event in facts.event_logs} | {launch.log_index for launch in facts.launches}
    told |= {log.log_index for log in facts.undecodable}
    own = own_topics(chain)
    for log in logs:
        layouts = launch_layouts(chain).get((log["address"].lower(), log["topics"][0]), ())
        is_launch = layouts and not all(layout.is_conditional for layout in layouts)
        if (is_launch or log["topics"][0] in own) and int(log["logIndex"], 16) not in told:
            raise InconsistentResponseError(f"chain {chain.chain_id}: a response without all of its logs")
    if facts.block_hash != logs[0]["blockHash"]:
        raise InconsistentResponseError(f"chain {chain.chain_id}: a transaction changed its block during the read")

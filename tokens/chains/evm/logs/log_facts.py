"""Facts decoded from validated logs, and completed by further calls where the logs are not sufficient."""

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
    """Validated logs from a block range in chain order: launch and event logs as returned, pool logs decoded."""

    events: Sequence[Log]
    pools: PoolLogs
    # Block number -> hash, for the blocks that have these logs.
    hashes: Mapping[int, str]
    # Block hash -> Unix seconds, as far as the node reported it.
    times: Mapping[str, int]
    # Transaction hash -> sender (EIP-55) for launches and events; empty where only logs were read.
    senders: Mapping[str, str]
    # How many logs the node returned.
    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LogFacts:
    """Facts decoded from logs, in chain order."""

    transactions: Sequence[TransactionFacts]
    pools: PoolLogs
    # Logs whose transactions are left out; `transactions` and `pools` have undecodable logs of their own.
    undecodable: Sequence[UndecodableLog] = ()

    def launched_pools(self) -> set[str]:
        """Return the launched pools and the pools that tokens move to, in the form of `Token.pool_address`."""
        return {pool for facts in self.transactions for pool in new_pools(facts)}

    def all_undecodable(self) -> Iterator[UndecodableLog]:
        """Yield the undecodable logs from trusted contracts."""
        yield from self.undecodable
        yield from self.pools.undecodable
        for facts in self.transactions:
            yield from facts.undecodable

    def added_to(self, pools: PoolSelection | None) -> PoolSelection | None:
        """Return the pool selection for the next blocks: it always includes launched pools."""
        return None if pools is None else pools.adding(self.launched_pools())


def new_pools(facts: TransactionFacts) -> Iterator[str]:
    """Yield the pools that a transaction launches, and the pools that tokens move to."""
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
    """Separate validated pool logs from the others and decode them. Drop pool logs that match no filter in `pools`.

    Fee conversions, hook fees and swap parts that hooks fill become part of their swaps.

    Logs in the blocks `without` are dropped. `times` are Unix seconds by block hash; None reads them from the logs.
    `senders` as in `decode_pool_logs`. Raises RetryableError for a malformed pool log.
    """
    events: list[Log] = []
    raw_pool_logs: list[Log] = []
    reports: list[Log] = []
    topics, reported_topics = pool_topics(chain), report_topics(chain)
    for log in [log for log in logs if int(log["blockNumber"], 16) not in without] if without else logs:
        topic0 = log["topics"][0]
        (raw_pool_logs if topic0 in topics else reports if topic0 in reported_topics else events).append(log)
    if len(pools) > 1:
        raw_pool_logs = filter_watched(raw_pool_logs, pools)
    primary_logs = [*events, *raw_pool_logs]
    event_tx_hashes = {log["transactionHash"] for log in events}
    time_by_hash = reported_times(primary_logs) if times is None else times
    blocks = {(log["blockNumber"], log["blockHash"]) for log in primary_logs}
    pool_logs = decode_pool_logs(
        raw_pool_logs,
        chain=chain,
        times=time_by_hash,
        senders=senders or {},
        any_v3=any(log_filter.addresses is None for log_filter in pools),
    )
    return ValidLogs(
        events=events,
        pools=attach_reports(pool_logs, reports, chain=chain),
        hashes={int(number, 16): block_hash for number, block_hash in blocks},
        times=time_by_hash,
        senders={tx_hash: sender for tx_hash in event_tx_hashes if (sender := sender_of(tx_hash, senders or {}))},
        count=len(logs),
    )


def join_logs(ranges: Sequence[ValidLogs]) -> ValidLogs:
    """Join the logs from consecutive block ranges."""
    return ValidLogs(
        events=[log for logs in ranges for log in logs.events],
        pools=join_pool_logs(logs.pools for logs in ranges),
        hashes={number: block_hash for logs in ranges for number, block_hash in logs.hashes.items()},
        times={block_hash: time for logs in ranges for block_hash, time in logs.times.items()},
        senders={tx_hash: sender for logs in ranges for tx_hash, sender in logs.senders.items()},
        count=sum(logs.count for logs in ranges),
    )


def join_facts(first: int, last: int, ranges: Iterable[LogFacts]) -> RangeFacts:
    """Join the facts from consecutive block ranges, which reach from the first to the last block."""
    all_facts = list(ranges)
    pools = join_pool_logs(facts.pools for facts in all_facts)
    return RangeFacts(
        first=first,
        last=last,
        transactions=tuple(chained.from_iterable(facts.transactions for facts in all_facts)),
        swaps=tuple(pools.swaps),
        liquidity_changes=tuple(pools.liquidity_changes),
        # A block that was read twice may have yielded a log twice.
        undecodable=tuple(sorted({log for facts in all_facts for log in facts.all_undecodable()}, key=position_of)),
    )


def read_facts(rpc: RpcClient, chain: ChainInfo, logs: ValidLogs) -> LogFacts:
    """Return the logs' transactions, fetched in full where the logs are incomplete, and pool logs with all times.

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
    """Decode launch and event logs to transactions in chain order; fetch incomplete transactions in full.

    Also return the undecodable logs of other transactions: a retry would fail the same way.
    """
    decoded = decode_logs(chain, logs.events, times=times, senders=logs.senders)
    entries = [*decoded.transactions, *decoded.undecodable]
    if decoded.incomplete:
        entries += _read_incomplete(rpc, chain, decoded.incomplete, logs.events, times=times)
    # Together: the views of all launches are one request.
    completed = complete_launches(rpc, chain, [each for each in entries if isinstance(each, TransactionFacts)])
    facts_by_hash = {facts.tx_hash: facts for facts in completed if not facts.is_empty}
    tx_hashes = dict.fromkeys(log["transactionHash"] for log in logs.events)
    transactions = [facts_by_hash[tx_hash] for tx_hash in tx_hashes if tx_hash in facts_by_hash]
    return transactions, [each for each in entries if isinstance(each, UndecodableLog)]


def _read_incomplete(
    rpc: RpcClient, chain: ChainInfo, tx_hashes: Sequence[str], logs: Sequence[Log], *, times: Mapping[str, int]
) -> Iterator[TransactionFacts | UndecodableLog]:
    """Fetch and decode full transactions by hash, and verify that they contain all of `logs`.

    Raises NodeUnavailableError.
    """
    logs_by_hash = defaultdict[str, list[Log]](list)
    for log in logs:
        logs_by_hash[log["transactionHash"]].append(log)
    numbers = {tx_hash: int(logs_by_hash[tx_hash][0]["blockNumber"], 16) for tx_hash in tx_hashes}
    for mined in read_in_blocks(rpc, chain, numbers, times=times):
        try:
            facts = decode_mined(mined)
        except LogDecodingError as error:
            yield error.log or undecodable_log(logs_by_hash[mined.hash][0], launchpad="", reason=str(error))
        except LaunchNotFoundError as error:
            raise InconsistentResponseError(f"chain {chain.chain_id}: a response without the logs") from error
        else:
            _require_whole(chain, facts, logs_by_hash[mined.hash])
            yield facts


def _require_whole(chain: ChainInfo, facts: TransactionFacts, logs: Sequence[Log]) -> None:
    """Raise InconsistentResponseError if a full transaction lacks an event or launch that the logs contain."""
    log_indexes = {event.log_index for event in facts.event_logs} | {launch.log_index for launch in facts.launches}
    log_indexes |= {log.log_index for log in facts.undecodable}
    own = own_topics(chain)
    for log in logs:
        layouts = launch_layouts(chain).get((log["address"].lower(), log["topics"][0]), ())
        is_launch = layouts and not all(layout.is_conditional for layout in layouts)
        if (is_launch or log["topics"][0] in own) and int(log["logIndex"], 16) not in log_indexes:
            raise InconsistentResponseError(f"chain {chain.chain_id}: a response without all of its logs")
    if facts.block_hash != logs[0]["blockHash"]:
        raise InconsistentResponseError(f"chain {chain.chain_id}: a transaction changed its block during the read")

"""The second reading of final blocks, by other nodes and methods than the first, and its proofs. Uses no database."""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tokens.chains.errors import NodeUnavailableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.logs.receipt_roots import NO_RECEIPTS_ROOT
from tokens.chains.pool_types import PoolSelection
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import answering_providers
from tokens.chains.types import BlockHeader, RangeFacts, TransactionFacts
from tokens.following.block_contents import pool_logs, replace_blocks
from tokens.following.followed_pools import is_named
from tokens.following.verifying.node_agreement import agree_on_times, read_by_each_node

logger = logging.getLogger(__name__)

# With one provider, up to a tenth of a run's blocks, and at least one, are read from receipts where logs would decide.
_FEW_BLOCKS = 10


class UnprovenError(Exception):
    """Rows differ from the reading in blocks that it can't prove."""

    def __init__(self, numbers: Collection[int]) -> None:
        super().__init__(f"{len(numbers)} blocks are not proven")
        self.numbers = numbers


@dataclass(frozen=True, kw_only=True)
class SecondReading:
    """A block range's contents, and the proofs for them."""

    chain: Chain
    # The pools whose logs are read; None if no pool is.
    pools: PoolSelection | None
    # The last block's hash on the branch that most nodes have.
    last_hash: str
    contents: RangeFacts
    # Blocks that certainly have these transactions and no others: the header proves that the receipts are complete, two
    # providers agree on the receipts, or the bloom filter has bits and excludes everything.
    proven: frozenset[int] = frozenset()
    # The same for swaps and liquidity changes.
    proven_pools: frozenset[int] = frozenset()
    # Blocks with a time that most providers agree on.
    timed: frozenset[int] = frozenset()
    # Blocks whose receipts no node returned; the contents lack them.
    unread: frozenset[int] = frozenset()
    # Blocks whose receipts don't make the bloom filter.
    odd_filters: frozenset[int] = frozenset()
    # Blocks without a proof for UNDECIDED_SECONDS: rows that the contents lack stay.
    undecided: frozenset[int] = frozenset()
    # Blocks that only logs of the first reading's provider show.
    repeated: frozenset[int] = frozenset()

    @property
    def first(self) -> int:
        return self.contents.first

    @property
    def last(self) -> int:
        return self.contents.last

    @property
    def corrigible(self) -> frozenset[int]:
        """The blocks whose reading may replace stored values, which include the time."""
        return self.proven & self.timed

    @property
    def transactions(self) -> tuple[TransactionFacts, ...]:
        return self.contents.transactions


def read_second(
    chain: Chain,
    alternate: Chain,
    first: int,
    last: int,
    *,
    addresses: Collection[str],
    pools: PoolSelection | None,
    method: str,
) -> SecondReading:
    """Read the blocks again, with the nodes in another sequence and FOLLOW_VERIFY's method.

    Raises NodeUnavailableError and BlockNotCanonicalError.
    """
    trusted, last_hash = _choose(chain, alternate, last)
    nothing = RangeFacts(first=first, last=last, transactions=())
    reading = SecondReading(chain=trusted, pools=pools, last_hash=last_hash, contents=nothing)
    if method == "receipts":
        return read_from_receipts(reading, range(first, last + 1), addresses=addresses)
    if method == "logs":
        contents, is_repeated = _read_logs(reading, chain, addresses)
        repeated = frozenset(range(first, last + 1)) if is_repeated else frozenset[int]()
        reading = replace(reading, contents=contents, repeated=repeated)
        return read_from_receipts(reading, _mistimed_blocks(reading, _read_holding(reading)), addresses=addresses)
    return _read_by_filters(reading, chain, addresses)


def _read_by_filters(reading: SecondReading, first_chain: Chain, addresses: Collection[str]) -> SecondReading:
    """Read blocks from receipts if their bloom filters promise contents, and from logs if the filters can't decide."""
    headers = _read_linked(reading, reading.first)
    # If all of the chain's pools are read, foreign pools fill every block's filter.
    by_filter = reading.pools if reading.pools and is_named(reading.pools) else None
    promises = {number: reading.chain.may_contain_events(header, pools=by_filter) for number, header in headers.items()}
    promising = {number for number, promise in promises.items() if promise}
    # Some chains never fill their filters.
    are_filled = any(header.logs_bloom for header in headers.values())
    by_logs = {
        number
        for number, header in headers.items()
        if promises[number] is None
        or (by_filter is not reading.pools and number not in promising)
        or (not are_filled and header.receipts_root != NO_RECEIPTS_ROOT)
    }
    if len(set(first_chain.rpc.providers)) == 1 and len(by_logs) <= max(1, len(headers) // _FEW_BLOCKS):
        promising, by_logs = promising | by_logs, set()
    is_repeated = False
    # Logs decide only for blocks whose filter is too full, or empty, as on chains that never fill it.
    if by_logs or not all(header.logs_bloom for header in headers.values()):
        contents, is_repeated = _read_logs(reading, first_chain, addresses, without=promising)
        reading = replace(reading, contents=contents)
    _check_blocks(reading.transactions, headers)
    reading = replace(reading, repeated=frozenset(by_logs) if is_repeated else frozenset())
    holding = {facts.block_number for facts in reading.transactions}
    if by_filter:
        holding |= {log.block_number for log in pool_logs(reading.contents)}
    # Logs with another time than their block, and logs that the filter excludes, are doubtful, too.
    doubtful = promising | _mistimed_blocks(reading, headers)
    if are_filled:
        nothing = {number for number, promise in promises.items() if promise is False} - holding
        doubtful |= {number for number in holding if promises[number] is False}
        # A chain may never fill its filters: an empty filter is no proof against rows.
        proven = frozenset(number for number in nothing if headers[number].logs_bloom)
        reading = replace(reading, proven=proven, proven_pools=proven if by_filter else frozenset())
    return _replace_by_receipts(reading, [headers[number] for number in sorted(doubtful)], addresses=addresses)


def _read_logs(
    reading: SecondReading, first_chain: Chain, addresses: Collection[str], *, without: Collection[int] = ()
) -> tuple[RangeFacts, bool]:
    """Return the range's contents by its logs, and whether the first reading's provider returned some of them."""
    with answering_providers() as providers:
        facts = reading.chain.read_range(
            reading.first, reading.last, addresses=addresses, without=without, pools=reading.pools
        )
    # Blocks that were read in full may hold more than was requested.
    transactions = filter_by_address(facts.transactions, addresses, info=reading.chain.info)
    return replace(facts, transactions=transactions), first_chain.rpc.providers[0] in providers


def read_from_receipts(
    reading: SecondReading, numbers: Collection[int], *, addresses: Collection[str], thorough: bool = False
) -> SecondReading:
    """Return the reading with these blocks replaced by their receipts.

    A `thorough` reading compares all providers for blocks that no header proves. Raises NodeUnavailableError and
    BlockNotCanonicalError.
    """
    if not numbers:
        return reading
    linked = _read_linked(reading, min(numbers))
    headers = {number: linked[number] for number in sorted(numbers)}
    disputed = set[int]()
    if thorough:
        headers, disputed = agree_on_times(reading.chain, headers)
    reading = _replace_by_receipts(reading, list(headers.values()), addresses=addresses, thorough=thorough)
    return replace(reading, timed=reading.timed | (headers.keys() - disputed)) if thorough else reading


def read_undecided(reading: SecondReading, numbers: Collection[int], *, addresses: Collection[str]) -> SecondReading:
    """Return the reading with these blocks as far as any node returns them: by each block's receipts, else by logs.

    Rows in these blocks that the reading lacks have to stay. Raises as `read_from_receipts`.
    """
    headers = _read_linked(reading, min(numbers))
    for number in sorted(reading.unread.intersection(numbers)):
        reading = _replace_by_receipts(reading, [headers[number]], addresses=addresses)
    if unread := reading.unread.intersection(numbers):
        logs, _ = _read_logs(reading, reading.chain, addresses)
        contents = replace_blocks(reading.contents, logs, numbers=unread)
        reading = replace(reading, contents=contents, unread=reading.unread - unread)
    return replace(reading, undecided=reading.undecided.union(numbers) - reading.corrigible)


def filter_by_address(
    transactions: Iterable[TransactionFacts], addresses: Collection[str], *, info: ChainInfo
) -> tuple[TransactionFacts, ...]:
    """Return transactions without logs by registry contracts that are not among the addresses (lower case)."""
    left_out = set(info.contracts).difference(addresses)
    filtered = []
    for facts in transactions:
        launches = tuple(launch for launch in facts.launches if launch.factory.lower() not in left_out)
        logs = tuple(log for log in facts.event_logs if log.emitter.lower() not in left_out)
        if launches or logs:
            filtered.append(replace(facts, launches=launches, event_logs=logs))
    return tuple(filtered)


def _choose(chain: Chain, alternate: Chain, last: int) -> tuple[Chain, str]:
    """Return the chain to read from, and the last block's hash.

    It is the alternate, unless the alternate's branch is in the minority. The last block's hash identifies all earlier
    blocks, by their parent hashes.
    """
    ours, theirs = _header(chain, last), _header(alternate, last)
    if ours.hash == theirs.hash:
        return alternate, theirs.hash
    with_ours, _ = chain.count_nodes_with(ours)
    with_theirs, _ = chain.count_nodes_with(theirs)
    # A tie goes to the first configured node.
    return (alternate, theirs.hash) if with_theirs > with_ours else (chain, ours.hash)


def _header(chain: Chain, number: int) -> BlockHeader:
    header = chain.read_headers([number]).get(number)
    if header is None:
        raise NodeUnavailableError(f"chain {chain.info.chain_id}: its node lacks block {number}, which is final")
    return header


def _read_linked(reading: SecondReading, first: int) -> Mapping[int, BlockHeader]:
    """Return all headers from the first to the reading's last block, each the parent of the next."""
    headers = reading.chain.read_headers(range(first, reading.last + 1))
    expected = reading.last_hash
    for number in range(reading.last, first - 1, -1):
        header = headers.get(number)
        if header is None or header.hash != expected:
            raise NodeUnavailableError(
                f"chain {reading.chain.info.chain_id}: block {number} is missing, or on another branch"
            )
        expected = header.parent_hash
    return headers


def _read_holding(reading: SecondReading) -> Mapping[int, BlockHeader]:
    """Return the headers of blocks that have contents in the reading. Raises NodeUnavailableError."""
    numbers = {one.block_number for one in (*reading.transactions, *pool_logs(reading.contents))}
    headers = reading.chain.read_headers(numbers) if numbers else {}
    if headers.keys() != numbers:
        raise NodeUnavailableError(f"chain {reading.chain.info.chain_id}: its node lacks blocks of its own logs")
    _check_blocks(reading.transactions, headers)
    return headers


def _mistimed_blocks(reading: SecondReading, headers: Mapping[int, BlockHeader]) -> set[int]:
    """Return blocks whose logs have another time than their header."""
    contents = (*reading.transactions, *pool_logs(reading.contents))
    return {one.block_number for one in contents if one.block_time != headers[one.block_number].time}


def _check_blocks(transactions: Iterable[TransactionFacts], headers: Mapping[int, BlockHeader]) -> None:
    for facts in transactions:
        if facts.block_hash != headers[facts.block_number].hash:
            raise NodeUnavailableError(f"logs of block {facts.block_number} are from another branch")


def _replace_by_receipts(
    reading: SecondReading, headers: Sequence[BlockHeader], *, addresses: Collection[str], thorough: bool = False
) -> SecondReading:
    """Return the reading with these blocks replaced by their receipts; without receipts they are `unread`."""
    if not headers:
        return reading
    numbers = {header.number for header in headers}
    try:
        facts = reading.chain.read_receipts(headers, pools=reading.pools)
    except NodeUnavailableError as error:
        if thorough and len(headers) > 1:
            # A node without block receipts fails in part of many requests: halves keep the receipts that it returns.
            middle = len(headers) // 2
            for half in (headers[:middle], headers[middle:]):
                reading = _replace_by_receipts(reading, half, addresses=addresses, thorough=True)
            return reading
        logger.info(
            "chain=%s receipts of %s blocks are unavailable: %s", reading.chain.info.chain_id, len(headers), error
        )
        return replace(reading, unread=reading.unread | numbers)
    # If receipts fit the filter, the first node's receipts are sufficient unless rows contradict them.
    if disputed := facts.unproven if thorough else facts.unproven & facts.odd_filters:
        odd = [header for header in headers if header.number in disputed]
        agreed = read_by_each_node(reading.chain, odd, pools=reading.pools)
        unproven = facts.unproven - disputed | agreed.unproven
        facts = replace(replace_blocks(facts, agreed, numbers=disputed), unproven=unproven)
    facts = replace(facts, transactions=filter_by_address(facts.transactions, addresses, info=reading.chain.info))
    return replace(
        reading,
        contents=replace_blocks(reading.contents, facts, numbers=numbers),
        proven=reading.proven - numbers | (numbers - facts.unproven),
        proven_pools=reading.proven_pools - numbers | (numbers - facts.unproven),
        unread=reading.unread - numbers,
        odd_filters=reading.odd_filters | facts.odd_filters,
        repeated=reading.repeated - numbers,
    )

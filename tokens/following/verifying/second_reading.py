"""The second reading of final blocks, by other nodes and methods than the first, and its proofs. Uses no database."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tokens.chains.errors import NodeUnavailableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.pool_types import PoolSelection
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import BlockHeader, RangeFacts, TransactionFacts
from tokens.following.block_contents import pool_logs, replace_blocks
from tokens.following.followed_pools import is_named


class UnprovenError(Exception):
    """Rows differ from the reading in blocks that only their receipts can decide about."""

    def __init__(self, numbers: Collection[int]) -> None:
        super().__init__(f"{len(numbers)} blocks are not proven")
        self.numbers = numbers


@dataclass(frozen=True, kw_only=True)
class SecondReading:
    """The contents of a range of blocks."""

    chain: Chain
    # The pools whose logs are read; None is none.
    pools: PoolSelection | None
    # The hash of the last block on the branch that most nodes have.
    last_hash: str
    contents: RangeFacts
    # Blocks that certainly have these transactions and no others: their receipts reproduce their bloom filter, or the
    # filter has bits and excludes everything.
    proven: frozenset[int] = frozenset()
    # The same of swaps and liquidity changes.
    proven_pools: frozenset[int] = frozenset()

    @property
    def first(self) -> int:
        return self.contents.first

    @property
    def last(self) -> int:
        return self.contents.last

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
    """Read the blocks again, with the nodes in another order and the method of FOLLOW_VERIFY.

    Raises NodeUnavailableError and BlockNotCanonicalError.
    """
    trusted, last_hash = _choose(chain, alternate, last)
    nothing = RangeFacts(first=first, last=last, transactions=())
    reading = SecondReading(chain=trusted, pools=pools, last_hash=last_hash, contents=nothing)
    if method == "receipts":
        return read_from_receipts(reading, range(first, last + 1), addresses=addresses)
    if method == "logs":
        return replace(reading, contents=_read_logs(reading, addresses))
    return _read_by_filters(reading, addresses)


def _read_by_filters(reading: SecondReading, addresses: Collection[str]) -> SecondReading:
    """Read blocks from receipts where their bloom filters promise something, and from logs where these can't decide."""
    headers = _read_linked(reading, reading.first)
    # Among all pools of the chain, foreign ones fill the filter of every block.
    by_filter = reading.pools if reading.pools and is_named(reading.pools) else None
    promises = {number: reading.chain.may_contain_events(header, pools=by_filter) for number, header in headers.items()}
    promising = {number for number, promise in promises.items() if promise}
    # Logs decide only about blocks whose filter is too full, or empty, as on chains that never fill it.
    undecided = any(promises[number] is None or not header.logs_bloom for number, header in headers.items())
    if undecided or by_filter is not reading.pools:
        reading = replace(reading, contents=_read_logs(reading, addresses, without=promising))
    _check_blocks(reading.transactions, headers)
    holding = {facts.block_number for facts in reading.transactions}
    if by_filter:
        holding |= {log.block_number for log in pool_logs(reading.contents)}
    if holding and not any(header.logs_bloom for header in headers.values()):
        # The chain leaves its bloom filters empty: a filter that excludes everything proves nothing.
        return reading
    nothing = {number for number, promise in promises.items() if promise is False} - holding
    # Reported logs that the filter excludes are doubtful, too.
    doubtful = promising | {number for number in holding if promises[number] is False}
    # An empty filter may be one that the chain never fills: no proof against rows.
    proven = frozenset(number for number in nothing if headers[number].logs_bloom)
    reading = replace(reading, proven=proven, proven_pools=proven if by_filter else frozenset())
    return _replace_by_receipts(reading, [headers[number] for number in sorted(doubtful)], addresses=addresses)


def _read_logs(reading: SecondReading, addresses: Collection[str], *, without: Collection[int] = ()) -> RangeFacts:
    found = reading.chain.read_range(
        reading.first, reading.last, addresses=addresses, without=without, pools=reading.pools
    )
    # Blocks that were read in full may hold more than was requested.
    return replace(found, transactions=filter_by_address(found.transactions, addresses, info=reading.chain.info))


def read_from_receipts(reading: SecondReading, numbers: Iterable[int], *, addresses: Collection[str]) -> SecondReading:
    """Return the reading with these blocks replaced by their receipts.

    Raises NodeUnavailableError and BlockNotCanonicalError.
    """
    wanted = sorted(set(numbers))
    if not wanted:
        return reading
    headers = _read_linked(reading, wanted[0])
    return _replace_by_receipts(reading, [headers[number] for number in wanted], addresses=addresses)


def filter_by_address(
    transactions: Iterable[TransactionFacts], addresses: Collection[str], *, info: ChainInfo
) -> tuple[TransactionFacts, ...]:
    """Return transactions without logs of registry contracts that are not among the addresses (lower case)."""
    left_out = set(info.contracts).difference(addresses)
    found = []
    for facts in transactions:
        launches = tuple(launch for launch in facts.launches if launch.factory.lower() not in left_out)
        logs = tuple(log for log in facts.event_logs if log.emitter.lower() not in left_out)
        if launches or logs:
            found.append(replace(facts, launches=launches, event_logs=logs))
    return tuple(found)


def _choose(chain: Chain, alternate: Chain, last: int) -> tuple[Chain, str]:
    """Return the chain to read from, and the hash of the last block.

    It is the alternate, unless that is on a branch of its own. The hash of the last block identifies all blocks before
    it, by their parent hashes.
    """
    ours, theirs = _header(chain, last), _header(alternate, last)
    if ours.hash == theirs.hash:
        return alternate, theirs.hash
    with_ours, _ = chain.count_nodes_with(ours)
    with_theirs, _ = chain.count_nodes_with(theirs)
    # A tie goes to the node that is configured first.
    return (alternate, theirs.hash) if with_theirs > with_ours else (chain, ours.hash)


def _header(chain: Chain, number: int) -> BlockHeader:
    found = chain.read_headers([number]).get(number)
    if found is None:
        raise NodeUnavailableError(f"chain {chain.info.chain_id}: its node lacks block {number}, which is final")
    return found


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


def _check_blocks(transactions: Iterable[TransactionFacts], headers: Mapping[int, BlockHeader]) -> None:
    for facts in transactions:
        if facts.block_hash != headers[facts.block_number].hash:
            raise NodeUnavailableError(f"logs of block {facts.block_number} are from another branch")


def _replace_by_receipts(
    reading: SecondReading, headers: Sequence[BlockHeader], *, addresses: Collection[str]
) -> SecondReading:
    if not headers:
        return reading
    found = reading.chain.read_receipts(headers, pools=reading.pools)
    found = replace(found, transactions=filter_by_address(found.transactions, addresses, info=reading.chain.info))
    numbers = {header.number for header in headers}
    return replace(
        reading,
        contents=replace_blocks(reading.contents, found, numbers=numbers),
        proven=reading.proven | numbers,
        proven_pools=reading.proven_pools | numbers,
    )

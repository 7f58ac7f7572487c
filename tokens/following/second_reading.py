"""The second reading of final blocks, by other nodes and methods than the first, and its proofs. Uses no database."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tokens.chains.errors import NodeUnavailableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import BlockHeader, TransactionFacts


@dataclass(frozen=True, kw_only=True)
class SecondReading:
    """The contents of the blocks from the first to the last, in chain order."""

    chain: Chain
    first: int
    last: int
    # The hash of the last block on the branch that most nodes have.
    last_hash: str
    transactions: tuple[TransactionFacts, ...]
    # Blocks that certainly hold this and nothing else: their receipts reproduce their bloom filter, or the filter has
    # bits and excludes everything.
    proven: frozenset[int]


def read_second(
    chain: Chain, alternate: Chain, first: int, last: int, *, addresses: Collection[str], method: str
) -> SecondReading:
    """Read the blocks again, with the nodes in another order and the method of FOLLOW_VERIFY.

    Raises NodeUnavailableError and BlockNotCanonicalError.
    """
    trusted, last_hash = _choose(chain, alternate, last)
    reading = SecondReading(
        chain=trusted, first=first, last=last, last_hash=last_hash, transactions=(), proven=frozenset()
    )
    if method == "receipts":
        return read_from_receipts(reading, range(first, last + 1), addresses=addresses)
    if method == "logs":
        return replace(reading, transactions=tuple(_read_logs(reading, addresses)))
    headers = _read_linked(reading, first)
    promises = {number: trusted.may_contain_events(header) for number, header in headers.items()}
    promising = {number for number, promise in promises.items() if promise}
    # Logs decide only about blocks whose filter is too full, or empty, as on chains that never fill it.
    undecided = any(promises[number] is None or not header.logs_bloom for number, header in headers.items())
    logged = _read_logs(reading, addresses, without=promising) if undecided else ()
    reading = replace(reading, transactions=tuple(logged))
    _check_blocks(logged, headers)
    holding = {facts.block_number for facts in logged}
    if holding and not any(header.logs_bloom for header in headers.values()):
        # The chain leaves its bloom filters empty: a filter that excludes everything proves nothing.
        return reading
    nothing = {number for number, promise in promises.items() if promise is False} - holding
    # Reported logs that the filter excludes are doubtful, too.
    doubtful = promising | {number for number in holding if promises[number] is False}
    # An empty filter may be one that the chain never fills: no proof against rows.
    proven = frozenset(number for number in nothing if headers[number].logs_bloom)
    reading = replace(reading, proven=proven)
    return _replace_by_receipts(reading, [headers[number] for number in sorted(doubtful)], addresses=addresses)


def _read_logs(
    reading: SecondReading, addresses: Collection[str], *, without: Collection[int] = ()
) -> Sequence[TransactionFacts]:
    found = reading.chain.read_range(reading.first, reading.last, addresses=addresses, without=without)
    # Blocks that were read in full may hold more than was requested.
    return filter_by_address(found.transactions, addresses, info=reading.chain.info)


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
) -> Sequence[TransactionFacts]:
    """Return transactions without logs of registry contracts that are not among the addresses (lower case)."""
    left_out = set(info.contracts).difference(addresses)
    found = []
    for facts in transactions:
        launches = tuple(launch for launch in facts.launches if launch.factory.lower() not in left_out)
        logs = tuple(log for log in facts.event_logs if log.emitter.lower() not in left_out)
        if launches or logs:
            found.append(replace(facts, launches=launches, event_logs=logs))
    return found


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
    transactions = reading.chain.read_receipts(headers).transactions
    numbers = {header.number for header in headers}
    kept = [facts for facts in reading.transactions if facts.block_number not in numbers]
    logged = filter_by_address(transactions, addresses, info=reading.chain.info)
    # All logs of a block come from one of the two and keep their order.
    merged = sorted([*kept, *logged], key=lambda facts: facts.block_number)
    return replace(reading, transactions=tuple(merged), proven=reading.proven | numbers)

"""What final blocks hold, read once more and otherwise than the first time, and how certain that is. No database."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tokens.chains.protocols import Chain
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import BlockHeader, NodeUnavailable, TransactionFacts


@dataclass(frozen=True, kw_only=True)
class SecondReading:
    """What the blocks from the first to the last hold, in the chain's order."""

    chain: Chain
    first: int
    last: int
    # The last block's, which is that of the chain that most nodes have.
    last_hash: str
    transactions: tuple[TransactionFacts, ...]
    # Blocks of which it is certain that they hold this and nothing else: their receipts make their bloom filter, or it
    # has bits and promises nothing.
    proven: frozenset[int]


def read_again(
    chain: Chain, otherwise: Chain, first: int, last: int, *, addresses: Collection[str], how: str
) -> SecondReading:
    """The blocks once more, by nodes in another order, and checked as FOLLOW_VERIFY says.

    Raises NodeUnavailable and BlockGone.
    """
    trusted, last_hash = _choose(chain, otherwise, last)
    reading = SecondReading(
        chain=trusted, first=first, last=last, last_hash=last_hash, transactions=(), proven=frozenset()
    )
    if how == "receipts":
        return prove(reading, range(first, last + 1), addresses=addresses)
    found = trusted.read_range(first, last, addresses=addresses)
    # What was read in full may hold more than was asked for.
    told = of_addresses(found.transactions, addresses, info=trusted.info)
    reading = replace(reading, transactions=tuple(told))
    if how == "logs":
        return reading
    headers = _read_linked(reading, first)
    _check_blocks(told, headers)
    holding = {facts.block_number for facts in told}
    if holding and not any(header.logs_bloom for header in headers.values()):
        # A chain that leaves its filters empty: what they don't promise may be there all the same.
        return reading
    promises = {number: trusted.may_hold(header) for number, header in headers.items()}
    nothing = {number for number, promise in promises.items() if promise is False} - holding
    # Also what is told to be there, and cannot be.
    doubtful = {number for number, promise in promises.items() if promise is not None} - nothing
    # An empty filter may be one that its chain never fills: no proof against rows.
    proven = frozenset(number for number in nothing if headers[number].logs_bloom)
    reading = replace(reading, proven=proven)
    return _replace_by_receipts(reading, [headers[number] for number in sorted(doubtful)], addresses=addresses)


def prove(reading: SecondReading, numbers: Iterable[int], *, addresses: Collection[str]) -> SecondReading:
    """The reading with these blocks read from their receipts. Raises NodeUnavailable and BlockGone."""
    wanted = sorted(set(numbers))
    if not wanted:
        return reading
    headers = _read_linked(reading, wanted[0])
    return _replace_by_receipts(reading, [headers[number] for number in wanted], addresses=addresses)


def of_addresses(
    transactions: Iterable[TransactionFacts], addresses: Collection[str], *, info: ChainInfo
) -> Sequence[TransactionFacts]:
    """Transactions without what contracts of the registry emitted that are not among the addresses (lower case)."""
    left_out = set(info.contracts).difference(addresses)
    found = []
    for facts in transactions:
        launches = tuple(launch for launch in facts.launches if launch.factory.lower() not in left_out)
        logs = tuple(log for log in facts.event_logs if log.emitter.lower() not in left_out)
        if launches or logs:
            found.append(replace(facts, launches=launches, event_logs=logs))
    return found


def _choose(chain: Chain, otherwise: Chain, last: int) -> tuple[Chain, str]:
    """Which of the two is asked, and the last block's hash: the other one, unless it is alone on another branch.

    The last block's hash speaks for all blocks before it, by their parents' hashes.
    """
    ours, theirs = _header(chain, last), _header(otherwise, last)
    if ours.hash == theirs.hash:
        return otherwise, theirs.hash
    with_ours, _ = chain.count_nodes_with(ours)
    with_theirs, _ = chain.count_nodes_with(theirs)
    # Of two, the one that is first in the setting counts.
    return (otherwise, theirs.hash) if with_theirs > with_ours else (chain, ours.hash)


def _header(chain: Chain, number: int) -> BlockHeader:
    found = chain.read_headers([number]).get(number)
    if found is None:
        raise NodeUnavailable(f"chain {chain.info.chain_id}: its node lacks block {number}, which is final")
    return found


def _read_linked(reading: SecondReading, first: int) -> Mapping[int, BlockHeader]:
    """All headers from the first to the reading's last one, each the parent of the next."""
    headers = reading.chain.read_headers(range(first, reading.last + 1))
    expected = reading.last_hash
    for number in range(reading.last, first - 1, -1):
        header = headers.get(number)
        if header is None or header.hash != expected:
            raise NodeUnavailable(
                f"chain {reading.chain.info.chain_id}: block {number} is lacking, or of another branch"
            )
        expected = header.parent_hash
    return headers


def _check_blocks(transactions: Iterable[TransactionFacts], headers: Mapping[int, BlockHeader]) -> None:
    for facts in transactions:
        if facts.block_hash != headers[facts.block_number].hash:
            raise NodeUnavailable(f"logs of block {facts.block_number} are of another branch")


def _replace_by_receipts(
    reading: SecondReading, headers: Sequence[BlockHeader], *, addresses: Collection[str]
) -> SecondReading:
    if not headers:
        return reading
    transactions = reading.chain.read_receipts(headers).transactions
    numbers = {header.number for header in headers}
    kept = [facts for facts in reading.transactions if facts.block_number not in numbers]
    told = of_addresses(transactions, addresses, info=reading.chain.info)
    # Those of a block come from one of the two, and stay in their order.
    merged = sorted([*kept, *told], key=lambda facts: facts.block_number)
    return replace(reading, transactions=tuple(merged), proven=reading.proven | numbers)

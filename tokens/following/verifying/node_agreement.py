"""Agreement between a chain's providers about blocks that no header proves: their receipts and their times."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from config.http.errors import RetryableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.pool_types import PoolSelection
from tokens.chains.types import BlockHeader, RangeFacts
from tokens.following.block_contents import cut_range, join_ranges, pool_logs

# Providers that must return the same receipts for a block that no header proves.
_AGREEING = 2


def read_by_each_node(chain: Chain, headers: Sequence[BlockHeader], *, pools: PoolSelection | None) -> RangeFacts:
    """Return the blocks' contents by receipts that are read from each node separately, with blocks still `unproven`.

    Receipts count that the header proves, or that two providers agree on; else the receipts with the most logs. Blocks
    whose receipts no node returns are empty and unproven.
    """
    readings: dict[str, RangeFacts] = {}
    for rpc in chain.rpc.single_nodes():
        try:
            reading = replace(chain, rpc=rpc).read_receipts(headers, pools=pools)
        except RetryableError:
            continue
        readings.setdefault(rpc.providers[0], reading)
    unproven, odd, parts = set[int](), set[int](), list[RangeFacts]()
    for number in (header.number for header in headers):
        proven = [reading for reading in readings.values() if number not in reading.unproven]
        candidates = [cut_range(reading, number, number) for reading in proven or readings.values()]
        nothing = RangeFacts(first=number, last=number, transactions=())
        best = max(candidates, key=lambda part: (candidates.count(part), _size(part)), default=nothing)
        if not proven and candidates.count(best) < _AGREEING:
            unproven.add(number)
        if any(number in reading.odd_filters for reading in readings.values()):
            odd.add(number)
        parts.append(best)
    return replace(join_ranges(parts), unproven=frozenset(unproven), odd_filters=frozenset(odd))


def agree_on_times(chain: Chain, headers: Mapping[int, BlockHeader]) -> tuple[dict[int, BlockHeader], set[int]]:
    """Return the headers with the times that most providers return, and the blocks without a majority.

    No proof that is recomputed from receipts includes the time. Raises nothing.
    """
    times = chain.read_times_by_provider(list(headers.values()))
    agreed, disputed = dict(headers), set[int]()
    for number, header in headers.items():
        votes = Counter(times[number]).most_common(2)
        if len(votes) == 2 and votes[0][1] == votes[1][1]:
            disputed.add(number)
        elif votes:
            agreed[number] = replace(header, time=votes[0][0])
    return agreed, disputed


def _size(part: RangeFacts) -> int:
    logs = sum(len(facts.launches) + len(facts.event_logs) for facts in part.transactions)
    return logs + len(pool_logs(part))

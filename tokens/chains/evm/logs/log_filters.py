"""Log filters for a chain: logs from the registry's contracts, from tokens and their lockers, and from pools."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from tokens.chains.abi.codec import Log
from tokens.chains.evm.logs import blooms, log_decoding
from tokens.chains.evm.logs.pair_logs import PAIR_TOPICS
from tokens.chains.evm.logs.pool_logs import V3_POOL_TOPICS, V4_POOL_TOPICS
from tokens.chains.evm.logs.swap_fees import CONVERSION_TOPIC, HOOK_FEE_TOPIC, MINTED, part_topics
from tokens.chains.pool_types import PoolSelection, select_pools
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import BlockHeader

# The registry's layout name for launches into v4 pools; all other layouts launch into v3 pools.
_V4_EVENT = "v4"


@dataclass(frozen=True, kw_only=True, slots=True)
class LogFilter:
    """Filter by emitter (lower case; None is all), first topic and second topic."""

    addresses: frozenset[str] | None
    topics: frozenset[str]
    # None is all, also logs with a first topic only.
    second_topics: frozenset[str] | None
    # Bloom filter bits for addresses, topics and second topics; a set that matches all logs has none.
    masks: tuple[tuple[int, ...], ...]

    def query(self, **blocks: str) -> dict[str, Any]:
        """Return the filter object of `eth_getLogs`, with `fromBlock` and `toBlock` in hex, or with `blockHash`."""
        emitters = {} if self.addresses is None else {"address": sorted(self.addresses)}
        second = [] if self.second_topics is None else [sorted(self.second_topics)]
        return {**blocks, **emitters, "topics": [sorted(self.topics), *second]}

    def matches(self, log: Log) -> bool:
        """Return whether a well-formed log matches."""
        topics = log["topics"]
        if not topics or topics[0] not in self.topics:
            return False
        if self.second_topics is not None and (len(topics) < 2 or topics[1] not in self.second_topics):
            return False
        return self.addresses is None or log["address"].lower() in self.addresses

    def may_match(self, bloom: int) -> bool:
        """Return whether a block with this bloom filter may contain a matching log."""
        return all(blooms.may_contain_any(bloom, masks) for masks in self.masks)


def log_filters(chain: ChainInfo, addresses: Collection[str] | None = None) -> tuple[LogFilter, ...]:
    """Return the filters for these contracts (None: all in the registry), and for tokens and their lockers.

    Without any contract the first filter is omitted: nodes treat an empty address list as all addresses.
    """
    return _log_filters(chain, None if addresses is None else frozenset(addresses))


@lru_cache(maxsize=64)
def _log_filters(chain: ChainInfo, addresses: frozenset[str] | None) -> tuple[LogFilter, ...]:
    contracts = chain.emitters if addresses is None else addresses
    contract_filter = _build(contracts, log_decoding.launch_topics(chain))
    if any(not contracts.isdisjoint(pad.emitters(chain.chain_id)) for pad in chain.launchpads):
        # The launch selects the block, so that the PoolManager needs no bloom filter bits.
        contract_filter = replace(contract_filter, addresses=contracts | chain.pools_of_launches)
    token_filter = _build(None, log_decoding.own_topics(chain))
    # The swap selects the block, so that reports on swaps need no bloom filter bits.
    token_filter = replace(token_filter, topics=token_filter.topics | {CONVERSION_TOPIC} | part_topics(chain))
    return (contract_filter, token_filter) if contracts else (token_filter,)


@lru_cache(maxsize=64)
def pool_filters(chain: ChainInfo, pools: PoolSelection) -> tuple[LogFilter, ...]:
    """Return the filters for the selected pools' logs, one for each pool kind that the chain has.

    Contracts that are the curve of all their tokens are always read: their logs have no topic with the token. On a
    chain without launches into v3 pools, only the reference pools count as v3 pools: all others are foreign.
    """
    filters = []
    if chain.v4_pool_manager is not None and pools.v4_pools != frozenset():
        filters.append(_v4_filter(chain.v4_pool_manager, pools.v4_pools))
    v3_pools = pools.v3_pools
    if not _has_v3_launches(chain):
        references = select_pools(reference.pool for reference in chain.reference_pools).v3_pools or frozenset()
        v3_pools = references if v3_pools is None else v3_pools & references
    if v3_pools != frozenset():
        filters.append(_build(v3_pools, V3_POOL_TOPICS))
    if "v2" in chain.pool_kinds and pools.v3_pools != frozenset():
        filters.append(_build(pools.v3_pools, PAIR_TOPICS))
    shared_curves = {(address, topic0) for address, topic0 in chain.curve_trades if address}
    if shared_curves:
        filters.append(source_filter(shared_curves))
    own_curve_topics = {topic0 for address, topic0 in chain.curve_trades if not address}
    if own_curve_topics and pools.v3_pools != frozenset():
        filters.append(_build(pools.v3_pools, own_curve_topics))
    return tuple(filters)


def source_filter(sources: Iterable[tuple[str, str]], *, second_topics: frozenset[str] | None = None) -> LogFilter:
    """Return the filter for contract events, by lower-case address and topic0."""
    addresses, topics = zip(*sources, strict=True)
    return _build(set(addresses), set(topics), second_topics=second_topics)


def join_filters(filters: Sequence[LogFilter]) -> tuple[LogFilter, ...]:
    """Join pool filters, so that a read needs fewer calls; the joined filter may match other pools, too.

    A filter with second topics stays separate: joined with others it would match all of the PoolManager's pools.
    """
    joinable = [one for one in filters if one.second_topics is None]
    if len(joinable) < 2:
        return tuple(filters)
    every_address = any(one.addresses is None for one in joinable)
    addresses = None if every_address else {address for one in joinable for address in one.addresses or ()}
    joined = _build(addresses, {topic for one in joinable for topic in one.topics})
    return (joined, *(one for one in filters if one.second_topics is not None))


def requested_pool_filters(chain: ChainInfo, filters: Sequence[LogFilter]) -> tuple[LogFilter, ...]:
    """Return the filters to request for pools without `log_filters`; they also match reports on swaps."""
    return (*join_filters(filters), _build(None, {CONVERSION_TOPIC} | part_topics(chain)))


def may_contain_events(chain: ChainInfo, header: BlockHeader, pools: PoolSelection | None) -> bool | None:
    """Implement `Chain.may_contain_events`."""
    if blooms.is_too_full(header.logs_bloom):
        return None
    filters = log_filters(chain)
    if pools is not None:
        # If all pools are selected, most are foreign, and most blocks have their swaps.
        named_pools = PoolSelection(v3_pools=pools.v3_pools or frozenset(), v4_pools=pools.v4_pools or frozenset())
        filters += pool_filters(chain, named_pools)
    return any(logs.may_match(header.logs_bloom) for logs in filters)


def _v4_filter(manager: str, pools: frozenset[str] | None) -> LogFilter:
    """Return the filter for these pools in the PoolManager, and for the fees that hooks take.

    Bloom filter bits are only for swaps and liquidity: hooks take fees only with swaps, in the same block.
    """
    pool_filter = _build({manager.lower()}, V4_POOL_TOPICS, second_topics=pools)
    return replace(
        pool_filter,
        topics=pool_filter.topics | {HOOK_FEE_TOPIC},
        second_topics=None if pools is None else pools | {MINTED},
    )


def _has_v3_launches(chain: ChainInfo) -> bool:
    """Return whether launches into v3 pools are possible: trading continues if a launchpad is no longer indexed."""
    return chain.v3_factory is not None or any(each.event != _V4_EVENT for each in chain.factories.values())


def _build(
    addresses: Collection[str] | None, topics: Collection[str], *, second_topics: frozenset[str] | None = None
) -> LogFilter:
    items = (addresses, topics, second_topics)
    return LogFilter(
        addresses=None if addresses is None else frozenset(addresses),
        topics=frozenset(topics),
        second_topics=second_topics,
        masks=tuple(tuple(map(blooms.bloom_mask, sorted(item))) for item in items if item is not None),
    )

"""Log filters of a chain: logs of the registry's contracts, and those that tokens themselves emit."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tokens.chains.abi.codec import Log
from tokens.chains.evm.logs import blooms, log_decoding
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import BlockHeader


@dataclass(frozen=True, kw_only=True, slots=True)
class LogFilter:
    """Logs of any of the addresses (lower case; None is all) with one of these as first topic."""

    addresses: frozenset[str] | None
    topics: frozenset[str]
    address_masks: tuple[int, ...]
    topic_masks: tuple[int, ...]

    def query(self, **blocks: str) -> dict[str, Any]:
        """Return the filter object of `eth_getLogs`, with `fromBlock` and `toBlock` in hex, or with `blockHash`."""
        of = {} if self.addresses is None else {"address": sorted(self.addresses)}
        return {**blocks, **of, "topics": [sorted(self.topics)]}

    def matches(self, log: Log) -> bool:
        """Return whether a well-formed log matches."""
        topics = log["topics"]
        if not topics or topics[0] not in self.topics:
            return False
        return self.addresses is None or log["address"].lower() in self.addresses

    def may_match(self, bloom: int) -> bool:
        """Return whether a block with this bloom filter may contain a matching log."""
        if self.addresses is not None and not blooms.may_contain_any(bloom, self.address_masks):
            return False
        return blooms.may_contain_any(bloom, self.topic_masks)


def log_filters(chain: ChainInfo, addresses: Collection[str] | None = None) -> tuple[LogFilter, ...]:
    """Return the filters for these contracts (None: all of the registry's), and for tokens and their lockers.

    Without any contract the first one is omitted: nodes treat an empty list of addresses as all.
    """
    return _log_filters(chain, None if addresses is None else frozenset(addresses))


@lru_cache(maxsize=64)
def _log_filters(chain: ChainInfo, addresses: frozenset[str] | None) -> tuple[LogFilter, ...]:
    contracts = chain.emitters if addresses is None else addresses
    own = _build(None, log_decoding.own_topics())
    return (_build(contracts, log_decoding.launch_topics(chain)), own) if contracts else (own,)


def may_contain_events(chain: ChainInfo, header: BlockHeader) -> bool | None:
    """Implement `Chain.may_contain_events`."""
    if blooms.is_too_full(header.logs_bloom):
        return None
    return any(logs.may_match(header.logs_bloom) for logs in log_filters(chain))


def _build(addresses: frozenset[str] | None, topics: Collection[str]) -> LogFilter:
    return LogFilter(
        addresses=addresses,
        topics=frozenset(topics),
        address_masks=tuple(map(blooms.bloom_mask, sorted(addresses or ()))),
        topic_masks=tuple(map(blooms.bloom_mask, sorted(topics))),
    )

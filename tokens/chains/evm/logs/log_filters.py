"""Which logs of a chain are asked for: those of the registry's contracts, and those that tokens themselves emit."""

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
    """Logs of any of the addresses (lower case; None is anybody) whose first topic is any of these."""

    addresses: frozenset[str] | None
    topics: frozenset[str]
    address_masks: tuple[int, ...]
    topic_masks: tuple[int, ...]

    def query(self, **blocks: str) -> dict[str, Any]:
        """The object that `eth_getLogs` takes, with `fromBlock` and `toBlock` in hex, or with `blockHash`."""
        of = {} if self.addresses is None else {"address": sorted(self.addresses)}
        return {**blocks, **of, "topics": [sorted(self.topics)]}

    def takes(self, log: Log) -> bool:
        """Whether the log, well formed, is one of those asked for."""
        topics = log["topics"]
        if not topics or topics[0] not in self.topics:
            return False
        return self.addresses is None or log["address"].lower() in self.addresses

    def may_match(self, bloom: int) -> bool:
        """Whether a block with this bloom filter may hold such a log."""
        if self.addresses is not None and not blooms.may_hold_any(bloom, self.address_masks):
            return False
        return blooms.may_hold_any(bloom, self.topic_masks)


def log_filters(chain: ChainInfo, addresses: Collection[str] | None = None) -> tuple[LogFilter, ...]:
    """What to ask for: logs of these contracts (None: all of the registry's), then those of tokens and their lockers.

    No contract at all leaves the first one out: to nodes, an empty list of addresses is everybody.
    """
    return _log_filters(chain, None if addresses is None else frozenset(addresses))


@lru_cache(maxsize=64)
def _log_filters(chain: ChainInfo, addresses: frozenset[str] | None) -> tuple[LogFilter, ...]:
    contracts = chain.emitters if addresses is None else addresses
    own = _build(None, log_decoding.own_topics())
    return (_build(contracts, log_decoding.launch_topics(chain)), own) if contracts else (own,)


def may_hold(chain: ChainInfo, header: BlockHeader) -> bool | None:
    """As `Chain.may_hold`."""
    if blooms.is_too_full(header.logs_bloom):
        return None
    return any(logs.may_match(header.logs_bloom) for logs in log_filters(chain))


def _build(addresses: frozenset[str] | None, topics: Collection[str]) -> LogFilter:
    return LogFilter(
        addresses=addresses,
        topics=frozenset(topics),
        address_masks=tuple(map(blooms.mask, sorted(addresses or ()))),
        topic_masks=tuple(map(blooms.mask, sorted(topics))),
    )

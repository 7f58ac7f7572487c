"""Swaps by declared launchpads' own contracts, found by the pool's hook in the PoolManager's log and the swap's sender.

From stored rows, only a pair's factory is used; another check compares it with the chain.
"""

from collections.abc import Collection, Mapping
from typing import Any

from config.http.errors import RetryableError
from tokens.chains.abi import codec
from tokens.chains.addresses import address_key, checksum_address
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.pool_types import is_v4_pool
from tokens.chains.rpc.responses import require_results
from tokens.feeds.checking.chain_logs import ChainTrade
from tokens.feeds.feed_pairs import FeedPair

_STARTED = codec.load_abi("uniswap_v4").event("Initialize")


class InternalSwaps:
    """The accounts whose swaps are no trades, by pool."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._senders: dict[str, frozenset[str]] = {}

    def load(self, pairs: Mapping[str, FeedPair], pools: Collection[str]) -> None:
        """Read these pools' hooks from their launch blocks. Raises NodeUnavailableError."""
        info = self._chain.info
        launchpads = {
            pool: [
                pad
                for pad in info.declared.values()
                if address_key(pair.factory) in pad.launch_contracts(info.chain_id)
            ]
            for pool in pools
            if pool not in self._senders and (pair := pairs.get(pool))
        }
        # The launch pool's hook counts in all the token's pools.
        hooked = [
            pool
            for pool, pads in launchpads.items()
            if is_v4_pool(pool) and pairs[pool].since is None and any(pad.hook_swaps for pad in pads)
        ]
        manager = str(info.v4_pool_manager).lower()
        hooks = self._chain.rpc.query_each(
            hooked,
            calls=lambda pool: [("eth_getLogs", (_query(manager, pool, pairs[pool].block_number),))],
            parse=lambda _pool, results: _hook(results),
        )
        for pool, pads in launchpads.items():
            self._senders[pool] = frozenset[str]().union(*(pad.senders_in(hooks.get(pool)) for pad in pads))

    def mark(self, trade: ChainTrade) -> ChainTrade:
        """Return the trade, marked as a conversion if its launchpad's contract swapped."""
        sender = checksum_address(trade.log.arguments["sender"])
        return trade._replace(is_conversion=True) if sender in self._senders.get(trade.log.pool, ()) else trade


def _query(manager: str, pool: str, block: int) -> dict[str, Any]:
    return {"fromBlock": hex(block), "toBlock": hex(block), "address": [manager], "topics": [[_STARTED.topic0], [pool]]}


def _hook(results: list[Any]) -> str:
    require_results(results)
    if len(results[0]) != 1:
        raise RetryableError("a block without the start of a pool that it launches")
    return str(_STARTED.decode(results[0][0])["hooks"])

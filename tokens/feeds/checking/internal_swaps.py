"""Swaps by declared launchpads' own contracts: the sender is the pool's hook, or an account in the declaration.

From stored rows, only a pair's factory is used; another check compares it with the chain.
"""

from collections.abc import Collection, Mapping
from typing import Any

from config.http.errors import RetryableError
from tokens.chains.abi import codec
from tokens.chains.addresses import ZERO_ADDRESS, address_key, checksum_address
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
        launch_pools = {pair.token_id: pool for pool, pair in pairs.items() if pair.since is None}
        hooked = {pool for pool, pads in launchpads.items() if any(pad.hook_swaps for pad in pads)}
        hooked |= {launch_pools.get(pairs[pool].token_id, pool) for pool in hooked}
        manager = str(info.v4_pool_manager).lower()
        hooks = self._chain.rpc.query_each(
            [pool for pool in hooked if is_v4_pool(pool)],
            calls=lambda pool: [("eth_getLogs", (_query(manager, pool, pairs[pool].block_number),))],
            parse=lambda pool, results: _hook(results, is_launch=pairs[pool].since is None),
        )
        for pool, pads in launchpads.items():
            # A later pool without a hook has the launch pool's.
            hook = hooks.get(pool) or hooks.get(launch_pools.get(pairs[pool].token_id, ""))
            self._senders[pool] = frozenset[str]().union(*(pad.senders_in(hook) for pad in pads))

    def mark(self, trade: ChainTrade) -> ChainTrade:
        """Return the trade, marked as a conversion if its launchpad's contract swapped."""
        sender = checksum_address(trade.log.arguments["sender"])
        return trade._replace(is_conversion=True) if sender in self._senders.get(trade.log.pool, ()) else trade


def _query(manager: str, pool: str, block: int) -> dict[str, Any]:
    return {"fromBlock": hex(block), "toBlock": hex(block), "address": [manager], "topics": [[_STARTED.topic0], [pool]]}


def _hook(results: list[Any], *, is_launch: bool) -> str:
    """Return the hook of a pool that the block starts; empty without a hook, or for a pool that is older."""
    require_results(results)
    if is_launch and len(results[0]) != 1:
        raise RetryableError("a block without the start of a pool that it launches")
    hook = str(_STARTED.decode(results[0][0])["hooks"]) if results[0] else ""
    return "" if hook == ZERO_ADDRESS else hook

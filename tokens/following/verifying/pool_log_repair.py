"""Comparison of stored trades and liquidity changes with a second reading, and their repair."""

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from django.db.models import Q

from tokens.chains.pool_types import LiquidityChange, Swap, chain_position, split_position
from tokens.chains.registry.chains import ChainInfo
from tokens.following.block_contents import pool_logs
from tokens.following.verifying.second_reading import SecondReading, UnprovenError
from tokens.installation.installed_launchpads import read_generations
from tokens.models import Coverage, PoolLiquidityChange, PoolTrade, Token
from tokens.trades import trade_writing
from tokens.trades.quote_rates import delete_other_reference_prices


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolLogRepair:
    """Row counts: missing, invented (not on the chain), corrected, and kept without a proof; with their hashes."""

    missing: int = 0
    invented: int = 0
    corrected: int = 0
    kept: int = 0
    tx_hashes: frozenset[str] = frozenset()


def repair_pool_logs(coverage: Coverage, reading: SecondReading) -> PoolLogRepair:
    """Make the range's stored trades and liquidity changes equal to the reading.

    Raises UnprovenError if rows differ, unless each block in the range has a proof: both readings may lack logs, so all
    unproven blocks are suspect. Rows in undecided blocks stay. A switched-off launchpad's rows stay, too: its curve and
    pair kinds may no longer be read. Trades that only lack their hook's fee, and corrected trades from versions before
    0.3.0, are not counted: no node was wrong. Call it in a transaction that holds the chain's lock, after the same
    blocks' launches are repaired.
    """
    if reading.pools is None:
        return PoolLogRepair()
    contents, chain = reading.contents, reading.chain.info
    read = {_position(log): log for log in pool_logs(contents)}
    before = trade_writing.find_pool_logs(chain.chain_id, reading.first, reading.last)
    altered, without_fee = trade_writing.compare_pool_logs(contents.swaps, contents.liquidity_changes, chain=chain)
    invented = before - read.keys()
    invented -= _find_others(chain, invented, generations=read_generations(chain))
    # Without its declaration, a launchpad's own swaps are taken for trades.
    altered -= _find_others(chain, altered, generations=read_generations(chain) | chain.declared.keys())
    undecided = {position for position in invented | altered if split_position(position)[0] in reading.undecided}
    invented, altered = invented - undecided, altered - undecided
    former = _find_former_trades(chain.chain_id, altered)
    hashes = _stored_hashes(chain.chain_id, (invented | altered | undecided) - former)
    if invented or altered:
        trade_writing.delete_pool_logs(chain.chain_id, invented | altered)
    unpriced = delete_other_reference_prices(chain, contents.swaps, first=reading.first, last=reading.last)
    # Without an invented reference price, other trades have other rates.
    right = set() if unpriced else before - altered - without_fee
    # Logs of foreign pools have no row, and neither have swaps that exchange nothing.
    stored = trade_writing.store_trades(
        [swap for swap in contents.swaps if _position(swap) not in right],
        [change for change in contents.liquidity_changes if _position(change) not in right],
        chain=chain,
        live=True,
    )
    added = trade_writing.find_pool_logs(chain.chain_id, reading.first, reading.last) - before
    different = added | invented | without_fee | {chain_position(block, 0) for block in unpriced}
    _require_proof(reading, different, altered=altered)
    trade_writing.recount_tokens(chain.chain_id, stored.token_ids)
    later = _later_pools(coverage, {read[position].pool for position in added})
    missing = {position for position in added if read[position].pool not in later}
    hashes |= {read[position].tx_hash for position in missing}
    invented_count = len(invented) + len(unpriced)
    return PoolLogRepair(
        missing=len(missing),
        invented=invented_count,
        corrected=len(altered - former),
        kept=len(undecided),
        tx_hashes=frozenset(hashes),
    )


def _require_proof(reading: SecondReading, different: Collection[int], *, altered: Collection[int]) -> None:
    unproven = frozenset(range(reading.first, reading.last + 1)) - reading.proven_pools - reading.undecided
    if unproven and (different or altered):
        raise UnprovenError(unproven)
    untimed = {split_position(position)[0] for position in altered} - reading.timed
    if untimed:
        raise UnprovenError(untimed)


def _later_pools(coverage: Coverage, pools: Collection[str]) -> set[str]:
    """Return pools whose tokens were indexed only after their blocks were followed, as `is_of_later_token`."""
    if not pools:
        return set()
    new = Token.objects.filter(
        chain_id=coverage.chain_id, pool_address__in=pools, created_at__gt=coverage.created_at
    ).values_list("pool_address", "block_number", "factory_address")
    return {
        pool
        for pool, block_number, factory in new
        if block_number < coverage.first_block or factory.lower() not in coverage.addresses
    }


def _find_others(chain: ChainInfo, positions: Collection[int], *, generations: AbstractSet[str]) -> set[int]:
    """Return the positions of rows whose tokens have other generations."""
    if not positions:
        return set()
    is_other = ~Q(token__generation__in=generations), Q(token__chain_id=chain.chain_id, position__in=positions)
    return {
        position
        for model in (PoolTrade, PoolLiquidityChange)
        for position in model._default_manager.filter(*is_other).values_list("position", flat=True)
    }


def _find_former_trades(chain_id: int, positions: Collection[int]) -> set[int]:
    """Return the positions of trades from versions before 0.3.0, which stored no index and other conversions."""
    trades = PoolTrade.objects.filter(token__chain_id=chain_id, position__in=positions, tx_index=None)
    return set(trades.values_list("position", flat=True)) if positions else set()


def _stored_hashes(chain_id: int, positions: Collection[int]) -> set[str]:
    """Return the stored trades' transaction hashes; liquidity change rows have none."""
    if not positions:
        return set()
    trades = PoolTrade.objects.filter(token__chain_id=chain_id, position__in=positions)
    return {f"0x{bytes(tx_hash).hex()}" for tx_hash in trades.values_list("tx_hash", flat=True)}


def _position(log: Swap | LiquidityChange) -> int:
    return chain_position(log.block_number, log.log_index)

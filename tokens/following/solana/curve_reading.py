"""Bonding curve terms, read once for each config and stored; and curve progress from pool accounts.

Trades carry the progress if a token's curve is stored. This module covers the rest: a config's first pools, tokens
indexed before curves were read, pools without a swap, and curve completion times.
"""

import logging
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from decimal import Decimal

from django.db import connection, transaction

from tokens.chains.solana.bonding_curve_fees import PoolTotals
from tokens.chains.solana.solana_chain import SolanaChain
from tokens.indexing import chain_lock
from tokens.models import BondingCurve, Market
from tokens.trades.market_rows import refresh_markets

logger = logging.getLogger(__name__)

# Launches that were indexed before their facts had the config.
_ADD_CONFIGS = """
    UPDATE tokens_launchfacts AS launch SET facts = facts || jsonb_build_object('curve_config', config)
    FROM unnest(%s::bigint[], %s::text[]) AS read (token_id, config)
    WHERE launch.token_id = read.token_id AND NOT facts ? 'curve_config'
"""


def store_curves(chain: SolanaChain, pools: Mapping[int, PoolTotals]) -> None:
    """Read and store curves of tokens that have no progress; `pools` are up to 100 accounts, by token id.

    Raises NodeUnavailableError.
    """
    unknown = Market.objects.filter(pk__in=pools, curve_progress=None)
    configs = {pools[pk].config for pk in unknown.values_list("pk", flat=True)}
    missing = sorted(configs - _stored_configs(chain, configs))
    if not missing:
        return
    rows = [
        BondingCurve(
            chain_id=chain.info.chain_id,
            config=config,
            start_sqrt_price=Decimal(curve.start_sqrt_price),
            migration_sqrt_price=Decimal(curve.migration_sqrt_price),
            migration_threshold=Decimal(curve.migration_threshold),
            sqrt_prices=[Decimal(segment.sqrt_price) for segment in curve.segments],
            liquidities=[Decimal(segment.liquidity) for segment in curve.segments],
        )
        for config, curve in chain.read_curve_configs(missing).items()
    ]
    BondingCurve.objects.bulk_create(rows, ignore_conflicts=True)
    for row in rows:
        logger.info("chain=%s config=%s: its curve is stored", row.chain_id, row.config)


def store_progress(chain: SolanaChain, pools: Mapping[int, PoolTotals]) -> None:
    """Store missing progress and curve completion times, from the same accounts."""
    rows = list(Market.objects.filter(pk__in=pools).values_list("pk", "curve_progress", "graduated_at"))
    ended = {
        pk: datetime.fromtimestamp(completed_at, UTC)
        for pk, _, graduated_at in rows
        if graduated_at is None and (completed_at := pools[pk].completed_at)
    }
    unknown = {pk: pools[pk].config for pk, progress, _ in rows if progress is None}
    stored_configs = _stored_configs(chain, set(unknown.values()))
    ready = {pk: config for pk, config in unknown.items() if config in stored_configs}
    if not ready and not ended:
        return
    with transaction.atomic():
        chain_lock.lock_exclusive(chain.info.chain_id)
        with connection.cursor() as cursor:
            cursor.execute(_ADD_CONFIGS, [list(ready), list(ready.values())])
        for pk, graduated_at in ended.items():
            Market.objects.filter(pk=pk).update(graduated_at=graduated_at)
        refresh_markets(chain.info, {*ready, *ended})
        # A pool without a swap has no price, and its reserve is zero. A trade may be stored meanwhile.
        untraded = [pk for pk in ready if pools[pk].sqrt_price is None]
        Market.objects.filter(pk__in=untraded, price_quote=None).update(curve_progress=0)


def _stored_configs(chain: SolanaChain, configs: Collection[str]) -> set[str]:
    """Return the configs whose curves are stored."""
    if not configs:
        return set()
    stored = BondingCurve.objects.filter(chain_id=chain.info.chain_id, config__in=configs)
    return set(stored.values_list("config", flat=True))

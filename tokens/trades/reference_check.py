"""Check on reference prices: pools for one quote token against each other, and their age. No price is changed."""

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce

from tokens.chains.registry.chains import ChainInfo
from tokens.installation.market_sources import has_own_trades
from tokens.models import ChainHead, FollowedBlock
from tokens.trades.quote_rates import newest_reference_prices

logger = logging.getLogger(__name__)

# A chain's busiest pools have a swap every few blocks.
_MAX_AGE = timedelta(hours=1)
# Difference in percent between two reference pools above which operators get an alarm.
_TOLERANCE = 2


@dataclass(frozen=True, kw_only=True)
class ReferenceState:
    """Reference price state at a chain's newest stored block."""

    # The largest difference between a pool and the first one for its quote token; None without a second price.
    difference_percent: float | None
    # Sentences for operators, empty without an alarm. They change with the alarm only, not with its figures.
    alarm: str


def compare_references(chain: ChainInfo, *, logged: str = "") -> str:
    """Log if the chain's alarm differs from the `logged` one; return the alarm, empty without one."""
    state = read_reference_states([chain]).get(chain.chain_id)
    alarm = state.alarm if state else ""
    if alarm and alarm != logged:
        logger.error("chain=%s reference prices: %s", chain.chain_id, alarm)
    if logged and not alarm:
        logger.info("chain=%s reference prices: the alarm ended", chain.chain_id)
    return alarm


def read_reference_states(chains: Iterable[ChainInfo]) -> dict[int, ReferenceState]:
    """Return chain id -> state, for chains with reference pools that are followed for trades. Two queries."""
    checked = {chain.chain_id: chain for chain in chains if chain.reference_pools and has_own_trades(chain.chain_id)}
    times = _followed_times(checked.keys())
    pools = [(chain_id, pool.pool) for chain_id in times for pool in checked[chain_id].reference_pools]
    prices = newest_reference_prices(pools)
    return {
        chain_id: _compare(checked[chain_id], {pool: row for (of, pool), row in prices.items() if of == chain_id}, now)
        for chain_id, now in times.items()
    }


def _followed_times(chain_ids: Collection[int]) -> dict[int, datetime]:
    """Return chain id -> newest stored block's time, so that a chain that lags or stands still has no alarm."""
    newest = FollowedBlock.objects.filter(chain_id=OuterRef("chain_id"), number=OuterRef("followed"))
    heads = ChainHead.objects.filter(chain_id__in=chain_ids, followed__isnull=False)
    return dict(heads.values_list("chain_id", Coalesce(Subquery(newest.values("at")), "head_at")))


def _compare(chain: ChainInfo, newest: Mapping[str, tuple[Decimal, datetime]], now: datetime) -> ReferenceState:
    """Compare the newest prices, pool -> USD and time; `now` is the newest stored block's time."""
    first: dict[str, Decimal] = {}
    differences: list[float] = []
    alarms = []
    for reference in chain.reference_pools:
        usd, priced_at = newest.get(reference.pool, (None, None))
        if priced_at is None or priced_at < now - _MAX_AGE:
            alarms.append(f"no swap for an hour in reference pool {reference.pool}")
        if usd is None:
            continue
        if reference.currency in first:
            difference = float(abs(usd / first[reference.currency] - 1) * 100)
            differences.append(difference)
            if difference > _TOLERANCE:
                alarms.append(f"reference pool {reference.pool} differs from the first one by over {_TOLERANCE} %")
        else:
            first[reference.currency] = usd
    return ReferenceState(difference_percent=max(differences, default=None), alarm="; ".join(alarms))

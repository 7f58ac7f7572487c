"""Recent trade counts by chain, from rolling sums: no trade is read."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, OuterRef, Subquery, Sum

from tokens.installation.market_sources import has_own_trades
from tokens.models import RollingClock, RollingSum, Token
from tokens.models.candle import HOUR

# The follower moves a chain's sums each minute.
_LATE_AFTER = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True, slots=True)
class RecentTrades:
    """A chain's trades in the hour up to `counted_to`, without conversions."""

    last_hour: int
    counted_to: datetime

    @property
    def per_minute(self) -> float:
        """Return the hour's mean."""
        return self.last_hour / 60

    def is_late(self, now: datetime) -> bool:
        """Return whether the follower should have moved the sums since then."""
        return now - self.counted_to > _LATE_AFTER


def count_recent_trades() -> dict[int, RecentTrades]:
    """Return chain id -> recent trades, for chains followed for trades. Two queries."""
    # With a join, PostgreSQL would scan all tokens instead of the traded ones.
    chain = Subquery(Token.objects.filter(pk=OuterRef("token_id")).values("chain_id"))
    sums = RollingSum.objects.filter(seconds=HOUR).order_by().annotate(chain_id=chain).values("chain_id")
    counts = dict(sums.annotate(trades=Sum(F("buys") + F("sells"))).values_list("chain_id", "trades"))
    return {
        chain_id: RecentTrades(last_hour=counts.get(chain_id, 0), counted_to=rolled_to)
        for chain_id, rolled_to in RollingClock.objects.order_by("pk").values_list("pk", "rolled_to")
        if has_own_trades(chain_id)
    }

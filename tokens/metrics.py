"""Token metrics: the collectors from each room."""

from config.watching.metrics import register_collectors
from tokens.catalogue.metrics import listed
from tokens.deploying.metrics import deployment_metrics, wallet_metrics
from tokens.following.metrics import coverage, following
from tokens.indexing.metrics import indexing
from tokens.market.metrics import price_differences
from tokens.trades.metrics import recent_trades, reference_prices, stored_trades

register_collectors(
    following,
    coverage,
    reference_prices,
    indexing,
    stored_trades,
    recent_trades,
    listed,
    price_differences,
    deployment_metrics,
    wallet_metrics,
)

"""Market data source by chain: its own trades, or the outside provider."""

from django.conf import settings


def has_own_trades(chain_id: int) -> bool:
    """Return whether the chain's trades are followed, and its market data comes from them."""
    return chain_id not in settings.MARKET_PROVIDER_CHAINS

"""Environment variables for market data and the feeds that use it."""

from attrs import frozen

from config.environment import kinds
from config.environment.variables import per_chain, variable

# Days.
_DECADE = 3650


@frozen(slots=False, repr=False)
class MarketVariables:
    """Market data, from this service's own trades or from a provider."""

    MARKET_PROVIDER_CHAINS: tuple[int, ...] = variable(
        kinds.several(kinds.whole_number(1, 2**53 - 1), "chain ids, separated by commas"), empty=()
    )
    """Ids of chains whose market data comes from the provider, separated by commas, such as 8453,101. On other chains
    it comes from trades that the follower reads."""
    MARKET_COMPARE_PERCENT: float = variable(kinds.number(0.0, 1000.0), "0")
    """Difference in percent between our own price and the provider's that raises an alarm; 0 compares none: [market
    data](market.md#from-a-provider)."""
    MARKET_API_KEY: str = variable(kinds.api_key, accepts_file=True)
    """Key for CoinGecko's on-chain API.

    Default: none: GeckoTerminal, its free version
    """
    MARKET_BASE_URL: str = variable(kinds.base_url)
    """URL of the provider's API or a compatible one.

    Default: CoinGecko with a key, else GeckoTerminal
    Example: https://api.geckoterminal.com/api/v2
    """
    MARKET_CALLS_PER_MINUTE: int = variable(kinds.whole_number(1, 10_000), "30")
    """Provider's rate limit in calls per minute, over all processes."""
    MARKET_CATEGORY: str = variable(kinds.matching("[a-z0-9_-]{1,100}", "small letters, digits, - and _"))
    """Provider's category for trending pools, such as your launchpad's own; it requires a key."""
    TRADE_DAYS: int = variable(kinds.whole_number(0, _DECADE), "0")
    """Trade retention in days, rounded up to weeks; 0 keeps trades for good. Older trades are neither written nor part
    of candles."""
    CANDLE_MINUTE_DAYS: int = variable(kinds.whole_number(2, _DECADE), "30")
    """Retention in days for one-minute candles, rounded up to weeks; hourly and daily candles are kept for good."""
    FEEDS: tuple[str, ...] = variable(kinds.feeds, empty=())
    """[Feeds for aggregators](feeds.md) that are served below `/api/feeds/`: `dexscreener`, `dextools`, `udf` and
    `daily`, separated by commas."""
    FEED_DEX_KEY: str = variable(kinds.matching("[a-z0-9-]{1,60}", "small letters, digits and -"), "launchboard")
    """Key for this launchpad's pairs, as agreed upon with DEX Screener."""
    FEED_DEX_NAME: str = variable(kinds.matching(".{1,60}", "a name of at most 60 characters"))
    """This launchpad's exchange name at DEXTools.

    Default: `SITE_NAME`
    """
    EXPLORER_URLS: dict[int, str] = per_chain("EXPLORER_URL_", kinds.base_url)
    """[Blockscout explorer](feeds.md#holders) for a chain, which lists token holders for DEXTools' feed: its address,
    or `https://api.blockscout.com/<chain id>` with a key.

    Default: none: DEXTools' feed has no holders
    Example: https://base.blockscout.com
    """
    EXPLORER_API_KEY: str = variable(kinds.api_key, accepts_file=True)
    """Key for Blockscout's API, sent to all explorers as `Authorization: Bearer`."""

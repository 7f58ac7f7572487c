"""Environment variables of market data, and of the feeds that are made of it."""

from attrs import frozen

from config.environment import kinds
from config.environment.variables import per_chain, variable

# Days.
_DECADE = 3650


@frozen(slots=False, repr=False)
class MarketVariables:
    """Market data: of this service's own trades, or of a provider."""

    MARKET_PROVIDER_CHAINS: tuple[int, ...] = variable(
        kinds.several(kinds.whole_number(1, 2**53 - 1), "chain ids, separated by commas"), empty=()
    )
    """Ids of chains with market data from the provider, separated by commas, such as 8453,101. The others have it from
    their own trades, which the follower reads."""
    MARKET_PRICE_TOLERANCE_PERCENT: float = variable(kinds.number(0.01, 100.0), "2")
    """Difference in percent between the [reference pools](chains.md#prices-in-usd) of a quote token above which
    operators get an alarm."""
    MARKET_COMPARE_PERCENT: float = variable(kinds.number(0.0, 1000.0), "0")
    """Difference in percent between a price of our own and the provider's that is an alarm; 0 compares none: [market
    data](operating.md#market-data)."""
    MARKET_API_KEY: str = variable(kinds.api_key, accepts_file=True)
    """Key of CoinGecko's on-chain API.

    Default: none: GeckoTerminal, its free version
    """
    MARKET_BASE_URL: str = variable(kinds.base_url)
    """URL of the provider's API, or of a compatible one.

    Default: CoinGecko with a key, else GeckoTerminal
    Example: https://api.geckoterminal.com/api/v2
    """
    MARKET_CALLS_PER_MINUTE: int = variable(kinds.whole_number(1, 10_000), "30")
    """Rate limit of the provider in calls per minute, over all processes."""
    MARKET_ADDRESSES_PER_CALL: int = variable(kinds.whole_number(1, 100), "30")
    """Pools per call."""
    MARKET_TIMEOUT_SECONDS: float = variable(kinds.number(0.1, 10.0), "5")
    """Timeout in seconds of the connection, response head and body, each."""
    MARKET_CATEGORY: str = variable(kinds.matching("[a-z0-9_-]{1,100}", "small letters, digits, - and _"))
    """Category of the provider for trending pools, such as your launchpad's own; it requires a key."""
    TRADE_DAYS: int = variable(kinds.whole_number(0, _DECADE), "0")
    """Retention of trades in days, rounded up to weeks; 0 keeps them for good. Older trades are neither written nor
    part of candles."""
    CANDLE_MINUTE_DAYS: int = variable(kinds.whole_number(2, _DECADE), "30")
    """Retention of one-minute candles in days, rounded up to weeks; those of hours and days are kept for good."""
    FEEDS: tuple[str, ...] = variable(kinds.feeds, empty=())
    """[Feeds for aggregators](feeds.md) that are served below `/api/feeds/`: `dexscreener`, `dextools`, `udf` and
    `daily`, separated by commas."""
    FEED_DEX_KEY: str = variable(kinds.matching("[a-z0-9-]{1,60}", "small letters, digits and -"), "launchboard")
    """Key of this launchpad's pairs, as agreed upon with DEX Screener."""
    FEED_DEX_NAME: str = variable(kinds.matching(".{1,60}", "a name of at most 60 characters"))
    """Name of this launchpad's exchange at DEXTools.

    Default: `SITE_NAME`
    """
    EXPLORER_URLS: dict[int, str] = per_chain("EXPLORER_URL_", kinds.base_url)
    """[Blockscout explorer](feeds.md#holders) of a chain, which lists the holders of tokens for DEXTools' feed: its
    address, or `https://api.blockscout.com/<chain id>` with a key.

    Default: none: DEXTools' feed has no holders
    Example: https://base.blockscout.com
    """
    EXPLORER_API_KEY: str = variable(kinds.api_key, accepts_file=True)
    """Key of Blockscout's API, which all explorers get as `Authorization: Bearer`."""

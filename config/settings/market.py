"""The knobs of market data, which `config.settings` takes in."""

from config.environment.variables import env_api_key, env_bool, env_float, env_int, env_slug, env_url, load_env_file

# This module is imported before the settings have read it.
load_env_file()

# Whether the provider is asked at all.
MARKET_DATA = env_bool("MARKET_DATA", True)
# A key of CoinGecko's on-chain API; without one the provider is GeckoTerminal, its free twin.
MARKET_API_KEY = env_api_key("MARKET_API_KEY")
# The provider's API, or another one of the same shape.
MARKET_BASE_URL = env_url(
    "MARKET_BASE_URL",
    "https://pro-api.coingecko.com/api/v3/onchain" if MARKET_API_KEY else "https://api.geckoterminal.com/api/v2",
)
# What the provider allows, over all processes together.
MARKET_CALLS_PER_MINUTE = env_int("MARKET_CALLS_PER_MINUTE", 30, minimum=1, maximum=10_000)
# How many pools or tokens go into one call.
MARKET_ADDRESSES_PER_CALL = env_int("MARKET_ADDRESSES_PER_CALL", 30, minimum=1, maximum=100)
# How long the connection, an answer's head and its body may take, each.
MARKET_TIMEOUT_SECONDS = env_float("MARKET_TIMEOUT_SECONDS", 5.0, minimum=0.1, maximum=10.0)
# The provider's category whose pools are the trending ones, such as a launchpad's own; it takes a key.
MARKET_CATEGORY = env_slug("MARKET_CATEGORY")
# How long the points of the tokens' market history are kept.
MARKET_HISTORY_DAYS = env_int("MARKET_HISTORY_DAYS", 7, minimum=2, maximum=3650)

"""Settings of market data."""

from config.environment.variables import env_api_key, env_bool, env_float, env_int, env_slug, env_url, load_env_file

# Imported before `config.settings` has loaded the file.
load_env_file()

# Whether the provider is called at all.
MARKET_DATA = env_bool("MARKET_DATA", True)
# Key of CoinGecko's on-chain API; without one the provider is GeckoTerminal, its free version.
MARKET_API_KEY = env_api_key("MARKET_API_KEY")
# URL of the provider's API, or of a compatible one.
MARKET_BASE_URL = env_url(
    "MARKET_BASE_URL",
    "https://pro-api.coingecko.com/api/v3/onchain" if MARKET_API_KEY else "https://api.geckoterminal.com/api/v2",
)
# Rate limit of the provider, over all processes.
MARKET_CALLS_PER_MINUTE = env_int("MARKET_CALLS_PER_MINUTE", 30, minimum=1, maximum=10_000)
# Pools or tokens per call.
MARKET_ADDRESSES_PER_CALL = env_int("MARKET_ADDRESSES_PER_CALL", 30, minimum=1, maximum=100)
# Timeout of the connection, response head and body, each.
MARKET_TIMEOUT_SECONDS = env_float("MARKET_TIMEOUT_SECONDS", 5.0, minimum=0.1, maximum=10.0)
# Category of the provider for trending pools, such as a launchpad's own; it requires a key.
MARKET_CATEGORY = env_slug("MARKET_CATEGORY")
# Retention of the market history of tokens in days.
MARKET_HISTORY_DAYS = env_int("MARKET_HISTORY_DAYS", 7, minimum=2, maximum=3650)

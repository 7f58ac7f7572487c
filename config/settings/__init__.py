"""Django settings, from environment variables or `.env`; `.env.example` lists all variables."""

from datetime import timedelta
from urllib.parse import urlsplit

from config.environment.chain_variables import env_first_blocks, env_rpc_urls, env_websocket_urls
from config.environment.server_urls import parse_database_url, parse_redis_url
from config.environment.variables import (
    env_api_key,
    env_bool,
    env_choice,
    env_float,
    env_hosts,
    env_int,
    env_ip_address,
    env_list,
    env_origin,
    env_origins,
    env_program,
    env_secret,
    env_url,
    load_env_file,
)
from config.operators import site
from config.settings import api_framework, apps_and_middleware, identities, login, logs
from config.settings.call_limits import *
from config.settings.celery_schedule import QUEUES, ROUTES, SCHEDULE
from config.settings.deploying import *
from config.settings.documents import *
from config.settings.leaderboard import *
from config.settings.market import *
from development.servers import bundled

load_env_file()

# The installation.

# Shows tracebacks in the browser: never enable it on a reachable installation.
DEBUG = env_bool("DEBUG", False)

# Port of the web server. The Procfile reads this and the next three; here they are validated.
PORT = env_int("PORT", 8000, minimum=1, maximum=65535)
# IP address that the web server listens on; host names are not accepted.
WEB_HOST = env_ip_address("WEB_HOST", "127.0.0.1")
# Processes of the web server.
WEB_WORKERS = env_int("WEB_WORKERS", 2, minimum=1, maximum=64)
# Concurrent tasks of the worker.
WORKER_PROCESSES = env_int("WORKER_PROCESSES", 2, minimum=1, maximum=64)

# Public URL of this installation: links start with it, and https enables the secure flags.
SITE_URL = env_origin("SITE_URL", f"http://127.0.0.1:{PORT}")

# Accepted host names.
_SITE_HOST = urlsplit(SITE_URL).hostname or ""
ALLOWED_HOSTS = list(
    env_hosts("ALLOWED_HOSTS", ("127.0.0.1", "localhost", f"[{_SITE_HOST}]" if ":" in _SITE_HOST else _SITE_HOST))
)

# Signs sessions, and is the default pepper of partner keys. The bundled default is generated and kept under `.local/`.
SECRET_KEY = env_secret("SECRET_KEY", shortest=50) or bundled.secret_key()

# Secret of the HMACs of partner keys; changing it invalidates every issued key.
PARTNER_KEY_PEPPER = env_secret("PARTNER_KEY_PEPPER", SECRET_KEY)

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

INSTALLED_APPS = apps_and_middleware.APPS
MIDDLEWARE = apps_and_middleware.MIDDLEWARE
TEMPLATES = apps_and_middleware.TEMPLATES

# PostgreSQL.

# URL of the server; by default the bundled one on its private socket.
DATABASE_URL = env_secret("DATABASE_URL") or bundled.database_url()

DATABASES = {"default": parse_database_url(DATABASE_URL)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Redis: cache and Celery's broker.

# URL of the server; by default the bundled one on its private socket.
REDIS_URL = parse_redis_url(env_secret("REDIS_URL") or bundled.redis_url())

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "launchboard",
        # A hung server costs a second, not the client's default timeout.
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},
    }
}

# Kombu has its own scheme for a Redis server on a unix socket.
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1).replace("?db=", "?virtual_host=", 1)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A hung broker costs seconds, not the client's default timeout.
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 2, "socket_timeout": 5}
CELERY_TASK_IGNORE_RESULT = True
# A task is acknowledged when it is done; the sweeper enqueues the tasks of a killed worker again.
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SOFT_TIME_LIMIT = 120
CELERY_TASK_TIME_LIMIT = 150
CELERY_BEAT_SCHEDULE = SCHEDULE
CELERY_TASK_QUEUES, CELERY_TASK_ROUTES = QUEUES, ROUTES

# Cache of public responses in front of Django (`config.edge`), in each process of the web server.

# Maximum TTL in seconds, if Cache-Control allows it; 0 disables the cache.
EDGE_CACHE_SECONDS = env_float("EDGE_CACHE_SECONDS", 2.0, minimum=0, maximum=60)
# Size of the cache per process in MiB.
EDGE_CACHE_MB = env_int("EDGE_CACHE_MB", 32, minimum=1, maximum=4096)
# Paths of public responses, besides "/"; probes, the admin site and static files are not cached.
EDGE_CACHE_PREFIXES = ("/api/", "/tokens/", "/leaderboard")

# Health and metrics (`config.api.health`, `config.api.metrics`).

# Token for `GET /metrics`, as `Authorization: Bearer`; without one, only programs on this machine have access.
METRICS_TOKEN = env_api_key("METRICS_TOKEN")
# Metrics collectors.
METRICS_COLLECTORS = (
    "tokens.following.metrics.following",
    "tokens.following.metrics.coverage",
    "tokens.indexing.metrics.indexing",
    "tokens.indexing.metrics.documents",
    "tokens.catalogue.metrics.listed",
    "tokens.deploying.metrics.deployment_metrics",
    "tokens.deploying.metrics.wallet_metrics",
    "leaderboard.ranking.metrics.ranking_metrics",
)
# Optional parts of `GET /readyz`, by query parameter.
READINESS_DETAILS = {"chain": "tokens.following.chain_status.chain_readiness"}

# Chains.

# Chain id -> JSON-RPC URLs, first choice first, from RPC_URLS_<chainId>.
RPC_URLS = env_rpc_urls()
# TOML files that add chains, factories or addresses to the built-in registry; later files override earlier ones.
CHAINS_FILES = env_list("CHAINS_FILE")
# Chain id of Solana in the API; its nodes are in RPC_URLS_<this id>.
SOLANA_CHAIN_ID = env_int("SOLANA_CHAIN_ID", 101, minimum=1, maximum=10**18 - 1)
# Timeout of one HTTP request to a node.
RPC_TIMEOUT_SECONDS = env_float("RPC_TIMEOUT_SECONDS", 10.0, minimum=0.1, maximum=120.0)
# JSON-RPC calls per HTTP request.
RPC_BATCH_SIZE = env_int("RPC_BATCH_SIZE", 50, minimum=1, maximum=1000)
# Attempts of one call over all URLs of its chain.
RPC_ATTEMPTS = env_int("RPC_ATTEMPTS", 4, minimum=1, maximum=20)
# Deadline of all attempts of one call together; a request may be blocked on it.
RPC_PATIENCE_SECONDS = env_float("RPC_PATIENCE_SECONDS", 12.0, minimum=0.1, maximum=300.0)

# Following: `manage.py follow` indexes every launch of the registry's factories.

# Chain id -> WebSocket URL of a node for new-head notifications, from RPC_WS_URL_<chainId>; without one, the newest
# block is polled.
RPC_WS_URLS = env_websocket_urls()
# Chain id -> first block to follow, from FOLLOW_FROM_<chainId>; without one, the first block that was not final when
# the follower first saw the chain.
FOLLOW_FROM = env_first_blocks()
# Concurrent block ranges of the historical sync.
FOLLOW_CONCURRENCY = env_int("FOLLOW_CONCURRENCY", 4, minimum=1, maximum=32)
# Initial and maximum size of a range in blocks; in between it adapts to the nodes' limits.
FOLLOW_RANGE_BLOCKS = env_int("FOLLOW_RANGE_BLOCKS", 2000, minimum=1, maximum=1_000_000)
FOLLOW_LONGEST_RANGE_BLOCKS = env_int("FOLLOW_LONGEST_RANGE_BLOCKS", 20_000, minimum=1, maximum=1_000_000)
# Verification of final blocks: `logs` fetches the logs again (from another URL if there is one), `bloom` also searches
# the bloom filters for missing logs, and `receipts` reads the receipts of every block.
FOLLOW_VERIFY = env_choice("FOLLOW_VERIFY", "bloom", choices=("logs", "bloom", "receipts"))
# Seconds between verifications of final blocks; longer means fewer calls to nodes.
FOLLOW_VERIFY_SECONDS = env_float("FOLLOW_VERIFY_SECONDS", 10.0, minimum=0.1, maximum=3600.0)
# Maximum polling interval for new blocks without a WebSocket; it adapts to the chain's block time.
FOLLOW_POLL_SECONDS = env_float("FOLLOW_POLL_SECONDS", 2.0, minimum=0.05, maximum=60.0)
# Seconds between checks of the claimed fees of Solana's pools, a hundred per call. If they have grown, the pool's own
# transactions are read: a claim by its creator names no followed account.
FOLLOW_CLAIMS_SECONDS = env_float("FOLLOW_CLAIMS_SECONDS", 300.0, minimum=0.1, maximum=86_400.0)
# Lag from which a chain is not ready and the dashboard raises an alarm.
FOLLOW_LAG_ALARM_SECONDS = env_int("FOLLOW_LAG_ALARM_SECONDS", 120, minimum=1, maximum=86_400)

# The development chain of `make run`.

# Path of anvil, if it is not the one that npm installed.
ANVIL = env_program("ANVIL")
# Seconds between two sample launches.
LAUNCH_EVERY_SECONDS = env_float("LAUNCH_EVERY_SECONDS", 15.0, minimum=0.1, maximum=86_400.0)

# Indexing.

# Attempts to find an unknown transaction before its index request fails.
INDEX_MAX_ATTEMPTS = env_int("INDEX_MAX_ATTEMPTS", 12, minimum=1, maximum=100)
# Lease of an index request; after it the sweeper enqueues the request again.
INDEX_LEASE_SECONDS = env_int("INDEX_LEASE_SECONDS", 60, minimum=1, maximum=3600)
# Retention of tokens that users saved and the chain has not confirmed, in days.
SAVED_TOKEN_DAYS = env_int("SAVED_TOKEN_DAYS", 30, minimum=1, maximum=3650)

# Pretokens.

# Retention of deleted, expired or deployed pretokens in days; of a deployed one the row stays.
PRETOKEN_KEPT_DAYS = env_int("PRETOKEN_KEPT_DAYS", 7, minimum=0, maximum=3650)
# Storage quota of all stored pretokens of a user in bytes, whatever their state.
PRETOKEN_ROOM_BYTES = env_int("PRETOKEN_ROOM_BYTES", 128 * 2**20, minimum=2**20, maximum=2**40)

# Users; described in `config.settings.identities`.

IDENTITY_ISSUERS = identities.IDENTITY_ISSUERS
IDENTITY_TIMEOUT_SECONDS = identities.IDENTITY_TIMEOUT_SECONDS

# Social profiles.

# URL of Neynar's API or a compatible one, used if there is a key.
SOCIAL_BASE_URL = env_url("SOCIAL_BASE_URL", "https://api.neynar.com")
SOCIAL_API_KEY = env_api_key("SOCIAL_API_KEY")
# HTTP API of a Farcaster hub, used without a key. With neither, there are no profiles.
FARCASTER_HUB_URL = env_url("FARCASTER_HUB_URL")
# Timeout of the connection, response head and body, each.
SOCIAL_TIMEOUT_SECONDS = env_float("SOCIAL_TIMEOUT_SECONDS", 5.0, minimum=0.1, maximum=10.0)
# Maximum age of a profile before it is fetched again.
SOCIAL_REFRESH_HOURS = env_int("SOCIAL_REFRESH_HOURS", 24, minimum=1, maximum=8760)

# API.

# Timeout of one search in the database, in milliseconds.
SEARCH_TIMEOUT_MS = env_int("SEARCH_TIMEOUT_MS", 1500, minimum=1, maximum=60_000)

# Number of trusted proxies in front of the web server, each of which appends its client's address to X-Forwarded-For.
TRUSTED_PROXIES = env_int("TRUSTED_PROXIES", 0, minimum=0, maximum=16)
# Retention of the usage counts of partner keys in days.
KEY_USAGE_DAYS = env_int("KEY_USAGE_DAYS", 400, minimum=1, maximum=3650)

# Origins with CORS access to the whole API; other origins may read public endpoints.
CORS_ALLOWED_ORIGINS = env_origins("CORS_ORIGINS")
globals().update(api_framework.CROSS_ORIGIN)

REST_FRAMEWORK = api_framework.VIEWS
OPERATION_TAGS = api_framework.OPERATION_TAGS
SPECTACULAR_SETTINGS = api_framework.DESCRIPTION | {
    "DESCRIPTION": api_framework.ABOUT.format(SOLANA_CHAIN_ID),
    "SERVERS": [{"url": SITE_URL}],
}

# Admin site.

UNFOLD = site.UNFOLD
# Panels of the dashboard in order: required permission, and function (config/operators/dashboard.py).
DASHBOARD_PANELS = (
    ("tokens.view_token", "tokens.admin.dashboard.launches"),
    ("tokens.view_deployment", "tokens.admin.deploying_dashboard.deployments"),
    ("tokens.view_chainhead", "tokens.admin.following_dashboard.following"),
    ("tokens.view_indexrequest", "tokens.admin.dashboard.indexing"),
    ("tokens.view_tokendocument", "tokens.admin.dashboard.documents"),
    ("tokens.view_token", "tokens.admin.dashboard.market_data"),
    ("leaderboard.view_standing", "leaderboard.admin.dashboard.ranking_panels"),
    ("accounts.view_socialprofile", "accounts.admin.dashboard.profiles"),
    ("accounts.view_partnerkey", "accounts.admin.dashboard.partner_keys"),
)

# Pages and static files.

STATIC_URL = "static/"
# WhiteNoise serves the packages' own files, so that no `collectstatic` step can be forgotten.
WHITENOISE_USE_FINDERS = True
LANGUAGE_CODE = "en-us"
USE_TZ = True
TIME_ZONE = "UTC"

# Log-in of operators.

AUTHENTICATION_BACKENDS, LOGIN_REDIRECT_URL = login.BACKENDS, login.REDIRECT
AUTH_PASSWORD_VALIDATORS = login.PASSWORD_VALIDATORS
globals().update(login.LOCK_OUT | login.COOKIES)
# Wrong passwords for one name from one address until that name is locked out there.
AXES_FAILURE_LIMIT = env_int("LOGIN_FAILURE_LIMIT", 5, minimum=1, maximum=1000)
# Minutes of the lock-out after the last of them.
AXES_COOLOFF_TIME = timedelta(minutes=env_int("LOGIN_LOCK_MINUTES", 15, minimum=1, maximum=10_080))

# Whether every operator must have a second factor (codes of an authenticator app). One that is set up is always
# required.
ADMIN_TOTP_REQUIRED = env_bool("ADMIN_TOTP_REQUIRED", False)
# Name of this installation in the app.
OTP_TOTP_ISSUER = f"Launchboard {_SITE_HOST}"

# Duration of a log-in in hours.
SESSION_COOKIE_AGE = 3600 * env_int("ADMIN_SESSION_HOURS", 12, minimum=1, maximum=8760)

# Security.

_BEHIND_HTTPS = SITE_URL.startswith("https://")
SECURE_SSL_REDIRECT = _BEHIND_HTTPS
# Seconds for which browsers refuse plain HTTP for this host. Raise it only if HTTPS is permanent: it can't be undone.
_HSTS_SECONDS = env_int("HSTS_SECONDS", 3600, minimum=1, maximum=63_072_000)
SECURE_HSTS_SECONDS = _HSTS_SECONDS if _BEHIND_HTTPS else 0
# W005 and W021 recommend to include all subdomains, which only the domain's operator can decide.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
# Header of the reverse proxy that terminates TLS; the proxy must set it, or drop it from clients' requests.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _BEHIND_HTTPS else None
SESSION_COOKIE_SECURE = _BEHIND_HTTPS
CSRF_COOKIE_SECURE = _BEHIND_HTTPS
CSRF_TRUSTED_ORIGINS = [SITE_URL]

# Logs.

# Minimum level that is logged to standard error.
LOG_LEVEL = env_choice("LOG_LEVEL", "INFO", choices=("DEBUG", "INFO", "WARNING", "ERROR"))

LOGGING = logs.stderr_logging(LOG_LEVEL)

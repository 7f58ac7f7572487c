"""Django settings, by subject; `config.environment.model` has the environment variables with defaults and limits."""

import logging
from datetime import timedelta
from urllib.parse import urlsplit

from config.environment.issuers import read_issuers
from config.environment.model import Environment
from config.environment.redis_urls import broker_options, broker_url, parse_redis_url, parse_sentinels
from config.environment.server_urls import (
    parse_database_url,
    parse_replica_url,
    reachable_url,
    without_sessions,
)
from config.environment.site_variables import LANGUAGES as LANGUAGE_NAMES
from config.environment.variables import BASE_DIR, load_env_file, read_variables
from config.operators import site
from config.settings import api_framework, apps_and_middleware, contributions
from config.settings.celery_schedule import QUEUES, ROUTES, SCHEDULE
from development.servers import bundled, programs

ENV_FILE_VARIABLES = load_env_file()
env = read_variables(Environment)

# The installation.

LOCAL_DIRECTORY = bundled.local_directory()
DEBUG = env.DEBUG
PORT = env.PORT
WEB_HOST = env.WEB_HOST
WEB_WORKERS = env.WEB_WORKERS
WEB_HEADER_TIMEOUT_SECONDS = env.WEB_HEADER_TIMEOUT_SECONDS
WEB_MAX_MEMORY_MB = env.WEB_MAX_MEMORY_MB
WEB_BODY_TIMEOUT_SECONDS = 30.0
WEB_RESPONSE_TIMEOUT_SECONDS = env.WEB_RESPONSE_TIMEOUT_SECONDS
WEB_BODY_MEMORY_MB = 64
WORKER_PROCESSES = env.WORKER_PROCESSES
STREAM_HOST = env.STREAM_HOST
STREAM_PORT = env.STREAM_PORT
STREAM_URL = env.STREAM_URL or reachable_url(STREAM_HOST, STREAM_PORT)
STREAM_CLIENTS = 5_000
STREAM_CLIENTS_PER_ADDRESS = env.STREAM_CLIENTS_PER_ADDRESS
STREAM_HEARTBEAT_SECONDS = 15.0

SITE_URL = env.SITE_URL or f"http://127.0.0.1:{PORT}"
_SITE_HOST = urlsplit(SITE_URL).hostname or ""
ALLOWED_HOSTS = list(
    env.ALLOWED_HOSTS or ("127.0.0.1", "localhost", f"[{_SITE_HOST}]" if ":" in _SITE_HOST else _SITE_HOST)
)

SECRET_KEY = env.SECRET_KEY or bundled.secret_key()
PARTNER_KEY_PEPPER = env.PARTNER_KEY_PEPPER or SECRET_KEY

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

INSTALLED_APPS = [*apps_and_middleware.APPS, *apps_and_middleware.watching_apps(env)]
MIDDLEWARE = apps_and_middleware.MIDDLEWARE
TEMPLATES = apps_and_middleware.TEMPLATES

# PostgreSQL.

DATABASES = {"default": parse_database_url(env.DATABASE_URL or bundled.database_url())}
# PostgreSQL itself, if DATABASE_URL leads to a pooler (`config.postgresql.pooler`).
if env.DATABASE_DIRECT_URL:
    DATABASES["default"] = without_sessions(DATABASES["default"])
    DATABASES["direct"] = parse_database_url(env.DATABASE_DIRECT_URL, name="DATABASE_DIRECT_URL")
# Public reads (`config.postgresql.replica`).
if env.READ_REPLICA_URL:
    DATABASES["replica"] = parse_replica_url(env.READ_REPLICA_URL)
READ_REPLICA_MAX_LAG_SECONDS = 5.0
DATABASE_ROUTERS = ["config.postgresql.replica.ReplicaRouter"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Redis: cache and Celery's broker.

REDIS_URL = parse_redis_url(env.REDIS_URL or bundled.redis_url())
REDIS_SENTINELS = parse_sentinels(env.REDIS_SENTINELS, REDIS_URL)

CELERY_BROKER_URL = broker_url(REDIS_URL, REDIS_SENTINELS)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A hung broker costs seconds, not the client's default timeout.
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 2, "socket_timeout": 5} | broker_options(REDIS_SENTINELS)
CELERY_TASK_IGNORE_RESULT = True
# A task is acknowledged when it is done; the sweeper enqueues the tasks of a killed worker again.
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SOFT_TIME_LIMIT = 120
CELERY_TASK_TIME_LIMIT = 150
CELERY_BEAT_SCHEDULE = SCHEDULE
CELERY_TASK_QUEUES, CELERY_TASK_ROUTES = QUEUES, ROUTES

# Public response cache in front of Django (`config.edge`), in each web process.

EDGE_CACHE_SECONDS = env.EDGE_CACHE_SECONDS
# Public response paths, besides "/"; probes, the admin site and static files are not cached.
EDGE_CACHE_PREFIXES = (
    *("/api/", "/assets/", "/tokens/", "/embed/", "/leaderboard", "/pictures/", "/cards/", "/miniapp"),
    *("/uploads/", "/creators/", "/status", "/docs", "/llms", "/robots.txt", "/sitemap.xml", "/favicon.ico", "/icons/"),
    *(f"/{language}/" for language in env.SITE_LANGUAGES[1:]),
)

# Health and metrics (`config.watching.health`, `config.processes.heartbeats`, `config.watching.metrics`).

HEARTBEAT_DIR = env.HEARTBEAT_DIR
METRICS_TOKEN = env.METRICS_TOKEN
# Errors and traces that are sent elsewhere (`config.watching`).
SENTRY_DSN = env.SENTRY_DSN
TRACES_URL = env.TRACES_URL
TRACES_SHARE = env.TRACES_SHARE
READINESS_DETAILS = contributions.READINESS_DETAILS
KNOWN_CHAINS = contributions.KNOWN_CHAINS
EVM_NODES = contributions.EVM_NODES
MCP_AUTHENTICATION = contributions.MCP_AUTHENTICATION
PARTITIONED_TABLES = contributions.PARTITIONED_TABLES
EVENT_TYPES = contributions.EVENT_TYPES

# Backups (`config.backups`).

SERVICE_VERSION = api_framework.SERVICE_VERSION
POSTGRESQL_PROGRAMS = env.POSTGRESQL_PROGRAMS or (None if env.DATABASE_URL else programs.postgresql_programs())
BACKUP_FACTS = contributions.BACKUP_FACTS
RESTORE_STEPS = contributions.RESTORE_STEPS

# App settings, in the model's order. No installation has a reason to change a literal (decision 295).

RPC_URLS = env.RPC_URLS
CHAINS_FILES = env.CHAINS_FILE
SOLANA_CHAIN_ID = env.SOLANA_CHAIN_ID
RPC_TIMEOUT_SECONDS = env.RPC_TIMEOUT_SECONDS
RPC_BATCH_SIZE = 50
RPC_ATTEMPTS = 4
RPC_PATIENCE_SECONDS = max(12.0, RPC_TIMEOUT_SECONDS + 2)
RPC_WS_URLS = env.RPC_WS_URLS
FOLLOW_FROM = env.FOLLOW_FROM
LAUNCHPADS = env.LAUNCHPADS
FOLLOW_CONCURRENCY = env.FOLLOW_CONCURRENCY
FOLLOW_RANGE_BLOCKS = 2_000
FOLLOW_LONGEST_RANGE_BLOCKS = 20_000
FOLLOW_VERIFY = env.FOLLOW_VERIFY
FOLLOW_VERIFY_SECONDS = 10.0
FOLLOW_POLL_SECONDS = env.FOLLOW_POLL_SECONDS
FOLLOW_CLAIMS_SECONDS = env.FOLLOW_CLAIMS_SECONDS
FOLLOW_LAG_ALARM_SECONDS = 120
LAUNCH_EVERY_SECONDS = 15.0
TRADE_EVERY_SECONDS = 5.0
INDEX_MAX_ATTEMPTS = 12
INDEX_LEASE_SECONDS = 60
SAVED_TOKEN_DAYS = env.SAVED_TOKEN_DAYS
PRETOKEN_KEPT_DAYS = env.PRETOKEN_KEPT_DAYS
DEPLOYER_KEYS = env.DEPLOYER_KEYS
DEPLOYER_KEYSTORES = env.DEPLOYER_KEYSTORES
DEPLOYER_KEYSTORE_PASSWORD = env.DEPLOYER_KEYSTORE_PASSWORD
DEPLOYER_REMOTE = env.DEPLOYER_REMOTE
DEPLOYER_SIGNER_URL = env.DEPLOYER_SIGNER_URL
DEPLOYER_SIGNER_TIMEOUT_SECONDS = 5.0
DEPLOY_MAX_FEE_GWEI = env.DEPLOY_MAX_FEE_GWEI
DEPLOY_MAX_FEES_GWEI = env.DEPLOY_MAX_FEES_GWEI
DEPLOY_STUCK_SECONDS = env.DEPLOY_STUCK_SECONDS
DEPLOY_LOW_BALANCE_ETH = env.DEPLOY_LOW_BALANCE_ETH
DEPLOY_MAX_DEV_BUY_ETH = env.DEPLOY_MAX_DEV_BUY_ETH
DEPLOY_DAILY_DEV_BUY_ETH = env.DEPLOY_DAILY_DEV_BUY_ETH
IDENTITY_ISSUERS = read_issuers(site_url=SITE_URL)
IDENTITY_TIMEOUT_SECONDS = 3.0
SOCIAL_BASE_URL = env.SOCIAL_BASE_URL
SOCIAL_API_KEY = env.SOCIAL_API_KEY
FARCASTER_HUB_URL = env.FARCASTER_HUB_URL
SOCIAL_TIMEOUT_SECONDS = 5.0
SOCIAL_REFRESH_HOURS = env.SOCIAL_REFRESH_HOURS
FETCH_DOCUMENTS = env.FETCH_DOCUMENTS
DOCUMENT_TIMEOUT_SECONDS = 10.0
DOCUMENT_ATTEMPTS = 12
IPFS_GATEWAY_URL = env.IPFS_GATEWAY_URL
ARWEAVE_GATEWAY_URL = env.ARWEAVE_GATEWAY_URL
OUTBOUND_ALLOWED_NETWORKS = env.OUTBOUND_ALLOWED_NETWORKS
MARKET_PROVIDER_CHAINS = env.MARKET_PROVIDER_CHAINS
MARKET_COMPARE_PERCENT = env.MARKET_COMPARE_PERCENT
MARKET_API_KEY = env.MARKET_API_KEY
MARKET_CALLS_PER_MINUTE = env.MARKET_CALLS_PER_MINUTE
MARKET_ADDRESSES_PER_CALL = 30
MARKET_TIMEOUT_SECONDS = 5.0
MARKET_CATEGORY = env.MARKET_CATEGORY
TRADE_DAYS = env.TRADE_DAYS
CANDLE_MINUTE_DAYS = env.CANDLE_MINUTE_DAYS
FEEDS = env.FEEDS
FEED_DEX_KEY = env.FEED_DEX_KEY
FEED_DEX_NAME = env.FEED_DEX_NAME or env.SITE_NAME
EXPLORER_URLS = env.EXPLORER_URLS
EXPLORER_API_KEY = env.EXPLORER_API_KEY
EVENT_DAYS = env.EVENT_DAYS
EVENT_HISTORY_HOURS = env.EVENT_HISTORY_HOURS
WEBHOOK_SCHEDULE_SECONDS = (0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
WEBHOOK_TIMEOUT_SECONDS = 15.0
WEBHOOK_THREADS = env.WEBHOOK_THREADS
WEBHOOK_ALLOWED_NETWORKS = env.WEBHOOK_ALLOWED_NETWORKS
EMAIL_HOST = env.EMAIL_HOST
EMAIL_PORT = env.EMAIL_PORT
EMAIL_USE_TLS = env.EMAIL_USE_TLS
EMAIL_HOST_USER = env.EMAIL_HOST_USER
EMAIL_HOST_PASSWORD = env.EMAIL_HOST_PASSWORD
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.EMAIL_FROM or f"launchboard@{_SITE_HOST}"
OPERATOR_EMAILS = env.OPERATOR_EMAILS
LEADERBOARD_FACT_DAYS = env.LEADERBOARD_FACT_DAYS
LEADERBOARD_AGENTS_PER_KEY = env.LEADERBOARD_AGENTS_PER_KEY
LEADERBOARD_ACTOR_SCORES = env.LEADERBOARD_ACTOR_SCORES
SEARCH_TIMEOUT_MS = env.SEARCH_TIMEOUT_MS
TRUSTED_PROXIES = env.TRUSTED_PROXIES
CLIENT_ADDRESS_HEADER = env.CLIENT_ADDRESS_HEADER
KEY_USAGE_DAYS = env.KEY_USAGE_DAYS
RATE_LIMIT_PUBLIC = env.RATE_LIMIT_PUBLIC
RATE_LIMIT_PAGES = env.RATE_LIMIT_PAGES
RATE_LIMIT_PICTURES = env.RATE_LIMIT_PICTURES
RATE_LIMIT_CARDS = env.RATE_LIMIT_CARDS
RATE_LIMIT_KEYED = env.RATE_LIMIT_KEYED
RATE_LIMIT_INDEX = env.RATE_LIMIT_INDEX
RATE_LIMIT_DEPLOY = env.RATE_LIMIT_DEPLOY
RATE_LIMIT_UPLOAD = env.RATE_LIMIT_UPLOAD
RATE_LIMIT_PRETOKEN = env.RATE_LIMIT_PRETOKEN
RATE_LIMIT_SAVE_TOKEN = env.RATE_LIMIT_SAVE_TOKEN
RATE_LIMIT_SAVE_TOKEN_ANONYMOUS = env.RATE_LIMIT_SAVE_TOKEN_ANONYMOUS
RATE_LIMIT_TRANSACTIONS = env.RATE_LIMIT_TRANSACTIONS
RATE_LIMIT_TRANSACTIONS_ANONYMOUS = env.RATE_LIMIT_TRANSACTIONS_ANONYMOUS
RATE_LIMIT_SIGN_IN = env.RATE_LIMIT_SIGN_IN
RATE_LIMIT_LOGIN = env.RATE_LIMIT_LOGIN
RATE_LIMIT_ADMIN_VERIFY = 5
RATE_LIMIT_AGENT_EVENTS = env.RATE_LIMIT_AGENT_EVENTS
MARKET_BASE_URL = env.MARKET_BASE_URL or (
    "https://pro-api.coingecko.com/api/v3/onchain" if MARKET_API_KEY else "https://api.geckoterminal.com/api/v2"
)
LEADERBOARD_SECONDS = {"24h": 300, "7d": 900, "30d": 3_600}

# The API.

CORS_ALLOWED_ORIGINS = env.CORS_ORIGINS
CORS_URLS_REGEX = r"^/(?:api/|mcp/?$)"
CORS_ALLOW_METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST")
# The last three belong to the Model Context Protocol (`config.mcp.versions`).
CORS_ALLOW_HEADERS = (
    *("authorization", "content-type", "x-api-key"),
    *("mcp-protocol-version", "mcp-method", "mcp-name"),
)
# Seconds for which browsers cache a preflight. An origin removed from the list keeps its access for as long.
CORS_PREFLIGHT_MAX_AGE = 600
CORS_EXPOSE_HEADERS = api_framework.EXPOSED_HEADERS

REST_FRAMEWORK = api_framework.VIEWS
OPERATION_TAGS = api_framework.OPERATION_TAGS
SPECTACULAR_SETTINGS = api_framework.DESCRIPTION | {
    "DESCRIPTION": api_framework.ABOUT.format(SOLANA_CHAIN_ID),
    "SERVERS": [{"url": SITE_URL}],
    "CONTACT": {"name": env.SITE_NAME, "url": SITE_URL},
}

# Admin site.

UNFOLD = site.UNFOLD

# Public site (`config.site`).

SITE_NAME = env.SITE_NAME
SITE_LOGO = env.SITE_LOGO
SITE_LOGO_DARK = env.SITE_LOGO_DARK
SITE_ICON = env.SITE_ICON
SITE_COLOR = env.SITE_COLOR
SITE_ACCENT_COLOR = env.SITE_ACCENT_COLOR
SITE_HEADER_LINKS = env.SITE_HEADER_LINKS
SITE_FOOTER_LINKS = env.SITE_FOOTER_LINKS
SITE_FOOTER_TEXT = env.SITE_FOOTER_TEXT
SITE_INTRO = env.SITE_INTRO
SITE_INTRO_PICTURE = env.SITE_INTRO_PICTURE
SITE_DEFAULT_CHAIN = env.SITE_DEFAULT_CHAIN
SITE_SECTIONS = env.SITE_SECTIONS
FARCASTER_ACCOUNT_ASSOCIATION = env.FARCASTER_ACCOUNT_ASSOCIATION
SITE_LANGUAGES = env.SITE_LANGUAGES
SITE_PICTURES = env.SITE_PICTURES
SITE_PICTURE_DIR = env.SITE_PICTURE_DIR or LOCAL_DIRECTORY / "pictures"
SITE_PICTURE_MB = env.SITE_PICTURE_MB

# Partner uploads (`tokens.uploads`).

UPLOAD_STORAGE = env.UPLOAD_STORAGE
UPLOAD_DIR = env.UPLOAD_DIR or LOCAL_DIRECTORY / "uploads"
UPLOAD_PUBLIC_URL = env.UPLOAD_PUBLIC_URL
UPLOAD_DAILY_BYTES = env.UPLOAD_DAILY_BYTES
UPLOAD_TIMEOUT_SECONDS = 10.0
UPLOAD_S3_URL = env.UPLOAD_S3_URL
UPLOAD_S3_BUCKET = env.UPLOAD_S3_BUCKET
UPLOAD_S3_REGION = env.UPLOAD_S3_REGION
UPLOAD_S3_KEY_ID = env.UPLOAD_S3_KEY_ID
UPLOAD_S3_SECRET = env.UPLOAD_S3_SECRET
UPLOAD_PINNING_URL = env.UPLOAD_PINNING_URL
UPLOAD_PINNING_TOKEN = env.UPLOAD_PINNING_TOKEN

# Languages and static files.

# For paths without a prefix. The API and the admin site are English (`config.site.languages`).
LANGUAGE_CODE = SITE_LANGUAGES[0]
LANGUAGES = list(LANGUAGE_NAMES.items())
LOCALE_PATHS = [BASE_DIR / "config" / "site" / "locale"]
STATIC_URL = "static/"
# WhiteNoise serves the packages' own files, so that no `collectstatic` step can be forgotten.
WHITENOISE_USE_FINDERS = True
USE_TZ = True
# Times on the admin site, which is English.
FORMAT_MODULE_PATH = "config.operators.date_formats"
TIME_ZONE = "UTC"

# Operator log-in.

AUTHENTICATION_BACKENDS = apps_and_middleware.AUTHENTICATION_BACKENDS
PASSWORD_HASHERS = apps_and_middleware.PASSWORD_HASHERS
AUTH_PASSWORD_VALIDATORS = apps_and_middleware.AUTH_PASSWORD_VALIDATORS
# Target after a log-in that no page started.
LOGIN_REDIRECT_URL = "/admin/"

AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
# A name is locked out per address, so that no one can lock out others elsewhere.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
# Attempts during a lock-out do not extend it.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_CLIENT_IP_CALLABLE = "accounts.operators.lockout.login_address"
AXES_LOCKOUT_CALLABLE = "accounts.operators.lockout.lockout_response"
# The access log would be kept for ever.
AXES_DISABLE_ACCESS_LOG = True
# Its pages show submitted data; `manage.py axes_reset_username` ends a lock-out early.
AXES_ENABLE_ADMIN = False
# No log line at each start. Failures are logged with their address; a name may be a password in the wrong field.
AXES_VERBOSE = False
AXES_SENSITIVE_PARAMETERS = ["username"]

ADMIN_TOTP_REQUIRED = env.ADMIN_TOTP_REQUIRED
# Installation name in the authenticator app.
OTP_TOTP_ISSUER = f"Launchboard {_SITE_HOST}"

SESSION_COOKIE_AGE = 3600 * env.ADMIN_SESSION_HOURS
SESSION_COOKIE_HTTPONLY = True
# Links from other sites keep an operator logged in; forms from other sites do not.
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"

# Security.

_BEHIND_HTTPS = SITE_URL.startswith("https://")
SECURE_SSL_REDIRECT = _BEHIND_HTTPS
SECURE_HSTS_SECONDS = env.HSTS_SECONDS if _BEHIND_HTTPS else 0
# W005 and W021 recommend to include all subdomains, which only the domain's operator can decide.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
# Header from the reverse proxy that terminates TLS; the proxy must set it, or drop it from clients' requests.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _BEHIND_HTTPS else None
SESSION_COOKIE_SECURE = _BEHIND_HTTPS
CSRF_COOKIE_SECURE = _BEHIND_HTTPS
CSRF_TRUSTED_ORIGINS = [SITE_URL]
CSRF_FAILURE_VIEW = "config.api.error_handling.csrf_failure"

# Logs: lines on standard error, with bounded length, in Celery's processes, too.
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

# Otherwise Python writes its warnings as text, beside the objects.
logging.captureWarnings(env.LOG_FORMAT == "json")

# They log every task that is sent, received, done, or expired before a worker had started, and each step of a log-in.
_TALKATIVE = ("celery.beat", "celery.worker.strategy", "celery.worker.request", "celery.app.trace", "axes")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "config.watching.log_lines.make_formatter", "log_format": env.LOG_FORMAT}},
    "filters": {
        "expected": {"()": "config.watching.log_lines.ExpectedFailureFilter"},
        "request id": {"()": "config.watching.log_lines.RequestIdFilter"},
    },
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["expected", "request id"]}
    },
    "root": {"handlers": ["stderr"], "level": env.LOG_LEVEL},
    "loggers": {name: {"level": "WARNING"} for name in _TALKATIVE}
    # It logs malformed headers from any server that a partner's or token's URL leads to.
    | {"urllib3.connection": {"level": "ERROR"}},
}

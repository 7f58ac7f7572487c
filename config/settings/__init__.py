"""Every knob of the service, in sections. Values come from the environment or `.env`; `.env.example` lists them all."""

from datetime import timedelta
from urllib.parse import urlsplit

from config.environment.chain_variables import env_first_blocks, env_rpc_urls, env_websocket_urls
from config.environment.server_urls import read_database_url, read_redis_url
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

# Shows tracebacks in the browser: never where others can reach the service.
DEBUG = env_bool("DEBUG", False)

# The port of the web server. It and the next three are read by the Procfile; here so that nonsense is refused.
PORT = env_int("PORT", 8000, minimum=1, maximum=65535)
# The address that the web server listens on; it takes no names.
WEB_HOST = env_ip_address("WEB_HOST", "127.0.0.1")
# How many processes the web server has.
WEB_WORKERS = env_int("WEB_WORKERS", 2, minimum=1, maximum=64)
# How many tasks the worker does at a time.
WORKER_PROCESSES = env_int("WORKER_PROCESSES", 2, minimum=1, maximum=64)

# The public address of this installation: links in answers start with it, and https here turns the secure flags on.
SITE_URL = env_origin("SITE_URL", f"http://127.0.0.1:{PORT}")

# Host names this service answers to.
_SITE_HOST = urlsplit(SITE_URL).hostname or ""
ALLOWED_HOSTS = list(
    env_hosts("ALLOWED_HOSTS", ("127.0.0.1", "localhost", f"[{_SITE_HOST}]" if ":" in _SITE_HOST else _SITE_HOST))
)

# Signs sessions and derives the partner keys' pepper. The bundled default makes one and keeps it under `.local/`.
SECRET_KEY = env_secret("SECRET_KEY", shortest=50) or bundled.secret_key()

# Digests of partner keys are HMACs under this secret; changing it makes every issued key invalid.
PARTNER_KEY_PEPPER = env_secret("PARTNER_KEY_PEPPER", SECRET_KEY)

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

INSTALLED_APPS = apps_and_middleware.APPS
MIDDLEWARE = apps_and_middleware.MIDDLEWARE
TEMPLATES = apps_and_middleware.TEMPLATES

# PostgreSQL.

# A server of yours, or by default the bundled one on its private socket.
DATABASE_URL = env_secret("DATABASE_URL") or bundled.database_url()

DATABASES = {"default": read_database_url(DATABASE_URL)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Redis: cache and Celery's broker.

# A server of yours, or by default the bundled one on its private socket.
REDIS_URL = read_redis_url(env_secret("REDIS_URL") or bundled.redis_url())

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "launchboard",
        # A server that hangs costs a second, not the client's patience.
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},
    }
}

# Kombu spells a Redis server behind a unix socket in its own way.
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1).replace("?db=", "?virtual_host=", 1)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A broker that hangs costs a caller seconds, not its patience.
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 2, "socket_timeout": 5}
CELERY_TASK_IGNORE_RESULT = True
# A task is acknowledged when it is done; what a killed worker had is taken up by the sweeper.
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SOFT_TIME_LIMIT = 120
CELERY_TASK_TIME_LIMIT = 150
# Rankings of millions of facts take memory; a child process that has had so many KiB is replaced after its task.
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 512 * 1024
CELERY_BEAT_SCHEDULE = SCHEDULE
CELERY_TASK_QUEUES, CELERY_TASK_ROUTES = QUEUES, ROUTES

# The cache of public answers before Django (`config.edge`), in each process of the web server.

# How long an answer is kept, where its Cache-Control lets it be kept that long; 0 turns the cache off.
EDGE_CACHE_SECONDS = env_float("EDGE_CACHE_SECONDS", 2.0, minimum=0, maximum=60)
# How much memory a process keeps answers in.
EDGE_CACHE_MB = env_int("EDGE_CACHE_MB", 32, minimum=1, maximum=4096)
# Where public answers are, besides "/"; the probes, the admin site and static files stay outside.
EDGE_CACHE_PREFIXES = ("/api/", "/tokens/", "/leaderboard")

# Health and metrics (`config.api.health`, `config.api.metrics`).

# What `GET /metrics` is asked with, as `Authorization: Bearer`; without one, programs of this machine alone may ask.
METRICS_TOKEN = env_api_key("METRICS_TOKEN")
# What makes the metrics.
METRICS_COLLECTORS = (
    "tokens.following.metrics.following",
    "tokens.following.metrics.coverage",
    "tokens.following.metrics.indexing",
    "tokens.following.metrics.documents",
    "tokens.following.metrics.listed",
    "tokens.deploying.metrics.deployments",
    "tokens.deploying.metrics.wallets",
    "leaderboard.ranking.metrics.rankings",
)
# What `GET /readyz` tells more of, by parameter: what reads it.
READINESS_DETAILS = {"chain": "tokens.following.readiness.chain"}

# Chains.

# Chain id -> JSON-RPC URLs, first choice first, from RPC_URLS_<chainId>.
RPC_URLS = env_rpc_urls()
# TOML files that add chains, factories or addresses to tokens/chains/registry/table.toml, each over those before it.
CHAINS_FILES = env_list("CHAINS_FILE")
# Which chain id answers and callers give Solana; its nodes are in RPC_URLS_<this id>.
SOLANA_CHAIN_ID = env_int("SOLANA_CHAIN_ID", 101, minimum=1, maximum=10**18 - 1)
# How long one HTTP request to a node may take.
RPC_TIMEOUT_SECONDS = env_float("RPC_TIMEOUT_SECONDS", 10.0, minimum=0.1, maximum=120.0)
# How many JSON-RPC calls go into one HTTP request.
RPC_BATCH_SIZE = env_int("RPC_BATCH_SIZE", 50, minimum=1, maximum=1000)
# How many times one call is tried over all URLs of its chain before it fails.
RPC_ATTEMPTS = env_int("RPC_ATTEMPTS", 4, minimum=1, maximum=20)
# How long all tries of one call may take together; somebody waits for the answer.
RPC_PATIENCE_SECONDS = env_float("RPC_PATIENCE_SECONDS", 12.0, minimum=0.1, maximum=300.0)

# Following: `manage.py follow` finds every launch of the registry's factories by itself.

# Chain id -> the WebSocket URL of a node that tells of new blocks, from RPC_WS_URL_<chainId>; without one, nodes are
# asked for their newest block again and again.
RPC_WS_URLS = env_websocket_urls()
# Chain id -> the first block that is read, from FOLLOW_FROM_<chainId>; without one, a chain is followed from the first
# block that was not final when the follower first saw it.
FOLLOW_FROM = env_first_blocks()
# How many ranges of blocks are asked for at a time while the past is read.
FOLLOW_CONCURRENCY = env_int("FOLLOW_CONCURRENCY", 4, minimum=1, maximum=32)
# How many blocks a range has at the start, and at the most; in between its size adapts to what nodes take.
FOLLOW_RANGE_BLOCKS = env_int("FOLLOW_RANGE_BLOCKS", 2000, minimum=1, maximum=1_000_000)
FOLLOW_LONGEST_RANGE_BLOCKS = env_int("FOLLOW_LONGEST_RANGE_BLOCKS", 20_000, minimum=1, maximum=1_000_000)
# How what was read is checked once it is final: `logs` asks a second time (another URL where there is one), `bloom`
# also looks for blocks whose bloom filter promises more, and `receipts` reads the receipts of every block.
FOLLOW_VERIFY = env_choice("FOLLOW_VERIFY", "bloom", choices=("logs", "bloom", "receipts"))
# How often what became final is checked; the longer, the fewer calls a node gets for it.
FOLLOW_VERIFY_SECONDS = env_float("FOLLOW_VERIFY_SECONDS", 10.0, minimum=0.1, maximum=3600.0)
# The longest pause between two looks for a new block, where no WebSocket tells of it; it adapts to the chain's pace.
FOLLOW_POLL_SECONDS = env_float("FOLLOW_POLL_SECONDS", 2.0, minimum=0.05, maximum=60.0)
# How often the pools of Solana are asked how much of their fees was claimed, a hundred in a call. Where that is more
# than is known, the pool's own transactions are read: a claim by its creator names no account that is followed.
FOLLOW_CLAIMS_SECONDS = env_float("FOLLOW_CLAIMS_SECONDS", 300.0, minimum=0.1, maximum=86_400.0)
# From this lag on, a chain counts as not ready and the dashboard raises an alarm.
FOLLOW_LAG_ALARM_SECONDS = env_int("FOLLOW_LAG_ALARM_SECONDS", 120, minimum=1, maximum=86_400)

# The development chain of `make run`.

# Its program, where it is not the one that npm installed.
ANVIL = env_program("ANVIL")
# How long lies between two samples that are launched there.
LAUNCH_EVERY_SECONDS = env_float("LAUNCH_EVERY_SECONDS", 15.0, minimum=0.1, maximum=86_400.0)

# Indexing.

# How many times a transaction that the chain does not know yet is looked for before its request fails.
INDEX_MAX_ATTEMPTS = env_int("INDEX_MAX_ATTEMPTS", 12, minimum=1, maximum=100)
# How long a request may lie without a sign of its worker before the sweeper enqueues it again.
INDEX_LEASE_SECONDS = env_int("INDEX_LEASE_SECONDS", 60, minimum=1, maximum=3600)
# How many days what pages say of launches is kept where the chain doesn't confirm it.
SAVED_TOKEN_DAYS = env_int("SAVED_TOKEN_DAYS", 30, minimum=1, maximum=3650)

# Pretokens.

# How many days after its time a pretoken lies there that is deleted, expired or deployed; a deployed one's row stays.
PRETOKEN_KEPT_DAYS = env_int("PRETOKEN_KEPT_DAYS", 7, minimum=0, maximum=3650)
# How many bytes all of a user's pretokens may have together that lie there, whatever became of them.
PRETOKEN_ROOM_BYTES = env_int("PRETOKEN_ROOM_BYTES", 128 * 2**20, minimum=2**20, maximum=2**40)

# Users; what each is for stands in `config.settings.identities`.

IDENTITY_ISSUERS = identities.IDENTITY_ISSUERS
IDENTITY_TIMEOUT_SECONDS = identities.IDENTITY_TIMEOUT_SECONDS

# Social profiles.

# Neynar's API or one of the same shape: asked where there is a key for it.
SOCIAL_BASE_URL = env_url("SOCIAL_BASE_URL", "https://api.neynar.com")
SOCIAL_API_KEY = env_api_key("SOCIAL_API_KEY")
# The HTTP API of a Farcaster hub, which wants no key: asked where there is none. With neither, there are no profiles.
FARCASTER_HUB_URL = env_url("FARCASTER_HUB_URL")
# How long the connection, an answer's head and its body may take, each.
SOCIAL_TIMEOUT_SECONDS = env_float("SOCIAL_TIMEOUT_SECONDS", 5.0, minimum=0.1, maximum=10.0)
# How old a profile becomes before it is fetched again.
SOCIAL_REFRESH_HOURS = env_int("SOCIAL_REFRESH_HOURS", 24, minimum=1, maximum=8760)

# API.

# How long the database may take for one search, in milliseconds.
SEARCH_TIMEOUT_MS = env_int("SEARCH_TIMEOUT_MS", 1500, minimum=1, maximum=60_000)

# How many proxies in front of the web server are trusted to write in X-Forwarded-For whom they were called by.
TRUSTED_PROXIES = env_int("TRUSTED_PROXIES", 0, minimum=0, maximum=16)
# How many days it is kept how often each partner key called each endpoint.
KEY_USAGE_DAYS = env_int("KEY_USAGE_DAYS", 400, minimum=1, maximum=3650)

# Origins of web pages that may call the whole API from the browser; those of any other may read what is public.
CORS_ALLOWED_ORIGINS = env_origins("CORS_ORIGINS")
globals().update(api_framework.CROSS_ORIGIN)

REST_FRAMEWORK = api_framework.VIEWS
SPECTACULAR_SETTINGS = api_framework.DESCRIPTION | {
    "DESCRIPTION": api_framework.ABOUT.format(SOLANA_CHAIN_ID),
    "SERVERS": [{"url": SITE_URL}],
}

# The operators' site.

UNFOLD = site.UNFOLD
# The dashboard's panels in their order: who may see them, and what makes them (config/operators/dashboard.py).
DASHBOARD_PANELS = (
    ("tokens.view_token", "tokens.admin.dashboard.launches"),
    ("tokens.view_deployment", "tokens.admin.deploying_dashboard.deployments"),
    ("tokens.view_chainhead", "tokens.admin.following_dashboard.following"),
    ("tokens.view_indexrequest", "tokens.admin.dashboard.indexing"),
    ("tokens.view_tokendocument", "tokens.admin.dashboard.documents"),
    ("tokens.view_token", "tokens.admin.dashboard.market_data"),
    ("leaderboard.view_standing", "leaderboard.admin.dashboard.rankings"),
    ("accounts.view_socialprofile", "accounts.admin.dashboard.profiles"),
    ("accounts.view_partnerkey", "accounts.admin.dashboard.partner_keys"),
)

# Pages and static files.

STATIC_URL = "static/"
# WhiteNoise serves the packages' own files at once, so that no `collectstatic` step can be forgotten.
WHITENOISE_USE_FINDERS = True
LANGUAGE_CODE = "en-us"
USE_TZ = True
TIME_ZONE = "UTC"

# Log-in of the people who operate the service.

AUTHENTICATION_BACKENDS, LOGIN_REDIRECT_URL = login.BACKENDS, login.REDIRECT
AUTH_PASSWORD_VALIDATORS = login.PASSWORD_VALIDATORS
globals().update(login.LOCK_OUT | login.COOKIES)
# How many wrong passwords for one name from one address lock that name out there.
AXES_FAILURE_LIMIT = env_int("LOGIN_FAILURE_LIMIT", 5, minimum=1, maximum=1000)
# How many minutes after the last of them it is let in again.
AXES_COOLOFF_TIME = timedelta(minutes=env_int("LOGIN_LOCK_MINUTES", 15, minimum=1, maximum=10_080))

# Whether everybody must have a second factor, the codes of an authenticator app, to use the admin site. Whoever has
# one is asked for it in any case.
ADMIN_TOTP_REQUIRED = env_bool("ADMIN_TOTP_REQUIRED", False)
# What the app calls this installation.
OTP_TOTP_ISSUER = f"Launchboard {_SITE_HOST}"

# How many hours a log-in lasts.
SESSION_COOKIE_AGE = 3600 * env_int("ADMIN_SESSION_HOURS", 12, minimum=1, maximum=8760)

# Security.

_BEHIND_HTTPS = SITE_URL.startswith("https://")
SECURE_SSL_REDIRECT = _BEHIND_HTTPS
# How many seconds browsers refuse plain HTTP for this host. Raise it when https is there to stay: there is no way back.
_HSTS_SECONDS = env_int("HSTS_SECONDS", 3600, minimum=1, maximum=63_072_000)
SECURE_HSTS_SECONDS = _HSTS_SECONDS if _BEHIND_HTTPS else 0
# W005 and W021 ask to bind the domain's other hosts, too; whether they can is their operator's knowledge.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
# The reverse proxy that ends TLS says so in this header; it must set or drop what callers send.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _BEHIND_HTTPS else None
SESSION_COOKIE_SECURE = _BEHIND_HTTPS
CSRF_COOKIE_SECURE = _BEHIND_HTTPS
CSRF_TRUSTED_ORIGINS = [SITE_URL]

# Logs.

# Least severe level that is written to standard error.
LOG_LEVEL = env_choice("LOG_LEVEL", "INFO", choices=("DEBUG", "INFO", "WARNING", "ERROR"))

LOGGING = logs.to_standard_error(LOG_LEVEL)

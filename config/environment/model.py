"""Model of all environment variables that configure the service.

A field has the name of its variable, its type, its kind with the default and the limits (both included), and below it
its meaning with the unit. `docs/configuration.md` and `.env.example` list the same variables.
"""

from decimal import Decimal
from pathlib import Path

from attrs import frozen

from config.environment import kinds
from config.environment.issuers import IssuerVariables
from config.environment.market_variables import MarketVariables
from config.environment.secret import Secret
from config.environment.site_variables import SiteVariables
from config.environment.upload_variables import UploadVariables
from config.environment.variables import per_chain, variable
from config.http.public_addresses import Network

# Gas prices in gwei: a lower limit would never be mined; a higher one is a typing error.
_GAS_PRICES = (Decimal("0.001"), Decimal(1_000_000))
# Retention in days, and intervals of rankings and pulls in seconds.
_DECADE, _DAY = 3650, 86_400
_CALLS = (0, 1_000_000)
_COINS = (Decimal(0), Decimal(1_000_000))


@frozen(slots=False, repr=False)
class ServerVariables:
    """Servers of the service: bundled ones on private sockets, unless there are others."""

    LAUNCHBOARD_LOCAL: str = variable(str)
    """Directory of the bundled servers, and of this installation's keys and logs; by default `.local/`."""
    LAUNCHBOARD_REDIS_DB: int = variable(kinds.whole_number(0, 255), "0")
    """Numbered database of the bundled Valkey; each test process has its own."""
    DATABASE_URL: str = variable(str, accepts_file=True)
    """URL of a PostgreSQL server."""
    DATABASE_DIRECT_URL: str = variable(str, accepts_file=True)
    """URL of PostgreSQL itself if DATABASE_URL leads to a pooler: for session locks, the stream and backups."""
    POSTGRESQL_PROGRAMS: Path | None = variable(kinds.directory, empty=None)
    """Directory of `pg_dump` and `pg_restore`: by default the bundled ones, or with DATABASE_URL those on the PATH."""
    READ_REPLICA_URL: str = variable(str, accepts_file=True)
    """URL of a streaming replica of that server, which public reads use; without one they use the server itself."""
    READ_REPLICA_MAX_LAG_SECONDS: float = variable(kinds.number(0.1, 3600.0), "5.0")
    """Lag in seconds from which the replica is not used."""
    REDIS_URL: str = variable(str, accepts_file=True)
    """URL of a Redis or Valkey server: cache and Celery's broker. With sentinels its host is the name of the master."""
    REDIS_SENTINELS: tuple[str, ...] = variable(kinds.texts, empty=(), accepts_file=True)
    """URLs of the sentinels of that server."""


@frozen(slots=False, repr=False)
class Environment(ServerVariables, IssuerVariables, MarketVariables, SiteVariables, UploadVariables):
    """Variables of the service."""

    # The installation.

    DEBUG: bool = variable(kinds.switch, "false")
    """Whether tracebacks are shown in the browser: never enable it on a reachable installation."""
    PORT: int = variable(kinds.whole_number(1, 65_535), "8000")
    """Port of the web server. The Procfile reads this and the next five; here they are validated."""
    WEB_HOST: str = variable(kinds.listening_address, "127.0.0.1")
    """IP address that the web server listens on; host names are not accepted."""
    WEB_WORKERS: int = variable(kinds.whole_number(1, 64), "2")
    """Processes of the web server."""
    WEB_HEADER_TIMEOUT_SECONDS: int = variable(kinds.whole_number(1, 60), "5")
    """Deadline of all headers of a request, and longest idle time of a connection between requests."""
    WEB_MAX_MEMORY_MB: int = variable(kinds.whole_number(64, 1_048_576), "1024")
    """Resident memory in MiB from which a web process is replaced by a new one."""
    WORKER_PROCESSES: int = variable(kinds.whole_number(1, 64), "2")
    """Concurrent tasks of the worker."""
    WEB_BODY_TIMEOUT_SECONDS: float = variable(kinds.number(0.1, 600.0), "30.0")
    """Deadline of a whole request body, from the end of the headers."""
    WEB_RESPONSE_TIMEOUT_SECONDS: float = variable(kinds.number(0.1, 600.0), "50.0")
    """Deadline of a response, from the end of the request; then 503. Less than the timeout of a proxy in front."""
    WEB_BODY_MEMORY_MB: int = variable(kinds.whole_number(33, 65_536), "64")
    """Memory for request bodies that arrive, wait or are processed, per web process in MiB. A client address may use
    a quarter of it."""
    STREAM_HOST: str = variable(kinds.listening_address, "127.0.0.1")
    """IP address that the stream of events listens on."""
    STREAM_PORT: int = variable(kinds.whole_number(1, 65_535), "8001")
    """Port of the stream."""
    STREAM_URL: str = variable(kinds.base_url)
    """Public URL of the stream's process, to which the web server redirects `GET /api/tokens/stream`, by default
    http://STREAM_HOST:STREAM_PORT. A proxy that routes that path to STREAM_PORT needs none."""
    STREAM_CLIENTS: int = variable(kinds.whole_number(1, 100_000), "5000")
    """Maximum open streams of a process; more get 503."""
    STREAM_CLIENTS_PER_ADDRESS: int = variable(kinds.whole_number(1, 100_000), "20")
    """Maximum open streams of a client address in a process; more get 429."""
    STREAM_HEARTBEAT_SECONDS: float = variable(kinds.number(0.1, 300.0), "15.0")
    """Seconds between heartbeats. A full buffer that does not drain in two of them ends the connection."""
    SITE_URL: str = variable(kinds.origin)
    """Public URL of this installation: links start with it, and https enables the secure flags."""
    HSTS_SECONDS: int = variable(kinds.whole_number(1, 63_072_000), "3600")
    """Seconds for which browsers refuse plain HTTP for this host. Raise it only if HTTPS is permanent: it can't be
    undone."""
    ALLOWED_HOSTS: tuple[str, ...] = variable(kinds.hosts, empty=())
    """Accepted host names, by default this machine's and that of SITE_URL."""
    SECRET_KEY: str = variable(kinds.matching(".{50,}", "at least 50 random characters"), accepts_file=True)
    """Signs sessions, and is the default pepper of partner keys. By default it is generated and kept locally."""
    PARTNER_KEY_PEPPER: str = variable(str, accepts_file=True)
    """Secret of the HMACs of partner keys; changing it invalidates every issued key."""
    LOG_LEVEL: str = variable(kinds.choice("DEBUG", "INFO", "WARNING", "ERROR"), "INFO")
    """Minimum level that is logged to standard error."""
    HEARTBEAT_DIR: Path | None = variable(kinds.directory, empty=None)
    """Directory of a process's heartbeats, its own one; without it there are none."""
    LOG_FORMAT: str = variable(kinds.choice("text", "json"), "text")
    """Form of log lines: `text`, or `json` with one object in each line."""
    SENTRY_DSN: str = variable(kinds.http_url, accepts_file=True)
    """Key and project of a Sentry server that gets errors, as https://<key>@<host>/<project>; by default none."""
    TRACES_URL: str = variable(kinds.base_url)
    """Collector that gets traces by OTLP over HTTP, such as http://collector:4318/v1/traces; by default none."""
    TRACES_SHARE: float = variable(kinds.number(0.0, 1.0), "0.1")
    """Share of requests, and of tasks of beat, with a trace."""
    METRICS_TOKEN: str = variable(kinds.api_key, accepts_file=True)
    """Token for `GET /metrics`, as `Authorization: Bearer`; without one, only programs on this machine have access."""

    # Cache of public responses in each process of the web server.

    EDGE_CACHE_SECONDS: float = variable(kinds.number(0, 60), "2")
    """Maximum TTL in seconds, if Cache-Control allows it; 0 disables the cache."""
    EDGE_CACHE_MB: int = variable(kinds.whole_number(1, 4096), "32")
    """Size of the cache per process in MiB."""

    # Chains.

    RPC_URLS: dict[int, tuple[str, ...]] = per_chain("RPC_URLS_", kinds.node_urls)
    """JSON-RPC URLs of a chain's nodes, first choice first."""
    CHAINS_FILE: tuple[str, ...] = variable(kinds.split_list, empty=())
    """TOML files that add chains, factories or addresses to the built-in registry; later files override earlier."""
    LAUNCHPADS: dict[int, tuple[str, ...]] = per_chain("LAUNCHPADS_", kinds.launchpads)
    """Launchpads of the registry whose launches are indexed; by default `clanker` alone."""
    SOLANA_CHAIN_ID: int = variable(kinds.whole_number(1, 10**18 - 1), "101")
    """Chain id of Solana in the API; its nodes are in RPC_URLS_<this id>."""
    RPC_TIMEOUT_SECONDS: float = variable(kinds.number(0.1, 120.0), "10.0")
    """Timeout of one HTTP request to a node."""
    RPC_BATCH_SIZE: int = variable(kinds.whole_number(1, 1000), "50")
    """JSON-RPC calls per HTTP request."""
    RPC_ATTEMPTS: int = variable(kinds.whole_number(1, 20), "4")
    """Attempts of one call over all URLs of its chain."""
    RPC_PATIENCE_SECONDS: float = variable(kinds.number(0.1, 300.0), "12.0")
    """Deadline of all attempts of one call together; a request may be blocked on it."""

    # Following: `manage.py follow` indexes every launch of the registry's factories.

    RPC_WS_URLS: dict[int, str] = per_chain("RPC_WS_URL_", kinds.url("ws", "wss"))
    """WebSocket URL of a node for new-head notifications; without one, the newest block is polled."""
    FOLLOW_FROM: dict[int, int] = per_chain("FOLLOW_FROM_", kinds.block_number)
    """First block to follow, by default the first one that was not final when the follower first saw the chain."""
    FOLLOW_CONCURRENCY: int = variable(kinds.whole_number(1, 32), "4")
    """Concurrent block ranges of the historical sync."""
    FOLLOW_RANGE_BLOCKS: int = variable(kinds.whole_number(1, 1_000_000), "2000")
    """Initial size of a range in blocks; it adapts to the nodes' limits."""
    FOLLOW_LONGEST_RANGE_BLOCKS: int = variable(kinds.whole_number(1, 1_000_000), "20000")
    """Maximum size of a range in blocks."""
    FOLLOW_VERIFY: str = variable(kinds.choice("logs", "bloom", "receipts"), "bloom")
    """Verification of final blocks: `logs` fetches the logs again (from another URL if there is one), `bloom` also
    searches the bloom filters for missing logs, and `receipts` reads the receipts of every block."""
    FOLLOW_VERIFY_SECONDS: float = variable(kinds.number(0.1, 3600.0), "10.0")
    """Seconds between verifications of final blocks; longer means fewer calls to nodes."""
    FOLLOW_POLL_SECONDS: float = variable(kinds.number(0.05, 60.0), "2.0")
    """Maximum polling interval for new blocks without a WebSocket; it adapts to the chain's block time."""
    FOLLOW_CLAIMS_SECONDS: float = variable(kinds.number(0.1, 86_400.0), "300.0")
    """Seconds between checks of the claimed fees of Solana's pools, a hundred per call. If they have grown, the pool's
    own transactions are read: a claim by its creator names no followed account."""
    FOLLOW_LAG_ALARM_SECONDS: int = variable(kinds.whole_number(1, _DAY), "120")
    """Lag from which a chain is not ready and the dashboard raises an alarm."""

    # The development chain of `make run`.

    ANVIL: Path | None = variable(kinds.program, empty=None)
    """Path of anvil, if it is not the one that npm installed."""
    LAUNCH_EVERY_SECONDS: float = variable(kinds.number(0.1, 86_400.0), "15.0")
    """Seconds between two sample launches."""
    TRADE_EVERY_SECONDS: float = variable(kinds.number(0.0, 86_400.0), "5.0")
    """Seconds between two sample trades; 0 for none."""

    # Indexing and pretokens.

    INDEX_MAX_ATTEMPTS: int = variable(kinds.whole_number(1, 100), "12")
    """Attempts to find an unknown transaction before its index request fails."""
    INDEX_LEASE_SECONDS: int = variable(kinds.whole_number(1, 3600), "60")
    """Lease of an index request; after it the sweeper enqueues the request again."""
    SAVED_TOKEN_DAYS: int = variable(kinds.whole_number(1, _DECADE), "30")
    """Retention of tokens that users saved and the chain has not confirmed, in days."""
    PRETOKEN_KEPT_DAYS: int = variable(kinds.whole_number(0, _DECADE), "7")
    """Retention of deleted, expired or deployed pretokens in days; of a deployed one the row stays."""
    PRETOKEN_ROOM_BYTES: int = variable(kinds.whole_number(2**20, 2**40), "134217728")
    """Storage quota of all stored pretokens of a user in bytes, whatever their state."""

    # Deployments: signers, of which several wallets of one chain send in parallel, and limits.

    DEPLOYER_KEYS: dict[int, tuple[Secret, ...]] = per_chain("DEPLOYER_KEYS_", kinds.private_keys, accepts_file=True)
    """Private keys."""
    DEPLOYER_KEYSTORES: dict[int, tuple[Path, ...]] = per_chain("DEPLOYER_KEYSTORES_", kinds.paths)
    """Encrypted key files."""
    DEPLOYER_KEYSTORE_PASSWORD: Secret = variable(Secret, empty=Secret(""), accepts_file=True)
    """Password of all of those files."""
    DEPLOYER_REMOTE: dict[int, tuple[str, ...]] = per_chain("DEPLOYER_REMOTE_", kinds.addresses)
    """Addresses of a remote signer's keys."""
    DEPLOYER_SIGNER_URL: str = variable(kinds.base_url)
    """URL of a remote signer with web3signer's `eth_signTransaction`."""
    DEPLOYER_SIGNER_TIMEOUT_SECONDS: float = variable(kinds.number(0.1, 60.0), "5.0")
    """Timeout of the signer's connection, response head and body, each; it blocks the wallet."""
    DEPLOY_MAX_FEE_GWEI: Decimal = variable(kinds.amount(*_GAS_PRICES), "50")
    """Maximum gas price in gwei."""
    DEPLOY_MAX_FEES_GWEI: dict[int, Decimal] = per_chain("DEPLOY_MAX_FEE_GWEI_", kinds.amount(*_GAS_PRICES))
    """Maximum gas price of one chain."""
    DEPLOY_STUCK_SECONDS: float = variable(kinds.number(1.0, 3600.0), "15.0")
    """Seconds that a transaction may wait at the head of its nonce queue before a replacement with a higher fee."""
    DEPLOY_LOW_BALANCE_ETH: Decimal = variable(kinds.amount(*_COINS), "0.05")
    """Balance in the native coin below which a wallet raises an alarm."""
    DEPLOY_MAX_DEV_BUY_ETH: Decimal = variable(kinds.amount(*_COINS), "1")
    """Maximum dev buy of one deployment in the native coin, paid by our wallet."""
    DEPLOY_DAILY_DEV_BUY_ETH: Decimal = variable(kinds.amount(*_COINS), "10")
    """Maximum of all dev buys of one partner key on one chain per day in UTC, whatever operators allow; by default they
    allow none."""

    # Users' tokens and social profiles.

    IDENTITY_TIMEOUT_SECONDS: float = variable(kinds.number(0.1, 10.0), "3.0")
    """Timeout of the connection, response head and body of an issuer's keys, each; also of a request that waits for
    another one to fetch them."""
    SOCIAL_BASE_URL: str = variable(kinds.base_url, "https://api.neynar.com")
    """URL of Neynar's API or a compatible one, used if there is a key."""
    SOCIAL_API_KEY: str = variable(kinds.api_key, accepts_file=True)
    """Key of that API."""
    FARCASTER_HUB_URL: str = variable(kinds.base_url)
    """HTTP API of a Farcaster hub, used without a key. With neither, there are no profiles."""
    SOCIAL_TIMEOUT_SECONDS: float = variable(kinds.number(0.1, 10.0), "5.0")
    """Timeout of the connection, response head and body, each."""
    SOCIAL_REFRESH_HOURS: int = variable(kinds.whole_number(1, 8760), "24")
    """Maximum age of a profile before it is fetched again."""

    # Off-chain documents of tokens.

    FETCH_DOCUMENTS: bool = variable(kinds.switch, "true")
    """Whether the documents at the metadata URIs of launches are fetched. Anyone who launches a token chooses the
    host."""
    DOCUMENT_TIMEOUT_SECONDS: float = variable(kinds.number(0.1, 30.0), "10.0")
    """Timeout of a document from the DNS lookup to the last byte, including all redirects."""
    DOCUMENT_MAX_BYTES: int = variable(kinds.whole_number(1024, 16 * 2**20), "262144")
    """Maximum size of a decompressed document."""
    DOCUMENT_ATTEMPTS: int = variable(kinds.whole_number(1, 100), "12")
    """Attempts to fetch a document before it counts as failed."""
    IPFS_GATEWAY_URL: tuple[str, ...] = variable(kinds.gateways, "https://ipfs.io/ipfs,https://dweb.link/ipfs")
    """Gateways for ipfs://CID/path, as <gateway>/CID/path, in their sequence; `off` disables such documents."""
    ARWEAVE_GATEWAY_URL: tuple[str, ...] = variable(kinds.gateways, "https://arweave.net")
    """Gateways for ar://ID."""
    OUTBOUND_ALLOWED_NETWORKS: tuple[Network, ...] = variable(kinds.networks, empty=())
    """Non-public networks that may be fetched from, on any port, such as that of your own gateway. Anyone who launches
    a token may then send GET requests to them."""

    # Events.

    EVENT_DAYS: int = variable(kinds.whole_number(7, _DECADE), "14")
    """Retention of events and webhook deliveries in days, rounded up to weeks."""
    EVENT_HISTORY_HOURS: int = variable(kinds.whole_number(0, 24 * _DECADE), "24")
    """Age in hours of blocks from which a historical sync stores no events."""
    WEBHOOK_SCHEDULE_SECONDS: tuple[int, ...] = variable(
        kinds.several(kinds.whole_number(0, 7 * _DAY), "delays in seconds, separated by commas", at_least=1),
        "0,5,300,1800,7200,18000,36000,50400,72000,86400",
    )
    """Delays in seconds before each attempt of a webhook delivery, the first one after the event."""
    WEBHOOK_TIMEOUT_SECONDS: float = variable(kinds.number(0.1, 30.0), "15.0")
    """Timeout of an attempt from the DNS lookup to the end of the response."""
    WEBHOOK_DISABLE_DAYS: int = variable(kinds.whole_number(1, 365), "5")
    """Days of nothing but failures after which an endpoint is disabled; its owner gets a notice after half of them."""
    WEBHOOK_THREADS: int = variable(kinds.whole_number(2, 256), "16")
    """Concurrent attempts of an `events` process; each needs a connection to PostgreSQL."""
    WEBHOOK_ALLOWED_NETWORKS: tuple[Network, ...] = variable(kinds.networks, empty=())
    """Non-public networks that webhooks may be sent to, on any port and by http://. Every partner with the scope
    `webhooks` may then send POST requests to them."""
    EMAIL_HOST: str = variable(kinds.matching("[A-Za-z0-9.:-]{1,253}", "a host name or an address"))
    """Mail server for notices about webhook endpoints; without one no mail is sent."""
    EMAIL_PORT: int = variable(kinds.whole_number(1, 65_535), "587")
    """Port of the mail server."""
    EMAIL_USE_TLS: bool = variable(kinds.switch, "true")
    """Whether the connection to the mail server is encrypted by STARTTLS."""
    EMAIL_HOST_USER: str = variable(str)
    """User name at the mail server; empty for none."""
    EMAIL_HOST_PASSWORD: str = variable(str, accepts_file=True)
    """Password at the mail server."""
    EMAIL_FROM: str = variable(kinds.matching("[^@\\s]+@[^@\\s]+", "a mail address"))
    """Sender of mails, by default launchboard@<host of SITE_URL>."""
    OPERATOR_EMAILS: tuple[str, ...] = variable(
        kinds.several(kinds.matching("[^@\\s,]+@[^@\\s,]+"), "mail addresses, separated by commas"), empty=()
    )
    """Operators who get the notices about all endpoints."""

    # The leaderboard.

    LEADERBOARD_24H_SECONDS: int = variable(kinds.whole_number(15, _DAY), "300")
    """Seconds between rankings of the last day."""
    LEADERBOARD_7D_SECONDS: int = variable(kinds.whole_number(15, _DAY), "900")
    """Seconds between rankings of the last seven days."""
    LEADERBOARD_30D_SECONDS: int = variable(kinds.whole_number(15, _DAY), "3600")
    """Seconds between rankings of the last thirty days."""
    LEADERBOARD_FACT_DAYS: int = variable(kinds.whole_number(31, _DECADE), "90")
    """Retention of facts about agents in days; the longest interval is 30 days."""
    LEADERBOARD_SNAPSHOT_MINUTES: int = variable(kinds.whole_number(1, 10_080), "30")
    """Retention of a replaced ranking in minutes, for clients that are paging through it."""
    LEADERBOARD_AGENTS_PER_KEY: int = variable(kinds.whole_number(1, 1_000_000), "1000")
    """Maximum agents of one partner key: each has a row in every ranking, ranked or not."""
    HUB_PULL_SECONDS: int = variable(kinds.whole_number(10, _DAY), "120")
    """Seconds between pulls of an agent's casts from the hub at FARCASTER_HUB_URL."""
    LEADERBOARD_ACTOR_SCORES: bool = variable(kinds.switch, "false")
    """Whether the social profiles of all accounts that interact with agents are fetched, for their scores; providers
    charge for each. Those of agents' creators are always fetched."""

    # The API.

    SEARCH_TIMEOUT_MS: int = variable(kinds.whole_number(1, 60_000), "1500")
    """Timeout of one search in the database, in milliseconds."""
    TRUSTED_PROXIES: int = variable(kinds.whole_number(0, 16), "0")
    """Number of trusted proxies in front of the web server, each of which appends its client's address to
    the header that CLIENT_ADDRESS_HEADER names."""
    CLIENT_ADDRESS_HEADER: str = variable(
        kinds.matching("[A-Za-z][A-Za-z0-9-]{0,63}", "the name of a header, of letters, digits and -"),
        "X-Forwarded-For",
    )
    """Header in which trusted proxies write the client address; only they may set it."""
    KEY_USAGE_DAYS: int = variable(kinds.whole_number(1, _DECADE), "400")
    """Retention of the usage counts of partner keys in days."""
    CORS_ORIGINS: tuple[str, ...] = variable(kinds.browser_origins, empty=())
    """Origins with CORS access to the whole API; other origins may read public endpoints."""

    # Rate limits of the API in calls per window; 0 is no limit.

    RATE_LIMIT_PUBLIC: int = variable(kinds.whole_number(*_CALLS), "120")
    """Per minute and client address, for requests without a key or with a rejected one."""
    RATE_LIMIT_PAGES: int = variable(kinds.whole_number(*_CALLS), "300")
    """Per minute and client address, for pages of the public site that no cache serves."""
    RATE_LIMIT_PICTURES: int = variable(kinds.whole_number(*_CALLS), "6000")
    """Per minute and client address, for pictures of tokens that no cache serves: a page may show twenty."""
    RATE_LIMIT_CARDS: int = variable(kinds.whole_number(*_CALLS), "60")
    """Per minute and client address, for share cards that no cache serves."""
    RATE_LIMIT_KEYED: int = variable(kinds.whole_number(*_CALLS), "600")
    """Per minute and partner key."""
    RATE_LIMIT_INDEX: int = variable(kinds.whole_number(*_CALLS), "10")
    """Per minute and partner key, for index requests, besides the general limit."""
    RATE_LIMIT_DEPLOY: int = variable(kinds.whole_number(*_CALLS), "10000")
    """Per day and partner key, for launch requests; without a quota also the deployments on a chain per day in UTC."""
    RATE_LIMIT_UPLOAD: int = variable(kinds.whole_number(*_CALLS), "30")
    """Per minute and partner key, for uploads, besides the general limit."""
    RATE_LIMIT_PRETOKEN: int = variable(kinds.whole_number(*_CALLS), "20")
    """Per hour and user, for creating a pretoken."""
    RATE_LIMIT_SAVE_TOKEN: int = variable(kinds.whole_number(*_CALLS), "60")
    """Per hour and user, for saving a launched token."""
    RATE_LIMIT_SAVE_TOKEN_ANONYMOUS: int = variable(kinds.whole_number(*_CALLS), "30")
    """Per hour and client address, for the same without a user's token."""
    RATE_LIMIT_ADMIN_VERIFY: int = variable(kinds.whole_number(*_CALLS), "5")
    """Per minute and client address, for creating an administrator's session."""
    RATE_LIMIT_LOGIN: int = variable(kinds.whole_number(*_CALLS), "20")
    """Per minute and client address, for passwords and second factors' codes of operators, over all names."""
    RATE_LIMIT_AGENT_EVENTS: int = variable(kinds.whole_number(*_CALLS), "120")
    """Per minute and partner key, for reporting agents' events, besides the general limit."""

    # Log-in of operators.

    LOGIN_FAILURE_LIMIT: int = variable(kinds.whole_number(1, 1000), "5")
    """Wrong passwords for one name from one address until that name is locked out there."""
    LOGIN_LOCK_MINUTES: int = variable(kinds.whole_number(1, 10_080), "15")
    """Minutes of the lock-out after the last of them."""
    ADMIN_TOTP_REQUIRED: bool = variable(kinds.switch, "false")
    """Whether every operator must have a second factor (codes of an authenticator app). One that is set up is always
    required."""
    ADMIN_SESSION_HOURS: int = variable(kinds.whole_number(1, 8760), "12")
    """Duration of a log-in in hours."""

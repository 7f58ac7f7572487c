"""Environment variables for the installation: processes, servers and caches."""

from pathlib import Path

from attrs import frozen

from config.environment import kinds
from config.environment.variables import variable


@frozen(slots=False, repr=False)
class InstallationVariables:
    """The installation: its URL, processes, secrets and reports."""

    SITE_URL: str = variable(kinds.origin)
    """Public URL of the installation, without a path. Links start with it; `https://` turns on secure cookies, HSTS
    and the redirect to https.

    Default: `http://127.0.0.1:8000`
    Example: http://127.0.0.1:8000
    """
    HSTS_SECONDS: int = variable(kinds.whole_number(1, 63_072_000), "3600")
    """Seconds for which browsers refuse plain HTTP for this host, with `https://` in `SITE_URL`. Raise it only if HTTPS
    is permanent: browsers obey until the time has passed."""
    ALLOWED_HOSTS: tuple[str, ...] = variable(kinds.hosts, empty=())
    """Accepted `Host` headers, separated by commas.

    Default: 127.0.0.1, localhost, host of `SITE_URL`
    Example: 127.0.0.1,localhost
    """
    PORT: int = variable(kinds.whole_number(1, 65_535), "8000")
    """Port that the web server listens on."""
    WEB_HOST: str = variable(kinds.listening_address, "127.0.0.1")
    """IP address that the web server listens on, no host name; 0.0.0.0 for all networks."""
    WEB_WORKERS: int = variable(kinds.whole_number(1, 64), "2")
    """Web server processes, with four threads each."""
    WEB_HEADER_TIMEOUT_SECONDS: int = variable(kinds.whole_number(1, 60), "5")
    """Deadline for request headers, and longest idle time between requests on a connection, in whole seconds."""
    WEB_MAX_MEMORY_MB: int = variable(kinds.whole_number(64, 1_048_576), "1024")
    """Resident memory in MiB from which a web process is replaced by a new one: [slow
    clients](running.md#slow-and-hostile-clients)."""
    WORKER_PROCESSES: int = variable(kinds.whole_number(1, 64), "2")
    """Concurrent Celery tasks of the worker."""
    WEB_RESPONSE_TIMEOUT_SECONDS: float = variable(kinds.number(0.1, 600.0), "50")
    """Deadline in seconds for a response, from the end of the request; then 503 with `Retry-After`. Set it below the
    front proxy's timeout (nginx: 60)."""
    STREAM_HOST: str = variable(kinds.listening_address, "127.0.0.1")
    """IP address that the event [stream](events.md#stream) listens on, no host name."""
    STREAM_PORT: int = variable(kinds.whole_number(1, 65_535), "8001")
    """Port that the stream listens on."""
    STREAM_URL: str = variable(kinds.base_url)
    """Stream process's public URL without the path. The web server redirects `GET /api/tokens/stream` to it. Set it
    only if no proxy routes that path to `STREAM_PORT`.

    Default: `http://STREAM_HOST:STREAM_PORT`
    """
    STREAM_CLIENTS_PER_ADDRESS: int = variable(kinds.whole_number(1, 100_000), "20")
    """Maximum open streams per client address and process; more get 429."""
    SECRET_KEY: str = variable(kinds.matching(".{50,}", "at least 50 random characters"), accepts_file=True)
    """At least 50 random characters that sign sessions; required with `DATABASE_URL`.

    Default: generated in `.local/secret-key`
    """
    PARTNER_KEY_PEPPER: str = variable(str, accepts_file=True)
    """Secret for partner keys' HMACs; a change invalidates every issued key.

    Default: `SECRET_KEY`
    """
    CORS_ORIGINS: tuple[str, ...] = variable(kinds.browser_origins, empty=())
    """Web page origins that may call the whole API and `/mcp`, separated by commas; other origins may read public
    endpoints.

    Example: https://app.example,http://localhost:3000
    """
    TRUSTED_PROXIES: int = variable(kinds.whole_number(0, 16), "0")
    """Number of [trusted proxies](#proxies) in front of the web server. Each must append its client's address to
    `CLIENT_ADDRESS_HEADER`. With 0 the header is ignored, and all clients behind one proxy count as one."""
    CLIENT_ADDRESS_HEADER: str = variable(
        kinds.matching("[A-Za-z][A-Za-z0-9-]{0,63}", "the name of a header, of letters, digits and -"),
        "X-Forwarded-For",
    )
    """Header in which your proxies write the client address; only they may set it: [what each proxy
    needs](running.md#reverse-proxies)."""
    SENTRY_DSN: str = variable(kinds.http_url, accepts_file=True)
    """Sentry server that gets errors, as `https://<key>@<host>/<project>`; needs `requirements-watching.txt`: [errors
    and traces](watching.md#errors-and-traces)."""
    TRACES_URL: str = variable(kinds.base_url)
    """Collector that gets traces by OTLP over HTTP, such as `http://collector:4318/v1/traces`; needs
    `requirements-watching.txt`."""
    TRACES_SHARE: float = variable(kinds.number(0.0, 1.0), "0.1")
    """Share of requests and beat tasks that are traced, from 0 to 1."""
    METRICS_TOKEN: str = variable(kinds.api_key, accepts_file=True)
    """Token for `GET /metrics`, sent as `Authorization: Bearer`. Without it, only local programs have access.

    Default: none: this machine only
    """
    HEARTBEAT_DIR: Path | None = variable(kinds.directory, empty=None)
    """Absolute path of a directory for [heartbeats](watching.md#health-and-readiness), which worker, beat, follower
    and events write; each process needs its own.

    Default: none: no heartbeats
    """
    LOG_LEVEL: str = variable(kinds.choice("DEBUG", "INFO", "WARNING", "ERROR"), "INFO")
    """Lowest log level, written to standard error: `DEBUG`, `INFO`, `WARNING` or `ERROR`."""
    LOG_FORMAT: str = variable(kinds.choice("text", "json"), "text")
    """Format of [log lines](watching.md#log-lines): `text`, or `json` with one object per line."""
    DEBUG: bool = variable(kinds.switch, "false")
    """Whether tracebacks are shown in the browser: never enable it on a reachable installation."""


@frozen(slots=False, repr=False)
class ServerVariables:
    """Servers that the service uses: bundled ones on private sockets, unless you name others."""

    DATABASE_URL: str = variable(str, accepts_file=True)
    """PostgreSQL 15 or later: [servers of your own](installing.md#servers-of-your-own).

    Default: bundled server, on a private socket
    Example: postgres://user:password@host:5432/launchboard
    """
    DATABASE_DIRECT_URL: str = variable(str, accepts_file=True)
    """PostgreSQL itself, if `DATABASE_URL` leads to a [pooler](installing.md#pgbouncer): for session locks, the stream,
    partition removal and backups.

    Default: none: `DATABASE_URL` leads to PostgreSQL itself
    Example: postgres://user:password@host:5432/launchboard
    """
    POSTGRESQL_PROGRAMS: Path | None = variable(kinds.directory, empty=None)
    """Absolute path of the directory with `pg_dump` and `pg_restore` for [backups](backups.md).

    Default: bundled programs; with `DATABASE_URL` the programs on the PATH
    Example: /usr/lib/postgresql/17/bin
    """
    READ_REPLICA_URL: str = variable(str, accepts_file=True)
    """Streaming replica of the PostgreSQL server, for [public reads](scaling.md#read-replica); takes the same
    parameters. `connect_timeout` is 2 and `tcp_user_timeout` 5000 by default.

    Default: none: all reads use `DATABASE_URL`
    Example: postgres://user:password@replica:5432/launchboard
    """
    REDIS_URL: str = variable(str, accepts_file=True)
    """Redis 7 or Valkey 8, or later: cache and Celery's broker. With sentinels its host is the master's name.

    Default: bundled server, on a private socket
    Example: redis://host:6379/0
    """
    REDIS_SENTINELS: tuple[str, ...] = variable(kinds.texts, empty=(), accepts_file=True)
    """URLs of the Redis master's [sentinels](installing.md#redis-or-valkey-with-sentinels), separated by commas, as
    `redis://:password@host:port` or `rediss://`, all with the same password and options.

    Example: redis://host:26379,redis://other:26379,redis://third:26379
    """
    LAUNCHBOARD_LOCAL: str = variable(str)
    """Directory for the bundled servers and the installation's keys and logs.

    Default: `.local`
    Example: .local
    """


@frozen(slots=False, repr=False)
class CacheVariables:
    """Public response cache in each web process, and search."""

    EDGE_CACHE_SECONDS: float = variable(kinds.number(0, 60), "2")
    """Longest TTL in seconds for a cached public response, if Cache-Control allows it; 0 disables the cache."""
    SEARCH_TIMEOUT_MS: int = variable(kinds.whole_number(1, 60_000), "1500")
    """Database timeout for one search or filtered list, in milliseconds. A sixth of it limits a filtered
    list's count, and a scan in sort order, after which the matches are sorted."""

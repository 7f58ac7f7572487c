"""What caches may keep of an answer, for `Cache-Control` (RFC 9111). Errors are never kept."""

from datetime import UTC, datetime

# Nobody keeps it: answers that depend on the moment or on who is calling, and all errors.
NEVER_STORED = "no-store"
PRIVATE_NEVER_STORED = "private, no-store"

# What describes the body, which a 304 leaves out; caches add everything else to what they have (RFC 9110, 15.4.5).
REPRESENTATION_HEADERS = frozenset(
    {
        "content-disposition",
        "content-encoding",
        "content-language",
        "content-length",
        "content-range",
        "content-type",
    }
)


def shared_for(seconds: int, *, stale_seconds: int = 0) -> str:
    """Proxies and edges keep it that long, and may serve it `stale_seconds` more while they fetch a new one."""
    stale = f", stale-while-revalidate={stale_seconds}" if stale_seconds else ""
    return f"public, s-maxage={seconds}{stale}"


def private_for(seconds: int) -> str:
    """The caller alone keeps it that long."""
    return f"private, max-age={seconds}"


# Endpoints on their way out: every answer says so, and names what to use instead.
# They were on their way out before this service had them.
DEPRECATED_SINCE = datetime(2026, 1, 1, tzinfo=UTC)


def deprecation_headers(successor: str) -> dict[str, str]:
    """`Deprecation` (RFC 9745: a date in Unix seconds) and `Link` to the path of the successor (RFC 8288, RFC 5829)."""
    return {
        "Deprecation": f"@{int(DEPRECATED_SINCE.timestamp())}",
        "Link": f'<{successor}>; rel="successor-version"',
    }

"""What caches may keep of an answer, for `Cache-Control` (RFC 9111). Errors are never kept."""

# Nobody keeps it: answers that depend on the moment or on who is calling, and all errors.
NEVER_STORED = "no-store"
PRIVATE_NEVER_STORED = "private, no-store"


def shared_for(seconds: int, *, stale_seconds: int = 0) -> str:
    """Proxies and edges keep it that long, and may serve it `stale_seconds` more while they fetch a new one."""
    stale = f", stale-while-revalidate={stale_seconds}" if stale_seconds else ""
    return f"public, s-maxage={seconds}{stale}"


def private_for(seconds: int) -> str:
    """The caller alone keeps it that long."""
    return f"private, max-age={seconds}"

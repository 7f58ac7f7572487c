"""Response headers for caches (`Cache-Control`, RFC 9111), for deprecated endpoints and for unknown parameters.

Errors are never cached.
"""

import re
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from heapq import nsmallest

from django.conf import settings

# For responses that depend on the moment or on the caller, and for all errors.
NO_STORE = "no-store"
PRIVATE_NO_STORE = "private, no-store"

# Headers that describe the body. A 304 omits them; caches add all others to their cache entry (RFC 9110, 15.4.5).
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


def public_cache_control(seconds: int, *, stale_seconds: int = 0) -> str:
    """Return a `Cache-Control` for shared caches, with a TTL in seconds.

    Caches may serve the entry for `stale_seconds` more while they revalidate it.
    """
    stale = f", stale-while-revalidate={stale_seconds}" if stale_seconds else ""
    return f"public, s-maxage={seconds}{stale}"


# All that pages load is served by this installation. The web server redirects the stream to its own process.
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'{stream}; "
    "base-uri 'none'; form-action 'self'; frame-ancestors {frames}"
)


def page_headers(seconds: int, *, stale_seconds: int = 0, frames: str = "'none'") -> dict[str, str]:
    """Return a public page's headers, with the TTL as in `public_cache_control`; `frames` may contain the page."""
    return {
        "Cache-Control": public_cache_control(seconds, stale_seconds=stale_seconds),
        "Content-Security-Policy": _PAGE_POLICY.format(stream=f" {settings.STREAM_URL}", frames=frames),
        "Referrer-Policy": "no-referrer",
    }


def any_origin_headers() -> dict[str, str]:
    """Return the CORS headers for public reads, and for refusals before any view."""
    return {
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Expose-Headers": ", ".join(settings.CORS_EXPOSE_HEADERS),
    }


def private_cache_control(seconds: int) -> str:
    """Return a `Cache-Control` for the client's own cache only, with a TTL in seconds."""
    return f"private, max-age={seconds}"


# Deprecated from the first release on.
DEPRECATED_SINCE = datetime(2026, 1, 1, tzinfo=UTC)


def deprecation_headers(successor: str) -> dict[str, str]:
    """Return a deprecated endpoint's headers `Deprecation` and `Link`.

    `Deprecation` is a date in Unix seconds (RFC 9745). `Link` names the successor's path (RFC 8288, RFC 5829).
    """
    return {
        "Deprecation": f"@{int(DEPRECATED_SINCE.timestamp())}",
        "Link": f'<{successor}>; rel="successor-version"',
    }


# Bounds for X-Ignored-Params; callers control its content.
_MAX_IGNORED_NAMES = 20
_MAX_IGNORED_NAME_LENGTH = 50
_NOT_IN_HEADER = re.compile(r"[^!-+\--~]")


def ignored_params(unknown: AbstractSet[str]) -> str:
    """Return X-Ignored-Params: the names in visible ASCII, so that none can inject a header."""
    names = nsmallest(_MAX_IGNORED_NAMES, unknown - {""})
    return ",".join(sorted({_NOT_IN_HEADER.sub("?", name[:_MAX_IGNORED_NAME_LENGTH]) for name in names}))

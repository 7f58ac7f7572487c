"""Endpoints on their way out: every answer says so, and names what to use instead."""

from datetime import UTC, datetime

# They were on their way out before this service had them.
DEPRECATED_SINCE = datetime(2026, 1, 1, tzinfo=UTC)


def deprecation_headers(successor: str) -> dict[str, str]:
    """`Deprecation` (RFC 9745: a date in Unix seconds) and `Link` to the path of the successor (RFC 8288, RFC 5829)."""
    return {
        "Deprecation": f"@{int(DEPRECATED_SINCE.timestamp())}",
        "Link": f'<{successor}>; rel="successor-version"',
    }

"""Access to metrics, in the web server and in the stream."""

import hmac
from collections.abc import Mapping
from typing import Any

from django.conf import settings

from config.web.client_ip import is_on_loopback


def metrics_refusal(environ: Mapping[str, Any]) -> int | None:
    """Return the status that a WSGI request gets instead of metrics, or None if it may read them.

    With METRICS_TOKEN, requests without it get 401. Without, only programs on this machine have access, and the
    endpoint stays hidden from others by 404.
    """
    token: str = settings.METRICS_TOKEN
    if not token:
        return None if is_on_loopback(environ) else 404
    scheme, _, credential = str(environ.get("HTTP_AUTHORIZATION", "")).partition(" ")
    is_valid = scheme.lower() == "bearer" and hmac.compare_digest(
        credential.strip().encode(errors="replace"), token.encode()
    )
    return None if is_valid else 401

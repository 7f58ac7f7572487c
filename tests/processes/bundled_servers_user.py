"""A process that uses the bundled servers, driven line by line by tests/development/test_bundled_servers.py.

At each line it keeps the servers running and prints their addresses, or the reason why not.
"""

import json
import sys

from django.core.exceptions import ImproperlyConfigured

from development.servers import bundled


def hold() -> dict[str, str]:
    """Return the servers' addresses, or the refusal."""
    try:
        bundled.ensure_running(durable=False)
    except ImproperlyConfigured as error:
        return {"refused": str(error)}
    return {"postgres": bundled.database_url(), "valkey": bundled.redis_url()}


if __name__ == "__main__":
    for _ in sys.stdin:
        print(json.dumps(hold()), flush=True)

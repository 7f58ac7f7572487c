"""Environments for service processes that tests start: their own database and broker."""

import os
from urllib.parse import quote

from django.conf import settings
from redis import Redis

from development.servers import bundled

# Numbered Valkey databases from here on are the brokers for processes that tests start.
_OWN_BROKER = 128


def environment_on(database: str) -> dict[str, str]:
    """Return the environment for a process on this database in the bundled server; the broker is empty."""
    redis_url = f"unix://{bundled.socket_directory() / 'valkey.sock'}?db={_OWN_BROKER + process_number()}"
    Redis.from_url(redis_url).flushdb()
    return dict(os.environ) | {
        "DATABASE_URL": database_url(database),
        "REDIS_URL": redis_url,
        "DJANGO_SETTINGS_MODULE": "development.setting_overrides",
        # Modules read these at import, which forked programs share. By default they follow from the ports.
        "SITE_URL": settings.SITE_URL,
        "STREAM_URL": settings.STREAM_URL,
    }


def database_url(database: str) -> str:
    """Return a database URL in the bundled server."""
    return f"postgres://launchboard@{quote(str(bundled.socket_directory()), safe='')}/{database}"


def process_number() -> int:
    """Return a number that differs between pytest-xdist's workers gw0, gw1, ...; the controlling process has 0."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    return int(worker.removeprefix("gw")) + 1 if worker else 0

"""Error reports to Sentry: log records at level ERROR and above, and exceptions that end a process or thread.

They have a traceback and no personal data. A server or node outage is no error: alerts report it. The integrations for
frameworks and HTTP clients are off: they would send headers, queries and node URLs, and write headers into outgoing
calls.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from urllib.parse import urlsplit

import django.db
import psycopg
import redis
import sentry_sdk
from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from kombu.exceptions import OperationalError as BrokerError
from sentry_sdk.integrations.atexit import AtexitIntegration
from sentry_sdk.integrations.dedupe import DedupeIntegration
from sentry_sdk.integrations.excepthook import ExcepthookIntegration
from sentry_sdk.integrations.logging import LoggingIntegration
from sentry_sdk.integrations.threading import ThreadingIntegration
from sentry_sdk.types import Event, Hint
from sentry_sdk.utils import BadDsn

from config.http.errors import RetryableError
from config.http.request_ids import current_request_id
from config.watching.log_lines import MAX_LINE

# Any client can cause them; the log has them as warnings.
_SECURITY = "django.security."
# Their records without an exception are responses with 500 and above, whose cause is logged, too, and attempts to reach
# the broker.
_REPEATING = ("django.request", "celery.worker.consumer", "celery.beat")
_OUTAGES = (
    django.db.OperationalError,
    django.db.InterfaceError,
    psycopg.OperationalError,
    psycopg.InterfaceError,
    redis.ConnectionError,
    redis.TimeoutError,
    BrokerError,
    RetryableError,
)
# Seconds without a repetition after which the same failure is a new occurrence.
_QUIET_SECONDS = 3_600.0
_KEPT_FAILURES = 1_000
# Names in the Procfile, by a word in the command.
_PROCESSES = {
    "granian": "web",
    "worker": "worker",
    "beat": "beat",
    "follow": "follower",
    "deliver_events": "events",
    "stream": "stream",
}


class ErrorReportsConfig(AppConfig):
    """App that starts a process's reports."""

    name = "config.watching.error_reports"
    label = "error_reports"

    def ready(self) -> None:
        """Start them. Raises ImproperlyConfigured for an invalid SENTRY_DSN."""
        try:
            sentry_sdk.init(
                dsn=settings.SENTRY_DSN,
                environment=urlsplit(settings.SITE_URL).hostname,
                before_send=scrub_event,
                default_integrations=False,
                integrations=[
                    LoggingIntegration(level=None),
                    DedupeIntegration(),
                    ExcepthookIntegration(),
                    ThreadingIntegration(propagate_scope=False),
                    AtexitIntegration(callback=_send_silently),
                ],
                # Variables may hold keys, and bodies may hold users' keys.
                include_local_variables=False,
                max_request_body_size="never",
                send_default_pii=False,
                max_breadcrumbs=0,
                max_value_length=MAX_LINE,
            )
        except BadDsn:
            raise ImproperlyConfigured("SENTRY_DSN: must be https://<key>@<host>/<project>") from None


class FailureLog:
    """Failures that this process has reported, by their key; the oldest ones are dropped."""

    def __init__(self) -> None:
        self._seen: dict[str, float] = {}
        self._lock = Lock()

    def is_new(self, key: str) -> bool:
        """Return whether an occurrence begins: the failure was not seen for _QUIET_SECONDS."""
        now = time.monotonic()
        with self._lock:
            last_seen_at = self._seen.pop(key, float("-inf"))
            self._seen[key] = now
            if len(self._seen) > _KEPT_FAILURES:
                del self._seen[next(iter(self._seen))]
        return now - last_seen_at >= _QUIET_SECONDS


_failures = FailureLog()


def scrub_event(event: Event, hint: Hint) -> Event | None:
    """Return the event with request id and process as tags; None for refused requests, outages and repetitions.

    Parts that may hold client data are removed: earlier records, record arguments, requests and users.
    """
    logger, error = str(event.get("logger", "")), hint.get("exc_info", (None, None, None))[1]
    if logger.startswith(_SECURITY) or isinstance(error, _OUTAGES):
        return None
    if (error is None and logger.startswith(_REPEATING)) or not _failures.is_new(_failure_key(event)):
        return None
    event.pop("breadcrumbs", None)
    event.pop("extra", None)
    event.pop("request", None)
    event.pop("user", None)
    # Celery passes all task arguments to its record. Beside an exception, a text may hold a path or its message.
    removed = {"params"} if error is None else {"params", "formatted"}
    event["logentry"] = {name: value for name, value in event.get("logentry", {}).items() if name not in removed}
    for exception in event.get("exception", {}).get("values", []):
        # PostgreSQL's errors have the statement and the row, with their values, in further lines.
        exception["value"] = str(exception.get("value") or "").partition("\n")[0]
    event["tags"] = {"request_id": current_request_id(), "process": process_name(sys.argv)}
    return event


def process_name(arguments: Sequence[str]) -> str:
    """Return the command's name in the Procfile; for another command its first argument."""
    program = Path(arguments[0])
    words = [program.parent.name if program.stem == "__main__" else program.name, *arguments[1:]]
    return next((_PROCESSES[word] for word in words if word in _PROCESSES), words[min(1, len(words) - 1)])


def _failure_key(event: Event) -> str:
    """Return the exceptions' types and lines; without an exception, the text."""
    exceptions = event.get("exception", {}).get("values", [])
    if not exceptions:
        return str(event.get("logentry", {}).get("formatted"))
    lines = [
        (frame.get("filename"), frame.get("lineno"))
        for exception in exceptions
        for frame in (exception.get("stacktrace") or {}).get("frames", [])
    ]
    return str(([exception.get("type") for exception in exceptions], lines))


def _send_silently(pending: int, timeout: float) -> None:
    """Print nothing when a process ends; what is pending is sent within the timeout."""

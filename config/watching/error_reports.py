"""Error reports to Sentry: each record of level ERROR and above, with its traceback and without personal data.

All unhandled errors of the service are logged, so that the log is the only source. The integrations of frameworks and
HTTP clients are off: they would send headers, queries and the URLs of nodes, and write headers into outgoing calls.
"""

from urllib.parse import urlsplit

import sentry_sdk
from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from sentry_sdk.integrations.atexit import AtexitIntegration
from sentry_sdk.integrations.dedupe import DedupeIntegration
from sentry_sdk.integrations.excepthook import ExcepthookIntegration
from sentry_sdk.integrations.logging import LoggingIntegration
from sentry_sdk.integrations.threading import ThreadingIntegration
from sentry_sdk.types import Event, Hint
from sentry_sdk.utils import BadDsn

from config.http.request_ids import current_request_id
from config.log_lines import MAX_LINE

# Any client can cause them; the log has them as warnings.
_SECURITY = "django.security."


class ErrorReportsConfig(AppConfig):
    """App that starts the reports of a process."""

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
                # Variables may hold keys, and bodies those of users.
                include_local_variables=False,
                max_request_body_size="never",
                send_default_pii=False,
                max_breadcrumbs=0,
                max_value_length=MAX_LINE,
            )
        except BadDsn:
            raise ImproperlyConfigured("SENTRY_DSN: must be https://<key>@<host>/<project>") from None


def scrub_event(event: Event, hint: Hint) -> Event | None:
    """Return the event with the request id as a tag; None for refused requests.

    Parts that may hold data of clients are removed: earlier records, arguments of records, requests and users.
    """
    if str(event.get("logger", "")).startswith(_SECURITY):
        return None
    event.pop("breadcrumbs", None)
    event.pop("extra", None)
    event.pop("request", None)
    event.pop("user", None)
    # The text is that of the log line; Celery passes all arguments of a task to its record.
    event["logentry"] = {name: part for name, part in event.get("logentry", {}).items() if name != "params"}
    event["tags"] = {"request_id": current_request_id()}
    return event


def _send_silently(pending: int, timeout: float) -> None:
    """Print nothing at the end of a process; what is pending is sent within the timeout."""

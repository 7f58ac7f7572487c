"""Log formatters with bounded length, for all processes, and filters for expected failures and request ids.

Callers control parts of many lines: hosts, paths, parameters. A refused request must not fill the disk with its own
text, and an exception repeats its message where its traceback ends.
"""

import logging
import os
from datetime import UTC, datetime

import orjson

from config.http.request_ids import current_request_id

# Limits in characters: for one line, and for a record with its traceback. This service's own lines are far shorter,
# besides what callers control.
MAX_LINE = 2_000
MAX_RECORD = 20_000


class ExpectedFailureFilter(logging.Filter):
    """Filter that turns records about requests that fail without a bug into one-line warnings.

    Any client can cause suspicious requests, and an outage refuses each request with 503.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Change such a request's record, and return True for all."""
        is_outage = record.name == "django.request" and getattr(record, "status_code", None) == 503
        if is_outage and record.exc_info and record.exc_info[0]:
            kind, error, _ = record.exc_info
            cause = " ".join(str(error).split())
            record.msg, record.args = "%s (%s: %s)", (record.getMessage(), kind.__name__, cause)
        if is_outage or record.name.startswith("django.security."):
            record.levelno, record.levelname, record.exc_info = logging.WARNING, "WARNING", None
        return True


class RequestIdFilter(logging.Filter):
    """Filter that adds the request id, for a handler: records from all loggers pass it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Set `request_id` and, for text lines, `request_mark`; both are empty without an id. Return True."""
        record.request_id = request_id = current_request_id()
        record.request_mark = f"[{request_id}] " if request_id else ""
        return True


class BoundedFormatter(logging.Formatter):
    """Formatter that cuts long lines at their end and long records in their middle, and marks how much was cut.

    A traceback ends with the exception's name, so its end stays. Other libraries' handlers with their own formatters
    are not covered: settings must name this one.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's text, within both limits besides the marks."""
        return _bounded(super().format(record))


class JsonFormatter(BoundedFormatter):
    """Formatter that writes a JSON object in one line per record, within the limits for text lines.

    `message` has a line's text, and `exception` has the traceback, if there is one.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the object. A lone surrogate, which JSON in UTF-8 can't hold, is written as its escape."""
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": _bounded(record.getMessage()),
        }
        request_id = getattr(record, "request_id", "")
        if request_id:
            entry["request_id"] = request_id
        if record.exc_info:
            entry["exception"] = _bounded(self.formatException(record.exc_info))
        if record.stack_info:
            entry["stack"] = _bounded(self.formatStack(record.stack_info))
        try:
            return orjson.dumps(entry).decode()
        except TypeError:
            escaped = {name: text.encode(errors="backslashreplace").decode() for name, text in entry.items()}
            return orjson.dumps(escaped).decode()


def make_formatter(log_format: str = "") -> logging.Formatter:
    """Return the formatter for `log_format` (`text` or `json`), by default LOG_FORMAT in the environment.

    The handler needs a RequestIdFilter.

    The web server's main process loads no settings: it has only the environment, as for all Procfile settings.
    """
    if (log_format or os.environ.get("LOG_FORMAT", "")).lower() == "json":
        return JsonFormatter()
    return BoundedFormatter("%(asctime)s %(levelname)s %(name)s %(request_mark)s%(message)s")


def _bounded(text: str) -> str:
    """Return the text within both limits besides the marks."""
    text = "\n".join(_cut_end(line) for line in text.split("\n"))
    cut = len(text) - MAX_RECORD
    if cut <= 0:
        return text
    half = MAX_RECORD // 2
    return f"{text[:half]}\n{_mark(cut)}\n{text[-half:]}"


def _cut_end(line: str) -> str:
    cut = len(line) - MAX_LINE
    if cut <= 0:
        return line
    return f"{line[:MAX_LINE]} {_mark(cut)}"


def _mark(cut: int) -> str:
    return f"[{cut} characters cut]"

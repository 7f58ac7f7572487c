"""Formatter of log records with bounded length, for all processes, and filter of refused requests.

Callers control parts of many lines: hosts, paths, parameters. A refused request must not fill the disk with its own
text, and an exception repeats its message at the end of its traceback.
"""

import logging

# Limits in characters: of one line, and of a record with its traceback. Lines of this service are far shorter, besides
# what callers control.
MAX_LINE = 2_000
MAX_RECORD = 20_000


class RefusedRequestFilter(logging.Filter):
    """Filter that turns reports of suspicious requests, which any client can cause, into warnings of one line."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record of such a request, and return True for all."""
        if record.name.startswith("django.security."):
            record.levelno, record.levelname, record.exc_info = logging.WARNING, "WARNING", None
        return True


class BoundedFormatter(logging.Formatter):
    """Formatter that cuts long lines at their end and long records in their middle, and marks how much was cut.

    The end of a traceback names the exception, so that it stays. Handlers of other libraries with formatters of their
    own are not covered: settings must name this one.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of the record, within both limits besides the marks."""
        text = "\n".join(_cut_end(line) for line in super().format(record).split("\n"))
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

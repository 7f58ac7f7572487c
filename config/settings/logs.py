"""What is logged, and how: lines on standard error."""

from typing import Any

# They say every task that is sent, received and done, of which some come every few seconds, and each step of a log-in.
_TALKATIVE = ("celery.beat", "celery.worker.strategy", "celery.app.trace", "axes")


def to_standard_error(level: str) -> dict[str, Any]:
    """Django's LOGGING for the least severe level that is written."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {name: {"level": "WARNING"} for name in _TALKATIVE},
    }

"""Logging settings: lines on standard error."""

from typing import Any

# They log every task that is sent, received and done, some of them every few seconds, and each step of a log-in.
_TALKATIVE = ("celery.beat", "celery.worker.strategy", "celery.app.trace", "axes")


def stderr_logging(level: str) -> dict[str, Any]:
    """Return Django's LOGGING for the minimum level."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {name: {"level": "WARNING"} for name in _TALKATIVE},
    }

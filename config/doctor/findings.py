"""Findings about an installation, and the run of all checks within a deadline.

Each app registers checks in its module `diagnostics`. A check has its own thread, so that a server that hangs costs
one deadline. A check that needs `postgresql`, directly or not, runs in a transaction with a statement timeout.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from threading import Thread

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connections
from django.utils import timezone
from django.utils.module_loading import autodiscover_modules
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from config.http.errors import PermanentError, RetryableError
from config.postgresql.timeouts import statement_timeout

# Seconds for one check, and milliseconds for one statement.
DEADLINE_SECONDS = 20.0
_STATEMENT_MS = 5000
_LONGEST_TEXT = 500
_POSTGRESQL = "postgresql"
# Server failures; any other exception is a mistake in the check.
_EXPECTED = (DatabaseError, RedisError, BrokerError, OSError, ImproperlyConfigured, RetryableError, PermanentError)


class Level(StrEnum):
    """Finding levels; an error makes the command fail."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"
    # The check could not run.
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A check's result, what to do about it, and the section of docs/ about it, as `repairing.md#wallets`."""

    level: Level
    summary: str
    action: str = ""
    guide: str = ""
    # Whether checks that need this one can't run.
    blocks: bool = False


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check: its place in the report, and a function that takes the time and yields findings."""

    sort_key: int
    name: str
    run: Callable[[datetime], Iterable[Finding]]
    # An earlier check's name, without which this one can't run.
    needs: str = ""


_checks: list[Check] = []


def register_checks(*checks: Check) -> None:
    """Add checks to the report; an app's module `diagnostics` calls this."""
    _checks.extend(checks)


def run_checks() -> Iterator[tuple[str, Finding]]:
    """Yield all checks' findings, each with its check's name, sorted by `sort_key`."""
    autodiscover_modules("diagnostics")
    blocked: set[str] = set()
    reading = {_POSTGRESQL}
    for check in sorted(_checks, key=lambda check: check.sort_key):
        if check.needs in reading:
            reading.add(check.name)
        if check.needs in blocked:
            findings = [_unknown(f"Not checked, because {check.needs} failed.")]
        else:
            findings = _run_check(check, reads_rows=check.needs in reading)
        if any(finding.blocks for finding in findings):
            blocked.add(check.name)
        for finding in findings:
            yield check.name, finding


def unreachable(error: Exception, *, action: str, guide: str) -> Finding:
    """Return the error for a server that does not respond."""
    return Finding(level=Level.ERROR, summary=_one_line(error), action=action, guide=guide, blocks=True)


def _run_check(check: Check, *, reads_rows: bool) -> list[Finding]:
    result: Future[list[Finding]] = Future()
    # A daemon: a thread that hangs must not keep the process.
    Thread(target=_complete, args=(result, check, reads_rows), daemon=True).start()
    try:
        return result.result(DEADLINE_SECONDS)
    except FutureTimeoutError:
        return [_unknown(f"No result within {DEADLINE_SECONDS:g} s.")]
    except _EXPECTED as error:
        return [_unknown(f"The check failed: {type(error).__name__}: {_one_line(error)}")]


def _unknown(text: str) -> Finding:
    return Finding(level=Level.UNKNOWN, summary=text, blocks=True)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:_LONGEST_TEXT]


def _complete(result: "Future[list[Finding]]", check: Check, reads_rows: bool) -> None:
    try:
        with ExitStack() as stack:
            if reads_rows:
                stack.enter_context(statement_timeout(milliseconds=_STATEMENT_MS, lock_milliseconds=_STATEMENT_MS))
            findings = list(check.run(timezone.now()))
    except BaseException as error:
        # Raised again where the result is read.
        result.set_exception(error)
    else:
        result.set_result(findings)
    finally:
        connections.close_all()

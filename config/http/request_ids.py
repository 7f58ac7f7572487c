"""Request id for the work that the current thread or asyncio task does: in log lines, messages and outgoing calls.

A context variable holds it. A new thread has none: code that hands work to another thread passes the id on.
"""

import re
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

HEADER = "X-Request-ID"
# No blank, quote, line break or non-ASCII character: an id is written into log lines and headers as it is.
_WELL_FORMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)

_current: ContextVar[str] = ContextVar("request_id", default="")


def current_request_id() -> str:
    """Return the current work's id; an empty string if it has none."""
    return _current.get()


def accept_request_id(text: str) -> str:
    """Return the id that a client sent, or a new one (32 hex digits) if it is not 1 to 64 characters `A-Za-z0-9._-`."""
    return text if _WELL_FORMED.fullmatch(text) else secrets.token_hex(16)


def begin_request(request_id: str = "") -> str:
    """Give the current thread this id, or a new one, until it begins other work. Return the id.

    For threads and processes that do one work after another: tasks, and loop cycles.
    """
    accepted = accept_request_id(request_id)
    _current.set(accepted)
    return accepted


@contextmanager
def request_scope(request_id: str) -> Iterator[None]:
    """Give the block this id, and restore the former one after it."""
    token = _current.set(request_id)
    try:
        yield
    finally:
        _current.reset(token)


class RequestThreadPool(ThreadPoolExecutor):
    """Thread pool that runs work in the context of the submitting thread: its request id and, if any, its trace."""

    def submit(
        self, work: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Future[Result]:
        """Submit work as `ThreadPoolExecutor.submit`."""
        context = copy_context()
        return super().submit(lambda: context.run(work, *args, **kwargs))


def outgoing_headers() -> dict[str, str]:
    """Return the header for a call to one of this installation's servers; empty without an id.

    Providers (nodes, market data, profiles), document hosts and partners' webhooks do not get it.
    """
    request_id = _current.get()
    return {HEADER: request_id} if request_id else {}

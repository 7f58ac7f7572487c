"""The tests' browser: an installed Chromium, driven by Playwright, which records errors and requests."""

import asyncio
import atexit
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import connection
from playwright.sync_api import Browser, Page, sync_playwright
from pytest_django.live_server_helper import LiveServer

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# It runs as root in containers, and sends no own requests to the Internet.
_ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
_TIMEOUT_MS = 60_000


@dataclass
class Visit:
    """A browser page, with what went wrong on it."""

    page: Page
    host: str
    errors: list[str] = field(default_factory=list)
    strange_requests: list[str] = field(default_factory=list)

    def photograph(self, name: str, *, whole: bool = False) -> None:
        """Store a screenshot of the viewport, or of the whole page, if SCREENSHOTS names a directory for them."""
        directory = os.environ.get("SCREENSHOTS")
        if directory:
            self.page.screenshot(path=Path(directory) / f"{name}.png", full_page=whole)

    def watch(self) -> None:
        """Note errors in the console and in scripts, failed answers, and requests to other hosts."""
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("requestfailed", lambda request: self.errors.append(f"{request.url}: {request.failure}"))
        self.page.on("request", lambda request: self._note(request.url))

    def assert_clean(self, allowed: str = "(?!)") -> None:
        """Fail on errors besides the allowed pattern, and on requests to other hosts.

        The stream has its own host, and a page that is left ends it.
        """
        ignored = re.compile(rf"{allowed}|/api/tokens/stream")
        assert [error for error in self.errors if not ignored.search(error)] == []
        assert [url for url in self.strange_requests if not ignored.search(url)] == []

    def _note(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.netloc != self.host:
            self.strange_requests.append(url)


def find_chromium() -> str:
    """Return the program that CHROMIUM names, or one on the PATH; fail the test without any."""
    named = os.environ.get("CHROMIUM")
    found = shutil.which(named) if named else next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        why = f"CHROMIUM names {named}, which is no program" if named else f"none of {', '.join(PROGRAMS)} is there"
        pytest.fail(f"There is no Chromium: {why}. `make chromium` installs one; CHROMIUM can name another.")
    return found


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Lend this process's only browser to the block; it starts at the first block, and ends with the process."""
    outer_loop, browser, loop = asyncio._get_running_loop(), *_started_browser()
    # Playwright's loop pauses between its calls, and counts as running for as long as it may be called.
    asyncio._set_running_loop(loop)
    try:
        yield browser
    finally:
        asyncio._set_running_loop(outer_loop)


@cache
def _started_browser() -> tuple[Browser, asyncio.AbstractEventLoop]:
    program, playwright = find_chromium(), sync_playwright().start()
    atexit.register(playwright.stop)
    browser = playwright.chromium.launch(executable_path=program, args=list(_ARGUMENTS))
    return browser, asyncio.get_running_loop()


@contextmanager
def browse_site() -> Iterator[Callable[..., Visit]]:
    """Serve the pages from this process, and yield a function that opens a path as `visit` does."""
    server = LiveServer("localhost")
    # Playwright runs an event loop in this thread, in which Django would refuse to begin the tests' transactions.
    with pytest.MonkeyPatch.context() as patch, open_browser() as browser:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield lambda path, **profile: visit(browser, server.url + path, **profile)
        for context in browser.contexts:
            context.close()
        # Inside the event loop this is another connection than outside, to which nothing else has access.
        connection.close()
    server.stop()


def visit(browser: Browser, url: str, *, width: int = 1360, **profile: Any) -> Visit:
    """Open this address in a new browser profile; `profile` has Playwright's options for it."""
    page = browser.new_page(
        **{"viewport": {"width": width, "height": 850}, "locale": "en-US", "timezone_id": "UTC"} | profile
    )
    page.set_default_timeout(_TIMEOUT_MS)
    visited = Visit(page=page, host=urlsplit(url).netloc)
    visited.watch()
    page.goto(url)
    return visited

"""The tests' browser: an installed Chromium, driven by Playwright, which records errors and requests."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
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
    """Start a browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(_ARGUMENTS))
        yield browser
        browser.close()


@contextmanager
def browse_site() -> Iterator[Callable[[str], Visit]]:
    """Serve the pages from this process, and yield a function that opens a path in a new browser profile."""
    server = LiveServer("localhost")
    # Playwright runs an event loop in this thread, in which Django would refuse to begin the tests' transactions.
    with pytest.MonkeyPatch.context() as patch, open_browser() as browser:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield lambda path: visit(browser, server.url + path)
        # Inside the event loop this is another connection than outside, to which nothing else has access.
        connection.close()
    server.stop()


def visit(browser: Browser, url: str) -> Visit:
    """Open this address in a new browser profile."""
    page = browser.new_page(viewport={"width": 1360, "height": 850}, locale="en-US", timezone_id="UTC")
    page.set_default_timeout(_TIMEOUT_MS)
    visited = Visit(page=page, host=urlsplit(url).netloc)
    visited.watch()
    page.goto(url)
    return visited

"""Benchmark for the public pages in a browser with an empty cache: bytes, time to the first content, and layout shift.

    python -m benchmarks.site_pages [--rounds 9] [--tokens 100000]

The web server runs as in production on loopback. The newest twenty tokens have hour candles, so that the token page
has 120 bars. Bytes are counted on the wire with headers, for all that the page loads. The floor is a one-line page
from Python's own server. Exits with code 1 beyond a limit.
"""

import http.server
import os
import statistics
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from benchmarks.harness import Limits, keep, parse_quantities, print_table
from benchmarks.lists import dataset
from benchmarks.processes import web_server
from tests.processes.chromium import open_browser
from tests.processes.service_processes import HOST

_LIMIT_KB, _LIMIT_MS, _LIMIT_SHIFT = 60.0, 200.0, 0.0
_SETTLED_MS = 500
_NEWEST = """SELECT chain_id, contract_address FROM tokens_token WHERE NOT blocked AND NOT unindexed
ORDER BY deployed_at DESC, id DESC LIMIT 1"""
# A price that rises and falls, and is the same in each run.
_CANDLES = """INSERT INTO tokens_candle (token_id, seconds, at, first_position, last_position, open, high, low, close,
    open_usd, high_usd, low_usd, close_usd, volume_quote, volume_usd, buys, sells)
SELECT id, 3600, date_trunc('hour', now()) - hour * interval '1 hour', hour, hour,
    price, price * 1.1, price * 0.9, price * 1.05, price, price * 1.1, price * 0.9, price * 1.05,
    1000000000, 5000, 12, 7
FROM (
    SELECT id FROM tokens_token WHERE NOT blocked AND NOT unindexed ORDER BY deployed_at DESC, id DESC LIMIT 20
) AS newest, generate_series(0, 119) AS hour, LATERAL (SELECT 2 + sin(hour / 9.0) AS price) AS wave
ON CONFLICT DO NOTHING"""
_FIRST_CONTENT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
# Entries before the observer's start are included.
_SHIFT = """new Promise(done => {
  let sum = 0;
  new PerformanceObserver(list => { for (const entry of list.getEntries()) sum += entry.value; })
    .observe({type: 'layout-shift', buffered: true});
  setTimeout(() => done(sum), 100);
})"""


class _View(NamedTuple):
    kilobytes: float
    requests: int
    milliseconds: float
    shift: float


def main() -> int:
    """Print and keep each page's figures; return 1 where one is beyond its limit."""
    options = parse_quantities(__doc__, rounds=9, tokens=100_000)
    dataset.open_server(options.tokens)
    paths = _prepare_rows(options.tokens)
    with web_server(dataset.environment(options.tokens)) as port, _plain_page() as plain_port:
        urls = {name: f"http://{HOST}:{port}{path}" for name, path in paths.items()}
        urls["one line (floor)"] = f"http://{HOST}:{plain_port}/"
        views = {name: _view_often(url, options.rounds) for name, url in urls.items()}
    floor = views["one line (floor)"].milliseconds
    print_table(
        ("page", "KB", "requests", "first content, ms", "floor = 1", "layout shift"),
        [
            (
                name,
                f"{view.kilobytes:.1f}",
                view.requests,
                f"{view.milliseconds:.0f}",
                f"{view.milliseconds / floor:.1f}",
                f"{view.shift:.3f}",
            )
            for name, view in views.items()
        ],
    )
    command = " ".join(["python -m benchmarks.site_pages", *sys.argv[1:]])
    kept = {name: view._asdict() for name, view in views.items()}
    keep("site_pages", {"command": command, "load": round(os.getloadavg()[1], 1), "pages": kept})
    return 0 if _check({name: views[name] for name in paths}) else 1


def _check(views: dict[str, _View]) -> bool:
    limits = Limits()
    for name, view in views.items():
        limits.at_most(f"{name}: transferred", view.kilobytes, _LIMIT_KB, "KB")
        limits.at_most(f"{name}: first content", view.milliseconds, _LIMIT_MS, "ms")
        limits.at_most(f"{name}: layout shift", view.shift, _LIMIT_SHIFT, "")
    return limits.are_kept


def _prepare_rows(count: int) -> dict[str, str]:
    """Give the newest tokens hour candles up to now, and return page paths by name."""
    with dataset.connect(dataset.name(count)) as connection:
        connection.execute(_CANDLES)
        found = connection.execute(_NEWEST).fetchone()
    if found is None:
        raise RuntimeError("the database has no tokens")
    chain_id, address = found
    return {
        "home": "/",
        "trending": "/?tab=trending",
        "search": "/?q=cat",
        "token": f"/tokens/{chain_id}/{address}",
        "leaderboard": "/leaderboard",
    }


def _view_often(url: str, rounds: int) -> _View:
    """Return the medians over views with an empty cache, after one that is not counted."""
    with open_browser() as browser:
        views = [_view_once(browser, url) for _ in range(rounds + 1)][1:]
    return _View(*(statistics.median(values) for values in zip(*views, strict=True)))


def _view_once(browser: Any, url: str) -> _View:
    context = browser.new_context(viewport={"width": 1280, "height": 850})
    page = context.new_page()
    lengths: list[float] = []
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda event: lengths.append(event["encodedDataLength"]))
    page.goto(url, wait_until="load")
    page.wait_for_timeout(_SETTLED_MS)
    view = _View(sum(lengths) / 1000, len(lengths), page.evaluate(_FIRST_CONTENT), page.evaluate(_SHIFT))
    context.close()
    return view


class _PlainHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"<!DOCTYPE html><title>Floor</title><p>One line."
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@contextmanager
def _plain_page() -> Iterator[int]:
    server = http.server.ThreadingHTTPServer((HOST, 0), _PlainHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()


if __name__ == "__main__":
    sys.exit(main())

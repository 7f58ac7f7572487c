"""Checks for all public pages in a real Chromium: axe finds no violation, and nothing overflows or shifts."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import pytest
from django.test import override_settings
from django.utils import timezone
from playwright.sync_api import Page
from pytest_django import DjangoDbBlocker

from config.environment.variables import BASE_DIR
from leaderboard.models import Interval
from tests.html_pages import HOSTILE
from tests.processes.chromium import Visit, browse_site
from tests.processes.template_database import restore_template_rows
from tests.rows.agent_factories import SnapshotFactory, StandingFactory
from tests.rows.factories import FeeClaimFactory, SolanaTokenFactory, TokenEventFactory, TokenFactory
from tests.tokens.market.stored_trades import make_hours
from tests.tokens.site.event_stream import open_stream
from tests.tokens.site.token_scenes import make_curve
from tokens.models import LaunchFacts, Market

pytestmark = pytest.mark.django_db

AXE = BASE_DIR / "development" / "devchain" / "node_modules" / "axe-core" / "axe.min.js"
# The library's best practices violate no standard, but rules worth keeping.
VIOLATIONS = """options => axe.run(document, options).then(
  found => found.violations.map(each => [each.id, each.nodes.map(node => node.html)]))"""
# The rules that a colour scheme can break.
COLOUR_RULES = {"runOnly": ["color-contrast", "link-in-text-block"]}
# Each move since the page was loaded: its size, and an element, from where and to where.
MOVES = """new Promise(done => {
  const moves = [];
  const text = ({x, y, width, height}) => [x, y, width, height].join(' ');
  new PerformanceObserver(list => list.getEntries().forEach(({value, sources: [moved]}) => moves.push(
    [value, (moved?.node?.outerHTML ?? moved?.node?.textContent ?? '').slice(0, 200),
      moved && text(moved.previousRect), moved && text(moved.currentRect)])))
    .observe({type: 'layout-shift', buffered: true});
  setTimeout(() => done(moves), 300);
})"""
# Texts that leave their cell, and so cover another one or are cut.
CUT = """[...document.querySelectorAll('main :is(td, th, dt, dd, button)')].filter(cell =>
  cell.clientWidth && cell.scrollWidth > cell.clientWidth + 1 && getComputedStyle(cell).overflow === 'visible' &&
  getComputedStyle(cell.closest('thead') ?? cell).clipPath === 'none').map(cell => cell.textContent.trim())"""
DECEIVING = "\u202e\u2066\u200b"
NAMES = (
    HOSTILE,
    "abc\u202egnp.exe \u2066x\u200b",
    "قهوة الصباح",
    "👩\u200d🚀🚀🇩🇪",
    "W" * 10_000,
    "a" + "\u0301" * 3_000,
    "x y " * 2_000,
)
SOLANA_MINT = "So11111111111111111111111111111111111111112"
GRADUATED_MINT = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
AGENT_TOKEN = "0x3fbE62c928df8A3EE07873270516b03C16850A33"
BLOCKED = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
# From declared launchpads: a graduated one with most decimals, and one without creator, picture, pool and decimals.
DECLARED = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"
BARE = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65"
ORDINARY = "0x8464135c8F25Da09e49BC8782676a84730C318bC"
CREATOR = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
PAGES = {
    "home": "/",
    "trending": "/?tab=trending",
    "graduating": "/?tab=graduating",
    "filtered": "/?minMarketCap=10000&sort=volume",
    "nothing passes": "/?verified=true&warnings=none&minMarketCap=123&minVolume24h=1000&socialInterface=bankr",
    "nothing found": "/?q=zzzzzz",
    "token": f"/tokens/8453/{ORDINARY}",
    "blocked token": f"/tokens/8453/{BLOCKED}",
    "solana token": f"/tokens/101/{SOLANA_MINT}",
    "graduated token": f"/tokens/101/{GRADUATED_MINT}",
    "german solana token": f"/de/tokens/101/{SOLANA_MINT}",
    "declared token": f"/tokens/8453/{DECLARED}",
    "bare declared token": f"/tokens/8453/{BARE}",
    "german declared token": f"/de/tokens/8453/{DECLARED}",
    "chinese declared token": f"/zh-hans/tokens/8453/{BARE}",
    "leaderboard": "/leaderboard",
    "creator": f"/creators/{CREATOR}",
    "creator without launches": "/creators/1",
    "status": "/status",
    "docs": "/docs",
    "embed": f"/embed/token/8453/{ORDINARY}",
    "mini app": "/miniapp",
    "mini app's token": f"/miniapp/tokens/8453/{ORDINARY}",
    "missing": "/nowhere",
    "german": "/de/",
    "german token": f"/de/tokens/8453/{ORDINARY}",
    "german leaderboard": "/de/leaderboard",
    "german status": "/de/status",
    "chinese": f"/zh-hans/tokens/8453/{ORDINARY}",
}


@pytest.fixture(scope="module")
def rows(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Create tokens with hostile names, one with a market and candles, and a ranking."""
    with django_db_blocker.unblock():
        for number, name in enumerate(NAMES):
            TokenFactory(
                name=name,
                symbol=name[: 40 + 100 * (number % 2)],
                description=name,
                launch_warnings=["UNUSUAL_TICK"],
                msg_sender=CREATOR,
            )
        TokenFactory(contract_address=BLOCKED, blocked=True, name=HOSTILE)
        make_curve(SolanaTokenFactory(contract_address=SOLANA_MINT), "63.28")
        make_curve(SolanaTokenFactory(contract_address=GRADUATED_MINT), "100")
        now = timezone.now().replace(minute=0, second=0, microsecond=0)
        make_declared(now)
        token = TokenFactory(
            contract_address=ORDINARY,
            name="Higher",
            symbol="HIGHER",
            msg_sender=CREATOR,
            deployed_at=now - timedelta(days=3),
        )
        make_hours(token, now, [1 + (hour % 7) / 10 for hour in range(48)])
        Market.objects.filter(token=token).update(
            price_usd=2.2, market_cap=1.2e6, volume_24h=52_000, price_change_24h=-3.25, tx_count_24h=72, updated_at=now
        )
        snapshot = SnapshotFactory(ranked=2, interval=Interval.DAY)
        StandingFactory(snapshot=snapshot, rank=1, agent_name="Aurora", token_chain_id=8453, token_address=ORDINARY)
        StandingFactory(snapshot=snapshot, rank=2, agent_name=NAMES[1], token_chain_id=8453, token_address=AGENT_TOKEN)
        yield
        restore_template_rows()


def make_declared(now: datetime) -> None:
    """Create declared launchpads' tokens."""
    declared = {"generation": "virtuals", "locker_address": "", "position_id": "", "msg_sender": "", "img_url": ""}
    graduated = TokenFactory(contract_address=DECLARED, decimals=77, supply=10**78 - 1, **declared)
    facts = {"curve_config": CREATOR, "pool": {"address": CREATOR, "pair_decimals": 18}}
    LaunchFacts.objects.create(token=graduated, facts=facts)
    event = TokenEventFactory(token=graduated, kind="fees_claimed", at=now)
    FeeClaimFactory(event=event, currency=DECLARED, amount=10**77)
    bare = TokenFactory(
        contract_address=BARE, decimals=0, supply=10**77, admin="", name="", symbol="", pool_address="",
        launch_warnings=["MISSING_POOL_CONFIG"], **declared,
    )  # fmt: skip
    for token, price in ((graduated, 1e60), (bare, 1e-60)):
        Market.objects.filter(token=token).update(price_usd=price, price_quote=price, updated_at=now)
        make_hours(token, now, [price] * 9)
    Market.objects.filter(token=graduated).update(graduated_at=now, curve_progress=100)


@pytest.fixture(scope="module")
def browse(rows: None) -> Iterator[Callable[[str], Visit]]:
    """Serve the pages for a browser."""
    with (
        open_stream() as stream,
        override_settings(ALLOWED_HOSTS=["localhost"], STREAM_URL=stream.url),
        browse_site() as open_path,
    ):
        yield open_path


@pytest.fixture
def site(browse: Callable[..., Visit]) -> Iterator[Callable[..., Page]]:
    """Yield a function that opens a page; what pages logged is checked when the test ends."""
    opened = []

    def open_page(path: str, *, width: int = 1280) -> Page:
        opened.append(browse(path, width=width, color_scheme="light"))
        return opened[-1].page

    yield open_page
    for visited in opened:
        # One page is missing on purpose.
        visited.assert_clean(allowed="404")
        visited.page.close()


def assert_still(page: Page) -> None:
    """Assert that nothing moves while the page loads.

    Beside other load, Chromium paints a half-read page, and moves it when it has read the rest. So a page may be loaded
    three times: a script, a picture or a font would move it each time.
    """
    for _ in range(2):
        if not page.evaluate(MOVES):
            return
        page.reload()
    assert page.evaluate(MOVES) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_any_screen_holds_still_and_is_accessible_in_both_schemes(site, name):
    page = site(PAGES[name], width=390)
    assert_still(page)
    assert not set(DECEIVING) & set(page.content()), "the page obeys deceiving characters"
    # Scripts read no width, so that a page is laid out alike whether it is loaded or resized.
    for width in (390, 320, 900, 1920, 1280):
        page.set_viewport_size({"width": width, "height": 850})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if name.startswith("german") and width in (320, 900):
            assert page.evaluate(CUT) == [], "longer words leave their cells"
    page.reload()
    assert_still(page)
    page.evaluate(AXE.read_text())
    assert page.evaluate(VIOLATIONS, {}) == []
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(VIOLATIONS, COLOUR_RULES) == []


def test_the_first_stop_of_the_keyboard_skips_to_the_content_and_motion_is_reduced_on_demand(site):
    page = site("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    page.emulate_media(reduced_motion="reduce")
    page.evaluate("document.querySelector('tbody tr').classList.add('arrived')")
    assert page.evaluate("getComputedStyle(document.querySelector('tbody tr')).animationName") == "none"

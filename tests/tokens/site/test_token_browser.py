"""A token's page in a real Chromium, over HTTP."""

import itertools
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.test import override_settings
from django.utils import timezone
from playwright.sync_api import expect
from pytest_django import DjangoDbBlocker

from tests.processes.chromium import Visit, browse_site
from tests.processes.template_database import restore_template_rows
from tests.tokens.market.stored_trades import make_trade
from tests.tokens.site.token_scenes import make_minutes, make_scene
from tokens.models import Candle, Market, MinuteCandle, PoolTrade, Token
from tokens.models.candle import HOUR

pytestmark = pytest.mark.django_db

SETTINGS = {"ALLOWED_HOSTS": ["localhost"], "RPC_URLS": {}}
# Font size and position for each visible text in the chart, in pixels; a line's space does not belong to its letters.
CHART_TEXTS = """() => {
  const chart = document.querySelector(".chart");
  const frame = chart.getBoundingClientRect();
  const texts = [...chart.querySelectorAll("text")].filter((text) => getComputedStyle(text).display !== "none");
  return texts.map((text) => {
    const size = parseFloat(getComputedStyle(text).fontSize);
    const { left, right, top, bottom } = text.getBoundingClientRect();
    const middle = (top + bottom) / 2;
    return {
      text: text.textContent, size, left, right, top: middle - size / 2, bottom: middle + size / 2,
      isTime: Boolean(text.closest(".marks")), isInside: left >= frame.left - 1 && right <= frame.right + 1,
    };
  });
}"""


@pytest.fixture(scope="module")
def token(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Token]:
    """Create this module's rows."""
    with django_db_blocker.unblock(), override_settings(**SETTINGS):
        yield make_scene(launch_warnings=["UNUSUAL_TICK"])
        restore_template_rows()


@pytest.fixture
def site(token: Token) -> Iterator[Visit]:
    """Return the token's page in a new profile."""
    # Opened for each test, after its transaction: rows written while it is open are committed, and the server has them.
    with browse_site() as browse:
        visited = browse(path_of(token))
        yield visited
        visited.page.close()


def path_of(token: Token) -> str:
    return f"/tokens/{token.chain_id}/{token.contract_address}"


def embed_path_of(path: str) -> str:
    return path.replace("/tokens/", "/embed/token/")


def assert_clean(site: Visit) -> None:
    site.page.wait_for_load_state("networkidle")
    site.assert_clean()


def test_the_chart_is_changed_by_keyboard_in_place(site):
    page = site.page
    page.evaluate("window.sameDocument = true")
    page.locator("#interval-1h").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**?interval=1h&unit=price&currency=usd")
    page.locator("#interval-1h[aria-current]").wait_for()
    assert page.locator("#chart .chart").get_attribute("aria-label").startswith("Price in 12 bars of 1 hour")
    # The focus stays on the choice, and the next one is reached by Tab.
    assert page.evaluate("document.activeElement.id") == "interval-1h"
    for _ in range(4):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "unit-cap"
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Market cap over time").wait_for()
    assert page.url.endswith("?interval=1h&unit=cap&currency=usd")
    assert page.evaluate("window.sameDocument") is True
    page.go_back()
    page.get_by_role("heading", name="Price over time").wait_for()
    assert_clean(site)


def test_the_table_has_the_bars(site):
    page = site.page
    page.get_by_text("As a table").focus()
    page.keyboard.press("Enter")
    table = page.locator("#chart-table table")
    assert table.is_visible()
    assert table.locator("tbody tr").count() == 30
    assert page.get_by_role("columnheader", name="Close").is_visible()
    assert_clean(site)


def test_the_address_is_copied(site, token):
    page = site.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button = page.locator("[aria-describedby=contract-token]")
    button.focus()
    page.keyboard.press("Enter")
    page.locator("[aria-describedby=contract-token]", has_text="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == token.contract_address
    assert_clean(site)


def test_a_warning_is_explained(site):
    page = site.page
    page.get_by_role("link", name="1 warning").click()
    warnings = page.get_by_role("region", name="Warnings")
    assert warnings.get_by_text("Early buyers may have paid much less.").is_visible()
    assert not warnings.get_by_text("starting tick").is_visible()
    warnings.get_by_text("How this is found").click()
    assert warnings.get_by_text("starting tick").is_visible()
    assert_clean(site)


def test_earlier_trades_replace_the_newest_ones(site, token):
    page = site.page
    # Another test adds one.
    earlier = PoolTrade.objects.filter(token=token).count() - 25
    page.locator("#trades-more").click()
    page.get_by_role("heading", name="Earlier trades").wait_for()
    assert page.locator("#trades tbody tr").count() == earlier
    page.locator("#trades-newest").click()
    page.get_by_role("heading", name="Newest trades").wait_for()
    assert page.locator("#trades tbody tr").count() == 25
    assert_clean(site)


def test_fees_that_wait_are_loaded_on_demand(site):
    page = site.page
    page.evaluate("window.sameDocument = true")
    page.get_by_role("link", name="Show fees that wait to be paid").click()
    # No node is installed here.
    page.locator("#waiting-fees").get_by_text("can't be read from the chain now").wait_for()
    assert page.evaluate("window.sameDocument") is True
    assert "/fees" not in page.url


def test_an_address_is_checked_in_place(site):
    page = site.page
    page.evaluate("window.sameDocument = true")
    page.get_by_label("Check an address").fill("nonsense")
    page.keyboard.press("Enter")
    page.get_by_text("This is not an address.").wait_for()
    assert page.evaluate("window.sameDocument") is True and page.url.endswith("?recipient=nonsense")
    assert_clean(site)


def test_trades_are_refreshed_unless_they_are_in_use(site, token):
    page = site.page
    page.clock.install()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.reload()
    page.locator("#trades a").first.focus()
    page.clock.run_for(20_000)
    assert not [url for url in requests if url.endswith("/trades")]
    page.locator("#chart-title").click()
    page.locator("body").evaluate("body => document.activeElement.blur()")
    make_trade(token, block=1_000_001, at=timezone.now(), amount_token=777 * 10**21)
    page.clock.run_for(6_000)
    page.locator("#trades td", has_text="777K").wait_for()
    assert [url for url in requests if url.endswith("/trades")]


def test_the_market_is_refreshed_after_a_trade_and_by_time(site, token):
    page, market = site.page, Market.objects.filter(token=token)
    page.clock.install()
    page.goto(f"http://{site.host}{path_of(token)}?interval=1h")
    page.locator("#unit-price").focus()
    page.evaluate("scrollTo(0, 120)")
    launched = page.locator("#chips time").inner_text()
    market.update(market_cap=4_560_000.0)
    Token.objects.filter(pk=token.pk).update(deployed_at=token.deployed_at - timedelta(hours=1))
    Candle.objects.filter(token=token, seconds=HOUR).update(high_usd=0.0105, close_usd=0.0105)
    page.clock.run_for(31_000)
    expect(page.locator("#figures")).to_contain_text("$4.56M")
    expect(page.locator("#chips time")).not_to_have_text(launched)
    expect(page.locator("#chart text.current")).to_have_text("$0.0105")
    assert page.locator("#interval-1h").get_attribute("aria-current") == "true"
    assert page.evaluate("[document.activeElement.id, scrollY]") == ["unit-price", 120]
    # A trade brings its market before the half minute is over.
    market.update(market_cap=7_890_000.0)
    make_trade(token, block=1_000_002, at=timezone.now(), amount_token=888 * 10**21)
    page.clock.run_for(6_000)
    page.locator("#trades td", has_text="888K").wait_for()
    page.clock.run_for(3_000)
    expect(page.locator("#figures")).to_contain_text("$7.89M")
    assert_clean(site)


@pytest.mark.parametrize("used_by", ["pointer", "table"])
def test_a_chart_under_the_pointer_holds_still_and_an_open_table_is_refreshed(site, token, used_by):
    page = site.page
    page.clock.install()
    page.reload()
    if used_by == "pointer":
        page.locator("#chart .plot").hover()
    else:
        page.get_by_text("As a table").press("Enter")
        page.locator("#chart-table [role=region]").focus()
        page.mouse.move(2, 2)
    before, rows = page.locator("#chart .chart").inner_html(), page.locator("#chart-table tbody").inner_text()
    Market.objects.filter(token=token).update(market_cap=F("market_cap") * 2)
    figures = page.locator("#figures").inner_text()
    MinuteCandle.objects.filter(token=token).update(high_usd=F("high_usd") * 2, close_usd=F("high_usd") * 2)
    page.clock.run_for(31_000)
    expect(page.locator("#figures")).not_to_have_text(figures, use_inner_text=True)
    if used_by == "pointer":
        assert page.locator("#chart .chart").inner_html() == before
        page.mouse.move(2, 2)
        page.clock.run_for(31_000)
    else:
        expect(page.locator("#chart-table tbody")).not_to_have_text(rows, use_inner_text=True)
        expect(page.locator("#chart-table table")).to_be_visible()
        expect(page.locator("#chart-table [role=region]")).to_be_focused()
    page.wait_for_function("before => document.querySelector('#chart .chart').innerHTML !== before", arg=before)


def test_buttons_that_need_scripts_are_shown_with_scripts_only(site, token):
    expect(site.page.locator("[data-copy]").first).to_be_visible()
    plain = site.page.context.browser.new_context(java_script_enabled=False)
    page = plain.new_page()
    page.goto(f"http://{site.host}{path_of(token)}")
    expect(page.locator("[data-copy]").first).to_be_attached()
    expect(page.locator("[data-copy]").filter(visible=True)).to_have_count(0)
    plain.close()


def test_texts_of_the_chart_are_legible_and_apart_at_any_width(site, token):
    path = path_of(token)
    for page_path in (path, f"{path}?interval=1h&currency=quote", embed_path_of(path)):
        for width, texts in chart_texts(site, page_path, (1280, 1024, 700, 545, 390, 353, 320)):
            assert min(text["size"] for text in texts) >= 10.4, (page_path, width, texts)
            assert len([text for text in texts if text["isTime"]]) >= 1
            for one, other in itertools.combinations(texts, 2):
                apart = one["right"] <= other["left"] or other["right"] <= one["left"]
                assert apart or one["bottom"] <= other["top"] or other["bottom"] <= one["top"], (page_path, one, other)
            assert all(text["isInside"] for text in texts), (page_path, width, texts)
            assert site.page.evaluate("document.documentElement.scrollWidth") <= width, (page_path, width)


def chart_texts(site: Visit, path: str, widths: Iterable[int]) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Yield each width with the chart's texts on this page."""
    site.page.goto(f"http://{site.host}{path}")
    # Scripts read no width, so that a page is laid out alike whether it is loaded or resized.
    for width in widths:
        site.page.set_viewport_size({"width": width, "height": 800})
        yield width, site.page.evaluate(CHART_TEXTS)


def test_the_times_of_few_bars_are_inside_the_chart(site):
    for bars in (1, 4, 5):
        path = path_of(make_minutes(bars))
        for page_path in (path, embed_path_of(path)):
            for width, texts in chart_texts(site, page_path, (1280, 390, 320)):
                times = [text for text in texts if text["isTime"]]
                assert times and all(text["isInside"] for text in times), (bars, width, page_path, times)
                site.photograph(f"bars-{bars}-{width}-{page_path.split('/')[1]}")


# Card columns' heights in pixels without their last margins, and what the chart leaves from its card's width.
COLUMNS = """() => {
  const heights = [".traded", ".beside"].map((column) => {
    const parts = [...document.querySelector(column).children].map((part) => part.getBoundingClientRect());
    return Math.max(...parts.map((part) => part.bottom)) - parts[0].top;
  });
  const [chart, plot, last] = ["#chart", "#chart .plot", "#chart g:last-of-type > .slot"].map(
    (part) => [...document.querySelectorAll(part)].pop().getBoundingClientRect());
  return { heights, filled: plot.width / chart.width, behind: plot.right - last.right, left: plot.left - chart.left };
}"""


def test_no_hole_is_beside_the_cards_and_the_chart_fills_its_width(site, token):
    page = site.page
    for traded in (token, make_minutes(5)):
        page.goto(f"http://{site.host}{path_of(traded)}")
        assert page.locator("#trades tbody tr").count() == (25 if traded == token else 0)
        for width in (1280, 1600):
            page.set_viewport_size({"width": width, "height": 900})
            layout = page.evaluate(COLUMNS)
            left, right = layout["heights"]
            # A trade list that is shorter than the facts has the rest of the card, and never the facts a hole.
            assert abs(left - right) < 200, (width, layout)
            assert layout["filled"] > 0.8 and abs(layout["behind"]) < 1 and layout["left"] < 20, (width, layout)
        for width, scheme in itertools.product((1280, 390, 320), ("dark", "light")):
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=scheme)
            site.photograph(f"token-{width}-{scheme}", whole=True)
    assert_clean(site)

"""The home page's filter chips in a real Chromium: by keyboard, on small screens, and without scripts."""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from tests.processes.chromium import Visit, browse_site
from tests.rows.factories import TokenFactory
from tests.rows.token_lists import price
from tests.tokens.site.event_stream import stream

__all__ = ["stream"]
pytestmark = pytest.mark.django_db(transaction=True)

TYPE_AND_CLICK = """text => {
  const box = document.querySelector("[type=search]");
  box.value = text;
  box.dispatchEvent(new Event("input", {bubbles: true}));
  document.querySelector("#filter-chips a").click();
}"""
LISTS = re.compile(r"//[^/]+/(\?[^/]*)?$")
# Chips that are not whole in the viewport's width, too small to touch, or under another element.
UNUSABLE = """width => [...document.querySelectorAll("#filter-chips a")].filter(chip => {
  const {left, right, top, width: wide, height} = chip.getBoundingClientRect();
  const seen = document.elementFromPoint(left + wide / 2, top + height / 2);
  return left < 0 || right > width || height < 24 || wide < 24 || !chip.contains(seen);
}).map(chip => chip.textContent)"""


@pytest.fixture
def site(transactional_db, settings, stream) -> Iterator[Visit]:
    """Return a home page visit with 30 tokens; each third is verified, and 0 to 25 have 1,000,000 USD."""
    settings.ALLOWED_HOSTS = ["localhost"]
    with browse_site() as browse:
        for number in range(30):
            make_token(number)
        visited = browse("/")
        yield visited
        visited.page.close()


def make_token(number: int, **columns: object) -> None:
    token = TokenFactory(
        **{
            "name": f"Token number {number}",
            "symbol": f"N{number}",
            "verified": number % 3 == 0,
            "deployed_at": timezone.now() - timedelta(minutes=number),
            "social_context": {"interface": "Bankr"},
            **columns,
        }
    )
    price(token, market_cap=1_000_000.0 if number <= 25 else 1.0, volume_24h=float(number))


def chip(page: Page, text: str):
    return page.locator("#filter-chips").get_by_role("link", name=text)


def test_filters_are_set_and_removed_by_keyboard_only(site):
    page, host = site.page, f"http://{site.host}"
    while page.evaluate("document.activeElement.textContent") != "Verified":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".token a")).to_have_count(10)
    expect(page).to_have_url(f"{host}/?verified=true")
    expect(page.get_by_role("status")).to_have_text("10 tokens found")
    # The focus stays, so that the same key removes the filter.
    expect(chip(page, "Verified remove filter")).to_be_focused()
    expect(chip(page, "Verified remove filter")).to_have_attribute("aria-current", "true")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{host}/")
    expect(chip(page, "Verified")).to_be_focused()
    expect(page.locator("#filter-chips [aria-current]")).to_have_count(0)
    expect(page.locator(".token a")).to_have_count(20)
    site.assert_clean()


def test_filters_stay_through_sort_search_more_and_a_reload(site):
    page = site.page
    chip(page, "Market cap $1M+").click()
    expect(page).to_have_url(f"http://{site.host}/?minMarketCap=1000000")
    page.get_by_role("link", name="More").click()
    expect(page.locator(".token a")).to_have_count(26)
    page.get_by_label("Sort").select_option(label="Volume, 24 hours")
    expect(page.locator(".token a").first).to_have_text("N25")
    # The chips lead to the newly sorted list.
    chip(page, "Verified").click()
    expect(page.locator(".token a")).to_have_count(9)
    expect(page.locator(".token a").first).to_have_text("N24")
    page.get_by_role("searchbox").fill("number 2")
    expect(page.locator(".token a")).to_have_text(["N24", "N21"])
    for part in ("minMarketCap=1000000", "verified=true", "sort=volume", "q=number+2"):
        assert part in page.url
    page.reload()
    expect(page.locator(".token a")).to_have_text(["N24", "N21"])
    page.get_by_role("searchbox").fill("number 29")
    expect(page.locator(".empty")).to_contain_text("No token passes all chosen filters.")
    page.locator(".empty").get_by_role("link", name="Remove filters").click()
    expect(page.locator(".token a")).to_have_text(["N29"])
    expect(page.locator("#filter-chips [aria-current]")).to_have_count(0)
    site.assert_clean()


def test_a_live_refresh_keeps_the_filters(site, stream):
    page = site.page
    stream.opened.get(timeout=30)
    chip(page, "Verified").click()
    expect(page.locator(".token a")).to_have_count(10)
    stream.opened.get(timeout=30)
    page.mouse.move(2, 2)
    make_token(40, symbol="FAILS", verified=False, deployed_at=timezone.now())
    make_token(41, symbol="PASSES", verified=True, deployed_at=timezone.now())
    stream.send("token.indexed")
    expect(page.locator("tr.arrived .token a")).to_have_text(["PASSES"])
    expect(page.locator(".token a")).to_have_count(11)
    assert page.url.endswith("/?verified=true")
    # What waits may not pass the filters, and is not counted.
    page.locator(".token a").first.focus()
    stream.send("token.indexed")
    expect(page.get_by_role("button", name="Changes wait")).to_be_visible()
    site.assert_clean()


def test_filters_work_without_scripts(site):
    plain = site.page.context.browser.new_context(java_script_enabled=False)
    page = plain.new_page()
    page.goto(f"http://{site.host}/")
    chip(page, "Verified").click()
    expect(page.locator(".token a")).to_have_count(10)
    page.get_by_label("Sort").select_option(label="Market cap")
    page.get_by_role("searchbox").fill("number 1")
    page.get_by_role("button", name="Show").click()
    assert "verified=true" in page.url and "sort=market-cap" in page.url
    expect(page.locator(".token a")).to_have_text(["N18", "N15", "N12"])
    page.get_by_role("link", name="Remove filters").click()
    expect(page.locator(".token a")).to_have_count(11)
    plain.close()


def test_chips_are_whole_and_large_enough_at_any_width(site):
    page = site.page
    for query in ("", "?verified=true&minMarketCap=1000000&minVolume24h=10000", f"?socialInterface={'W' * 100}"):
        page.goto(f"http://{site.host}/{query}")
        assert chip(page, "Verified").is_visible() and page.locator("#filter-chips a").count() >= 9
        for width in (1280, 390, 320):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(UNUSABLE, width) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            site.photograph(f"filters-{width}-{len(query)}")


def hold_lists(page: Page) -> list[Route]:
    """Hold list requests from now on, and return them as they arrive."""
    held: list[Route] = []
    page.route(LISTS, lambda route: held.append(route))
    return held


def release(page: Page, held: list[Route]) -> None:
    """Let held requests and all later ones reach the site."""
    for route in held:
        route.continue_()
    page.unroute(LISTS)


def test_two_chips_in_a_row_are_both_set(site):
    page = site.page
    held = hold_lists(page)
    for text in ("Verified", "Market cap $1M+"):
        with page.expect_request(LISTS):
            chip(page, text).click()
    # A chip's state does not wait for the response.
    expect(page.locator("#filter-chips [aria-current]")).to_have_count(2)
    release(page, held[1:])
    expect(page).to_have_url(f"http://{site.host}/?verified=true&minMarketCap=1000000")
    expect(page.locator(".token a")).to_have_count(9)
    held = hold_lists(page)
    for text in ("Market cap $10K+", "Verified remove filter"):
        with page.expect_request(LISTS):
            chip(page, text).click()
    release(page, held[1:])
    expect(page).to_have_url(f"http://{site.host}/?minMarketCap=10000")
    expect(page.get_by_role("status")).to_have_text("26 tokens found")


def test_a_chip_right_after_typing_keeps_text_and_filter(site):
    page = site.page
    page.evaluate(TYPE_AND_CLICK, "number 2")
    expect(page).to_have_url(f"http://{site.host}/?q=number+2&verified=true")
    expect(page.locator(".token a")).to_have_text(["N21", "N24", "N27"])


def test_typing_right_after_a_chip_keeps_both_and_the_entry_of_the_history(site):
    page = site.page
    held = hold_lists(page)
    with page.expect_request(LISTS):
        chip(page, "Verified").click()
    with page.expect_request(LISTS):
        page.get_by_role("searchbox").fill("number 2")
    release(page, held[1:])
    expect(page).to_have_url(f"http://{site.host}/?q=number+2&verified=true")
    expect(page.locator(".token a")).to_have_text(["N21", "N24", "N27"])
    page.go_back()
    expect(page).to_have_url(f"http://{site.host}/")
    expect(page.locator(".token a")).to_have_count(20)
    expect(page.get_by_role("searchbox")).to_have_value("")


def test_back_returns_to_the_list_before_each_filter_and_sort(site):
    page, host = site.page, f"http://{site.host}"
    page.goto(f"{host}/status")
    page.goto(f"{host}/")
    chip(page, "Verified").click()
    expect(page).to_have_url(f"{host}/?verified=true")
    page.get_by_label("Sort").select_option(label="Volume, 24 hours")
    expect(page.locator(".token a").first).to_have_text("N27")
    # Typing has no own entries.
    for text in ("number", "number 2"):
        page.get_by_role("searchbox").fill(text)
        expect(page).to_have_url(re.compile(f"q={text.replace(' ', '.')}&"))
    page.go_back()
    expect(page).to_have_url(f"{host}/?verified=true")
    expect(page.locator(".token a").first).to_have_text("N0")
    expect(page.get_by_role("searchbox")).to_have_value("")
    expect(page.get_by_label("Sort")).to_have_value("")
    expect(chip(page, "Verified remove filter")).to_be_visible()
    page.go_back()
    expect(page).to_have_url(f"{host}/")
    expect(page.locator("#filter-chips [aria-current]")).to_have_count(0)
    expect(page.locator(".token a")).to_have_count(20)
    # The restored page works as one that is opened.
    chip(page, "Market cap $1M+").click()
    expect(page.get_by_role("status")).to_have_text("26 tokens found")
    page.go_back()
    expect(page).to_have_url(f"{host}/")
    expect(page.locator("#filter-chips [aria-current]")).to_have_count(0)
    page.go_back()
    expect(page).to_have_url(f"{host}/status")
    site.assert_clean()


def test_links_to_other_languages_keep_the_filters(site):
    page = site.page
    chip(page, "Verified").click()
    expect(page.locator(".token a")).to_have_count(10)
    page.get_by_role("link", name="Deutsch").click()
    expect(page).to_have_url(f"http://{site.host}/de/?verified=true")
    expect(page.locator(".token a")).to_have_count(10)
    site.assert_clean()

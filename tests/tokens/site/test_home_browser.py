"""The home page in a real Chromium: search, filters, and the list that holds still."""

import re
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from urllib.parse import urlsplit

import pytest
from django.utils import timezone
from playwright.sync_api import Request, expect

from accounts.models import SocialProfile
from config.events.models import OutboxEvent
from config.events.outbox import publish_events
from tests.html_pages import HOSTILE
from tests.processes.chromium import Visit, browse_site
from tests.processes.stream_clients import stream_process
from tests.processes.waiting import wait_for
from tests.rows.factories import SocialProfileFactory, SolanaTokenFactory, TokenFactory
from tests.tokens.market.stored_trades import make_hours
from tests.tokens.site.event_stream import stream
from tests.tokens.site.token_scenes import make_curve
from tokens.models import Market, RollingSum, Token

__all__ = ["stream"]
pytestmark = pytest.mark.django_db(transaction=True)

WIDTHS = (1920, 1280, 768, 390, 320)
FOCUS_IS_SEEN = """() => {
  const {x, y, width, height} = document.activeElement.getBoundingClientRect();
  const seen = document.elementFromPoint(x + width / 2, y + height / 2);
  return document.activeElement.contains(seen) || seen.contains(document.activeElement);
}"""
# Each row's height in lines of 20 pixels, without its 20 pixels of padding.
LINES = """() => [...document.querySelectorAll(".tokens tbody tr")]
  .map((row) => Math.floor((row.offsetHeight - 20) / 20))"""
LISTS = re.compile(r"//[^/]+/(\?[^/]*)?$")
REFRESH_ENDED = """() => {
  window.refreshEnded = new Promise((end) => document.addEventListener("htmx:finally:request", ({detail}) =>
    detail.ctx.sourceElement.id === "list" && end()));
}"""
# A token row's shown text, and whether any part is cut.
FACTS = """row => [row.innerText, [...row.querySelectorAll(".creator, .creator *, .volume, .trades, .cap")]
  .some(part => part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).display != "inline")]"""


@pytest.fixture
def site(transactional_db, settings, stream) -> Iterator[Visit]:
    """Return a home page visit, with the `make_tokens` tokens."""
    settings.ALLOWED_HOSTS, settings.RPC_URLS = ["localhost"], {8453: ("http://127.0.0.1:1",), 42161: ("http://x",)}
    with browse_site() as browse:
        make_tokens()
        visited = browse("/")
        yield visited
        visited.page.close()


def make_tokens() -> None:
    """Create tokens with markets, trades and candles, the newest with the number 0."""
    now = timezone.now()
    for number in range(33, -1, -1):
        chain_id = 42161 if number % 4 == 3 else 8453
        fid = SocialProfileFactory(username=f"maker{number}").fid if number % 5 == 1 else None
        token = TokenFactory(
            name=f"Token number {number}",
            symbol=f"N{number}",
            chain_id=chain_id,
            requestor_fid=fid,
            known_interface_deployer=fid is not None,
            deployed_at=now - timedelta(minutes=7 * number**2),
            launch_warnings=["UNUSUAL_TICK"] if number == 4 else [],
        )
        trade(token, number)
    TokenFactory(name=HOSTILE, symbol=HOSTILE[:35], deployed_at=now, msg_sender="", admin="")
    TokenFactory(name="اختبار \u202egnp.exe", symbol="W" * 300, deployed_at=now)
    old = SolanaTokenFactory(name="🚀 " * 100, symbol="👩\u200d🚀", deployed_at=now - timedelta(days=900))
    make_curve(old, "51.23")


def trade(token: Token, number: int) -> None:
    now = timezone.now().replace(minute=0, second=0, microsecond=0)
    Market.objects.filter(token=token).update(
        market_cap=7 ** (number % 11) * 100.0,
        volume_24h=9_999.0 * number,
        price_change_24h=(number % 7 - 3) * 13.7,
        trending=float(number),
    )
    if number % 3:
        sums = {"volume_quote": 10**18, "volume_usd": 2_000, "traders": 1}
        RollingSum.objects.create(token=token, seconds=86_400, buys=7 * number, sells=number, **sums)
        make_hours(token, now, [1 + (hour * number * 7 % 13) / 10 + (number % 7 - 3) * hour / 20 for hour in range(24)])


def symbols(site: Visit) -> list[str]:
    return site.page.locator(".token a").all_inner_texts()


def rest_pointer(site: Visit) -> None:
    """Move the pointer away from the list."""
    site.page.mouse.move(2, 2)


def test_a_token_is_found_by_typing_and_by_keyboard_only(site):
    page = site.page
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    while page.evaluate("document.activeElement.name") != "q":
        page.keyboard.press("Tab")
    page.keyboard.type("number 17")
    expect(page.locator(".token a")).to_have_text(["N17"])
    expect(page).to_have_url(f"http://{site.host}/?q=number+17")
    expect(page.get_by_role("status")).to_have_text("1 token found")
    expect(page.get_by_role("searchbox")).to_be_focused()
    while page.evaluate("document.activeElement.textContent") != "N17":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    token = Token.objects.get(symbol="N17")
    page.wait_for_url(f"**/tokens/8453/{token.contract_address}")
    page.go_back()
    expect(page.get_by_role("searchbox")).to_have_value("number 17")
    page.get_by_role("searchbox").fill("nowhere")
    expect(page.locator(".empty")).to_contain_text("Nothing found for nowhere")
    page.get_by_role("searchbox").fill("")
    expect(page.locator(".token a")).to_have_count(20)
    site.assert_clean()


def test_filters_sorts_and_more_change_the_list_and_the_url(site):
    page = site.page
    page.get_by_label("Chain").select_option(label="Arbitrum One")
    expect(page.locator("td.chain", has_text="Base")).to_have_count(0)
    expect(page).to_have_url(f"http://{site.host}/?chain=42161")
    page.get_by_label("Sort").select_option(label="Volume, 24 hours")
    expect(page.locator(".token a").first).to_have_text("N31")
    expect(page).to_have_url(f"http://{site.host}/?chain=42161&sort=volume")
    page.reload()
    assert symbols(site)[:2] == ["N31", "N27"]
    page.get_by_label("Chain").select_option(label="All chains")
    expect(page.locator(".token a")).to_have_count(20)
    page.get_by_role("link", name="More").click()
    expect(page.locator(".token a")).to_have_count(37)
    expect(page.get_by_role("link", name="More")).to_have_count(0)
    assert len(set(symbols(site))) == 37
    page.get_by_role("link", name="Trending").click()
    expect(page.get_by_role("link", name="Trending")).to_have_attribute("aria-current", "page")
    assert symbols(site)[0] == "N33"
    site.assert_clean()


def test_a_refused_search_is_explained_where_the_list_is(site):
    page, search = site.page, site.page.get_by_role("searchbox")
    search.evaluate("box => box.removeAttribute('maxlength')")
    search.fill("x" * 101)
    expect(page.locator("#list")).to_contain_text("q must have at most 100 characters.")
    search.fill("number 17")
    expect(page.locator(".token a")).to_have_text(["N17"])
    site.assert_clean(allowed="400")


def test_new_tokens_arrive_without_a_reload(site, stream):
    page = site.page
    path = "/api/tokens/stream?type=token.indexed,token.updated,token.reorged,markets.changed&lastEventId=0"
    assert stream.opened.get(timeout=30) == path
    rest_pointer(site)
    TokenFactory(symbol="ARRIVED", deployed_at=timezone.now())
    stream.send("token.indexed")
    expect(page.locator("tr.arrived .token a")).to_have_text(["ARRIVED"])
    assert page.locator(".notice button").count() == 0
    Token.objects.filter(symbol="ARRIVED").update(blocked=True)
    stream.send("token.updated")
    expect(page.get_by_text("ARRIVED")).to_have_count(0)
    # A chain's list has its own stream.
    assert stream.opened.empty()
    page.get_by_label("Chain").select_option(label="Arbitrum One")
    assert stream.opened.get(timeout=30) == path.replace("&last", "&chainId=42161&last")


def is_list(request: Request) -> bool:
    return request.resource_type == "fetch" and urlsplit(request.url).path == "/"


@pytest.mark.parametrize("deed", ["search", "more", "pointer"])
def test_a_refresh_under_way_does_not_undo_what_a_visitor_does(site, stream, deed):
    page, held = site.page, []
    stream.opened.get(timeout=30)
    rest_pointer(site)
    page.evaluate(REFRESH_ENDED)
    page.route(LISTS, lambda route: held.append(route), times=1)
    TokenFactory(symbol="ARRIVED", deployed_at=timezone.now())
    with page.expect_request(is_list):
        stream.send("token.updated")
    if deed == "search":
        page.get_by_role("searchbox").fill("number 17")
        expect(page.locator(".token a")).to_have_text(["N17"])
    elif deed == "more":
        page.get_by_role("link", name="More").click()
        expect(page.locator(".token a")).to_have_count(37)
    else:
        page.locator(".token a").nth(3).hover()
    before = symbols(site)
    held[0].continue_()
    page.evaluate("window.refreshEnded")
    assert symbols(site) == before
    rest_pointer(site)
    if deed == "pointer":
        expect(page.locator(".token a", has_text="ARRIVED")).to_be_visible()
    site.assert_clean()


def test_a_response_without_a_list_leaves_it_and_is_explained(site):
    page, search = site.page, site.page.get_by_role("searchbox")
    before = symbols(site)
    page.route(LISTS, lambda route: route.fulfill(status=429, body="<p>Too many requests</p>"), times=1)
    search.fill("number 17")
    expect(page.locator("#notice")).to_have_text("This page can't be shown now. Try again in a minute.")
    assert symbols(site) == before
    search.fill("number 18")
    expect(page.locator(".token a")).to_have_text(["N18"])
    expect(page.locator("#notice")).to_be_empty()
    site.assert_clean(allowed="429")


def test_the_list_goes_on_after_a_response_with_which_browsers_give_up(site, stream):
    stream.opened.get(timeout=30)
    stream.refusals = 1
    site.page.reload()
    refused = stream.opened.get(timeout=30)
    assert stream.opened.get(timeout=30) == refused
    rest_pointer(site)
    TokenFactory(symbol="ARRIVED", deployed_at=timezone.now())
    stream.send("token.indexed")
    expect(site.page.locator("tr.arrived .token a")).to_have_text(["ARRIVED"])


@pytest.mark.parametrize(("held_by", "end"), [("pointer", "leave"), ("pointer", "click"), ("focus", "key")])
def test_the_list_holds_still_in_use_and_counts_new_tokens(site, stream, held_by, end):
    page = site.page
    stream.opened.get(timeout=30)
    page.clock.install()
    page.reload()
    stream.opened.get(timeout=30)
    rest_pointer(site)
    if held_by == "pointer":
        page.locator(".token a").nth(3).hover()
    else:
        page.locator(".token a").nth(3).focus()
    before = symbols(site)
    TokenFactory(symbol="FIRST", deployed_at=timezone.now())
    stream.send("token.indexed")
    expect(page.get_by_role("button", name="1 new token waits")).to_be_visible()
    TokenFactory(symbol="SECOND", deployed_at=timezone.now())
    stream.send("token.indexed")
    stream.send("token.updated")
    waiting = page.get_by_role("button", name="2 new tokens wait")
    expect(waiting).to_be_visible()
    # Longer than a refresh delay.
    page.clock.run_for(2_500)
    assert symbols(site) == before
    site.photograph(f"home-waiting-{end}")
    if end == "leave":
        rest_pointer(site)
    elif end == "click":
        waiting.click()
    else:
        waiting.focus()
        page.keyboard.press("Enter")
    expect(page.locator("tr.arrived .token a")).to_have_text(["SECOND", "FIRST"])
    expect(page.locator(".notice button")).to_have_count(0)


def test_new_tokens_are_put_in_front_of_appended_pages(site, stream):
    page = site.page
    stream.opened.get(timeout=30)
    page.get_by_role("link", name="More").click()
    expect(page.locator(".token a")).to_have_count(37)
    before = symbols(site)
    page.locator(".warnings summary").click()
    rest_pointer(site)
    TokenFactory(symbol="FIRST", deployed_at=timezone.now())
    stream.send("token.indexed")
    waiting = page.get_by_role("button", name="1 new token waits")
    waiting.click()
    expect(page.locator("tr.arrived .token a")).to_have_text(["FIRST"])
    assert symbols(site) == ["FIRST", *before]
    assert page.locator("details.warnings[open]").count() == 1
    # The next one is found, too.
    TokenFactory(symbol="SECOND", deployed_at=timezone.now())
    stream.send("token.indexed")
    waiting.click()
    expect(page.locator(".token a").first).to_have_text("SECOND")
    assert symbols(site) == ["SECOND", "FIRST", *before]


def test_the_button_covers_nothing_and_moves_nothing_at_any_width(site, stream):
    page = site.page
    stream.opened.get(timeout=30)
    before = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        before[width] = page.locator("#list").bounding_box()
    page.locator(".token a").first.focus()
    stream.send("token.indexed")
    button = page.get_by_role("button", name="1 new token waits")
    expect(button).to_be_visible()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("scrollTo(0, 0)")
        box, filters = button.bounding_box(), page.locator("#filters").bounding_box()
        site.photograph(f"home-waiting-{width}")
        assert box and filters and page.locator("#list").bounding_box() == before[width]
        assert box["y"] >= filters["y"] + filters["height"] and box["y"] + box["height"] <= before[width]["y"]


def test_the_button_is_in_sight_and_in_reach_of_a_scrolled_list(site, stream):
    page = site.page
    stream.opened.get(timeout=30)
    page.set_viewport_size({"width": 1280, "height": 500})
    page.locator(".token a").nth(15).focus()
    row = page.locator("tbody tr").nth(15)
    before = row.bounding_box()
    assert page.evaluate("scrollY") > 400
    TokenFactory(symbol="ARRIVED", deployed_at=timezone.now())
    stream.send("token.indexed")
    button = page.get_by_role("button", name="1 new token waits")
    expect(button).to_be_in_viewport(ratio=1)
    site.photograph("home-waiting-scrolled")
    assert row.bounding_box() == before
    while page.evaluate("document.activeElement.parentElement.id") != "notice":
        page.keyboard.press("Shift+Tab")
        # No focused link is under the button.
        assert page.evaluate(FOCUS_IS_SEEN)
    page.keyboard.press("Enter")
    expect(page.locator("tr.arrived .token a")).to_have_text(["ARRIVED"])


def test_trending_follows_its_stream_and_holds_still_in_use(site, stream):
    page = site.page
    stream.opened.get(timeout=30)
    page.get_by_role("link", name="Trending").click()
    path = "/api/tokens/stream?type=token.updated,token.reorged,markets.changed&lastEventId=0"
    assert stream.opened.get(timeout=30) == path
    expect(page.locator(".token a").first).to_have_text("N33")
    rest_pointer(site)
    Market.objects.filter(token__symbol="N7").update(trending=99.0)
    stream.send("markets.changed")
    expect(page.locator(".token a").first).to_have_text("N7")
    page.locator(".token a").nth(3).hover()
    Market.objects.filter(token__symbol="N8").update(trending=100.0)
    stream.send("markets.changed")
    expect(page.get_by_role("button", name="Changes wait")).to_be_visible()
    assert symbols(site)[0] == "N7"
    site.photograph("home-changes-wait")
    rest_pointer(site)
    expect(page.locator(".token a").first).to_have_text("N8")
    expect(page.locator(".notice button")).to_have_count(0)
    site.assert_clean()


def is_all_published() -> bool:
    """Publish what is due, and return whether no event waits for its interval."""
    publish_events()
    return not OutboxEvent.objects.exists()


def test_trending_and_graduating_lists_follow_markets_by_the_real_stream(site, settings, service_environment):
    page = site.page
    make_curve(SolanaTokenFactory(symbol="CURVE"), "10")
    with stream_process(service_environment) as process:
        settings.STREAM_URL = f"http://127.0.0.1:{process.port}"
        for tab, first, changed, column in (
            ("trending", "N33", "N7", "trending"),
            ("graduating", "👩\u200d🚀", "CURVE", "curve_progress"),
        ):
            page.goto(f"http://{site.host}/?tab={tab}")
            rest_pointer(site)
            expect(page.locator(".token a").first).to_have_text(first)
            # As trade writers: the trigger stores an event, which is published after its interval.
            Market.objects.filter(token__symbol=changed).update(**{column: Decimal(99)})
            wait_for(is_all_published)
            expect(page.locator(".token a").first).to_have_text(changed)
    site.assert_clean()


def test_the_form_works_without_scripts(site):
    plain = site.page.context.browser.new_context(java_script_enabled=False)
    page = plain.new_page()
    page.goto(f"http://{site.host}/?sort=market-cap")
    page.get_by_role("searchbox").fill("number 2")
    page.get_by_label("Chain").select_option(label="Base")
    page.get_by_role("button", name="Show").click()
    expect(page).to_have_url(f"http://{site.host}/?q=number+2&chain=8453&sort=market-cap")
    expect(page.locator(".token a").first).to_have_text("N21")
    expect(page.locator(".token a")).to_have_count(9)
    page.goto(f"http://{site.host}/")
    page.get_by_role("link", name="More").click()
    expect(page.locator(".token a")).to_have_count(17)
    plain.close()


def test_a_row_has_all_facts_and_nothing_overflows_at_any_width(site):
    page, token, creator = site.page, Token.objects.get(symbol="N1"), "creator.with.a.long.name.1234"
    SocialProfile.objects.filter(fid=token.requestor_fid).update(username=creator)
    for path, name in (("/?tab=graduating", "graduating"), ("/?q=nowhere", "nothing"), ("/", "new")):
        page.goto(f"http://{site.host}{path}")
        # Scripts read no width, so that a page is laid out alike whether it is loaded or resized.
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            site.photograph(f"home-{name}-{width}")
            assert_nothing_overflows(site, width)
    facts = ("N1", "Token number 1", "7m", "Base", "$700", "$10.0K", "7 / 1", creator, "1 launch")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        text, is_cut = page.locator(f"#token-8453-{token.contract_address}").evaluate(FACTS)
        assert not is_cut
        assert [fact for fact in facts if fact not in " ".join(text.split())] == []
        *usual, longest = sorted(page.evaluate(LINES))
        # The long name takes a line more in its row.
        assert width > 500 or (max(usual) <= 6 and longest <= 7)
    page.locator(".warnings summary").click()
    expect(page.get_by_text("Early buyers may have paid much less")).to_be_visible()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert_nothing_overflows(site, width)
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)
            site.photograph(f"home-new-{width}-{scheme}-open")
    site.assert_clean()


def assert_nothing_overflows(site: Visit, width: int) -> None:
    assert site.page.evaluate("document.documentElement.scrollWidth") <= width
    assert site.page.evaluate("[...document.querySelectorAll('.wide')].every(e => e.scrollWidth <= e.clientWidth)")

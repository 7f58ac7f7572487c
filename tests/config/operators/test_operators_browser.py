"""The operators' site in a real Chromium, over HTTP."""

import base64
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
import requests
from django.contrib.auth.models import User
from django.test import override_settings
from django.utils import timezone
from django_otp.oath import totp
from playwright.sync_api import Locator
from pytest_django import DjangoDbBlocker

from accounts.keys import credentials
from accounts.models import KeyUsage, Scope
from config.postgresql.partitions import week_of
from development.sample_data.agent_events import CHARACTERS, DAY, AgentSimulation, introduction_events, token_event
from leaderboard.events import payloads, recording
from leaderboard.events.recording import Reporter
from leaderboard.models import Interval
from leaderboard.ranking import snapshot_building
from tests.processes.chromium import Visit, browse_site
from tests.processes.template_database import restore_template_rows
from tests.rows.factories import (
    AdministratorFactory,
    AdminSessionFactory,
    ChainHeadFactory,
    CoverageAlarmFactory,
    CoverageFactory,
    DeployAttemptFactory,
    DeploymentFactory,
    DeployWalletFactory,
    IndexRequestFactory,
    PartnerKeyFactory,
    PersonFactory,
    PretokenFactory,
    SignedTransactionFactory,
    SocialProfileFactory,
    TokenFactory,
    WebhookEndpointFactory,
)
from tests.rows.launch_requests import pretoken
from tests.tokens.market.stored_trades import make_half_day, make_weeks
from tokens.models import (
    DeployAttempt,
    DeploySwitch,
    IndexRequest,
    LaunchFacts,
    Market,
    RollingClock,
    RollingSum,
    Token,
)

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery staple"
WETH = "0x4200000000000000000000000000000000000006"
# It has no letters, so that any case is its checksum form.
LOOKALIKE = "0x" + "51" * 20
WINTER = datetime(2026, 1, 26, 9, 30, tzinfo=UTC)
# A disabled endpoint's URL.
GONE = "https://gone.example/hook"
# A failed deployment's request key.
FAILED = "acme-2026-11-21-higher-000000001"
# The number of launches in each hour until now, the oldest first.
BY_HOUR = [(hour * 7) % 5 + (3 if hour % 12 > 8 else 0) for hour in range(48)]


# No worker runs, so nodes and providers get no requests.
SETTINGS = {
    "ALLOWED_HOSTS": ["localhost"],
    "RPC_URLS": {8453: ("http://127.0.0.1:1", "http://127.0.0.1:2"), 1: ("http://127.0.0.1:3",)},
    "MARKET_PROVIDER_CHAINS": (1,),
    "SOCIAL_API_KEY": "sample",
}


@pytest.fixture(scope="module")
def partner(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[dict[str, str]]:
    """Create an installation's rows for this module, and return a header with a key for the scope `read`."""
    with django_db_blocker.unblock(), override_settings(**SETTINGS):
        create_rows()
        create_users()
        rank_agents()
        yield {"x-api-key": credentials.issue_key("Reader", scopes=[Scope.READ])}
        restore_template_rows()


def create_rows() -> None:
    """Create two days' rows."""
    User.objects.create_superuser("operator", password=PASSWORD)
    now = timezone.now()
    for back, count in zip(range(len(BY_HOUR) - 1, -1, -1), BY_HOUR, strict=True):
        TokenFactory.create_batch(count, deployed_at=now - timedelta(hours=back))
    token = TokenFactory(name="Higher", symbol="HIGHER", deployed_at=now)
    IndexRequestFactory(tx_hash=token.tx_hash, status="confirmed", block_number=token.block_number)
    IndexRequestFactory(status="failed", last_error="no launch in the transaction", attempts=1)
    IndexRequestFactory.create_batch(2, due_at=now + timedelta(seconds=30))
    Market.objects.filter(token=token).update(price_usd=0.00042, market_cap=42_000_000, updated_at=now)
    SocialProfileFactory.create_batch(3)
    TokenFactory(name="Lookalike", symbol="LOOK", contract_address=LOOKALIKE, deployed_at=WINTER)
    WebhookEndpointFactory(url=GONE, disabled_at=now, disabled_reason="HTTP status 410")
    trade(token, now)
    deploy(now)
    ChainHeadFactory()
    CoverageFactory()
    CoverageAlarmFactory()
    for name, calls in (("Frames", 41_930), ("Wallet app", 12_044), ("Statistics", 866)):
        key = PartnerKeyFactory(name=name, last_used_at=now)
        for back in range(14):
            day = now.date() - timedelta(days=back)
            KeyUsage.objects.create(partner_key=key, day=day, endpoint="token-list", calls=calls // (back % 5 + 2))


def trade(token: Token, now: datetime) -> None:
    """Create a token's trades in the last hours, their candles, and the chain rows that pages show."""
    make_weeks(2, first=week_of(now - timedelta(days=1)))
    facts = {"pool": {"pair_decimals": 18, "tick": -230_400}}
    Token.objects.filter(pk=token.pk).update(deployed_at=now - timedelta(hours=12), paired_token=WETH)
    LaunchFacts.objects.create(token=token, facts=facts)
    make_half_day(token, now)
    for seconds, trades in ((3600, 4), (86_400, 48)):
        sums = {"volume_quote": 10**18, "volume_usd": 2_000, "traders": 1}
        RollingSum.objects.create(token=token, seconds=seconds, buys=trades, sells=0, **sums)
    RollingClock.objects.create(chain_id=token.chain_id, rolled_to=now)


def deploy(now: datetime) -> None:
    """Create a deployment with one replacement transaction that reverted, and one in flight."""
    partner = PartnerKeyFactory(name="Frames")
    wallet = DeployWalletFactory(next_nonce=42)
    config = {"token": {"name": "Higher", "symbol": "HIGHER"}, "fees": {"type": "static", "clankerFee": 1}}
    order = {"partner_key": partner, "config": config, "calldata": bytes(2_596)}
    failed = DeploymentFactory(**order, request_key=FAILED, status="failed", error="HookNotEnabled()", attempts=1)
    mined = {"state": "reverted", "reason": "HookNotEnabled()", "block_number": 31_415_926, "gas_used": 5_104_233}
    attempt = DeployAttemptFactory(deployment=failed, wallet=wallet, nonce=40, gas_price=1_125_000, **mined)
    for max_fee in (2_000_000_000, 2_250_000_000):
        sent = {"max_fee": max_fee, "sent_at": now}
        version = SignedTransactionFactory(attempt=attempt, **sent)
    DeployAttempt.objects.update(tx_hash=version.tx_hash)
    DeployAttemptFactory(deployment=DeploymentFactory(**order, status="submitted"), wallet=wallet, nonce=41)


def create_users() -> None:
    """Create two users, the first with pretokens, and two administrators."""
    user = PersonFactory(fid=12_345, last_seen_at=timezone.now())
    PersonFactory(linked=True, linked_to=user, last_seen_at=timezone.now())
    body = pretoken(keyword="Winter sale")
    PretokenFactory(owner=user, keyword="Winter sale", chain_id=8453, body=body, size=len(str(body)))
    PretokenFactory(owner=user, keyword="Given up", deleted=True)
    AdminSessionFactory(administrator=AdministratorFactory(name="Robin", subject="4242"))
    AdministratorFactory(name="Kim", subject="4343")


def rank_agents() -> None:
    """Record a sample week for agents, one with a farm, and build the rankings."""
    now = timezone.now()
    today = int(now.timestamp()) // DAY * DAY
    life, events = AgentSimulation(), introduction_events(today - 8 * DAY)
    for agent in CHARACTERS:
        token = TokenFactory(name=agent.name, symbol=agent.name.upper())
        events.append(token_event(agent, chain_id=token.chain_id, address=token.contract_address, now=today))
    for part in range(7 * 4):
        events += life.advance(today - 7 * DAY + part * DAY // 4, seconds=DAY // 4)
    recording.record_events([payloads.parse_event(event, latest=now) for event in events], reporter=Reporter("samples"))
    for interval in Interval:
        snapshot_building.build_snapshot(interval)


@pytest.fixture(scope="module")
def open_login(partner: dict[str, str]) -> Iterator[Callable[[], Visit]]:
    """Return a function that opens the log-in in a new browser profile."""
    with browse_site() as browse:
        yield lambda: browse("/admin/")


@pytest.fixture(scope="module")
def logged_in(open_login: Callable[[], Visit]) -> Visit:
    """Log in once for all tests."""
    visited = open_login()
    log_in(visited, PASSWORD)
    visited.page.wait_for_url(f"http://{visited.host}/admin/")
    return visited


@pytest.fixture
def site(logged_in: Visit) -> Visit:
    """Return the operator's page at the dashboard, without earlier tests' errors."""
    logged_in.page.goto(f"http://{logged_in.host}/admin/")
    logged_in.errors.clear()
    logged_in.strange_requests.clear()
    return logged_in


def log_in(visited: Visit, password: str) -> None:
    visited.page.get_by_label("Username").fill("operator")
    visited.page.get_by_label("Password").fill(password)
    visited.page.get_by_role("button", name="Log in").click()


def test_a_wrong_password_is_refused(open_login):
    visited = open_login()
    log_in(visited, "wrong")
    visited.page.get_by_text("Please enter the correct username and password").wait_for()
    assert "/admin/login/" in visited.page.url
    visited.page.close()


def open_list(site: Visit, name: str) -> None:
    """Open a list by the navigation, as an operator does."""
    # After its icon, which has its own text.
    link = site.page.locator("#nav-sidebar-apps a", has_text=re.compile(rf"{re.escape(name)}\s*$"))
    with site.page.expect_navigation():
        link.click()


def answers(site: Visit, path: str, **headers: str) -> requests.Response:
    """Return the same server's API response; `headers` may contain a partner's key."""
    return requests.get(f"http://{site.host}{path}", headers=headers, timeout=60)


def assert_clean(site: Visit) -> None:
    # Also without a request that scripts send later.
    site.page.wait_for_load_state("networkidle")
    site.assert_clean()


# What scrolls sideways at this width: the page, or a list inside it.
WIDER = """() => [document.documentElement, ...document.querySelectorAll('#main *, .simplebar-content-wrapper')].filter(
  element => element.clientWidth && element.scrollWidth > element.clientWidth + 1 && element.tagName !== 'PRE' &&
    (element === document.documentElement || ['auto', 'scroll'].includes(getComputedStyle(element).overflowX))
).map(element => `${element.tagName} ${element.id} ${element.scrollWidth} of ${element.clientWidth}`)"""


def test_the_dashboard_lists_and_pages_load_without_an_error_or_another_host_and_scroll_only_down(site):
    titles = site.page.locator("section[aria-label] h2").all_inner_texts()
    assert titles == [
        "Launches",
        "Launchpads",
        "Deployments in flight",
        "Following",
        "Periodic tasks",
        "Index requests",
        "Nodes",
        "Documents of tokens",
        "Trades",
        "Market data",
        "Leaderboard",
        "Events",
        "Deployers' profiles",
        "Calls with partner keys",
    ]
    assert site.page.get_by_role("img", name="Launches per hour").is_visible()
    site.photograph("dashboard", whole=True)
    links = site.page.locator("#nav-sidebar-apps a")
    # After its icon, which has its own text.
    names = {text.splitlines()[-1].strip() for text in links.all_inner_texts()}
    assert names >= {
        "Tokens", "Events", "Fees paid", "Index requests", "Deployers' profiles", "Deployments", "Wallets", "Pauses",
        "Quotas", "Chains", "Coverage", "Coverage alarms", "Endpoints", "Deliveries", "Published events",
        "Partner keys", "Accounts", "Roles", "Audit log",
    }  # fmt: skip
    addresses = links.evaluate_all("links => [...new Set(links.map(link => link.href))]")
    for model in ("tokens/token", "tokens/indexrequest", "tokens/deployment", "leaderboard/agent", "tokens/coverage"):
        site.page.goto(f"http://{site.host}/admin/{model}/")
        row = site.page.locator("#result_list tbody a[href*=change]").first
        addresses.append(row.evaluate("link => link.href"))
    for address in addresses:
        for width in (390, 1280):
            site.page.set_viewport_size({"width": width, "height": 850})
            site.page.goto(address)
            assert site.page.evaluate(WIDER) == [], (width, address)
            site.photograph(f"{address.partition('/admin/')[2].replace('/', '-')}{width}")
    site.page.set_viewport_size({"width": 1360, "height": 850})
    assert_clean(site)


def test_a_tokens_page_has_its_price_and_trades_without_a_script(site):
    page = site.page
    open_list(site, "Tokens")
    page.get_by_role("link", name="HIGHER", exact=True).click()
    heading = page.get_by_role("heading", name="Price and trades")
    chart = page.get_by_role("img", name="Price in USD, the last 24 hours")
    assert chart.bounding_box()["height"] > 50
    assert chart.locator("rect[fill=currentColor]").count() >= 2 * 48
    trades = page.get_by_role("region", name="Newest trades")
    assert trades.locator("tbody tr").count() == 20
    assert trades.get_by_role("link", name="0x").first.get_attribute("href").startswith("https://basescan.org/")
    page.get_by_text("As a table").first.click()
    assert page.get_by_role("columnheader", name="Close").first.is_visible()
    page.get_by_text("As a table").first.click()
    heading.evaluate("heading => heading.scrollIntoView()")
    site.photograph("token-trades")
    assert_clean(site)


def test_an_agents_page_explains_its_score_in_charts(site):
    page = site.page
    open_list(site, "Agents")
    assert page.locator("#result_list tbody tr").count() == len(CHARACTERS)
    open_list(site, "Rankings")
    page.goto(f"{page.url}?interval=7d")
    assert page.locator("#result_list tbody tr").count() == len(CHARACTERS)
    site.photograph("rankings")
    page.get_by_role("link", name="Pump (sample)").click()
    page.locator("nav a", has_text="Standing, Week").click()
    for chart, least in (("Casts by day, UTC", 6), ("Components in percent", 5)):
        drawn = page.get_by_role("img", name=chart).and_(page.locator(":visible")).first
        assert drawn.bounding_box()["height"] > 50
        assert drawn.locator("rect[fill=currentColor]").count() >= least
    page.locator("nav a", has_text="Standing, Week").evaluate("tab => tab.scrollIntoView()")
    site.photograph("agent")
    assert_clean(site)


def test_the_browser_keeps_the_site_from_calling_other_hosts(site):
    site.page.evaluate("fetch('https://elsewhere.example/').catch(() => 0)")
    assert any("violates the following Content Security Policy" in error for error in site.errors)


def test_a_spending_limit_needs_a_code_of_the_second_factor(site):
    page = site.page

    def grant(code: str = "") -> None:
        open_list(site, "Spending limits")
        page.locator("a[href$='/spendinglimit/add/']").first.click()
        page.get_by_label("ETH per day").fill("0.5")
        page.get_by_label("Code of your second factor").fill(code)
        page.get_by_role("button", name="Save", exact=True).click()

    grant()
    page.get_by_text("Allowing more needs a second factor").wait_for()
    page.goto(f"http://{site.host}/admin/second-factor/set-up/")
    picture = page.get_by_alt_text("QR code of the secret")
    assert picture.evaluate("image => image.complete && image.naturalWidth > 0")
    secret = page.locator("code").inner_text().replace(" ", "")

    def code(step: int) -> str:
        """Return the code for the last, this or the next half minute: each is accepted once, in sequence."""
        return f"{totp(base64.b32decode(secret), drift=step):06}"

    page.get_by_label("Code").fill(code(-1))
    page.get_by_role("button", name="Set it up").click()
    page.get_by_text("Each log-in now requires a code of your app.").wait_for()
    grant(code(0))
    page.get_by_role("link", name="all keys together").wait_for()
    page.goto(f"http://{site.host}/admin/second-factor/set-up/")
    page.get_by_label("Code").fill(code(1))
    page.get_by_role("button", name="Remove it").click()
    page.get_by_text("Your log-in no longer requires a code.").wait_for()
    assert_clean(site)


def test_a_webhook_endpoint_is_added(site):
    page = site.page
    open_list(site, "Endpoints")
    page.locator("a[href$='/webhookendpoint/add/']").first.click()
    page.get_by_label("URL").fill("https://receiver.example/hook")
    page.get_by_label("token.indexed").check()
    page.get_by_role("button", name="Save", exact=True).click()
    assert page.get_by_label("Signing secret").inner_text().startswith("whsec_")
    assert_clean(site)


# Clicks up to a task's page or form; filling it in and confirming it is not counted.
MOST_CLICKS = 2


class Clicks:
    """Click counter from the dashboard on."""

    def __init__(self, site: Visit) -> None:
        self.count = 0
        self._site = site

    def __call__(self, target: Locator) -> None:
        """Click on an element that leads to another page."""
        self.count += 1
        with self._site.page.expect_navigation():
            target.click()


@pytest.fixture
def click(site: Visit) -> Clicks:
    return Clicks(site)


def test_a_token_is_found_and_blocked_in_two_clicks_and_leaves_only_public_lists(site, click, partner):
    page = site.page
    for text in (LOOKALIKE, "Lookalike"):
        page.goto(f"http://{site.host}/admin/")
        page.get_by_label("Name, address, hash").fill(text)
        click.count = 0
        click(page.get_by_role("button", name="Tokens", exact=True))
        assert page.locator("#result_list tbody").count() == 1
    click(page.get_by_role("link", name="Block: "))
    page.get_by_role("button", name="Block").click()
    assert page.locator("[name=reason]:invalid").is_visible()
    page.get_by_label("Reason").fill("Copies a brand")
    page.get_by_role("button", name="Block").click()
    page.get_by_text("by operator: Copies a brand").wait_for()
    assert click.count <= MOST_CLICKS
    site.photograph("token")
    assert answers(site, "/api/tokens?q=Lookalike").json()["data"] == []
    record = answers(site, f"/api/get-token-by-address?address={LOOKALIKE}", **partner).json()["data"]
    assert (record["contract_address"], record["tags"]["blocked"]) == (LOOKALIKE, True)

    open_list(site, "Tokens")
    page.locator("tr", has_text="TKN").first.get_by_role("checkbox").check()
    page.get_by_label("Select action to run").select_option("add_champagne")
    page.get_by_role("button", name="Run").click()
    page.get_by_text("1 changed.").wait_for()
    open_list(site, "Audit log")
    changes = page.locator(".field-message").all_inner_texts()
    assert changes[:2] == ["champagne = True", "blocked = True: Copies a brand"]
    site.photograph("audit-log")
    assert_clean(site)


def test_a_failed_index_request_is_explained_and_indexed_again_in_two_clicks(site, click):
    page, failed = site.page, IndexRequest.objects.get(status="failed")
    click(page.get_by_role("region", name="Index requests").get_by_role("link", name="Failed"))
    row = page.locator("tr", has_text=failed.tx_hash)
    assert row.get_by_text("no launch in the transaction").is_visible()
    click(row.get_by_role("link", name="Index again: "))
    page.get_by_role("button", name="Yes, do it").click()
    page.get_by_text("1 enqueued.").wait_for()
    failed.refresh_from_db()
    assert failed.status == "pending"
    assert click.count <= MOST_CLICKS
    assert_clean(site)


def test_a_key_is_issued_and_used_and_then_found_and_revoked_in_two_clicks(site, click):
    page = site.page
    open_list(site, "Partner keys")
    page.locator("a[href$='/partnerkey/add/']").first.click()
    page.get_by_label("Name").fill("Leaked")
    page.get_by_role("button", name="Save", exact=True).click()
    output = page.get_by_label("Partner key")
    key = output.inner_text()
    page.set_viewport_size({"width": 390, "height": 850})
    assert output.evaluate("output => output.scrollWidth <= output.clientWidth")
    page.set_viewport_size({"width": 1360, "height": 850})
    site.photograph("key-issued")
    address = "/api/get-token-by-address?address=" + answers(site, "/api/tokens").json()["data"][0]["contract_address"]
    assert answers(site, address).status_code == 401
    assert answers(site, address, **{"x-api-key": key}).status_code == 200

    page.goto(f"http://{site.host}/admin/")
    page.get_by_label("Name, address, hash").fill("Leaked")
    click(page.get_by_role("button", name="Partner keys"))
    assert key not in page.content()
    click(page.get_by_role("link", name="Revoke: "))
    page.get_by_role("button", name="Yes, revoke it").click()
    page.get_by_text("The key of Leaked is revoked.").wait_for()
    assert click.count <= MOST_CLICKS
    assert answers(site, address, **{"x-api-key": key}).status_code == 401
    assert_clean(site)


def test_deploying_is_paused_in_two_clicks(site, click):
    page = site.page
    click(page.get_by_role("link", name="Pauses").last)
    click(page.locator("a[href$='/deployswitch/add/']").first)
    page.get_by_label("Chain").select_option("8453")
    page.get_by_label("Paused").check()
    page.get_by_label("Reason").fill("the hook is being replaced")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("was added successfully").wait_for()
    assert DeploySwitch.objects.get(chain_id=8453).paused
    assert click.count <= MOST_CLICKS
    assert_clean(site)


def test_a_deleted_pretoken_is_restored_and_an_endpoint_enabled_in_two_clicks(site, click):
    page = site.page
    page.get_by_label("Name, address, hash").fill("Given up")
    click(page.get_by_role("button", name="Pretokens"))
    click(page.get_by_role("link", name="Restore: "))
    page.get_by_role("button", name="Yes, restore").click()
    page.get_by_text("1 pending again.").wait_for()
    assert click.count <= MOST_CLICKS
    page.goto(f"http://{site.host}/admin/")
    click.count = 0
    click(page.get_by_role("region", name="Events").get_by_role("link", name=GONE))
    click(page.get_by_role("link", name="Enable"))
    page.get_by_role("button", name="Enable it").click()
    page.get_by_text("is enabled.").wait_for()
    assert click.count <= MOST_CLICKS
    assert_clean(site)


def test_times_are_in_the_zone_of_the_browser(site):
    page = site.page.context.browser.new_page(timezone_id="Europe/Berlin")
    page.set_default_timeout(60_000)
    page.goto(f"http://{site.host}/admin/")
    log_in(Visit(page=page, host=site.host), PASSWORD)
    page.wait_for_url(f"http://{site.host}/admin/")
    assert page.get_by_text("Times in Europe/Berlin").is_visible()
    page.goto(f"http://{site.host}/admin/tokens/token/?q={LOOKALIKE}")
    assert page.get_by_text("2026-01-26 10:30 CET").is_visible()
    page.goto(f"http://{site.host}/admin/accounts/partnerkey/add/")
    # The calendar's "Now" is right: the page sets no other offset than the browser's.
    assert page.locator(".timezonewarning").count() == 0
    page.close()


def test_the_tags_of_tokens_are_in_sight_and_rows_are_short_on_a_phone(site):
    page = site.page
    page.set_viewport_size({"width": 1280, "height": 850})
    page.goto(f"http://{site.host}/admin/tokens/token/")
    actions = page.locator("td.field-actions_holder").first.bounding_box()
    for tag in ("champagne", "verified", "blocked"):
        box = page.locator(f"#result_list tbody td.field-{tag}").first.bounding_box()
        assert box["x"] > 288 and box["x"] + box["width"] <= actions["x"] + 1, tag
    assert page.get_by_role("link", name="Block").first.bounding_box()["height"] < 30
    page.set_viewport_size({"width": 390, "height": 850})
    row = page.locator("#result_list tr.data-row").first.bounding_box()
    # At least two rows with ten columns on a screen.
    assert row["width"] <= 390 and row["height"] < 340
    page.set_viewport_size({"width": 1360, "height": 850})
    assert_clean(site)

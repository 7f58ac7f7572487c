"""A visitor's journey through the public site in a real Chromium, with the guides' pictures."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from config.postgresql.partitions import week_of
from leaderboard.models import Interval
from tests.processes.chromium import Visit, browse_site
from tests.rows.agent_factories import SnapshotFactory, StandingFactory
from tests.rows.factories import ChainHeadFactory, CoverageFactory, SocialProfileFactory, TokenFactory
from tests.tokens.market.stored_trades import candle_row, make_candle, make_trade, make_weeks
from tests.tokens.site.event_stream import EventStream, stream
from tests.tokens.site.token_scenes import make_extensions
from tokens.models import Candle, LaunchFacts, Market, RollingSum, Token
from tokens.models.candle import DAY, HOUR

__all__ = ["stream"]
pytestmark = pytest.mark.django_db(transaction=True)

# Name, symbol, minutes since the launch, market cap and volume in USD, change in percentage points.
LAUNCHES = (
    ("Moonwake Harbor", "WAKE", 3, 41_200, 18_300, 12.4),
    ("Second Breakfast", "CRUMB", 9, 18_900, 7_450, -4.1),
    ("Northbound Ferry", "FERRY", 26, 65_500, 20_300, 5.5),
    ("Quiet Observatory", "DOME", 48, 74_300, 22_900, 3.3),
    ("قهوة الصباح", "QAHWA", 95, 33_700, 11_200, -9.8),
    ("Tidepool Economics", "TIDE", 170, 1_240_000, 388_000, 7.2),
    ("Señor Murciélago", "MURCI", 330, 502_000, 141_000, -1.6),
    ("Long Way Up", "CLIMB", 800, 3_900_000, 1_120_000, 21.0),
    ("Copper Kettle", "KETTLE", 1_500, 96_400, 12_700, -15.3),
    ("Paper Lantern", "GLOW", 2_900, 2_120_000, 968_000, 38.9),
)
CREATOR_FID = 7_130
TRADERS = ("70997970C51812dc3A010C7d01b50e0d17dc79C8", "3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")


@pytest.fixture
def site(transactional_db: None, settings, stream: EventStream):
    settings.ALLOWED_HOSTS, settings.RPC_URLS = ["localhost"], {8453: ("http://127.0.0.1:1",)}
    with browse_site() as browse:
        make_launches()
        visited = browse("/")
        yield visited
        visited.page.close()


def make_launches() -> None:
    """Create some creators' launches with markets, the newest first, a followed chain and a ranking."""
    now = timezone.now()
    make_weeks(3, first=week_of(now) - timedelta(weeks=1))
    for fid, name in ((CREATOR_FID, "mirelle"), (CREATOR_FID + 1, "osgood")):
        SocialProfileFactory(fid=fid, username=name)
    for number, (name, symbol, minutes, cap, volume, change) in enumerate(reversed(LAUNCHES)):
        token = TokenFactory(
            name=name,
            symbol=symbol,
            deployed_at=now - timedelta(minutes=minutes),
            known_interface_deployer=True,
            requestor_fid=None if number % 3 == 1 else CREATOR_FID + number % 2,
            launch_warnings=["UNUSUAL_PAIR_ADDRESS"] if symbol == "KETTLE" else [],
            verified=symbol == "TIDE",
            starting_market_cap=10.0,
            extensions=make_extensions(),
        )
        give_market(token, cap=cap, volume=volume, change=change, now=now)
    ChainHeadFactory()
    CoverageFactory()
    snapshot = SnapshotFactory(ranked=4, interval=Interval.DAY)
    for rank, token in enumerate(Token.objects.order_by("-market__market_cap")[:4], start=1):
        agent = ("Aurora", "Brasswing", "Ledgerkeeper", "Tiller")[rank - 1]
        place = {
            "token_chain_id": token.chain_id,
            "token_address": token.contract_address,
            "token_symbol": token.symbol,
        }
        StandingFactory(snapshot=snapshot, rank=rank, agent_name=agent, **place)


def give_market(token: Token, *, cap: float, volume: float, change: float, now: datetime) -> None:
    """Store a market, candles for two days that end with the change, and some trades."""
    LaunchFacts.objects.create(token=token, facts={"pool": {"pair_decimals": 18, "tick": -230_400}})
    price = cap / 100_000_000_000
    Market.objects.filter(token=token).update(
        price_usd=price,
        price_quote=Decimal(str(price / 3_000)),
        market_cap=cap,
        volume_24h=volume,
        price_change_24h=change,
        liquidity_usd=cap / 7,
        updated_at=now,
        last_trade_at=now,
        trending=volume,
    )
    buys = round(volume / 100)
    RollingSum.objects.create(
        token=token, seconds=DAY, buys=buys, sells=buys // 2, volume_quote=10**18, volume_usd=volume, traders=buys // 3
    )
    hour = now.replace(minute=0, second=0, microsecond=0)
    candles = []
    for number in range(max(2, int((now - token.deployed_at).total_seconds()) // HOUR)):
        wave = 1 - change / 100 * number / 24 + 0.04 * ((number * 7) % 5 - 2)
        bounds = [wave * share * price / 2 for share in (0.98, 1.03, 0.95, 1.0)]
        row = candle_row(token, hour - timedelta(hours=number), *bounds, seconds=HOUR, volume_usd=volume / 24)
        candles.append(row)
    Candle.objects.bulk_create(candles)
    minute = now.replace(second=0, microsecond=0)
    # Enough for a young token's line, which begins at its launch.
    minutes = min(int((now - token.deployed_at).total_seconds()) // 60, 24 * 60)
    for number in range(0, minutes, max(1, minutes // 30)):
        wave = 1 - change / 100 * number / minutes + 0.01 * ((number * 7) % 5 - 2)
        make_candle(token, minute - timedelta(minutes=number), *(wave * price / 2,) * 4)
    for number in range(12):
        make_trade(
            token, block=1_000 + number, at=now - timedelta(minutes=3 * number), is_buy=number % 3 > 0,
            trader=bytes.fromhex(TRADERS[number % 2]), amount_token=(number + 1) * 10**24,
            amount_quote=(number + 1) * 10**15, quote_usd=Decimal(3_000),
        )  # fmt: skip


def photograph(site: Visit, name: str) -> None:
    """Store the page for a wide window in light and dark, and for a phone."""
    page = site.page
    for suffix, width, scheme in (("light", 1280, "light"), ("dark", 1280, "dark"), ("phone", 390, "light")):
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=scheme)
        site.photograph(f"site-{name}-{suffix}")
    page.set_viewport_size({"width": 1280, "height": 844})


def test_a_visitor_finds_watches_reads_follows_and_shares(site, stream):
    page: Page = site.page
    # The stream is open before a launch is sent.
    stream.opened.get(timeout=30)
    page.mouse.move(2, 2)
    TokenFactory(name="Fresh Arrival", symbol="FRESH", deployed_at=timezone.now())
    stream.send("token.indexed", symbol="FRESH")
    expect(page.locator(".token a").first).to_have_text("FRESH")
    photograph(site, "home")

    page.get_by_role("searchbox").fill("kettle")
    expect(page.locator(".token a")).to_have_text(["KETTLE"])
    page.get_by_text("1 warning").click()
    expect(page.get_by_text("Unusual paired token")).to_be_visible()

    page.get_by_role("searchbox").fill("lantern")
    page.get_by_role("link", name="GLOW").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("GLOW")
    page.get_by_role("link", name="1h", exact=True).click()
    page.wait_for_url("**interval=1h**")
    photograph(site, "token")

    card = page.locator('meta[property="og:image"]').get_attribute("content")
    path = card[card.index("/cards/") :]
    picture = page.request.get(f"http://{site.host}{path}")
    assert picture.ok and picture.body().startswith(b"\x89PNG")

    page.get_by_role("region", name="Creator").get_by_role("link").first.click()
    expect(page.locator(".token a").filter(has_text="GLOW")).to_be_visible()
    photograph(site, "creator")
    for name in ("leaderboard", "status"):
        page.goto(f"http://{site.host}/{name}")
        photograph(site, name)
    site.assert_clean()

"""A token's page, `/tokens/{chain}/{address}`, its trade page, and the page for frames."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as configured
from django.db import connection
from django.db.models import F
from django.forms.models import model_to_dict
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import escape

from accounts.models import SocialProfile
from tests.html_pages import HOSTILE, read_page
from tests.rows.factories import CoverageFactory, SolanaTokenFactory, TokenEventFactory, TokenFactory
from tests.tokens.site.token_scenes import ADMIN, FID, RECIPIENT, make_airdrop, make_curve, make_minutes, make_scene
from tokens.chains.addresses import ZERO_ADDRESS
from tokens.models import Market, MinuteCandle, Token, TokenEvent
from tokens.site.details.claim_history import EVENTS_READ, EVENTS_SEARCHED

pytestmark = pytest.mark.django_db

ADDRESS = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
NAMES = (HOSTILE, "\u202egnp.exe", "x" * 10_000, "שלום", "👩\u200d🚀" * 30, "")


NO_PARTS = dict.fromkeys(("fees", "vault", "airdrop", "devBuy", "sniperTax", "positions"))


def page_of(token):
    return f"/tokens/{token.chain_id}/{token.contract_address}"


def embed_of(token):
    return f"/embed/token/{token.chain_id}/{token.contract_address}"


def words_of(answer):
    """Return a page's visible text, with single blanks."""
    return " ".join(" ".join(read_page(answer).texts).split())


@pytest.fixture
def scene():
    return make_scene(launch_warnings=["UNUSUAL_TICK"])


def add_events(token, *, arguments, **columns):
    """Create an event for each of these arguments, in one transaction."""
    values = model_to_dict(TokenEventFactory.build(token=token, **columns), exclude=["id", "token", "arguments"])
    TokenEvent.objects.bulk_create(
        TokenEvent(**values | {"token": token, "log_index": number, "arguments": each})
        for number, each in enumerate(arguments)
    )


@pytest.mark.parametrize("spell", [str, str.lower, lambda path: path + "/"])
def test_a_tokens_page_shows_its_facts(client, spell):
    token = TokenFactory(contract_address=ADDRESS, name="Higher", champagne=True, starting_market_cap=9.87083)
    answer = client.get(spell(page_of(token)))
    facts = ["Higher", ADDRESS, "Base", "clanker_v4", ">100,000,000,000<", "9.87", token.pool_address, "Champagne"]
    assert [fact for fact in facts if fact not in answer.text] == []
    assert answer.headers["Cache-Control"] == "public, s-maxage=2"


@pytest.mark.parametrize(
    ("generation", "version", "label"),
    [
        ("v4", "4", "clanker_v4"),
        ("v3.1", "3.1", "clanker_v3_1"),
        ("solana", None, "clanker_solana"),
        ("v9", None, "v9"),
    ],
)
def test_the_generation_is_in_words(client, generation, version, label):
    words = words_of(client.get(page_of(TokenFactory(generation=generation))))
    if version:
        assert f"Base Launchpad version {version} launched" in words
        assert f"Made by Version {version} of the launchpad's contracts, type {label} in the API" in words
    else:
        assert "Base launched" in words and f"Made by type {label} in the API" in words


@pytest.mark.parametrize(
    ("launchpads", "generation", "chip", "made_by"),
    [
        (("clanker", "zora"), "zora", "Base Zora launched", "Made by Zora , type zora in the API"),
        (("clanker", "zora"), "v4", "Base Clanker Launchpad version 4 launched", "Made by Clanker , Version 4 of"),
        # As the only launchpad it needs no name.
        (("zora",), "zora", "Base launched", "Made by type zora in the API"),
        (("clanker",), "v4", "Base Launchpad version 4 launched", "Made by Version 4 of"),
        # Stored while another launchpad was indexed.
        (("clanker",), "zora", "Base Zora launched", "Made by Zora , type zora in the API"),
    ],
)
def test_the_launchpad_is_named_where_there_are_several(client, settings, launchpads, generation, chip, made_by):
    settings.RPC_URLS = {8453: ("http://127.0.0.1:9",)}
    settings.LAUNCHPADS = {8453: launchpads}
    token = TokenFactory(generation=generation)
    words = words_of(client.get(page_of(token)))
    assert chip in words and made_by in words
    # In a list, below the chain.
    title = made_by.removeprefix("Made by ").partition(" ,")[0] if " ," in made_by else ""
    assert f"Base {title}".strip() in words_of(client.get("/"))


def test_a_page_leaves_out_what_a_declared_launchpad_lacks(client):
    # A bonding curve in the chain's coin.
    parts = {"extensions": NO_PARTS, "paired_token": ZERO_ADDRESS, "starting_market_cap": None}
    declared = words_of(client.get(page_of(TokenFactory(generation="zora", **parts))))
    compiled = words_of(client.get(page_of(TokenFactory(extensions=NO_PARTS, starting_market_cap=None))))
    for text in (
        "Sniper protection none known",
        "Trading fees",
        "Who earns them",
        "Show fees that wait to be paid",
        "Starting market cap unknown",
        "Paired token",
    ):
        assert text in compiled and text not in declared
    assert "Claims of this launchpad's fees, airdrops and vaults" in declared
    fees = {"type": "static", "clankerFee": 100, "pairedFee": 100, "baseFee": None, "maxFee": None}
    parts = NO_PARTS | {"fees": fees | {"hook_address": None, "recipients": []}}
    with_fee = words_of(client.get(page_of(TokenFactory(generation="zora", extensions=parts))))
    assert "A purchase costs 1%, a sale 1%." in with_fee and "Who earns them" not in with_fee


def test_a_declared_launchpad_has_no_page_of_fees(client):
    token = TokenFactory(generation="zora")
    assert client.get(f"{page_of(token)}/fees").status_code == 404


def test_a_full_page_has_at_most_13_queries(client, scene, django_assert_max_num_queries):
    make_airdrop(scene)
    # Three read facts about the launch, which are cached for the second page.
    with django_assert_max_num_queries(13):
        client.get(page_of(scene))
    with django_assert_max_num_queries(13):
        client.get(page_of(scene), {"recipient": RECIPIENT, "interval": "1h", "unit": "cap", "currency": "quote"})


def test_market_terms_and_trades_are_in_words(client, scene):
    words = words_of(client.get(page_of(scene)))
    for text in (
        "Price $0.000192 +12.3% 24 h 0.0₇960 0.0000000960 WETH",
        "Market cap $19.2M Volume, 24 h $1.23M Liquidity $345K Buys and sells, 24 h 1.41K / 987",
        "launched 12h ago Champagne 1 warning",
        # With the launchpad's fifth in each.
        "A purchase costs 1.2%, a sale 1.8%.",
        "80% 0x3C44…93BC paid in both tokens; may be changed by 0x7099…79C8",
        "20% 0x7099…79C8 paid in WETH only",
        "Paid so far 3.00K HIGHER in 1 payment",
        "30.0B HIGHER (30% of the supply). Locked until 2026-02-04 00:00 UTC. Then released evenly until 2026-04-05",
        "1.00B were taken out so far.",
        "1.00K HIGHER (0.000001% of the supply). Locked until 2026-01-06 00:00 UTC.",
        # The account's total so far, not its claims' sum.
        "250 were claimed by 1 account so far.",
        "5.00B HIGHER (5% of the supply) for 0.500 of the chain's coin, received by 0x3C44…93BC",
        "The fee starts at 80.01% and falls to 5% within 15 seconds",
        "The token was launched by presale 7.",
        "Blocks are read twice up to block 2999100. The launch is among them.",
        "1200000 final",
        "Sell 3.00M $0.000200 $600 0x7099…79C8 15m Buy 4.00M",
    ):
        assert text in words, text
    assert words.count("0x7099…79C8") >= 25
    assert "Bonding curve" not in words


STATIC = {"type": "static", "clankerFee": 150, "pairedFee": 100}


@pytest.mark.parametrize(
    ("fees", "text"),
    [
        (None, "The fees of the pool are unknown."),
        ({"type": "static", "clankerFee": None, "pairedFee": None}, "The fees of the pool are unknown."),
        ({"type": "dynamic", "baseFee": 50, "maxFee": 500}, "Each trade costs between 0.5% and 5%."),
        # A v4 pool's hook takes a fifth on top.
        (STATIC | {"hook_address": "0x1"}, "A purchase costs 1.2%, a sale 1.8%."),
        ({"type": "dynamic", "baseFee": 50, "maxFee": 500, "hook_address": "0x1"}, "between 0.6% and 6%."),
        ({"type": "dynamic", "baseFee": None, "maxFee": None}, "Its range is unknown."),
    ],
)
def test_fees_are_in_words_or_unknown(client, fees, text):
    token = TokenFactory()
    token.extensions["fees"] = fees and fees | {"recipients": []}
    token.save()
    words = words_of(client.get(page_of(token)))
    assert text in words and "The recipients are unknown." in words


def test_totals_of_more_claims_than_are_read_are_lower_bounds(client, scene):
    claims = [
        {"user": ADMIN, "totalUserAmountClaimed": str(total * 10**18), "userAmountStillLocked": "0"}
        for total in range(EVENTS_READ)
    ]
    add_events(scene, kind="airdrop_claimed", arguments=claims)
    assert "At least 499 were claimed by 1 account so far." in words_of(client.get(page_of(scene)))


@pytest.mark.parametrize("duration", [2**53 - 1, 10**9 * 86_400])
def test_a_lock_beyond_the_calendar_is_unknown(client, scene, duration):
    scene.extensions["vault"]["lockup"]["lockDuration"] = duration
    scene.save()
    assert "The end of the lock is unknown." in words_of(client.get(page_of(scene)))


def test_warnings_are_explained(client):
    TokenFactory(name="Higher", symbol="UP", verified=True)
    copy = TokenFactory(name="Higher", symbol="UP", launch_warnings=["UNUSUAL_TICK", "FUTURE_CODE"])
    words = words_of(client.get(page_of(copy)))
    for text in ("3 warnings", "Unusual starting price The pool started", "Possible copy", "older and verified"):
        assert text in words
    assert "FUTURE_CODE" in words and "The starting tick of the pool differs" in words


def test_a_launch_that_is_read_once_is_shown_so(client, scene):
    scene.block_number, scene.confirmed = 2_999_500, False
    scene.save()
    words = words_of(client.get(page_of(scene)))
    assert "The launch is read once so far." in words and "not final yet" in words


def test_a_chain_that_is_not_followed_is_shown_so(client):
    assert "This chain is not followed block by block." in words_of(client.get(page_of(TokenFactory())))


@pytest.mark.parametrize("known", [{"known_interface_deployer": True}, {"msg_sender": ADDRESS}])
def test_a_confirmed_users_other_listed_launches_are_linked(client, scene, known):
    SocialProfile.objects.filter(fid=FID).update(verified_addresses=[ADDRESS])
    Token.objects.filter(pk=scene.pk).update(**known)
    others = [TokenFactory(requestor_fid=FID, **known) for _ in range(12)]
    states: list[dict[str, Any]] = [known | {"blocked": True}, known | {"unindexed": True}, {}]
    hidden = [TokenFactory(requestor_fid=FID, **state) for state in states]
    addresses = read_page(client.get(page_of(scene))).addresses
    assert [page_of(token) in addresses for token in others] == [False] * 2 + [True] * 10
    assert not [token for token in hidden if page_of(token) in addresses]
    words = words_of(client.get(page_of(scene)))
    assert "Creator river" in words and "Launched with Bankr , as the launcher wrote it." in words


def test_a_wallets_launches_are_shown_whichever_user_it_names(client, scene):
    TokenFactory(requestor_fid=FID, symbol="STRANGERS")
    TokenFactory(msg_sender=scene.msg_sender, requestor_fid=FID + 1, symbol="BEFORE")
    TokenFactory(msg_sender=scene.msg_sender, symbol="FIRST")
    answer = client.get(page_of(scene))
    words = words_of(answer)
    assert "FIRST" in words and "BEFORE" in words and "STRANGERS" not in words
    assert f"/creators/{scene.msg_sender}" in read_page(answer).addresses
    assert "Creator All launches" in words


def test_a_user_that_only_the_launcher_names_is_marked(client, scene):
    def is_marked():
        return "river : The launcher named this user. Nothing confirms" in words_of(client.get(page_of(scene)))

    assert is_marked()
    profile = SocialProfile.objects.filter(fid=FID)
    profile.update(verified_addresses=[scene.msg_sender])
    assert not is_marked()
    profile.update(verified_addresses=[])
    scene.known_interface_deployer = True
    scene.save()
    assert not is_marked()
    scene.known_interface_deployer, scene.requestor_fid = False, None
    scene.save()
    assert not is_marked()


@pytest.mark.parametrize(
    ("supply", "text"),
    [(0, "0"), (1, "0.000000000000000001"), (15 * 10**17, "1.5"), (2**256 - 1, ".584007913129639935")],
)
def test_a_supply_is_exact(client, supply, text):
    assert f"{text}<" in client.get(page_of(TokenFactory(supply=supply))).text


def test_a_blocked_tokens_page_shows_it_and_promotes_nothing(client, scene):
    scene.blocked = True
    scene.save()
    answer = client.get(page_of(scene))
    words = words_of(answer)
    assert "The operators of this site have blocked this token." in words
    assert "80% 0x3C44…93BC" in words and scene.contract_address in words
    assert "x.example" not in answer.text and "iframe" not in answer.text
    assert '<meta name="robots" content="noindex">' in answer.text
    frame = client.get(embed_of(scene))
    assert "have blocked this token" in words_of(frame) and "<svg" not in frame.text


def test_a_token_about_which_little_is_known_has_a_page(client):
    token = TokenFactory(symbol="", name="", supply=None, pool_address="", pair="", admin="", msg_sender="")
    words = words_of(client.get(page_of(token)))
    for text in ("(no symbol)", "Price unknown", "Supply unknown", "There are no bars", "No trade of this token"):
        assert text in words
    assert "Creator unknown" in words
    # Without a supply, the market cap is no choice.
    assert "unit=cap" not in client.get(page_of(token)).text


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_shown_in_safety(client, name):
    token = TokenFactory(name=name, symbol=name, description=f"{name}\n{name}", pair=name)
    for path in (page_of(token), f"{page_of(token)}/trades", embed_of(token), f"/de{page_of(token)}"):
        answer = client.get(path)
        read_page(answer)
        assert "\u202e" not in answer.text and len(answer.text) < 60_000


class TestBondingCurve:
    """The section about a token's bonding curve."""

    def test_on_a_curve_it_shows_the_progress_and_what_is_missing(self, client):
        token = make_curve(SolanaTokenFactory(), "63.28")
        answer = client.get(page_of(token))
        words = words_of(answer)
        # From 85 SOL.
        for text in (
            "Bonding curve 63.2% 31.2 of 85.0 SOL are still missing.",
            "its liquidity moves to an ordinary pool",
        ):
            assert text in words
        assert '<progress max="100" value="63.280000" aria-label="Progress to graduation">' in answer.text
        assert "How this is known" in words and "Graduated" not in words

    def test_a_graduated_token_is_marked_with_its_time(self, client):
        graduated_at = timezone.now().replace(year=2026, month=3, day=4, hour=5, minute=6)
        token = make_curve(SolanaTokenFactory(), "100")
        Market.objects.filter(token=token).update(graduated_at=graduated_at)
        words = words_of(client.get(page_of(token)))
        for text in ("ago Graduated", "Bonding curve Graduated 2026-03-04 05:06 UTC", "does not follow that pool"):
            assert text in words
        assert "missing" not in words

    def test_unknown_progress_is_not_made_up(self, client):
        words = words_of(client.get(page_of(make_curve(SolanaTokenFactory(), None))))
        assert "How far the token is from graduation is not known yet" in words
        assert "How this is known" not in words

    def test_an_unknown_curve_has_no_amount(self, client):
        token = SolanaTokenFactory()
        Market.objects.filter(token=token).update(curve_progress=0)
        words = words_of(client.get(page_of(token)))
        assert "Bonding curve 0.0%" in words and "missing" not in words

    def test_it_costs_one_query(self, client):
        token = make_curve(SolanaTokenFactory(), "5")
        with CaptureQueriesContext(connection) as queries:
            client.get(page_of(token))
        assert sum("tokens_bondingcurve" in query["sql"] for query in queries) == 1


def test_a_token_of_solana_has_its_page_under_its_mint_only(client):
    token = SolanaTokenFactory(supply=1_000_000_000_500_000)
    answer = client.get(page_of(token))
    page = read_page(answer)
    assert f"https://solscan.io/token/{token.contract_address}" in page.addresses
    for text in (token.contract_address, token.pool_address, token.tx_hash, token.admin, "clanker_solana"):
        assert text in answer.text
    assert ">1,000,000,000.5<" in answer.text
    swapped = token.contract_address[:-1].swapcase() + token.contract_address[-1]
    for address in (swapped, token.contract_address.lower(), token.contract_address[1:]):
        assert client.get(f"/tokens/101/{address}").status_code == 404
    assert client.get(f"/tokens/8453/{token.contract_address}").status_code == 404


class TestChart:
    """The chart by the URL's parameters."""

    def test_it_has_a_bar_for_each_period_with_trades(self, client, scene):
        text = client.get(page_of(scene), {"interval": "15m"}).text
        titles = re.findall(r"<title>(2026[^<]*)</title>", text)
        assert len(titles) == 48
        assert re.fullmatch(
            r"2026-.* UTC: open \$0\.000206, high \$0\.000216, low \$0\.000188, close \$0\.000192,"
            r" volume \$100, trades: 3",
            titles[-1],
        )
        assert text.count('class="rises"') == 28 and text.count('class="falls"') == 20
        assert text.count('class="still"') == 0
        assert text.count('<tr><th scope="row" class="number">') == 30

    def test_its_parameters_have_defaults(self, client, scene):
        for parameters, start in (
            ({}, "Price in 48 bars of 15 minutes"),
            ({"interval": "1m"}, "Price in 8 bars of 1 minute since"),
            ({"interval": "1h", "unit": "cap"}, "Market cap in 12 bars of 1 hour since"),
            ({"interval": "", "unit": "", "currency": ""}, "Price in 48 bars of 15 minutes"),
        ):
            assert f'aria-label="{start}' in client.get(page_of(scene), parameters).text

    def test_one_bar_is_described_as_one(self, client):
        token = make_minutes(1)
        for language, unit, start in (
            ("", "price", "Price in 1 bar of 1 minute since"),
            ("", "cap", "Market cap in 1 bar of 1 minute since"),
            ("/de", "price", "Preis in 1 Kerze von 1 Minute seit"),
            ("/de", "cap", "Marktkapitalisierung in 1 Kerze von 1 Minute seit"),
        ):
            answer = client.get(f"{language}{page_of(token)}", {"unit": unit})
            assert f'aria-label="{start}' in answer.text

    def test_it_has_prices_in_the_quote_token_and_market_caps(self, client, scene):
        text = client.get(page_of(scene), {"currency": "quote", "interval": "15m"}).text
        assert "close 0.0000000960, volume 1.00, trades: 3" in text
        text = client.get(page_of(scene), {"unit": "cap", "interval": "15m"}).text
        assert "close $19.2M, volume $100" in text

    def test_without_support_of_liquidity_prices_times_the_supply_are_no_market_caps(self, client, scene):
        Market.objects.filter(token=scene).update(market_cap=None)
        text = client.get(page_of(scene), {"unit": "cap", "interval": "15m"}).text
        assert 'id="unit-cap"' not in text and "Market cap in" not in text
        assert 'aria-label="Price in 48 bars' in text and "close $0.000192, volume $100" in text
        assert "Market cap in" not in client.get(embed_of(scene), {"unit": "cap"}).text
        # Without a price in USD, nothing values what the pool holds.
        Market.objects.filter(token=scene).update(price_usd=None)
        text = client.get(page_of(scene), {"unit": "cap", "currency": "quote", "interval": "15m"}).text
        assert "Market cap in 48 bars" in text

    def test_a_token_without_a_price_in_usd_starts_in_the_quote_token(self, client, scene):
        Market.objects.filter(token=scene).update(price_usd=None)
        text = client.get(page_of(scene)).text
        assert 'id="currency-quote" href="?interval=15m&amp;unit=price&amp;currency=quote#chart"' in text
        assert re.search(r'id="currency-quote"[^>]* aria-current="true"', text)

    def test_a_choice_without_bars_has_a_hint_and_the_other_choices(self, client, scene):
        answer = client.get(page_of(scene), {"interval": "1d"})
        assert "There are no bars for this choice." in answer.text
        assert 'id="interval-1h"' in answer.text

    def test_it_ends_now_and_not_with_the_last_trade(self, client):
        token = make_minutes(5)
        MinuteCandle.objects.filter(token=token).update(at=F("at") - timedelta(minutes=30))
        text = client.get(page_of(token), {"interval": "1m"}).text
        kinds = re.findall(r'<g class="(still|rises|falls)">', text)
        assert kinds[:5] == ["rises"] + ["falls"] * 4 and set(kinds[5:]) == {"still"} and len(kinds) in (35, 36)
        places = [float(x) for x in re.findall(r'<rect class="slot" x="([^"]*)"', text)]
        assert places[0] == 0 and places[-1] == pytest.approx(100 - 100 / len(kinds), abs=0.05)
        # The text alternative and the table have the bars with trades.
        assert (
            'aria-label="Price in 5 bars of 1 minute since' in text
            and text.count('<th scope="row" class="number">') == 5
        )

    def test_a_token_without_trades_for_long_has_a_flat_line(self, client):
        token = make_minutes(1)
        MinuteCandle.objects.filter(token=token).update(at=F("at") - timedelta(hours=3))
        answer = client.get(page_of(token), {"interval": "1m"})
        assert 'aria-label="Price in 0 bars of 1 minute since' in answer.text
        assert answer.text.count('<g class="still">') == 120 and 'id="chart-table"' not in answer.text

    def test_its_bars_span_the_life_of_the_token(self, client):
        hours = ((1.9, "1m"), (9.9, "5m"), (29.9, "15m"), (119, "1h"), (479, "4h"), (481, "1d"), (9_600, "1d"))
        for age, interval in hours:
            token = TokenFactory(deployed_at=timezone.now() - timedelta(hours=age))
            text = client.get(page_of(token)).text
            assert re.search(rf'id="interval-{interval}"[^>]* aria-current="true"', text), age

    def test_labels_of_a_narrow_range_have_the_form_of_the_language(self, client):
        token = make_minutes(5)
        for unit, scale in (("price", "0,0₄24"), ("cap", "24,")):
            text = client.get(f"/de{page_of(token)}", {"unit": unit, "interval": "1m"}).text
            drawing = text[(start := text.index('<svg class="prices')) : text.index("</svg>", start)]
            labels = re.findall(r'dy=".32em">([^<]*)</text>', drawing)
            assert len(set(labels)) == len(labels) > 2
            assert [label for label in labels if not label.startswith(scale) or "." in label.replace("Tsd.", "")] == []

    def test_geometry_has_points_in_all_languages(self, client, scene):
        text = client.get(f"/de{page_of(scene)}").text
        numbers = re.findall(r' (?:x|y|x1|x2|y1|y2|width|height)="([^"]*)"', text[text.index("<svg") :])
        assert numbers and all(re.fullmatch(r"-?[0-9]+(\.[0-9]+)?%?|1em", number) for number in numbers)


class TestTrades:
    """The trade list, and its own page."""

    def test_all_pages_are_walked(self, client, scene, django_assert_num_queries):
        path, amounts = f"{page_of(scene)}/trades", []
        while path:
            # The last page is also one that may lack earlier trades.
            with django_assert_num_queries(3 if len(amounts) == 25 else 2):
                answer = client.get(path)
            text = answer.text
            amounts += re.findall(r'<td class="number">([0-9.]+M)</td>', text)
            more = re.search(r'id="trades-more" rel="next" href="([^"]*)"', text)
            assert ("data-newest" in text) is (len(amounts) == 25)
            path = more and more[1]
        assert len(amounts) == 48 and len(set(amounts)) == 48

    def test_other_tokens_have_none(self, client):
        for end in ("trades", "fees"):
            assert client.get(f"/tokens/8453/{ADDRESS}/{end}").status_code == 404


class TestAirdropCheck:
    """The form that shows one recipient's airdrop part."""

    def test_it_shows_amount_claim_and_proof(self, client, scene):
        make_airdrop(scene)
        answer = client.get(page_of(scene), {"recipient": f" {RECIPIENT.lower()} "})
        words = words_of(answer)
        assert "This address may claim 400 HIGHER . 250 of it are claimed." in words
        assert "400000000000000000000" in words
        proof = json.loads(re.search(r"<pre>(.*?)</pre>", answer.text)[1].replace("&quot;", '"'))
        assert len(proof) == 1 and re.fullmatch("0x[0-9a-f]{64}", proof[0])
        api = client.get(
            "/api/airdrops/claim", {"tokenAddress": scene.contract_address, "claimerAddress": RECIPIENT}
        ).json()
        assert api["proofs"][0]["proof"] == proof

    def test_a_part_that_is_all_claimed_or_untouched_is_shown_so(self, client, scene):
        make_airdrop(scene)
        assert "Nothing of it is claimed so far." in words_of(client.get(page_of(scene), {"recipient": ADMIN}))
        values = {"user": ADMIN, "totalUserAmountClaimed": str(600 * 10**18), "userAmountStillLocked": "0"}
        TokenEventFactory(token=scene, kind="airdrop_claimed", arguments=values)
        assert "All of it is claimed." in words_of(client.get(page_of(scene), {"recipient": ADMIN}))

    def test_a_claim_that_may_be_among_older_events_is_unknown(self, client, scene):
        make_airdrop(scene)
        more = EVENTS_SEARCHED - TokenEvent.objects.filter(token=scene).count()
        add_events(scene, arguments=[{}] * more)
        assert "Nothing of it is claimed so far." in words_of(client.get(page_of(scene), {"recipient": ADMIN}))
        TokenEventFactory(token=scene)
        assert "is not known here." in words_of(client.get(page_of(scene), {"recipient": ADMIN}))

    def test_it_has_a_clear_message(self, client, scene):
        make_airdrop(scene)
        for recipient, text in (
            (ADDRESS, "No part of the airdrop is known for this address."),
            ("vitalik.eth", "This is not an address."),
            ("\0", "This is not an address."),
            ("<script>" * 100, "This is not an address."),
            ("   ", "Check an address"),
        ):
            assert text in words_of(client.get(page_of(scene), {"recipient": recipient}))

    def test_a_token_without_an_airdrop_has_no_form(self, client):
        assert 'name="recipient"' not in client.get(page_of(TokenFactory()), {"recipient": ADMIN}).text


class TestEmbed:
    """The page for other sites' frames."""

    def test_any_site_may_show_it(self, client, scene, django_assert_num_queries):
        with django_assert_num_queries(2):
            answer = client.get(embed_of(scene))
        page = read_page(answer)
        assert "X-Frame-Options" not in answer.headers
        assert "frame-ancestors *" in answer.headers["Content-Security-Policy"]
        assert page_of(scene) in page.addresses
        assert {"header", "svg"} <= set(page.elements) and not {"footer", "form", "nav"} & set(page.elements)
        words = words_of(answer)
        assert "$0.000192 +12.3%" in words and "More on Launchboard" in words

    def test_pages_besides_it_are_shown_in_no_frame(self, client, scene):
        answer = client.get(page_of(scene))
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        url = configured.SITE_URL + embed_of(scene)
        code = f'<iframe src="{url}" width="420" height="300" title="HIGHER" loading="lazy"></iframe>'
        assert f'data-copy="{escape(code)}"' in answer.text

    def test_an_installation_may_have_none(self, client, scene, settings):
        settings.SITE_SECTIONS = settings.SITE_SECTIONS - {"embed"}
        assert client.get(embed_of(scene)).status_code == 404
        assert "iframe" not in client.get(page_of(scene)).text

    def test_a_missing_token_is_not_found(self, client):
        assert client.get(f"/embed/token/8453/{ADDRESS}").status_code == 404

    def test_the_former_address_leads_to_it(self, client, scene):
        for language in ("", "/de"):
            answer = client.get(f"{language}/embed{page_of(scene)}?interval=1h")
            assert (answer.status_code, answer.headers["Location"]) == (301, f"{language}{embed_of(scene)}?interval=1h")
            assert "X-Frame-Options" not in answer.headers

    def test_it_is_cached_as_other_pages(self):
        assert "/embed/token/8453/".startswith(configured.EDGE_CACHE_PREFIXES)


def test_verification_ignores_ranges_that_end(client, scene):
    CoverageFactory(first_block=1, followed_to=500, last_block=500, verified_to=400)
    assert "up to block 2999100" in words_of(client.get(page_of(scene)))

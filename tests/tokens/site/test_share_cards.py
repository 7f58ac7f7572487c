"""Share cards, and the tags on a token's page that name them."""

import html
import io
import itertools
import json
import math
import re
import threading
from dataclasses import replace
from datetime import timedelta

import hypothesis
import pytest
from django.utils import timezone, translation
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageChops, ImageDraw

from config.picture_decoding import encode_square
from config.postgresql.partitions import week_of
from config.processes.concurrency_limits import card_slot
from tests.html_pages import HOSTILE, read_page
from tests.rows.factories import SolanaTokenFactory, TokenFactory
from tests.rows.pictures import RED, encoded, plain_picture
from tests.tokens.market.stored_trades import make_candle, make_weeks
from tokens.models import Market, Token
from tokens.site.cards import card_links, site_icons
from tokens.site.cards.card_drawing import WIDTH, draw_card, draw_page_card
from tokens.site.cards.card_facts import CardFacts, fetch_card
from tokens.site.cards.card_fonts import draw_text, drawable, fit_text, text_width, wrap_text
from tokens.site.cards.card_links import EMBED, SHAPES, WIDE, PageCard
from tokens.site.pictures.picture_files import store_picture
from tokens.site.pictures.wanted_pictures import PICTURE_SIDE, picture_key
from tokens.site.sparklines import PriceAt, draw_line

pytestmark = pytest.mark.django_db

ADDRESS = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
FACTS = CardFacts(chain="Base", contract_address=ADDRESS, symbol="HIGHER", name="Higher")


HEIGHT = EMBED.height


@pytest.fixture(autouse=True)
def unlimited(settings):
    settings.RATE_LIMIT_CARDS = settings.RATE_LIMIT_PAGES = 0


def card_path(token, shape=EMBED):
    """Return the stored card's path."""
    return card_links.token_link(Token.objects.select_related("market").get(pk=token.pk)).path(shape)


def image_of(body):
    with Image.open(io.BytesIO(body), formats=("PNG",)) as image:
        image.load()
        return image


def has_color(image, box, color):
    return any(other == color for _, other in image.crop(box).convert("RGB").getcolors(10**6))


def test_a_card_is_a_small_png_for_shared_caches(client, django_assert_num_queries):
    path = card_path(TokenFactory())
    with django_assert_num_queries(2):
        answer = client.get(path, headers={"accept-encoding": "gzip"})
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/png")
    # Its format is a compressed one.
    assert not {"Content-Encoding", "Vary"} & set(answer.headers)
    assert answer.headers["Cache-Control"] == "public, s-maxage=300" and not answer.cookies
    assert image_of(answer.content).size == (1200, 800) == (WIDTH, HEIGHT)
    assert len(answer.content) < 200_000


@pytest.mark.parametrize("version", ["", "/0123456789ab", "/0123456789ab-wide"])
@pytest.mark.parametrize(
    "path",
    [
        *(f"/cards/8453/{ADDRESS}", f"/cards/{'9' * 400}/{ADDRESS}", "/de/cards/8453/0x12", "/cards/creators/977"),
        *(f"/cards/creators/{ADDRESS}", "/cards/creators/nobody", "/cards/shop-page"),
    ],
)
def test_what_is_missing_has_no_card_and_caches_keep_that_for_a_minute(client, path, version):
    answer = client.get(f"{path}{version}.png")
    assert answer.status_code == 404
    # A path without a version is no route, but for tokens: there it was the former one.
    if version or "8453" in path:
        assert answer.headers["Cache-Control"] == "public, s-maxage=60" and answer.content == b""


def test_a_card_has_both_shapes(client):
    token = TokenFactory(symbol="UP", name="Higher")
    sizes = [image_of(client.get(card_path(token, shape)).content).size for shape in SHAPES]
    assert sizes == [(1200, 800), (1200, 630)]
    assert sizes[0][0] / sizes[0][1] == 1.5 and sizes[1][0] / sizes[1][1] == pytest.approx(1.91, abs=0.01)


def test_a_new_market_or_name_is_a_new_url_and_former_ones_lead_to_it(client):
    token = TokenFactory(symbol="UP", name="Higher")
    former = card_path(token)
    Market.objects.filter(pk=token.pk).update(market_cap=1_234_567.0)
    current = card_path(token)
    assert current != former
    shared = f"/cards/{token.chain_id}/{token.contract_address}.png"
    for path in (former, former.replace(former.split("/")[-1], "anything.png"), shared):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["Location"]) == (302, current)
        assert answer.headers["Cache-Control"] == "no-store"
    wide = former.replace(".png", "-wide.png")
    assert client.get(wide).headers["Location"] == card_path(token, WIDE)
    Token.objects.filter(pk=token.pk).update(blocked=True)
    assert client.get(current).status_code == 302


def test_cards_are_only_read(client):
    assert client.post(card_path(TokenFactory())).status_code == 405


def test_a_card_has_market_and_prices_of_the_last_day(settings):
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    token = TokenFactory()
    Market.objects.filter(pk=token.pk).update(market_cap=1_234_567.0, price_change_24h=-4.5)
    for hours, price in ((30, 9), (20, 2), (10, 4), (1, 3)):
        make_candle(token, hour - timedelta(hours=hours), *[price] * 4, seconds=3600)
    facts = fetch_card(token)
    assert (facts.market_cap, facts.change_24h, facts.chain) == (1_234_567.0, -4.5, "Base")
    assert facts.line and facts.line.direction == "down"
    assert [height for _, height in facts.line.coordinates] == [0, 0, 1, 0.5]


def test_a_card_of_a_token_of_some_minutes_has_a_line(client):
    now = timezone.now()
    make_weeks(3, first=week_of(now) - timedelta(weeks=1))
    token = TokenFactory(deployed_at=now - timedelta(minutes=3))
    area = (64, 556, 1136, 724)
    assert not has_color(image_of(client.get(card_path(token)).content), area, (0x4A, 0xD1, 0x8A))
    # Without a price in USD, in the quote token.
    make_candle(token, now.replace(second=0, microsecond=0) - timedelta(minutes=1), 1, 2, 1, 2, close_usd=None)
    assert has_color(image_of(draw_card(fetch_card(token))), area, (0x4A, 0xD1, 0x8A))


def test_a_card_shows_the_stored_picture(client, settings, tmp_path):
    settings.SITE_PICTURES, settings.SITE_PICTURE_DIR = True, tmp_path
    token = TokenFactory(img_url="https://a.example/1.png")
    area = (70, 180, 230, 320)
    assert not has_color(image_of(client.get(card_path(token)).content), area, (219, 20, 20))
    store_picture(picture_key(token.img_url), encode_square(encoded(plain_picture(RED)), side=PICTURE_SIDE))
    with_picture = image_of(client.get(card_path(token)).content).convert("RGB").getpixel((150, 240))
    assert all(abs(one - other) < 24 for one, other in zip(with_picture, RED, strict=True))


def test_a_blocked_tokens_card_is_neutral(client, settings, tmp_path):
    settings.SITE_PICTURES, settings.SITE_PICTURE_DIR = True, tmp_path
    blocked = TokenFactory(symbol="BAD", name="Bad words", blocked=True, img_url="https://a.example/1.png")
    assert b"BAD" not in card_path(blocked).encode()
    facts = fetch_card(blocked)
    assert facts == CardFacts(chain="Base", contract_address=blocked.contract_address, is_blocked=True)
    assert client.get(card_path(blocked)).content == draw_card(facts)


def test_another_color_and_name_of_the_installation_are_on_its_cards(settings):
    before = draw_card(FACTS)
    settings.SITE_COLOR = "#ffee00"
    assert image_of(draw_card(FACTS)).getpixel((600, 5)) == (0xFF, 0xEE, 0)
    settings.SITE_NAME = "Hoist & Co"
    assert len({before, draw_card(FACTS)}) == 2
    # Its host instead of a name without glyphs.
    settings.SITE_NAME, settings.SITE_URL = "🚀🚀", "https://board.example"
    named = draw_card(FACTS)
    settings.SITE_NAME = "board.example"
    assert draw_card(FACTS) == named


# Without glyphs they are never drawn, so that no character order can deceive.
RIGHT_TO_LEFT = ["مرحبا", "עברית", "١٢٣", "ﷺ", "ܐܒ", "ߒߞߏ", "\U0001e900"]


@pytest.mark.parametrize("symbol", ["🚀", "\ue000", "\uffff", "ก", "\U0001f1e9", *RIGHT_TO_LEFT])
def test_a_text_without_glyphs_is_replaced_by_the_address(symbol):
    assert drawable(symbol, "") == ""
    assert draw_card(replace(FACTS, symbol=symbol, name="")) == draw_card(replace(FACTS, symbol="", name=""))
    assert draw_card(replace(FACTS, name=symbol)) == draw_card(replace(FACTS, name=""))


def test_a_name_from_right_to_left_among_others_is_left_out():
    for name in ("USDC עברית 100", "100 مرحبا USDC"):
        assert draw_card(replace(FACTS, name=name)) == draw_card(replace(FACTS, name=""))


@pytest.mark.parametrize("mark", ["\u200f", "\u202b", "\u202e", "\u2067", "\u061c"])
def test_marks_of_direction_are_drawn_as_their_codes(mark):
    shown = f"<U+{ord(mark):04X}>gnp.exe"
    assert draw_card(replace(FACTS, name=f"{mark}gnp.exe")) == draw_card(replace(FACTS, name=shown))
    assert draw_card(replace(FACTS, name=f"{mark}gnp.exe")) != draw_card(replace(FACTS, name="gnp.exe"))


@pytest.mark.parametrize("text", ["HIGHER", "Ünïcødé", "Привет", "Ωμέγα", "Việt Nam", "$€₿", "<U+202E>", "a…b"])
def test_the_font_has_scripts_of_europe(text):
    assert drawable(text, "") == text


CJK = [
    "哈基米",
    "狗狗幣",
    "ドージコイン",
    "ひらがな",
    "도지코인",
    "ＡＩ（币）",
    "「猫」、。",
    "Doge 狗 2.0",
    "か\u3099",
    "\u3000",
]


@pytest.mark.parametrize("text", CJK)
def test_chinese_japanese_and_korean_are_drawn(text):
    assert drawable(text, "") == text
    drawn = {draw_card(replace(FACTS, symbol=symbol, name="")) for symbol in (text, "", "□")}
    assert len(drawn) == 3
    assert draw_card(replace(FACTS, name=text)) != draw_card(replace(FACTS, name=""))


def drawn_text(text, size, *, place=(300.0, 150.0), anchor="mm"):
    image = Image.new("RGB", (600, 300))
    draw_text(ImageDraw.Draw(image), place, text, size, fill="#ffffff", anchor=anchor)
    return image


@pytest.mark.parametrize("text", ["市值", "Market", "AI 智能体 v2"])
def test_a_text_of_several_fonts_is_one_line(text):
    left, top, right, bottom = drawn_text(text, 40).getbbox()
    assert abs(right - left - text_width(text, 40)) < 12 and abs(left + right - 600) < 12
    assert 120 < top < bottom < 180
    at_left, at_right = drawn_text(text, 40, anchor="ls"), drawn_text(text, 40, anchor="rs")
    assert abs(at_left.getbbox()[0] - 300) < 6 and abs(at_right.getbbox()[2] - 300) < 6


def test_labels_are_in_the_language_of_the_page():
    with translation.override("zh-hans"):
        chinese = image_of(draw_card(FACTS))
    assert chinese.tobytes() != image_of(draw_card(FACTS)).tobytes()
    expected = Image.new("RGB", chinese.size, chinese.getpixel((20, 400)))
    draw_text(ImageDraw.Draw(expected), (64, 400), "市值", 32, fill="#a5adba", anchor="ls")
    label = (64, 360, 500, 412)
    assert ImageChops.difference(expected.crop(label), chinese.convert("RGB").crop(label)).getbbox() is None


HOSTILE_TEXTS = [
    HOSTILE,
    "\u202egnp.exe",
    "x" * 10_000,
    "W" * 10_000,
    "\n" * 50,
    "a\nb\tc",
    "\0",
    "z" + "\u0301" * 500,
    "\u200d\u200b\ufeff",
    " ",
    "%s{0}",
]


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_names_stay_within_their_card(text):
    image = image_of(draw_card(replace(FACTS, symbol=text, name=text)))
    assert image.size == (WIDTH, HEIGHT)
    # Nothing is drawn in the margins.
    for box in ((0, 120, 60, HEIGHT), (WIDTH - 60, 120, WIDTH, HEIGHT), (0, 740, WIDTH, HEIGHT)):
        assert len(image.crop(box).convert("RGB").getcolors(10**6)) == 1


def line_of(prices):
    begin = timezone.now()
    end = begin + timedelta(hours=len(prices))
    points = [PriceAt(begin + timedelta(hours=number), None, price) for number, price in enumerate(prices)]
    return draw_line(points, begin=begin, end=end, is_since_launch=False, change=None)


# Each example takes a tenth of a second.
@hypothesis.settings(max_examples=30)
@given(
    symbol=st.text(max_size=60),
    market_cap=st.none() | st.floats(),
    change=st.none() | st.floats(),
    prices=st.lists(st.floats(0, 1e15), max_size=5),
)
def test_any_facts_have_a_card(symbol, market_cap, change, prices):
    body = draw_card(
        replace(FACTS, symbol=symbol, name=symbol, market_cap=market_cap, change_24h=change, line=line_of(prices))
    )
    assert image_of(body).size == (WIDTH, HEIGHT)


@pytest.mark.parametrize("prices", [(), (1.0,), (1.0, 1.0), (0.0, 0.0), (1e-300, 1e300), (5e-324, 1e-323)])
def test_any_prices_have_a_chart(prices):
    assert draw_card(replace(FACTS, line=line_of(prices), market_cap=math.inf, change_24h=math.nan))


def test_a_text_is_cut_where_no_font_is_small_enough():
    for letter in "W狗":
        text, size = fit_text(letter * 500, (40, 20), 300)
        assert text.endswith("…") and text_width(text, size) <= 300 and size == 20
        assert fit_text(letter, (40, 20), 300) == (letter, 40)


def test_further_cards_get_503_while_some_are_drawn(client):
    token, entered, leave = TokenFactory(), threading.Barrier(3), threading.Event()

    def occupy() -> None:
        entered.wait()
        with card_slot(timeout=60):
            leave.wait()

    threads = [threading.Thread(target=occupy) for _ in range(2)]
    for thread in threads:
        thread.start()
    entered.wait()
    try:
        answer = None
        # Until both threads hold or wait for the slot, a card may be drawn.
        while answer is None or answer.status_code == 200:
            answer = client.get(card_path(token))
    finally:
        leave.set()
        for thread in threads:
            thread.join()
    assert (answer.status_code, answer.headers["Retry-After"], answer.headers["Cache-Control"]) == (
        503,
        "2",
        "no-store",
    )
    assert client.get(card_path(token)).status_code == 200


def tags_of(client, token, *, language=""):
    answer = client.get(f"{language}/tokens/{token.chain_id}/{token.contract_address}")
    read_page(answer)
    found = re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)">', answer.text)
    return {name: html.unescape(value) for name, value in found}


def test_a_tokens_page_names_its_card(client, settings):
    settings.SITE_URL, settings.SITE_NAME = "https://board.example", "Board " * 10
    token = TokenFactory(symbol="UP", name="Higher")
    path = f"{token.chain_id}/{token.contract_address}"
    tags = tags_of(client, token)
    image, wide = (f"https://board.example{card_path(token, shape)}" for shape in SHAPES)
    assert (tags["og:image"], tags["og:image:width"], tags["og:image:height"]) == (wide, "1200", "630")
    assert tags["og:title"] == "UP on Base" and "UP on Base" in tags["og:image:alt"]
    assert tags["og:url"] == f"https://board.example/tokens/{path}"
    assert tags["twitter:card"] == "summary_large_image"
    embed = json.loads(tags["fc:miniapp"])
    button = embed["button"]
    assert (embed["version"], embed["imageUrl"]) == ("1", image) and len(button["title"]) <= 32
    assert (
        button["action"]["type"] == "launch_frame"
        and button["action"]["url"] == f"https://board.example/miniapp/tokens/{path}"
    )
    splash = button["action"]["splashImageUrl"].removeprefix("https://board.example")
    assert image_of(client.get(splash).content).size == (200, 200)
    assert len(button["action"]["name"]) == 32
    for url in (image, wide):
        assert client.get(url.removeprefix("https://board.example")).status_code == 200


def test_a_page_in_another_language_names_the_card_in_it(client, settings):
    token = TokenFactory()
    path = tags_of(client, token, language="/zh-hans")["og:image"].removeprefix(settings.SITE_URL)
    with translation.override("zh-hans"):
        assert path == card_path(token, WIDE) and path.startswith("/zh-hans/")
        assert client.get(path).content == draw_card(fetch_card(token), WIDE)
    assert path.startswith(settings.EDGE_CACHE_PREFIXES)
    assert client.get(path).content != client.get(card_path(token)).content


def test_a_version_of_a_card_has_one_url(client, django_assert_num_queries):
    token = TokenFactory()
    path = card_path(token)
    for language in ("", "/de"):
        with django_assert_num_queries(0):
            answers = [client.get(f"{language}{path}?{query}") for query in ("v=1", "v=2", "utm_source=x", "=")]
        for answer in answers:
            assert (answer.status_code, answer.headers["Location"]) == (301, f"{language}{path}")
            assert answer.headers["Cache-Control"] == "no-store"
    for other in (path.lower(), path.replace("/8453/", "/08453/")):
        answer = client.get(other)
        assert (answer.status_code, answer.headers["Location"]) == (302, path)
    assert client.get(path).status_code == 200
    assert client.get("/cards/8453/a%0d%0ab%3F.png?x").headers["Location"] == "/cards/8453/a%0D%0Ab%3F.png"


def test_one_visitors_cards_are_limited_before_they_are_drawn(client, settings):
    settings.RATE_LIMIT_CARDS, settings.RATE_LIMIT_PAGES = 2, 1
    paths = [card_path(TokenFactory()) for _ in range(4)]
    # A redirect costs no drawing.
    client.get(f"{paths[0]}?x", REMOTE_ADDR="192.0.2.51")
    answers = [client.get(path, REMOTE_ADDR="192.0.2.51") for path in paths]
    assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
    assert answers[-1].content == b"" and 0 < int(answers[-1].headers["Retry-After"]) <= 60
    with card_slot():
        assert client.get(paths[0], REMOTE_ADDR="192.0.2.51").status_code == 429
    assert client.get(paths[0], REMOTE_ADDR="192.0.2.52").status_code == 200
    # Pages have their own limit.
    assert client.get("/status", REMOTE_ADDR="192.0.2.51").status_code == 200


@pytest.mark.parametrize("factory", [TokenFactory, SolanaTokenFactory])
@pytest.mark.parametrize("text", [*HOSTILE_TEXTS[:1], '"}', "\u202e", "x" * 10_000, "🚀", "مرحبا"])
def test_hostile_names_stay_within_their_tags(client, factory, text):
    tags = tags_of(client, factory(symbol=text, name=text, img_url=HOSTILE))
    embed = json.loads(tags["fc:miniapp"])
    assert set(embed) == {"version", "imageUrl", "button"} and "\u202e" not in "".join(tags.values())
    assert max(map(len, tags.values())) < 1_024


def test_the_tags_of_a_blocked_token_do_not_have_its_name(client):
    tags = tags_of(client, TokenFactory(symbol="BADSYMBOL", name="BADNAME", blocked=True))
    assert not re.search("BADSYMBOL|BADNAME", str(tags)) and "fc:miniapp" not in tags


def test_without_the_section_no_tag_opens_a_mini_app(client, settings):
    settings.SITE_SECTIONS = settings.SITE_SECTIONS - {"miniapp"}
    assert "fc:miniapp" not in tags_of(client, TokenFactory())


LANGUAGES = ("", "/de", "/zh-hans")
PAGES = ("/", "/leaderboard", "/status", "/docs", "/creators/977")


@pytest.mark.parametrize(("path", "language"), itertools.product(PAGES, LANGUAGES))
def test_pages_have_a_description_and_a_picture_in_their_language(client, settings, path, language):
    TokenFactory(requestor_fid=977)
    answer = client.get(f"{language}{path}")
    found = dict(re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)">', read_page(answer) and answer.text))
    assert 20 < len(found["description"]) < 300 and found["description"] == found["og:description"]
    image = found["og:image"].removeprefix(settings.SITE_URL)
    assert image.startswith(f"{language}/cards/") and image.startswith(settings.EDGE_CACHE_PREFIXES)
    assert found["twitter:card"] == "summary_large_image"
    # Each page's card is drawn in one language, and each language's for one page.
    is_drawn = PAGES.index(path) % len(LANGUAGES) == LANGUAGES.index(language)
    for url, size in ((image, (1200, 630)), (image.replace("-wide.png", ".png"), (1200, 800)))[: 2 * is_drawn]:
        card = client.get(url)
        assert card.status_code == 200 and image_of(card.content).size == size
        assert card.headers["Cache-Control"] == "public, s-maxage=300"
    assert answer.text.count('hreflang="x-default"') == 1
    assert f'hreflang="x-default" href="{settings.SITE_URL}{path}">' in answer.text


def test_the_cards_of_sections_that_an_installation_leaves_out_are_missing(client, settings):
    TokenFactory(requestor_fid=977)
    paths = [
        re.search(r'og:image" content="([^"]*)"', client.get(path).text)[1].removeprefix(settings.SITE_URL)
        for path in ("/leaderboard", "/creators/977")
    ]
    settings.SITE_SECTIONS = frozenset()
    assert [client.get(path).status_code for path in paths] == [404, 404]


def test_the_home_page_s_own_sentence_is_its_description(client, settings):
    settings.SITE_INTRO = "Launch with care."
    assert '<meta property="og:description" content="Launch with care.">' in client.get("/").text


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_titles_stay_within_a_page_s_card(text, shape):
    image = image_of(draw_page_card(PageCard(text, text, ""), shape))
    assert image.size == (shape.width, shape.height)
    for box in ((0, 120, 60, shape.height), (WIDTH - 60, 120, WIDTH, shape.height)):
        assert len(image.crop(box).convert("RGB").getcolors(10**6)) == 1


@pytest.mark.parametrize("text", ["one two three four", "这是一个没有空格的很长的中文句子", "W" * 300, "a b", ""])
def test_a_text_is_wrapped_without_loss_until_its_last_line(text):
    lines = wrap_text(text, 40, 200, lines=3)
    assert len(lines) <= 3 and all(text_width(line, 40) <= 200 for line in lines)
    assert "".join(lines).replace(" ", "").rstrip("…") in text.replace(" ", "")


def test_the_icon_is_that_of_the_installation_or_its_letter(client, settings, tmp_path):
    for cached in (site_icons.draw_icon, site_icons.draw_favicon):
        cached.cache_clear()
    try:
        letter = client.get("/favicon.ico")
        assert letter.headers["Content-Type"] == "image/x-icon" and "public" in letter.headers["Cache-Control"]
        with Image.open(io.BytesIO(letter.content)) as icon:
            assert icon.format == "ICO" and icon.info["sizes"] == {(16, 16), (32, 32), (48, 48)}
            assert icon.convert("RGB").getpixel((1, 1)) == (0x24, 0x56, 0xD6)
        settings.SITE_ICON = tmp_path / "icon.png"
        settings.SITE_ICON.write_bytes(encoded(plain_picture(RED)))
        for cached in (site_icons.draw_icon, site_icons.draw_favicon):
            cached.cache_clear()
        path = site_icons.icon_path(1024)
        own = image_of(client.get(path).content)
        assert (own.size, own.mode) == ((1024, 1024), "RGB")
        assert all(abs(one - other) < 24 for one, other in zip(own.getpixel((512, 512)), RED, strict=True))
        assert client.get(path.replace(path[-8:-4], "0000")).status_code == 404
        assert client.get("/icons/5000-0123456789ab.png").status_code == 404
    finally:
        for cached in (site_icons.draw_icon, site_icons.draw_favicon):
            cached.cache_clear()

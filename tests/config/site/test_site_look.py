"""The public site's look: an installation's colors, assets, languages and variables."""

import re

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.urls import reverse
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from config.environment.model import Environment
from config.environment.variables import read_variables
from config.site import assets
from config.site.colors import READABLE, contrast, parse_color, readable_on
from config.site.languages import translated_path
from tests.rows.pictures import encoded, plain_picture

pytestmark = pytest.mark.django_db

COLORS = st.from_regex(r"#[0-9a-f]{6}", fullmatch=True)
LIGHT, DARK = ("#ffffff", "#eef0f4"), ("#0f1116", "#20242e")


def stylesheet_text() -> str:
    return (assets._FILES / "site.css").read_text()


def test_contrast_is_that_of_the_standard():
    # WCAG 2.2: black on white is 21; #767676 is the lightest gray that passes on white.
    assert contrast(parse_color("#000000"), parse_color("#ffffff")) == pytest.approx(21)
    assert contrast(parse_color("#767676"), parse_color("#ffffff")) == pytest.approx(4.54, abs=0.01)


@given(color=COLORS)
def test_any_color_of_an_operator_is_readable(color):
    for surfaces in (LIGHT, DARK):
        found = parse_color(readable_on(color, surfaces))
        assert min(contrast(found, parse_color(surface)) for surface in surfaces) >= READABLE


def test_a_readable_color_stays_as_it_is():
    assert readable_on("#2456d6", LIGHT) == "#2456d6"


@pytest.mark.parametrize("scheme", [LIGHT, DARK])
def test_the_stylesheet_s_own_colors_are_readable(scheme):
    light, dark = re.findall(r":root \{(.*?)\}", stylesheet_text(), re.DOTALL)
    colors = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{3,6})", light if scheme is LIGHT else dark))
    full = {
        name: value if len(value) == 7 else "#" + "".join(2 * part for part in value[1:])
        for name, value in colors.items()
    }
    assert {full["paper"], full["back"], full["raised"]} >= set(scheme)
    for name in ("ink", "soft", "up", "down", "warn"):
        for surface in ("paper", "back", "raised"):
            assert contrast(parse_color(full[name]), parse_color(full[surface])) >= READABLE, (name, surface)


def test_assets_have_a_digest_and_are_cached_for_good(client):
    answer = client.get(assets.asset_url("site.css"))
    assert answer.status_code == 200 and answer.headers["Content-Type"] == "text/css; charset=utf-8"
    assert answer.headers["Cache-Control"].endswith("immutable")
    assert client.get(reverse("asset", args=["site.0000000000000000.css"])).status_code == 404
    assert client.get("/assets/../settings.py").status_code == 404
    assert assets.asset_url("logo") == "" and assets.asset_url("icon").endswith(".svg")
    with pytest.raises(ValueError, match=r"there is no asset other\.css"):
        assets.asset_url("other.css")


@pytest.mark.parametrize(
    ("body", "suffix", "width"),
    [
        (b'<?xml version="1.0"?><svg height="16px" width="40" xmlns="http://www.w3.org/2000/svg"/>', ".svg", 80),
        (b'<svg viewBox="-1.5 0 10,20.0" width="100" height="10"/>', ".svg", 16),
        (b'<svg viewBox="0 0 1000 10"/>', ".svg", assets.MAX_LOGO_WIDTH),
        (b'<svg width="100%"/>', ".svg", 32),
        (b'<svg viewBox="0 0 10 0"/>', ".svg", 32),
        (encoded(plain_picture(size=(64, 16))), ".png", 128),
        (b"no picture", ".png", 32),
    ],
)
def test_a_logo_keeps_its_proportions(body, suffix, width):
    assert assets._width_in_header(body, suffix) == width


def test_an_installation_has_its_own_look(client, settings, tmp_path):
    logo = tmp_path / "logo.svg"
    logo.write_text("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 90 24'><script>alert(1)</script></svg>")
    settings.SITE_NAME, settings.SITE_LOGO, settings.SITE_COLOR = "Hoist & Co", logo, "#ffee00"
    settings.SITE_FOOTER_LINKS = read_variables(
        Environment, {"SITE_FOOTER_LINKS": "Terms|/terms,Chat|https://c.example"}
    ).SITE_FOOTER_LINKS
    settings.SITE_FOOTER_TEXT = "Not <b>advice</b>."
    for cached in (assets._assets, assets.color_stylesheet):
        cached.cache_clear()
    try:
        page = client.get("/").text
        for text in ("Hoist &amp; Co", 'href="/terms">Terms<', 'href="https://c.example">Chat<', "Not &lt;b&gt;advice"):
            assert text in page
        assert re.search(r'<img src="/assets/logo\.[^"]+" alt="" height="32" width="120">', page)
        answer = client.get(assets.asset_url("logo"))
        assert (
            answer.content == logo.read_bytes()
            and answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
        )
        assert client.get(assets.asset_url("site.css")).text.count("--accent:#") == 2
        assert "#ffee00" in client.get(assets.asset_url("site.css")).text
        # On a light color, the drawing is black.
        icon = client.get(assets.asset_url("icon")).text
        assert icon.count("#ffee00") == 1 and icon.count("#000000") == 1 and "#2456d6" not in icon
    finally:
        for cached in (assets._assets, assets.color_stylesheet):
            cached.cache_clear()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SITE_COLOR", "blue"),
        ("SITE_LOGO", "/nowhere/logo.svg"),
        ("SITE_HEADER_LINKS", "Terms|javascript:alert(1)"),
        ("SITE_HEADER_LINKS", "Terms"),
        ("SITE_SECTIONS", "leaderboard,shop"),
        ("SITE_LANGUAGES", "en,xx"),
        ("SITE_LANGUAGES", "en,en"),
        ("SITE_NAME", "x" * 61),
    ],
)
def test_an_unusable_setting_is_named_with_its_rule(name, value):
    with pytest.raises(ImproperlyConfigured, match=f"{name} has a value that can't be used: expected "):
        read_variables(Environment, {name: value})


def test_a_language_has_its_own_paths(client):
    for path, code in (("/", "en"), ("/de/", "de"), ("/zh-hans/leaderboard", "zh-hans")):
        answer = client.get(path)
        assert answer.status_code == 200 and answer.headers["Content-Language"] == code
        assert f'<html lang="{code}">' in answer.text
        assert "Accept-Language" not in answer.headers.get("Vary", "")
    for path in ("/en/", "/fr/", "/de/api/tokens", "/de/admin/"):
        assert client.get(path).status_code == 404


def test_pages_link_to_themselves_in_all_languages(client):
    page = client.get("/de/leaderboard?interval=7d").text
    for path in ("/leaderboard", "/de/leaderboard", "/zh-hans/leaderboard"):
        assert f'href="{path}?interval=7d"' in page
    assert '<link rel="canonical" href="http://127.0.0.1:8000/de/leaderboard">' in page


@pytest.mark.parametrize("path", ["/", "/de/", "/zh-hans/"])
def test_paths_of_languages(path):
    assert [translated_path(path, code) for code in ("en", "de", "zh-hans")] == ["/", "/de/", "/zh-hans/"]


def test_the_api_stays_english(client):
    with translation.override("de"):
        answer = client.get("/api/tokens?limit=x")
    assert answer.status_code == 400 and "Content-Language" not in answer.headers
    assert translation.get_language() == "en"

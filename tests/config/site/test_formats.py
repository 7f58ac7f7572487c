"""The public site templates' formats: amounts, times and texts from the chain."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone, translation
from hypothesis import given
from hypothesis import strategies as st

from config.site import formats


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (0, "0"),
        (1234567, "1.23M"),
        (999, "999"),
        (1000, "1.00K"),
        (9_994, "9.99K"),
        (9_999, "10.0K"),
        (999.6, "1.00K"),
        (999_999, "1.00M"),
        (Decimal("-99999"), "-100K"),
        (9.999, "10.0"),
        (0.0099999, "0.0100"),
        (12.3456, "12.3"),
        (0.00012345, "0.000123"),
        (0.000012345, "0.0₄123"),
        (0.0000999999, "0.000100"),
        (Decimal("-4.56e-10"), "-0.0₉456"),
        (Decimal("-1500"), "-1.50K"),
        (2.5e12, "2.50T"),
        (10**21, "1.00e+21"),
        (1.5e-12, "0.0₁₁150"),
        (float("inf"), ""),
        (float("nan"), ""),
    ],
)
def test_numbers_have_three_significant_digits(value, text):
    assert formats.compact_text(value) == text


def test_the_zeros_of_a_small_number_are_counted_for_the_eye_and_read_aloud():
    html = '<span aria-hidden="true">{}0.0₉456</span><span class="quiet">{}0.000000000456</span>'
    assert formats.compact(4.56e-10) == html.format("", "")
    assert formats.usd(4.56e-10) == html.format("$", "$")
    assert formats.compact_text(4.5678e-10, 5) == "0.0₉45678"
    assert (formats.compact(0.5), formats.usd(0.5)) == ("0.500", "$0.500")
    with translation.override("de"):
        assert formats.usd_text(4.56e-10) == "0,0₉456\xa0$"


@pytest.mark.parametrize(
    ("value", "text"),
    [("0.000000", "0.0%"), ("63.28", "63.2%"), ("99.999999", "99.9%"), ("100.000000", "100.0%")],
)
def test_shares_are_rounded_down(value, text):
    assert formats.share(Decimal(value)) == text


def test_amounts_have_the_form_of_the_language():
    with translation.override("de"):
        assert (formats.usd(1234567), formats.percent(-12.34)) == ("1,23\xa0Mio.\xa0$", "-12,3\xa0%")
        assert formats.share(Decimal("63.28")) == "63,2\xa0%"
    assert (formats.usd(-5), formats.usd(None), formats.percent(None)) == ("-$5.00", "", "")
    assert (formats.direction(-1), formats.direction(0)) == ("down", "")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12.34, "+12.3%"),
        (5, "+5.0%"),
        (0.5, "+0.5%"),
        (-0.04, "0.0%"),
        (0, "0.0%"),
        (-100, "-100.0%"),
        (999.96, "+1.00K%"),
        (float("nan"), ""),
    ],
)
def test_changes_have_one_decimal(value, text):
    assert formats.percent(value) == text


@pytest.mark.parametrize(
    ("value", "name"), [(None, ""), (float("nan"), ""), (0, ""), (-0.04, ""), (0.05, ""), (0.06, "up"), (-0.06, "down")]
)
def test_a_change_that_is_shown_as_zero_has_no_direction(value, name):
    assert formats.direction(value) == name


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (100, "100"),
        (Decimal("10.000"), "10"),
        (0.25, "0.25"),
        (12.345, "12.34"),
        (0.004, "0.004"),
        (0, "0"),
    ],
)
def test_shares_have_at_most_two_decimals(value, text):
    assert formats.points(value) == text


def test_more_digits_keep_scale_and_language():
    with translation.override("de"):
        assert [formats.compact_text(value, 5) for value in (1_234_567, 0.0000123456, 1e-12)] == [
            "1,2346\xa0Mio.",
            "0,0₄12346",
            "0,0₁₁10000",
        ]


@given(value=st.floats() | st.integers() | st.decimals())
def test_any_number_has_a_short_text(value):
    for format_number in (formats.compact_text, formats.percent, formats.points):
        assert len(format_number(value)) <= 40
    assert len(formats.compact(value)) <= 140


def test_ages_have_one_unit():
    now = timezone.now()
    for seconds, text in ((0, "0s"), (61, "1m"), (7_300, "2h"), (90_000, "1d"), (40_000_000, "1y"), (-60, "0s")):
        assert f">{text}</time>" in formats.age(now - timedelta(seconds=seconds))


def test_deceiving_characters_are_shown_and_not_obeyed():
    text = formats.shown("pay\u202egnp.exe\u200b\u2066")
    assert text.count('<span class="control">') == 3 and "&lt;U+202E&gt;" in text
    assert not any(mark in text for mark in "\u202e\u200b\u2066")
    assert formats.plain("a\u202eb") == "a<U+202E>b"


def test_names_of_people_and_emoji_stay_as_they_are():
    for name in ("שלום", "قهوة", "नमस्ते", "👩\u200d🚀", "❤\ufe0f", "Việt Nam", "می\u200cخواهم"):
        assert formats.shown(name) == f"<bdi>{name}</bdi>"


def test_long_names_and_piles_of_marks_are_cut():
    assert len(formats.plain("x" * 10_000)) == 80 and formats.plain("x" * 10_000).endswith("…")
    assert len(formats.plain("a" + "\u0300" * 5_000)) <= 6
    assert formats.plain("x" * 80) == "x" * 80 and formats.plain("") == formats.plain(None) == ""


@given(text=st.text(max_size=400))
def test_any_text_is_escaped_and_bounded(text):
    html = formats.shown(text)
    inside = (
        html.removeprefix("<bdi>").removesuffix("</bdi>").replace('<span class="control">', "").replace("</span>", "")
    )
    assert "<" not in inside and len(formats.plain(text)) <= 80 * len("<U+E0001>")


def test_addresses_are_cut_in_the_middle():
    assert formats.short_address("0x5FbDB2315678afecb367f032d93F642f64180aa3") == "0x5FbD…0aa3"
    assert formats.short_address("short") == "short"

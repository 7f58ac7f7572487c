"""Pagination cursors: encoding and decoding."""

import base64
import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.cursors import Cursor, CursorError, LegacyCursor, decode_cursor, encode_cursor
from tests.rows.token_lists import content_of, cursor_of

START = datetime.datetime(2026, 2, 7, 3, 50, 49, tzinfo=datetime.UTC)
OLDER = "eyJpZCI6IjIwMjYtMDItMDdUMDM6NTA6NDkifQ=="


@pytest.mark.parametrize(
    "text",
    [
        "!!!!",
        "a",
        "-_-_",
        "====",
        OLDER[:4] + "!" + OLDER[4:],
        OLDER[:4] + "\n" + OLDER[4:],
        "\u00e4\u00e4\u00e4\u00e4",
        "\0",
        base64.b64encode(b"\xff\xfe").decode(),
        cursor_of("not json"),
        cursor_of("[]"),
        cursor_of("null"),
        cursor_of("5"),
        cursor_of("{}"),
        cursor_of("[" * 100),
        cursor_of({"id": None}),
        cursor_of({"id": 5}),
        cursor_of({"id": []}),
        cursor_of({"id": "yesterday"}),
        cursor_of({"id": "2026-02-30T00:00:00"}),
        cursor_of({"id": "2026-02-07"}),
        cursor_of({"id": "2026-02-07T03:50:49+02:00"}),
        cursor_of({"id": "0001-01-01T00:00:00"}),
        cursor_of({"id": "9999-12-31T23:59:59"}),
        cursor_of({"id": "20260207T035049"}),
        cursor_of({"id": "\u0662026-02-07T03:50:49"}),
        cursor_of({"id": "2026-02-07T03:50:49", "k": 1}),
        cursor_of({"id": "2026-02-07T03:50:49", "s": "deployed-at"}),
        cursor_of({"id": "2026-02-07T03:50:49", "k": "1", "s": "deployed-at"}),
        cursor_of({"id": "2026-02-07T03:50:49", "k": True, "s": "deployed-at"}),
        cursor_of({"id": "2026-02-07T03:50:49", "k": 1.5, "s": "deployed-at"}),
        cursor_of({"id": "2026-02-07T03:50:49", "k": 2**63, "s": "deployed-at"}),
        cursor_of({"id": "2026-02-07T03:50:49", "k": 10**40, "s": "deployed-at"}),
        cursor_of({"id": "2026-02-07T03:50:49", "k": 1, "s": 5}),
        cursor_of({"id": "2026-02-07T03:50:49", "k": 1, "s": "deployed-at", "d": "up"}),
        cursor_of({"id": "2026-02-07T03:50:49", "k": 1, "s": "deployed-at", "d": ["asc"]}),
        cursor_of({"id": 7, "k": 1, "s": "deployed-at"}),
        cursor_of('{"id": NaN, "k": 1, "s": "deployed-at"}'),
        cursor_of({"id": "2026-02-07T03:50:49", "k": 1, "s": "deployed-at", "x": "y" * 600}),
    ],
)
def test_it_refuses_an_undecodable_cursor(text):
    with pytest.raises(CursorError) as caught:
        decode_cursor(text, sort_by="deployed-at")
    assert str(caught.value) == "must be the cursor of an earlier answer of this list"


@pytest.mark.parametrize("value", ["abc", "2026-02-07T03:50:49Z", True, [], 10**400, 1e999, "1e5", "٣", "--1"])
def test_it_refuses_a_numeric_cursor_without_a_number(value):
    with pytest.raises(CursorError):
        decode_cursor(cursor_of({"id": value, "k": 1, "s": "market-cap"}), sort_by="market-cap", numeric=True)


@pytest.mark.parametrize("value", [5.0, 5.5, "5", "5.5", 2**63])
def test_it_refuses_a_cursor_of_whole_numbers_without_one(value):
    text = cursor_of({"id": value, "k": 1, "s": "tx-h24"})
    with pytest.raises(CursorError):
        decode_cursor(text, sort_by="tx-h24", numeric=True, whole=True)


@pytest.mark.parametrize("value", [5, 0, 2**63 - 1, None])
def test_it_reads_a_cursor_of_whole_numbers(value):
    text = cursor_of({"id": value, "k": 1, "s": "tx-h24"})
    assert decode_cursor(text, sort_by="tx-h24", numeric=True, whole=True) == Cursor(value, 1)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 400, "NaN"])
def test_it_refuses_a_number_out_of_range(number):
    with pytest.raises(CursorError):
        decode_cursor(cursor_of(f'{{"id":{number},"k":1,"s":"market-cap"}}'), sort_by="market-cap", numeric=True)


def test_it_writes_the_documented_form():
    assert base64.b64decode(encode_cursor(Cursor(START, 7), sort_by="deployed-at")) == (
        b'{"id":"2026-02-07T03:50:49.000Z","k":7,"s":"deployed-at"}'
    )


def test_it_writes_the_direction_where_it_is_not_the_default():
    assert content_of(encode_cursor(Cursor(START, 7), sort_by="deployed-at", descending=False))["d"] == "asc"


def test_it_takes_a_cursor_that_lost_its_padding():
    cursor = encode_cursor(Cursor(START, 77), sort_by="deployed-at")
    assert cursor.endswith("=")
    assert decode_cursor(cursor.rstrip("="), sort_by="deployed-at") == Cursor(START, 77)


@pytest.mark.parametrize("descending", [True, False])
def test_it_reads_the_older_form(descending):
    assert decode_cursor(OLDER, sort_by="deployed-at", descending=descending) == LegacyCursor(START)


@pytest.mark.parametrize(
    ("sort_by", "descending", "numeric"),
    [("market-cap", True, True), ("deployed-at", False, False), ("price", True, False)],
)
def test_it_starts_again_with_a_cursor_of_another_sort(sort_by, descending, numeric):
    cursor = encode_cursor(Cursor(START, 7), sort_by="deployed-at")
    assert decode_cursor(cursor, sort_by=sort_by, descending=descending, numeric=numeric) is None


def test_it_starts_again_with_an_ascending_cursor_on_a_descending_list():
    cursor = encode_cursor(Cursor(START, 7), sort_by="deployed-at", descending=False)
    assert decode_cursor(cursor, sort_by="deployed-at", descending=True) is None


def test_it_starts_again_with_the_older_form_on_a_numeric_sort():
    assert decode_cursor(OLDER, sort_by="market-cap", numeric=True) is None


moments = st.datetimes(
    min_value=datetime.datetime(1970, 1, 1), max_value=datetime.datetime(9998, 12, 31), timezones=st.just(datetime.UTC)
)


@given(moment=moments, row_id=st.integers(min_value=1, max_value=2**63 - 1), descending=st.booleans())
def test_it_returns_exactly_the_moment_that_it_was_given(moment, row_id, descending):
    cursor = encode_cursor(Cursor(moment, row_id), sort_by="deployed-at", descending=descending)
    assert decode_cursor(cursor, sort_by="deployed-at", descending=descending) == Cursor(moment, row_id)


@given(
    value=st.integers(min_value=-(2**63) + 1, max_value=2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(allow_nan=False, allow_infinity=False, places=18, min_value=-(10**30), max_value=10**30)
)
def test_it_returns_exactly_the_number_that_it_was_given(value):
    cursor = encode_cursor(Cursor(value, 7), sort_by="market-cap")
    assert decode_cursor(cursor, sort_by="market-cap", numeric=True) == Cursor(value, 7)


@given(text=st.text(max_size=80) | st.binary(max_size=80).map(lambda raw: base64.b64encode(raw).decode()))
def test_it_refuses_or_reads_any_text_and_never_fails_otherwise(text):
    try:
        decode_cursor(text, sort_by="deployed-at")
    except CursorError as error:
        assert "cursor" in str(error)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(
    content=st.fixed_dictionaries({}, optional=dict.fromkeys(("id", "k", "s", "d"), json_values)),
    numeric=st.booleans(),
)
def test_it_refuses_or_reads_any_json_and_never_fails_otherwise(content, numeric):
    try:
        decode_cursor(cursor_of(content), sort_by="deployed-at", numeric=numeric)
    except CursorError as error:
        assert "cursor" in str(error)

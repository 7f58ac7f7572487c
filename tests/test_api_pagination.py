"""Cursors, and walks by cursor over real rows."""

import base64
import datetime
import json

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Case, FloatField, Value, When
from django.db.models.functions import Coalesce
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.exceptions import ValidationError

from config.api.pagination import Cursor, OlderCursor, decode, encode, page

START = datetime.datetime(2026, 2, 7, 3, 50, 49, tzinfo=datetime.UTC)
OLDER = "eyJpZCI6IjIwMjYtMDItMDdUMDM6NTA6NDkifQ=="
BY_DATE = {"sort_by": "deployed-at", "field": "date_joined"}


def cursor_of(content):
    text = content if isinstance(content, str) else json.dumps(content)
    return base64.b64encode(text.encode()).decode()


def content_of(cursor):
    return json.loads(base64.b64decode(cursor))


def create_users(moments):
    """One row per moment; returns them in the order of their ids."""
    users = [User(username=f"user-{number}", date_joined=moment) for number, moment in enumerate(moments)]
    return User.objects.bulk_create(users)


def walk(queryset, *, limit, **options):
    """All rows of a walk from the first page to the null cursor, and the number of pages."""
    rows, cursor = page(queryset, limit=limit, **options)
    pages = 1
    while cursor is not None:
        more, cursor = page(queryset, limit=limit, cursor_text=cursor, **options)
        assert more, "a cursor must lead to at least one row"
        assert pages <= 30, "the walk must come to an end"
        rows += more
        pages += 1
    return rows, pages


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
def test_it_refuses_an_undecodable_cursor_and_names_the_parameter(text):
    with pytest.raises(ValidationError) as caught:
        decode(text, sort_by="deployed-at")
    assert caught.value.detail == {"cursor": ["must be the cursor of an earlier answer of this list"]}


@pytest.mark.parametrize("value", ["abc", "2026-02-07T03:50:49Z", None, True, [], 10**400, 1e999, "1e5", "٣", "--1"])
def test_it_refuses_a_numeric_cursor_without_a_number(value):
    with pytest.raises(ValidationError):
        decode(cursor_of({"id": value, "k": 1, "s": "market-cap"}), sort_by="market-cap", numeric=True)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 400, "NaN"])
def test_it_refuses_a_number_out_of_range(number):
    with pytest.raises(ValidationError):
        decode(cursor_of(f'{{"id":{number},"k":1,"s":"market-cap"}}'), sort_by="market-cap", numeric=True)


def test_it_writes_the_documented_form():
    assert base64.b64decode(encode(START, 7, sort_by="deployed-at")) == (
        b'{"id":"2026-02-07T03:50:49.000Z","k":7,"s":"deployed-at"}'
    )


def test_it_writes_the_direction_where_it_is_not_the_default():
    assert content_of(encode(START, 7, sort_by="deployed-at", descending=False))["d"] == "asc"


def test_it_takes_a_cursor_that_lost_its_padding():
    cursor = encode(START, 77, sort_by="deployed-at")
    assert cursor.endswith("=")
    assert decode(cursor.rstrip("="), sort_by="deployed-at") == Cursor(START, 77)


@pytest.mark.parametrize("descending", [True, False])
def test_it_reads_the_older_form(descending):
    assert decode(OLDER, sort_by="deployed-at", descending=descending) == OlderCursor(START)


@pytest.mark.parametrize(
    ("sort_by", "descending", "numeric"),
    [("market-cap", True, True), ("deployed-at", False, False), ("price", True, False)],
)
def test_it_starts_again_with_a_cursor_of_another_sort(sort_by, descending, numeric):
    cursor = encode(START, 7, sort_by="deployed-at")
    assert decode(cursor, sort_by=sort_by, descending=descending, numeric=numeric) is None


def test_it_starts_again_with_an_ascending_cursor_on_a_descending_list():
    cursor = encode(START, 7, sort_by="deployed-at", descending=False)
    assert decode(cursor, sort_by="deployed-at", descending=True) is None


def test_it_starts_again_with_the_older_form_on_a_numeric_sort():
    assert decode(OLDER, sort_by="market-cap", numeric=True) is None


moments = st.datetimes(
    min_value=datetime.datetime(1970, 1, 1), max_value=datetime.datetime(9998, 12, 31), timezones=st.just(datetime.UTC)
)


@given(moment=moments, row_id=st.integers(min_value=1, max_value=2**63 - 1), descending=st.booleans())
def test_it_returns_exactly_the_moment_that_it_was_given(moment, row_id, descending):
    cursor = encode(moment, row_id, sort_by="deployed-at", descending=descending)
    assert decode(cursor, sort_by="deployed-at", descending=descending) == Cursor(moment, row_id)


@given(
    value=st.integers(min_value=-(2**63) + 1, max_value=2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(allow_nan=False, allow_infinity=False, places=18, min_value=-(10**30), max_value=10**30)
)
def test_it_returns_exactly_the_number_that_it_was_given(value):
    cursor = encode(value, 7, sort_by="market-cap")
    assert decode(cursor, sort_by="market-cap", numeric=True) == Cursor(value, 7)


@given(text=st.text(max_size=80) | st.binary(max_size=80).map(lambda raw: base64.b64encode(raw).decode()))
def test_it_refuses_or_reads_any_text_and_never_fails_otherwise(text):
    try:
        decode(text, sort_by="deployed-at")
    except ValidationError as error:
        assert "cursor" in error.detail


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
        decode(cursor_of(content), sort_by="deployed-at", numeric=numeric)
    except ValidationError as error:
        assert "cursor" in error.detail


@pytest.mark.django_db
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    # Few seconds and many rows: ties everywhere.
    offsets=st.lists(st.integers(min_value=0, max_value=4) | st.sampled_from([0.5, 0.000001]), max_size=25),
    limit=st.integers(min_value=1, max_value=7),
    descending=st.booleans(),
)
def test_a_walk_meets_each_row_exactly_once_and_in_order(offsets, limit, descending):
    User.objects.all().delete()
    users = create_users([START + datetime.timedelta(seconds=offset) for offset in offsets])
    rows, pages = walk(User.objects.all(), limit=limit, descending=descending, **BY_DATE)
    expected = sorted(users, key=lambda user: (user.date_joined, user.id), reverse=descending)
    assert [row.id for row in rows] == [user.id for user in expected]
    assert pages == max(1, -(-len(users) // limit))


@pytest.mark.django_db
@pytest.mark.parametrize("descending", [True, False])
def test_a_walk_loses_and_repeats_nothing_when_rows_come_meanwhile(descending):
    before = create_users([START] * 10)
    first, cursor = page(User.objects.all(), limit=4, descending=descending, **BY_DATE)
    for number, seconds in enumerate((-1, 0, 1)):
        User.objects.create(username=f"late-{number}", date_joined=START + datetime.timedelta(seconds=seconds))
    rest = []
    while cursor is not None:
        rows, cursor = page(User.objects.all(), limit=4, descending=descending, cursor_text=cursor, **BY_DATE)
        rest += rows
    seen = [row.id for row in first + rest]
    assert len(seen) == len(set(seen))
    assert {user.id for user in before} <= set(seen)


@pytest.mark.django_db
@pytest.mark.parametrize("descending", [True, False])
def test_a_walk_by_number_puts_empty_values_last(descending):
    users = create_users([START] * 9)
    known = {user.id: number // 2 for number, user in enumerate(users[:5])}
    price = Case(*(When(id=row_id, then=Value(float(value))) for row_id, value in known.items()), default=None)
    beyond = Value(-1.0 if descending else 1e300)
    queryset = User.objects.annotate(price=Coalesce(price, beyond, output_field=FloatField())).values("id", "price")
    rows, _ = walk(queryset, limit=2, descending=descending, sort_by="price", field="price", numeric=True)
    sign = -1 if descending else 1
    expected = sorted(
        (user.id for user in users), key=lambda row: (row not in known, sign * known.get(row, 0), sign * row)
    )
    assert [row["id"] for row in rows] == expected


@pytest.mark.django_db
def test_the_older_form_returns_rows_at_or_before_its_second():
    moments = [START - datetime.timedelta(seconds=1), START, START + datetime.timedelta(milliseconds=900)]
    users = create_users([*moments, START + datetime.timedelta(seconds=1)])
    rows, cursor = page(User.objects.all(), limit=10, cursor_text=OLDER, **BY_DATE)
    assert ([row.id for row in rows], cursor) == ([users[2].id, users[1].id, users[0].id], None)


@pytest.mark.django_db
def test_the_older_form_returns_rows_at_or_after_its_second_in_ascending_order():
    users = create_users([START - datetime.timedelta(milliseconds=1), START, START + datetime.timedelta(seconds=1)])
    rows, _ = page(User.objects.all(), limit=10, cursor_text=OLDER, descending=False, **BY_DATE)
    assert [row.id for row in rows] == [users[1].id, users[2].id]


@pytest.mark.django_db
def test_a_cursor_of_another_sort_gives_the_first_page():
    create_users([START] * 3)
    foreign = encode(5, 1, sort_by="market-cap")
    assert page(User.objects.all(), limit=2, cursor_text=foreign, **BY_DATE) == page(
        User.objects.all(), limit=2, **BY_DATE
    )


@pytest.mark.django_db
def test_the_offset_counts_from_the_cursor():
    users = create_users([START] * 6)
    _, cursor = page(User.objects.all(), limit=1, **BY_DATE)
    rows, _ = page(User.objects.all(), limit=1, cursor_text=cursor, offset=2, **BY_DATE)
    assert [row.id for row in rows] == [users[2].id]


@pytest.mark.django_db
def test_an_offset_beyond_the_end_gives_no_rows_and_no_cursor():
    create_users([START] * 3)
    assert page(User.objects.all(), limit=2, offset=50, **BY_DATE) == ([], None)


@pytest.mark.django_db
def test_no_rows_are_read_where_none_are_asked_for():
    create_users([START] * 3)
    with CaptureQueriesContext(connection) as queries:
        assert page(User.objects.all(), limit=0, cursor_text=OLDER, **BY_DATE) == ([], None)
    assert len(queries) == 0


def test_a_bad_cursor_is_refused_even_where_no_rows_are_asked_for():
    with pytest.raises(ValidationError):
        page(User.objects.all(), limit=0, cursor_text="!", **BY_DATE)


@pytest.mark.django_db
def test_a_page_is_one_query_by_row_comparison():
    create_users([START] * 5)
    _, cursor = page(User.objects.all(), limit=2, **BY_DATE)
    with CaptureQueriesContext(connection) as queries:
        page(User.objects.all(), limit=2, cursor_text=cursor, **BY_DATE)
    assert len(queries) == 1
    sql = queries[0]["sql"]
    assert '("auth_user"."date_joined", "auth_user"."id") < (' in sql
    assert " OR " not in sql and "LIMIT 3" in sql

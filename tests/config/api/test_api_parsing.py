"""Request body parsing and response rendering."""

import datetime
import io
import sys
from decimal import Decimal

import orjson
import pytest
from django.test import Client
from rest_framework.exceptions import ParseError
from rest_framework.response import Response
from rest_framework.views import APIView

from config.api.errors import PayloadTooLargeError
from config.api.parsing import MAX_CONTAINERS, LimitedJSONParser, parse_json_body
from config.api.rendering import render_json
from config.web.routing import endpoint

pytestmark = pytest.mark.urls(__name__)

MEBIBYTE = 1024 * 1024


class Echo(APIView):
    def post(self, request):
        return Response({"got": request.data})


class LargeEcho(Echo):
    max_body_bytes = 2 * MEBIBYTE


class Moment(APIView):
    def get(self, request):
        return Response({"at": datetime.datetime(2026, 2, 7, 3, 50, 49, 123999, tzinfo=datetime.UTC)})


class Nothing(APIView):
    def delete(self, request):
        return Response(status=204)


urlpatterns = [
    endpoint("api/echo", Echo.as_view()),
    endpoint("api/large-echo", LargeEcho.as_view()),
    endpoint("api/moment", Moment.as_view()),
    endpoint("api/nothing", Nothing.as_view()),
]


@pytest.fixture
def post():
    def send(body, *, path="/api/echo", content_type="application/json"):
        return Client().generic("POST", path, body, content_type=content_type)

    return send


def string_of(length):
    """Return a JSON string that is `length` bytes long with its quotes."""
    return b'"' + b"a" * (length - 2) + b'"'


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"{'a': 1}",
        b'{"a": 1,}',
        b"text",
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": -Infinity}',
        b'{"a": 1e999}',
        b'{"a": "\xff"}',
        b'\xef\xbb\xbf{"a": 1}',
        '{"a": 1}'.encode("utf-16"),
        b'{"a": "\x00"}',
        b'{"a": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b'{"a": 1} {"b": 2}',
        b" ",
    ],
)
def test_it_refuses_what_is_not_json(post, body):
    response = post(body)
    assert (response.status_code, response.json()) == (400, {"error": "Malformed JSON"})


@pytest.mark.parametrize(
    "number",
    ["0.1000000000000000001", "-1.00000000000000000001e0", "1e-400", "12345678901234567.5", "4e-324", "0e" + "9" * 30],
)
@pytest.mark.parametrize("body", ["%s", "[1,%s]", '{"a": %s}', '{"a":\n%s}', "[1 ,%s]"])
def test_it_refuses_a_number_that_a_double_would_change(post, body, number):
    response = post((body % number).encode())
    assert (response.status_code, response.json()) == (
        400,
        {"error": f"A number with more digits than a double has is not accepted: {number}"},
    )


@pytest.mark.parametrize(
    "number", ["0.30000000000000004", "1.0000000000000000000000", "1E+23", "2.5e26", "0.1", "5e-324", "0e999999"]
)
def test_it_takes_a_number_that_a_double_has_exactly(post, number):
    assert post(f"[{number}]".encode()).json() == {"got": [float(number)]}


@pytest.mark.parametrize(("depth", "status"), [(64, 200), (65, 400)])
def test_it_refuses_more_levels_than_it_could_answer_with(post, depth, status):
    assert post(b"[" * depth + b"]" * depth).status_code == status


def test_it_refuses_a_body_of_more_lists_than_any_request_needs():
    lists = b"[" + b"[]," * (MAX_CONTAINERS - 2) + b"[]"
    assert len(parse_json_body(lists + b"]")) == MAX_CONTAINERS - 1
    with pytest.raises(ParseError, match="more than 150000 objects and lists"):
        parse_json_body(lists + b",{}]")


TEXT_RULE = "must not contain NUL characters or unpaired surrogates"
# A text's position, and the field that is named.
PLACES = {
    '{"a": "%s"}': "a",
    '{"a": [{"b": "x"}, {"b": "%s"}]}': "a[1].b",
    '[[["%s"]]]': "[0][0][0]",
    '{"a": {"b%s": 1}}': "a",
    '{"%s": 1}': "body",
    '"%s"': "body",
}


@pytest.mark.parametrize(
    "text", [r"\ud800", r"\udfffx", r"\udc00\ud800", r"\\\uD800", r"\ud83d\u0041", r"\u0000", r"a\u0000b"]
)
@pytest.mark.parametrize("template", PLACES)
def test_it_names_the_field_whose_text_the_database_cannot_keep(post, template, text):
    response = post(template.replace("%s", text).encode())
    field = PLACES[template]
    sentence = TEXT_RULE if field == "body" else f"{field} {TEXT_RULE}"
    details = [{"field": field, "message": TEXT_RULE}]
    assert (response.status_code, response.json()) == (400, {"error": sentence, "details": details})


@pytest.mark.parametrize("body", [r'{"a": "\ud800"', r'["\ud800", \ud800]', r'{"a": "\ud800", "a": nonsense}'])
def test_it_reports_invalid_json_where_more_is_wrong_than_a_text(post, body):
    assert post(body.encode()).json() == {"error": "Malformed JSON"}


@pytest.fixture
def high_recursion_limit():
    """Raise the recursion limit as libraries do that the service imports."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize("body", [b"[" * MAX_CONTAINERS, b'{"a":' * 150_000, b"[1111111111111111111111," * 40_000])
@pytest.mark.usefixtures("high_recursion_limit")
def test_no_body_ends_the_process(post, body):
    assert post(body).json() == {"error": "Malformed JSON"}


def test_it_compares_no_number_of_any_length(post):
    answer = post(b'{"a": 0.%b}' % (b"1" * 500_000))
    assert answer.status_code == 400
    assert answer.json() == {"error": "A number with more than 400 characters is not accepted"}


@pytest.mark.parametrize("text", [r"\\u0000", r"\\ud800", r"\ud83d\udc36", "🐶", r"\u00e4"])
def test_it_takes_all_other_text(post, text):
    body = f'{{"a": "{text}"}}'.encode()
    assert post(body).json() == {"got": orjson.loads(body)}


@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
def test_it_takes_json_by_any_spelling_of_its_name(post, content_type):
    assert post(b'{"a": 1}', content_type=content_type).json() == {"got": {"a": 1}}


@pytest.mark.parametrize(
    ("path", "length", "status"),
    [
        ("/api/echo", MEBIBYTE, 200),
        ("/api/echo", MEBIBYTE + 1, 413),
        ("/api/large-echo", 2 * MEBIBYTE, 200),
        ("/api/large-echo", 2 * MEBIBYTE + 1, 413),
    ],
)
def test_it_reads_bodies_up_to_the_limit_of_the_view(post, path, length, status):
    response = post(string_of(length), path=path)
    assert response.status_code == status
    if status == 413:
        assert response.json() == {"error": f"Request body is over {length - 1} bytes"}


def test_it_refuses_a_declared_length_without_reading(rf):
    request = rf.generic("POST", "/", b"", CONTENT_LENGTH=str(MEBIBYTE + 1))
    with pytest.raises(PayloadTooLargeError):
        LimitedJSONParser().parse(io.BytesIO(b"{}"), parser_context={"request": request})


def test_it_refuses_a_body_that_is_longer_than_declared():
    stream = io.BytesIO(string_of(5 * MEBIBYTE))
    with pytest.raises(PayloadTooLargeError):
        LimitedJSONParser().parse(stream)
    assert stream.tell() == MEBIBYTE + 1


def test_it_takes_an_empty_body_for_an_empty_object(post):
    assert post(b"").json() == {"got": {}}


def test_it_keeps_a_number_exact_wherever_the_search_for_it_is_divided():
    for blanks in range(65_536 - 40, 65_536 + 2):
        assert parse_json_body(b" " * blanks + b"[18446744073709551617]") == [2**64 + 1]


@pytest.mark.parametrize("number", [10**27 + 1, 2**64, 2**63, 2**63 - 1, -(2**63) - 1, 10**18, 0])
@pytest.mark.parametrize("template", ["%d", "[%d]", "[1,%d]", '{"a":%d}', '{"a": %d}', "\n%d"])
def test_it_keeps_whole_numbers_exact(template, number):
    assert str(number) in str(parse_json_body((template % number).encode()))


def test_it_writes_timestamps_in_utc_with_milliseconds():
    assert Client().get("/api/moment").json() == {"at": "2026-02-07T03:50:49.123Z"}


def test_it_writes_no_body_where_there_is_no_data():
    response = Client().delete("/api/nothing")
    assert (response.status_code, response.content, "Content-Type" in response) == (204, b"", False)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("1E+20"), b'"100000000000000000000"'),
        (Decimal("0.000000000000000001"), b'"0.000000000000000001"'),
        (
            datetime.datetime(2026, 1, 1, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
            b'"2026-01-01T00:00:00.000Z"',
        ),
        ("ä🐶", '"ä🐶"'.encode()),
    ],
)
def test_it_renders_scalars_by_the_contract(value, text):
    assert render_json(value) == text


@pytest.mark.parametrize("value", [datetime.datetime(2026, 1, 1), Decimal("NaN"), object(), b"x", {1: 2}, 2**64])
def test_it_refuses_to_render_what_has_no_form_in_the_contract(value):
    with pytest.raises(TypeError):
        render_json(value)

"""config/http/json_client.py: GET, against a stand-in that misbehaves; POST has its tests in test_rpc.py."""

import traceback
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import urlsplit

import pytest

from config.http import json_client
from development.standins.http_server import Answer, Asked, Mode, StandIn
from tests.nodes.recorded_node import Reply

SECRET = "s3cret-key"
HEADERS = {"x-api-key": SECRET}


class Echo(StandIn):
    """Answers with what it was asked."""

    ERRORS = {401: {"message": "Invalid API key"}}

    # What goes out with every answer: a status, and headers.
    status = 200
    headers: Mapping[str, str] = {}

    def answer(self, asked: Asked) -> Answer | None:
        if asked.path != "/echo":
            return None
        return Answer({"query": dict(asked.query), "key": asked.headers.get("x-api-key")}, self.status, self.headers)


@pytest.fixture
def echo() -> Iterator[Echo]:
    with Echo() as running:
        yield running


def ask(echo: Echo, *, path: str = "/echo", timeout: float = 5) -> object:
    return json_client.get_json(
        f"{echo.url}{path}", params={"fids": "1,2"}, headers=HEADERS, timeout=timeout, max_bytes=10**6
    )


@pytest.mark.parametrize(
    ("mode", "family", "text"),
    [
        (Mode.FAIL, json_client.Retryable, "HTTP status 500"),
        (Mode.RATE_LIMIT, json_client.RateLimited, "HTTP status 429"),
        (Mode.WRONG_KEY, json_client.StatusRefused, "HTTP status 401"),
        (Mode.NOT_JSON, json_client.Retryable, "an answer that is not JSON"),
        (Mode.CUT_SHORT, json_client.Retryable, "no answer (ProtocolError)"),
        (Mode.HUGE, json_client.Permanent, "an answer of more than 1000000 bytes"),
    ],
)
def test_it_tells_what_may_help_from_what_does_not(echo, mode, family, text):
    echo.behave(mode)
    with pytest.raises(family) as caught:
        ask(echo)
    assert str(caught.value) == text


def test_it_does_not_wait_for_who_stalls(echo):
    echo.behave(Mode.STALL, seconds=600)
    with pytest.raises(json_client.Retryable, match="no answer"):
        ask(echo, timeout=0.1)


def test_it_may_be_asked_again_after_an_answer_that_breaks_off(echo):
    echo.behave(Mode.CUT_SHORT, times=1)
    with pytest.raises(json_client.Retryable):
        ask(echo)
    assert ask(echo) == {"query": {"fids": "1,2"}, "key": SECRET}


def test_it_follows_no_redirect_to_where_the_key_does_not_belong(echo):
    with Echo() as elsewhere:
        echo.status, echo.headers = 302, {"location": f"{elsewhere.url}/echo"}
        with pytest.raises(json_client.StatusRefused, match="302"):
            ask(echo)
        assert not elsewhere.asked


def test_it_has_no_url_and_no_key_in_its_errors(echo):
    told = []
    for mode in Mode:
        echo.behave(mode, seconds=1)
        try:
            ask(echo, timeout=0.2)
        except (json_client.Retryable, json_client.Permanent) as error:
            told.append("".join(traceback.format_exception(error)))
    assert len(told) == len(Mode) - 2
    for text in told:
        assert SECRET not in text
        assert urlsplit(echo.url).netloc not in text


def in_a_minute() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(minutes=1), usegmt=True)


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("said", "lowest", "highest"),
    [
        ("0", 0, 0),
        ("7", 7, 7),
        ("999999999", 86_400, 86_400),
        (in_a_minute, 30, 60),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0),
        ("Fri, 31 Dec 9999 23:59:59 -0000", 86_400, 86_400),
    ],
)
def test_it_passes_on_the_pause_that_is_asked_for(echo, status, said, lowest, highest):
    echo.status, echo.headers = status, {"retry-after": said if isinstance(said, str) else said()}
    with pytest.raises(json_client.RateLimited) as caught:
        ask(echo)
    assert lowest <= caught.value.retry_after <= highest


_NO_YEAR = "Mon, 01 Jan 99999999999999 00:00:00 GMT"


@pytest.mark.parametrize("said", [None, "", "soon", "-1", "1.5", "9" * 5000, "Wed, 99 Oct 2015 07:28:00 GMT", _NO_YEAR])
def test_it_believes_no_other_pause(echo, said):
    echo.status, echo.headers = 429, {} if said is None else {"retry-after": said}
    with pytest.raises(json_client.RateLimited) as caught:
        ask(echo)
    assert caught.value.retry_after is None


def test_it_sends_parameters_and_headers_and_returns_the_answer(echo):
    assert ask(echo) == {"query": {"fids": "1,2"}, "key": SECRET}
    with pytest.raises(json_client.StatusRefused, match="404"):
        ask(echo, path="/elsewhere")


def test_it_reads_an_answer_that_is_as_long_as_allowed(echo):
    length = len('{"query": {"fids": "1,2"}, "key": "s3cret-key"}')
    arguments = {"params": {"fids": "1,2"}, "headers": HEADERS, "timeout": 5}
    assert json_client.get_json(f"{echo.url}/echo", max_bytes=length, **arguments)
    with pytest.raises(json_client.Permanent):
        json_client.get_json(f"{echo.url}/echo", max_bytes=length - 1, **arguments)


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (r'"a\ud83d b"', "a\ufffd b"),
        (r'"\uDC31\ud83d"', "\ufffd\ufffd"),
        (r'"\ud83d\uDC31\ud83d"', "\U0001f431\ufffd"),
        (r'"\\ud83d \ud83d"', "\\ud83d \ufffd"),
        (r'"\\\ud83d"', "\\\ufffd"),
    ],
)
def test_half_an_emoji_in_a_text_costs_a_character_and_no_answer(node, sent, read):
    node.behave = lambda body: Reply(sent.encode())
    assert json_client.post_json(node.url, {}, timeout=5) == read

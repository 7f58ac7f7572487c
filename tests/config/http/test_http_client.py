"""config/http/json_client.py: GET requests to a stand-in with failures; test_rpc_client.py tests POST."""

import traceback
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import urlsplit

import pytest

from config.http import json_client
from config.http.errors import HTTPStatusError, PermanentError, RateLimitedError, RetryableError
from development.standins.http_server import Mode, StandIn, StandInResponse
from development.standins.loopback import ReceivedRequest, Reply

SECRET = "s3cret-key"
HEADERS = {"x-api-key": SECRET}


class Echo(StandIn):
    """Stand-in that returns the request."""

    ERRORS = {401: {"message": "Invalid API key"}}

    # Status and headers of every response.
    status = 200
    headers: Mapping[str, str] = {}

    def answer(self, received: ReceivedRequest) -> StandInResponse | None:
        if received.path != "/echo":
            return None
        return StandInResponse(
            {"query": dict(received.query), "key": received.headers.get("x-api-key")}, self.status, self.headers
        )


@pytest.fixture
def echo() -> Iterator[Echo]:
    with Echo() as running:
        yield running


def fetch(echo: Echo, *, path: str = "/echo", timeout: float = 5) -> object:
    return json_client.get_json(
        f"{echo.url}{path}", params={"fids": "1,2"}, headers=HEADERS, timeout=timeout, max_bytes=10**6
    )


@pytest.mark.parametrize(
    ("mode", "family", "text"),
    [
        (Mode.FAIL, RetryableError, "HTTP status 500"),
        (Mode.RATE_LIMIT, RateLimitedError, "HTTP status 429"),
        (Mode.WRONG_KEY, HTTPStatusError, "HTTP status 401"),
        (Mode.NOT_JSON, RetryableError, "a response that is not JSON"),
        (Mode.CUT_SHORT, RetryableError, "no response (ProtocolError)"),
        (Mode.HUGE, PermanentError, "a response of more than 1000000 bytes"),
    ],
)
def test_it_distinguishes_retryable_from_permanent_errors(echo, mode, family, text):
    echo.behave(mode)
    with pytest.raises(family) as caught:
        fetch(echo)
    assert str(caught.value) == text


def test_it_uses_the_proxy_of_the_environment(echo, monkeypatch):
    monkeypatch.setenv("http_proxy", echo.url)
    with pytest.raises(HTTPStatusError, match="404"):
        json_client.get_json("http://a-host-behind-a-proxy.invalid/", timeout=5)
    assert len(echo.received) == 1


def test_it_does_not_wait_for_a_server_that_stalls(echo):
    echo.behave(Mode.STALL, seconds=600)
    with pytest.raises(RetryableError, match="no response"):
        fetch(echo, timeout=0.1)


def test_it_may_be_called_again_after_an_answer_that_breaks_off(echo):
    echo.behave(Mode.CUT_SHORT, times=1)
    with pytest.raises(RetryableError):
        fetch(echo)
    assert fetch(echo) == {"query": {"fids": "1,2"}, "key": SECRET}


def test_it_follows_no_redirect_to_where_the_key_does_not_belong(echo):
    with Echo() as elsewhere:
        echo.status, echo.headers = 302, {"location": f"{elsewhere.url}/echo"}
        with pytest.raises(HTTPStatusError, match="302"):
            fetch(echo)
        assert not elsewhere.received


def test_it_has_no_url_and_no_key_in_its_errors(echo):
    tracebacks = []
    for mode in Mode:
        echo.behave(mode, seconds=1)
        try:
            fetch(echo, timeout=0.2)
        except (RetryableError, PermanentError) as error:
            tracebacks.append("".join(traceback.format_exception(error)))
    assert len(tracebacks) == len(Mode) - 2
    for text in tracebacks:
        assert SECRET not in text
        assert urlsplit(echo.url).netloc not in text


def in_a_minute() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(minutes=1), usegmt=True)


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("retry_after", "lowest", "highest"),
    [
        ("0", 0, 0),
        ("7", 7, 7),
        ("999999999", 86_400, 86_400),
        ("9" * 5000, 86_400, 86_400),
        (in_a_minute, 30, 60),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0),
        ("Fri, 31 Dec 9999 23:59:59 -0000", 86_400, 86_400),
    ],
)
def test_it_passes_the_retry_after_on(echo, status, retry_after, lowest, highest):
    echo.status, echo.headers = status, {"retry-after": retry_after if isinstance(retry_after, str) else retry_after()}
    with pytest.raises(RateLimitedError) as caught:
        fetch(echo)
    assert lowest <= caught.value.retry_after <= highest


_NO_YEAR = "Mon, 01 Jan 99999999999999 00:00:00 GMT"


@pytest.mark.parametrize("retry_after", [None, "", "soon", "-1", "1.5", "Wed, 99 Oct 2015 07:28:00 GMT", _NO_YEAR])
def test_it_ignores_other_retry_after_values(echo, retry_after):
    echo.status, echo.headers = 429, {} if retry_after is None else {"retry-after": retry_after}
    with pytest.raises(RateLimitedError) as caught:
        fetch(echo)
    assert caught.value.retry_after is None


def test_it_sends_parameters_and_headers_and_returns_the_answer(echo):
    assert fetch(echo) == {"query": {"fids": "1,2"}, "key": SECRET}
    with pytest.raises(HTTPStatusError, match="404"):
        fetch(echo, path="/elsewhere")


def test_it_reads_an_answer_that_is_as_long_as_allowed(echo):
    length = len('{"query": {"fids": "1,2"}, "key": "s3cret-key"}')
    arguments = {"params": {"fids": "1,2"}, "headers": HEADERS, "timeout": 5}
    assert json_client.get_json(f"{echo.url}/echo", max_bytes=length, **arguments)
    with pytest.raises(PermanentError):
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
    assert json_client.post_json(node.url, {}, timeout=60) == read

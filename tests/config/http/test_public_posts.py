"""config/http/public_client.py: POST requests to untrusted URLs, by which the service sends webhooks."""

from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_network
from typing import Any

import pytest

from config.http.errors import NoResponseError, ResponseTimeoutError
from config.http.public_client import AddressForbiddenError, PublicResponse, post_public_url
from tests.nodes.webhook_receiver import Receiver, always, drip, hang, huge, raw, webhook_receiver

LOOPBACK = (ip_network("127.0.0.0/8"),)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with webhook_receiver() as running:
        yield running


def post(url: str, **more: Any) -> PublicResponse:
    given = {"headers": {"X-Test": "1"}, "timeout": 5, "max_bytes": 1_000, "allowed": LOOPBACK} | more
    return post_public_url(url, b'{"a": 1}', **given)


def test_it_sends_body_and_headers_once(receiver):
    receiver.behave = always(202, body=b"thanks")
    response = post(f"{receiver.url}/hook?a=1")
    assert (response.status, response.content) == (202, b"thanks")
    (received,) = receiver.received
    assert received.body == b'{"a": 1}'
    assert received.headers.items() >= {"x-test": "1", "user-agent": "Launchboard", "content-length": "8"}.items()
    assert not {"cookie", "authorization"} & received.headers.keys()


def test_it_connects_to_the_address_that_it_has_checked(receiver):
    """A name that resolves to a private address at a second look-up gains nothing: there is none."""
    answers = iter([["127.0.0.1"], ["169.254.169.254"]])
    assert post(f"http://rebound.example:{receiver.port}/", resolve=lambda *_: next(answers)).status == 204
    assert next(answers) == ["169.254.169.254"]


@pytest.mark.parametrize("address", ["127.0.0.1", "169.254.169.254", "10.0.0.1", "::1", "fd00::1"])
def test_it_sends_nothing_to_private_addresses(receiver, address):
    with pytest.raises(AddressForbiddenError):
        post(f"http://private.example:{receiver.port}/", allowed=(), resolve=lambda *_: [address])
    assert receiver.received == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_it_follows_no_redirect(receiver, status):
    receiver.behave = always(status, location=f"{receiver.url}/elsewhere")
    response = post(receiver.url)
    assert (response.status, response.location, len(receiver.received)) == (status, f"{receiver.url}/elsewhere", 1)


@pytest.mark.parametrize("behave", [hang, drip])
def test_its_time_is_for_the_whole_response(receiver, behave):
    receiver.behave = behave
    with pytest.raises(ResponseTimeoutError):
        post(receiver.url, timeout=0.3, max_bytes=100_000)


def test_it_reads_only_the_beginning_of_a_body(receiver):
    receiver.behave = huge
    assert post(receiver.url).content == b"x" * 1_000


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("size", [b"-1", b"-5", b"ffffffffffffffffffff"])
def test_it_reads_only_the_beginning_of_a_chunk_of_any_size(receiver, size):
    receiver.behave = raw(CHUNKED + size + b"\r\n" + b"x" * 1_000)
    assert post(receiver.url).content == b"x" * 1_000


MALFORMED = [
    CHUNKED + b"zz\r\nabc",
    CHUNKED + b"\r\n\r\n",
    CHUNKED + b"1" * 100_000,
    b"HTTP/1.1 99999 OK\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n" + b"X: 1\r\n" * 1_000 + b"\r\n",
    b"220 mail.example ESMTP\r\n",
    b"\x00" * 100_000,
]


@pytest.mark.parametrize("response", MALFORMED)
def test_a_malformed_response_is_no_response(receiver, response):
    receiver.behave = raw(response)
    with pytest.raises(NoResponseError):
        post(receiver.url)


def test_malformed_headers_are_not_logged(receiver, caplog):
    receiver.behave = raw(b"HTTP/1.1 200 OK\r\n\xff\xfe: \x00\r\n no\r\nContent-Length: 0\r\n\r\n")
    with suppress(NoResponseError):
        post(receiver.url, timeout=0.5)
    assert caplog.records == []


@pytest.mark.parametrize("status", [200, 410, 429, 503])
def test_it_returns_every_status_with_its_delay(receiver, status):
    receiver.behave = always(status, retry_after="7")
    response = post(receiver.url)
    assert (response.status, response.retry_after) == (status, "7")


def test_a_refused_connection_is_no_response(unused_port):
    with pytest.raises(NoResponseError):
        post(f"http://127.0.0.1:{unused_port}/")

"""The client for Python against a real server: inputs, errors, pages, redirects and webhooks."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from launchboard import Launchboard, LaunchboardError, WebhookVerificationError, new_request_key, pages, verify_webhook
from standardwebhooks import Webhook

from development.standins.loopback import Reply
from tests.clients.quick_starts import read_guide_samples, read_quick_start
from tests.clients.scripted_server import page, scripted_server
from tests.clients.strict_types import check_types
from tokens.deploying.request_keys import is_request_key

SECRET = "whsec_" + "A" * 43


def test_inputs_are_written_as_the_description_has_them() -> None:
    with scripted_server(*[Reply(b'{"data":[]}')] * 3) as server, Launchboard(server.url) as api:
        api.list_tokens(q="a&b", fids=[1, 2], includeMarket=True)
        api.list_candles(1, "0x/1", interval="1m", from_=5)
        api.fetch_by_pool_addresses({"poolAddresses": ["0x1"]})
        assert [request.path for request in server.requests] == [
            "/api/tokens?q=a%26b&fids=1%2C2&includeMarket=true",
            "/api/tokens/1/0x%2F1/candles?interval=1m&from=5",
            "/api/tokens/fetch-by-pool-addresses",
        ]
        assert json.loads(server.requests[2].body) == {"poolAddresses": ["0x1"]}


def test_a_file_is_sent_as_it_is_and_repeated() -> None:
    busy, answer = Reply(b"{}", 503, {"retry-after": "0"}), Reply(b'{"url":"ipfs://x"}')
    with scripted_server(busy, answer) as server, Launchboard(server.url) as api:
        sent = {"body": b"\x89PNG\0", "media_type": "image/png"}
        assert api.call("POST", "/api/uploads/pictures", dict[str, str], **sent) == {"url": "ipfs://x"}
        assert [request.body for request in server.requests] == [b"\x89PNG\0"] * 2
        assert {request.headers["content-type"] for request in server.requests} == {"image/png"}


def test_an_error_has_the_body_and_its_wait() -> None:
    body = {"error": "limit is wrong", "details": [{"field": "limit", "message": "is wrong"}]}
    with (
        scripted_server(Reply(json.dumps(body).encode(), 429, {"retry-after": "90"})) as server,
        Launchboard(server.url) as api,
        pytest.raises(LaunchboardError, match="429: limit is wrong") as caught,
    ):
        api.list_tokens(limit=99)
    assert (caught.value.status, caught.value.body, caught.value.retry_after) == (429, body, 90)


@pytest.mark.parametrize("body", [b"<html>", b"[1]", b"\xff"])
def test_an_error_of_a_proxy_has_no_body(body: bytes) -> None:
    with (
        scripted_server(Reply(body, 413)) as server,
        Launchboard(server.url) as api,
        pytest.raises(LaunchboardError, match="413: no error body") as caught,
    ):
        api.list_tokens()
    assert (caught.value.body, caught.value.retry_after) == ({}, None)


def test_pages_go_on_from_the_cursor_up_to_the_last() -> None:
    with scripted_server(page(2, "b"), page(1, None)) as server, Launchboard(server.url) as api:
        assert [len(each["data"]) for each in pages(api.list_tokens, limit=2)] == [2, 1]
        assert [request.path for request in server.requests] == ["/api/tokens?limit=2", "/api/tokens?limit=2&cursor=b"]


def test_pages_of_another_list_go_on() -> None:
    replies = [Reply(json.dumps({"allocations": [{}], "cursor": cursor}).encode()) for cursor in ("b", None)]
    with scripted_server(*replies) as server, Launchboard(server.url) as api:
        assert len(list(pages(api.list_allocations, tokenAddress="0x1"))) == 2
        assert server.requests[1].path == "/api/airdrops/allocations?tokenAddress=0x1&cursor=b"


@pytest.mark.parametrize("name", ["list_presales", "replay_webhook", "get_status"])
def test_responses_without_a_cursor_have_no_pages(name: str) -> None:
    with Launchboard("http://127.0.0.1:1") as api, pytest.raises(ValueError, match=f"{name} has no pages"):
        next(pages(getattr(api, name)))


def test_pages_of_a_search_go_on_after_an_empty_one() -> None:
    with scripted_server(page(0, "b"), page(1, None)) as server, Launchboard(server.url) as api:
        assert [len(each["data"]) for each in pages(api.search_creator, q="a")] == [0, 1]


def test_pages_of_events_end_before_an_empty_page_is_repeated() -> None:
    with scripted_server(page(1, 7), page(0, 7)) as server, Launchboard(server.url) as api:
        assert [each["cursor"] for each in pages(api.list_events, after=3)] == [7, 7]
        assert [request.path for request in server.requests] == ["/api/events?after=3", "/api/events?after=7"]


def test_a_session_s_cookie_is_returned() -> None:
    begun = Reply(b'{"ok":true}', headers={"set-cookie": "admin_session=a:b; Path=/api/; HttpOnly"})
    with scripted_server(begun, Reply(b"{}")) as server, Launchboard(server.url) as api:
        api.begin_admin_session({"username": "operator", "password": "secret"})
        api.end_admin_session()
        assert "cookie" not in server.requests[0].headers
        assert server.requests[1].headers["cookie"] == "admin_session=a:b"


def test_a_redirect_to_another_host_takes_no_credential() -> None:
    event = Reply(b'retry: 1\n\n: heartbeat\n\nid: 5\nevent: token.indexed\ndata: {"id":5}\n\n')
    with scripted_server(event) as stream:
        moved = Reply(b"", 307, {"location": f"{stream.url.replace('127.0.0.1', 'localhost')}/api/tokens/stream"})
        with scripted_server(moved) as server, Launchboard(server.url, key="k", user_token="t") as api:
            assert next(api.stream_tokens()) == {"id": "5", "event": "token.indexed", "data": {"id": 5}}
        assert not {"x-api-key", "authorization"} & set(stream.requests[0].headers)
        assert server.requests[0].headers["authorization"] == "Bearer t"


def test_a_request_key_is_one_of_the_service() -> None:
    keys = {new_request_key() for _ in range(10)}
    assert len(keys) == 10 and all(map(is_request_key, keys))


def test_a_delivery_is_verified() -> None:
    body = b'{"id":1,"type":"token.indexed"}'
    now = datetime.now(UTC)
    headers = {
        "Webhook-Id": "1",
        "Webhook-Timestamp": str(int(now.timestamp())),
        "Webhook-Signature": Webhook(SECRET).sign("1", now, body.decode()),
    }
    assert verify_webhook(body, headers, secret=SECRET)["type"] == "token.indexed"
    with pytest.raises(WebhookVerificationError):
        verify_webhook(body + b" ", headers, secret=SECRET)
    with pytest.raises(WebhookVerificationError):
        verify_webhook(body, headers | {"Webhook-Timestamp": "1700000000"}, secret=SECRET)
    for signature in ("garbage", "v1", "v1,a,b", "v1,\u00e9"):
        with pytest.raises(WebhookVerificationError):
            verify_webhook(body, headers | {"Webhook-Signature": signature}, secret=SECRET)
    with pytest.raises(WebhookVerificationError):
        verify_webhook(b"\xff", headers, secret=SECRET)


def test_a_response_that_is_not_json_is_an_error() -> None:
    with (
        scripted_server(Reply(b"<html>")) as server,
        Launchboard(server.url) as api,
        pytest.raises(LaunchboardError, match="200: the response is not JSON"),
    ):
        api.list_tokens()


@pytest.mark.parametrize("url", ["", "127.0.0.1:8000", "ftp://a.example", "http://", "http://a.example:x"])
def test_a_url_that_no_request_can_have_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="host"):
        Launchboard(url)


@pytest.mark.parametrize("credential", ["lb\n", "lb\u20ac", "lb\udcff"])
def test_a_credential_that_no_request_can_have_is_refused(credential: str) -> None:
    with pytest.raises(ValueError, match="must be printable ASCII"):
        Launchboard("http://127.0.0.1", key=credential)
    with pytest.raises(ValueError, match="must be printable ASCII"):
        Launchboard("http://127.0.0.1", user_token=credential)


MISTAKES = """
from launchboard import Launchboard
api = Launchboard("")
api.list_tokens(limits=1)
api.list_candles(1, "0x1", interval="2m")
api.index_transaction({"chainId": 1})
blocked = api.is_token_blocked(address="0x1")
blocked = {"address": "0x1", "blocked": True, "reason": ""}
"""


def test_type_checkers_find_mistakes(tmp_path: Path) -> None:
    output = check_types(MISTAKES, tmp_path)
    lines = [line.split(":")[1] for line in output.splitlines() if ": error: " in line]
    assert lines == ["4", "5", "6", "8"], output


def test_the_quick_start_passes_a_strict_type_checker(tmp_path: Path) -> None:
    assert "no issues found" in (output := check_types(read_quick_start("python"), tmp_path)), output


GUIDE_START = """
from http.server import BaseHTTPRequestHandler
from typing import Any
from launchboard import Launchboard, verify_webhook
request: Any
api, secret = Launchboard(""), ""
def receive(request: BaseHTTPRequestHandler) -> None:
    verify_webhook(b"", dict(request.headers), secret=secret)
"""


@pytest.mark.parametrize("sample", read_guide_samples("python"))
def test_the_samples_of_the_guide_pass_a_strict_type_checker(sample: str, tmp_path: Path) -> None:
    assert "no issues found" in (output := check_types(GUIDE_START + sample, tmp_path)), output

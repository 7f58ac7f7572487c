"""Messages of `/mcp`: envelopes, versions, headers, methods and origins, and the errors of invalid ones."""

import base64
import json

import pytest

from config.mcp import versions
from config.processes.concurrency_limits import LARGE_BODY_BYTES
from tests.config.mcp.mcp_requests import (
    CLIENT,
    META,
    URL,
    call,
    error,
    message,
    metadata_headers,
    request,
    result,
    send,
)
from tests.rows.user_tokens import as_user

pytestmark = pytest.mark.django_db

LISTED, ELSEWHERE = "https://app.example", "https://elsewhere.example"
GOOD = message("tools/list")
LIST_HEADERS = metadata_headers("tools/list")


@pytest.mark.parametrize(
    ("body", "code", "text"),
    [
        (b"{", -32700, "Malformed JSON"),
        (b"\xff", -32700, "Malformed JSON"),
        (b"[" * 200_0, -32700, "Malformed JSON"),
        ([GOOD], -32600, "body must be one JSON-RPC message; batches are not accepted"),
        ([], -32600, "body must be one JSON-RPC message; batches are not accepted"),
        (None, -32600, "body must be a JSON object"),
        ("text", -32600, "body must be a JSON object"),
        (GOOD | {"jsonrpc": "1.0"}, -32600, 'jsonrpc must be "2.0"'),
        ({"jsonrpc": "2.0", "id": 7, "result": {}}, -32600, "body must be a request or a notification, not a response"),
        (GOOD | {"method": ""}, -32600, "method must be text of 1 to 100 characters"),
        (GOOD | {"method": "x" * 101}, -32600, "method must be text of 1 to 100 characters"),
        (GOOD | {"method": 5}, -32600, "method must be text of 1 to 100 characters"),
        (GOOD | {"id": None}, -32600, "id must be a whole number, or text of at most 255 characters"),
        (GOOD | {"id": 1.5}, -32600, "id must be a whole number, or text of at most 255 characters"),
        (GOOD | {"id": True}, -32600, "id must be a whole number, or text of at most 255 characters"),
        (GOOD | {"id": "x" * 256}, -32600, "id must be a whole number, or text of at most 255 characters"),
        (GOOD | {"params": []}, -32602, "params must be a JSON object"),
        (message("tools/list", meta=[]), -32602, "params._meta must be a JSON object"),
    ],
)
def test_an_invalid_message_is_refused_with_field_and_rule(body, code, text):
    response = send(body, LIST_HEADERS)
    status, found, said = error(response)
    assert (status, found) == (400, code) and said.startswith(text)
    assert response.headers["Cache-Control"] == "no-store"
    has_id = isinstance(body, dict) and body.get("id") == 7
    assert response.json().get("id") == (7 if has_id else None)


@pytest.mark.parametrize(
    ("headers", "meta", "code", "text"),
    [
        ({}, META, -32020, "MCP-Protocol-Version is required: 2026-07-28 or 2025-11-25 or 2025-06-18"),
        ({}, None, -32020, "MCP-Protocol-Version is required"),
        (LIST_HEADERS, None, -32602, "params._meta.io.modelcontextprotocol/protocolVersion is required"),
        (LIST_HEADERS, {versions.VERSION_KEY: "2026-07-28"}, -32602, "params._meta.io.modelcontextprotocol/clientCap"),
        (
            LIST_HEADERS,
            META | {versions.CAPABILITIES_KEY: []},
            -32602,
            "params._meta.io.modelcontextprotocol/clientCapabilities is required, as a JSON object",
        ),
        ({"MCP-Protocol-Version": "2026-07-28"}, META, -32020, "Mcp-Method is required, with the value of method"),
        (LIST_HEADERS | {"Mcp-Method": "tools/call"}, META, -32020, "Mcp-Method must be the value of method"),
        (LIST_HEADERS | {"Mcp-Method": "=?base64?!?="}, META, -32020, "Mcp-Method must be the value of method"),
    ],
)
def test_metadata_and_headers_must_agree(headers, meta, code, text):
    status, found, said = error(send(message("tools/list", meta=meta), headers))
    assert (status, found) == (400, code) and said.startswith(text)


@pytest.mark.parametrize("version", versions.HANDSHAKE_VERSIONS)
@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Mcp-Method", "tools/list"),
        ("Mcp-Method", ""),
        ("Mcp-Name", "list_tokens"),
        ("Mcp-Name", "=?base64?!?="),
        ("MCP-Protocol-Version", "2026-07-28"),
    ],
)
def test_headers_that_contradict_the_body_are_refused_with_a_handshake_too(version, header, value):
    meta = {versions.VERSION_KEY: version}
    body = message("tools/call", meta=meta, name="get_status")
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": "get_status"}
    assert result(send(body, headers))["isError"] is False
    status, code, _ = error(send(body, headers | {header: value}))
    assert (status, code) == (400 if header == "MCP-Protocol-Version" else 200, -32020)


@pytest.mark.parametrize("version", versions.SUPPORTED_VERSIONS)
def test_headers_that_contradict_a_notification_or_a_handshake_are_refused(version):
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert send(notification, {"MCP-Protocol-Version": version}).status_code == 202
    refused = send(notification, {"MCP-Protocol-Version": version, "Mcp-Method": "tools/call"})
    assert refused.json()["error"]["code"] == -32020 and "id" not in refused.json()
    handshake = message("initialize", meta=None, protocolVersion=version)
    assert error(send(handshake, {"Mcp-Method": "tools/call"}))[:2] == (400, -32020)
    assert error(send(handshake, {"Mcp-Name": "get_status"}))[:2] == (400, -32020)
    # A client that connects again.
    assert result(send(handshake, {"MCP-Protocol-Version": "2025-06-18", "Mcp-Method": "initialize"}))


def test_a_header_of_a_method_that_is_missing_here_does_not_contradict_it():
    body = message("resources/read", uri="file:///a")
    status, code, _ = error(send(body, metadata_headers("resources/read", "file:///a")))
    assert (status, code) == (404, -32601)


@pytest.mark.parametrize("version", ["1900-01-01", "2024-11-05", "2025-03-26", "", "2026-07-28, 2026-07-28"])
def test_another_version_is_refused_with_the_supported_ones(version):
    body = message("tools/list", meta=META | {versions.VERSION_KEY: version})
    response = send(body, LIST_HEADERS | {"MCP-Protocol-Version": version})
    assert error(response) == (400, -32022, "Unsupported protocol version")
    supported = ["2026-07-28", "2025-11-25", "2025-06-18"]
    assert response.json()["error"]["data"] == {"supported": supported, "requested": version}


def test_the_name_of_a_tool_is_repeated_in_a_header_also_encoded():
    body = message("tools/call", name="get_status", arguments={})
    headers = metadata_headers("tools/call")
    encoded = base64.b64encode(b"get_status").decode()
    for name in ("get_status", f"=?base64?{encoded}?="):
        assert result(send(body, headers | {"Mcp-Name": name}))["isError"] is False
    for wrong in ("", "get_token", f"=?base64?{encoded[:-2]}?=", "=?base64?/w==?="):
        status, code, text = error(send(body, headers | {"Mcp-Name": wrong}))
        assert (status, code, text) == (400, -32020, "Mcp-Name must be the value of params.name")
    assert error(send(body, headers))[2] == "Mcp-Name is required, with the value of params.name"


def test_the_service_describes_itself():
    found = result(request("server/discover"))
    assert found["supportedVersions"] == ["2026-07-28", "2025-11-25", "2025-06-18"]
    assert found["capabilities"] == {"tools": {}} and "chain" in found["instructions"]
    assert (found["resultType"], found["cacheScope"], found["ttlMs"] > 0) == ("complete", "public", True)
    server = found["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert (server["name"], server["title"]) == ("launchboard", "Launchboard")


@pytest.mark.parametrize(
    ("requested", "agreed"),
    [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("x", "2025-11-25"),
    ],
)
def test_a_handshake_agrees_on_a_version_and_begins_no_session(requested, agreed):
    response = send(message("initialize", meta=None, protocolVersion=requested, capabilities={}))
    found = result(response)
    assert (found["protocolVersion"], found["capabilities"]) == (agreed, {"tools": {}})
    assert found["serverInfo"]["name"] == "launchboard" and "resultType" not in found
    assert "Mcp-Session-Id" not in response.headers
    headers = {"MCP-Protocol-Version": agreed}
    tools = result(send(message("tools/list", meta=None), headers))
    assert set(tools) == {"tools"}
    called = result(send(message("tools/call", meta=None, name="get_status"), headers))
    assert called["structuredContent"] == {"chains": []} and "resultType" not in called
    assert result(send(message("ping", meta=None), headers)) == {}


def test_clients_with_a_handshake_get_errors_of_the_protocol_with_status_200():
    headers = {"MCP-Protocol-Version": "2025-11-25"}
    assert error(send(message("initialize", meta=None, protocolVersion=5)))[:2] == (200, -32602)
    assert error(send(message("server/discover", meta=None), headers))[:2] == (200, -32601)
    assert error(send(message("tools/call", meta=None, name="x"), headers))[:2] == (200, -32602)
    assert error(send(GOOD | {"params": []}, headers))[:2] == (200, -32602)
    assert error(send(GOOD | {"method": 5}, headers))[:2] == (200, -32600)
    assert error(send(GOOD, LIST_HEADERS | headers))[:2] == (200, -32020)
    assert error(send(b"{", headers))[:2] == (400, -32700)


@pytest.mark.parametrize("text", ["a\\u0000", "\\ud800"])
@pytest.mark.parametrize(("version", "status"), [("2025-11-25", 200), ("2026-07-28", 400)])
def test_text_that_cannot_be_stored_is_refused_with_the_id(text, version, status):
    body = json.dumps(message("tools/list", meta=META if status == 400 else None, cursor="TEXT")).replace("TEXT", text)
    response = send(body.encode(), metadata_headers("tools/list", version=version))
    assert error(response)[:2] == (status, -32602) and response.json()["id"] == 7
    assert response.json()["error"]["data"]["details"][0]["field"] == "params.cursor"


@pytest.mark.parametrize("text", ["a\\u0000", "\\ud800"])
@pytest.mark.parametrize(("version", "meta"), [("2025-11-25", None), ("2026-07-28", META)])
@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("search_tokens", {"q": "TEXT"}, "q"),
        ("get_token", {"chainId": 8453, "address": "TEXT"}, "address"),
        ("list_tokens", {"cursor": "TEXT"}, "cursor"),
        ("list_tokens", {"TEXT": 1}, "TEXT"),
        ("deploy_token", {"chainId": 8453, "token": {"name": "TEXT"}}, "token.name"),
        ("create_pretoken", {"keyword": "TEXT"}, "keyword"),
    ],
)
def test_an_argument_that_cannot_be_stored_is_an_error_of_the_tool(
    text, version, meta, tool, arguments, field, deploy_key, issuer
):
    body = json.dumps(message("tools/call", meta=meta, name=tool, arguments=arguments)).replace("TEXT", text)
    headers = metadata_headers("tools/call", tool, version) | deploy_key | as_user(issuer, 7)
    called = result(send(body.encode(), headers))
    assert called["isError"] is True and called["content"][1]["text"] == "HTTP status 400."
    stored = json.loads(f'"{text}"').replace("\ud800", "\0")
    fields = {each["field"] for each in json.loads(called["content"][0]["text"])["details"]}
    assert field.replace("TEXT", stored) in fields


@pytest.mark.parametrize("method", ["initialized", "ping", "resources/list", "subscriptions/listen", "tools/x"])
def test_an_unknown_method_is_404(method):
    assert error(request(method)) == (404, -32601, f"Method not found: {method}")


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled", "notifications/x"])
@pytest.mark.parametrize("headers", [{}, {"MCP-Protocol-Version": "2025-11-25"}])
def test_a_notification_is_accepted_without_a_body(method, headers):
    body = message(method, meta=None)
    del body["id"]
    response = send(body, headers)
    assert (response.status_code, response.content) == (202, b"")
    assert response.headers["Cache-Control"] == "no-store"


def test_a_tool_is_not_called_by_a_notification(django_assert_num_queries):
    body = message("tools/call", name="get_status", arguments={})
    del body["id"]
    with django_assert_num_queries(0):
        assert send(body, metadata_headers("tools/call", "get_status")).status_code == 202


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"name": "drop_tables"}, "params.name must be one of search_tokens, list_tokens, "),
        ({"name": 5}, "params.name must be one of "),
        ({}, "params.name must be one of "),
        ({"name": "get_status", "arguments": []}, "params.arguments must be a JSON object"),
        ({"name": "get_status", "arguments": None}, "params.arguments must be a JSON object"),
    ],
)
def test_a_call_of_no_tool_is_refused(params, text):
    headers = {"MCP-Protocol-Version": "2025-11-25"}
    status, code, said = error(send(message("tools/call", meta=None, **params), headers))
    assert (status, code) == (200, -32602) and said.startswith(text)


def test_the_list_of_tools_has_one_page():
    assert error(request("tools/list", cursor="x"))[1:] == (
        -32602,
        "params.cursor must be absent: the list has one page",
    )
    assert result(request("tools/list", cursor=None))["tools"]


@pytest.mark.parametrize("method", ["get", "head", "put", "patch", "delete"])
def test_other_methods_of_http_are_405(method):
    response = getattr(CLIENT, method)(URL)
    assert (response.status_code, response.headers["Allow"]) == (405, "POST, OPTIONS")
    assert response.headers["Cache-Control"] == "no-store"


def test_the_path_takes_a_slash_at_its_end():
    response = CLIENT.post(f"{URL}/", GOOD, content_type="application/json", headers=LIST_HEADERS)
    assert result(response)["tools"]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_a_form_of_another_site_does_nothing(kind):
    assert error(send(GOOD, LIST_HEADERS, content_type=kind))[:2] == (415, 415)


def test_a_body_has_a_limit():
    padded = b'{"jsonrpc": "2.0"}'.ljust(LARGE_BODY_BYTES + 1)
    assert error(send(padded)) == (413, 413, f"Request body is over {LARGE_BODY_BYTES} bytes")
    assert error(send(padded[:-1]))[1] == -32600


def test_a_page_of_another_origin_is_refused(settings):
    settings.CORS_ALLOWED_ORIGINS, settings.SITE_URL = (LISTED,), "https://launch.example"
    for origin in (ELSEWHERE, "null", "http://app.example", f"{LISTED}.evil.example", "", "https://launch.example:1"):
        response = send(GOOD, LIST_HEADERS | {"Origin": origin})
        assert error(response)[:2] == (403, 403)
        assert "id" not in response.json() and "Access-Control-Allow-Origin" not in response.headers
    for origin in (LISTED, "https://launch.example", "http://testserver", "HTTP://TestServer"):
        assert result(send(GOOD, LIST_HEADERS | {"Origin": origin}))["tools"]
    # A rebound name of this machine is no host of the service.
    rebound = send(GOOD, LIST_HEADERS | {"Origin": "http://rebound.example", "Host": "rebound.example"})
    assert rebound.status_code == 400


def test_a_page_of_a_listed_origin_may_send_the_headers_of_the_protocol(settings):
    settings.CORS_ALLOWED_ORIGINS = (LISTED,)
    requested = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,mcp-method,mcp-name,mcp-protocol-version,x-api-key",
    }
    allowed = CLIENT.options(URL, headers=requested | {"Origin": LISTED}).headers
    assert allowed["Access-Control-Allow-Origin"] == LISTED
    assert {name.lower() for name in versions.HEADERS} <= set(allowed["Access-Control-Allow-Headers"].split(", "))
    assert "Access-Control-Allow-Origin" not in CLIENT.options(URL, headers=requested | {"Origin": ELSEWHERE}).headers
    response = send(GOOD, LIST_HEADERS | {"Origin": LISTED})
    assert response.headers["Access-Control-Allow-Origin"] == LISTED
    assert "Retry-After" in response.headers["Access-Control-Expose-Headers"]


def test_a_database_that_is_gone_is_503_with_a_time_to_retry(database_at, unused_port, read_key):
    database_at(unused_port)
    response = request("tools/list", read_key)
    assert error(response)[:2] == (503, 503)
    assert response.json()["error"]["data"]["retryAfter"] == int(response.headers["Retry-After"]) > 0
    called = result(call("search_tokens", q="x"))
    assert called["isError"] and "HTTP status 503. Retry after" in called["content"][1]["text"]

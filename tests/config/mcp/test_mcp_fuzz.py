"""Made-up messages to `/mcp`: each response is one of the protocol, and none is an internal error."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounts.keys import credentials
from accounts.models import Scope
from config.mcp.tools import installed_tools
from tests.config.mcp.mcp_requests import META, message, metadata_headers, send

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.usefixtures("unmet_limits")]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
METHODS = ["server/discover", "tools/list", "tools/call", "initialize", "ping", "notifications/initialized", "x"]
STATUSES = {200, 202, 400, 401, 403, 404, 413, 415}


def check(response: Any, sent: Any) -> None:
    """Fail unless the response is one of the protocol to the message that was sent."""
    assert response.status_code in STATUSES, (response.status_code, response.content, sent)
    if response.status_code == 202:
        assert response.content == b""
        return
    body = json.loads(response.content)
    assert body["jsonrpc"] == "2.0" and ("result" in body) is not ("error" in body), body
    if "result" in body:
        assert response.status_code == 200 and body["id"] == sent["id"], body
        assert isinstance(body["result"], dict)
    else:
        failed = body["error"]
        assert isinstance(failed["code"], int) and failed["message"] and failed["code"] not in (-32603, 500), body


@given(body=st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()))
def test_bodies(body: bytes) -> None:
    check(send(body, metadata_headers("tools/list")), body)


@given(
    changes=st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params"]), JSON, max_size=2),
    method=st.sampled_from(METHODS),
    version=st.sampled_from(["2026-07-28", "2025-11-25", "2025-06-18", "2024-11-05", ""]),
    meta=st.sampled_from([META, None, {}]) | JSON,
)
def test_envelopes(changes: dict[str, Any], method: str, version: str, meta: Any) -> None:
    body = message(method, meta=meta) | changes
    check(send(body, metadata_headers(method, version=version)), body)


@settings(max_examples=300)
@given(data=st.data())
def test_arguments_of_tools_that_read(data: st.DataObject) -> None:
    tools = [tool for tool in installed_tools().values() if tool.method == "GET" and not tool.needs_user]
    tool = data.draw(st.sampled_from(tools))
    names = st.sampled_from(tool.arguments) if tool.arguments else st.just("more")
    likely = st.sampled_from([8453, "8453", "0x" + "1" * 40, "desc", True, 1, "1h"])
    arguments = data.draw(st.dictionaries(names | st.text(max_size=10), JSON | likely, max_size=5))
    given_all = {name: data.draw(JSON | likely) for name in tool.required} | arguments
    body = message("tools/call", name=tool.entry.name, arguments=given_all)
    check(send(body, metadata_headers("tools/call", tool.entry.name)), body)


@given(arguments=JSON, tool=st.sampled_from(["index_transaction", "deploy_token", "create_pretoken"]))
def test_bodies_of_tools_that_write(arguments: Any, tool: str) -> None:
    key = {"x-api-key": credentials.issue_key("Partner", scopes=list(Scope))}
    body = message("tools/call", name=tool, arguments=arguments)
    check(send(body, metadata_headers("tools/call", tool) | key), body)


@given(headers=st.dictionaries(st.sampled_from(["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Origin"]), st.text(
    st.characters(min_codepoint=32, max_codepoint=126), max_size=40)))  # fmt: skip
def test_headers(headers: dict[str, str]) -> None:
    body = message("tools/call", name="get_status", arguments={})
    check(send(body, metadata_headers("tools/call", "get_status") | headers), body)

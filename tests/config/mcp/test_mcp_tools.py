"""`/mcp` tools: their definitions from the API's description, their calls with the endpoints' rules, and limits."""

import json

import orjson
import pytest
from django.contrib.auth.models import User
from jsonschema import Draft202012Validator

from accounts.administrators import sessions
from accounts.keys import credentials
from accounts.models import PartnerKey, Scope
from config.api.openapi_views import openapi_document
from config.mcp.tool_table import TOOLS
from config.mcp.tools import installed_tools
from tests.config.mcp.mcp_requests import CLIENT, call, error, message, metadata_headers, request, result, send
from tests.html_pages import HOSTILE
from tests.rows.factories import TokenFactory
from tests.rows.ranking_walks import make_snapshot
from tests.rows.user_tokens import as_user, bearer
from tests.tokens.market.test_own_trending import traded
from tokens.models import Token

pytestmark = pytest.mark.django_db

PUBLIC = {
    *("search_tokens", "list_tokens", "get_token", "list_trending", "list_trades", "list_candles"),
    *("get_leaderboard", "get_status", "get_integrity", "search_creators", "get_creator"),
    *("prepare_launch", "prepare_swap", "prepare_claim_fees", "prepare_collect_rewards", "prepare_claim_airdrop"),
    *("prepare_claim_vault", "prepare_presale_buy"),
}
BY_SCOPE = {
    Scope.READ: {"get_uncollected_fees", "get_claimed_fees"},
    Scope.INDEX: {"index_transaction"},
    Scope.DEPLOY: {"deploy_token", "get_deploy_status"},
    Scope.AGENTS: set(),
}
OF_USERS = {"create_pretoken", "list_pretokens"}
# Their results have whole token records, whose schema is too long for a tool list.
TOKEN_RECORDS = {"search_tokens", "list_tokens", "get_token", "list_trending", "get_creator", "get_integrity"}
OBJECT = {"type": "object", "properties": {}}


def listed(headers=None):
    """Return the tool names that a caller gets, and to which callers a cache may give the list."""
    found = result(request("tools/list", headers))
    return {tool["name"] for tool in found["tools"]}, found["cacheScope"]


def key_header(*scopes):
    return {"x-api-key": credentials.issue_key("Partner", scopes=scopes)}


def content_of(called):
    """Return a call's structured result; check that its text is the same."""
    assert called["isError"] is False and json.loads(called["content"][0]["text"]) == called["structuredContent"]
    return called["structuredContent"]


def error_of(called):
    """Return a refused call's error body and its sentence about the status."""
    assert called["isError"] is True and "structuredContent" not in called
    return json.loads(called["content"][0]["text"]), called["content"][1]["text"]


def test_each_tool_has_an_operation_and_the_parameters_that_the_table_names():
    operations = {
        operation["operationId"]: operation
        for methods in orjson.loads(openapi_document())["paths"].values()
        for operation in methods.values()
    }
    assert len({entry.name for entry in TOOLS}) == len(TOOLS)
    for entry in TOOLS:
        names = {parameter["name"] for parameter in operations[entry.operation].get("parameters", [])}
        names |= set(installed_tools()[entry.name].definition["inputSchema"]["properties"])
        assert {*entry.parameters, *entry.required, *entry.defaults} <= names
        assert not operations[entry.operation].get("deprecated")


def test_schemas_are_valid_and_refer_to_nothing_outside():
    of_results = {name for name, tool in installed_tools().items() if "outputSchema" in tool.definition}
    prepared = {name for name in PUBLIC if name.startswith("prepare_")}
    assert set(installed_tools()) - of_results == {*TOKEN_RECORDS, "list_pretokens", *prepared}
    for name, tool in installed_tools().items():
        for schema in (tool.definition["inputSchema"], tool.definition.get("outputSchema", OBJECT)):
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object" and "properties" in schema, name
            assert "#/components/" not in json.dumps(schema) and "* `" not in json.dumps(schema)
            assert set(schema.get("$defs", {})) == set(_referred(schema)), name
        assert 40 < len(tool.definition["description"]) < 2_500
        assert tool.definition["annotations"]["readOnlyHint"] is (tool.method == "GET" or tool.entry.is_read)


def _referred(value):
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"].removeprefix("#/$defs/")
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _referred(part)


def test_a_caller_gets_the_tools_of_the_credential(issuer):
    assert listed() == (PUBLIC, "public")
    for scope, tools in BY_SCOPE.items():
        assert listed(key_header(scope)) == (PUBLIC | tools, "private")
    everything = key_header(*Scope)
    assert listed(everything)[0] == PUBLIC.union(*BY_SCOPE.values())
    assert listed(everything | as_user(issuer, 7))[0] == set(installed_tools())
    assert listed(as_user(issuer, 7)) == (PUBLIC | OF_USERS, "private")
    # A model may read the list in every prompt.
    assert len(request("tools/list").content) < 38_000
    # The list has the table's sequence.
    names = [tool["name"] for tool in result(request("tools/list", everything | as_user(issuer, 7)))["tools"]]
    assert names == [entry.name for entry in TOOLS]


def test_a_key_may_be_a_bearer_token():
    key = key_header(Scope.READ)["x-api-key"]
    assert listed(bearer(key)) == (PUBLIC | BY_SCOPE[Scope.READ], "private")
    wallet = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
    assert content_of(result(call("get_claimed_fees", bearer(key), tokenAddress=wallet, feeRecipient=wallet)))


@pytest.mark.parametrize("header", [{"x-api-key": "lb_live_x"}, bearer("lb_live_x"), bearer("")])
def test_an_invalid_key_gets_no_list(header):
    expected = (200, None) if header == bearer("") else (401, 401)
    response = request("tools/list", header)
    body = response.json()
    assert (response.status_code, body.get("error", {}).get("code")) == expected
    assert ("WWW-Authenticate" in response.headers) is (response.status_code == 401)
    # Public tools ignore credentials, as their endpoints do.
    assert content_of(result(call("get_status", header))) == {"chains": []}


def test_a_call_returns_what_the_endpoint_returns():
    token = TokenFactory(name=HOSTILE, symbol="CATTY")
    TokenFactory()
    for arguments in ({"q": "catty"}, {"q": token.contract_address, "limit": 1, "chainId": 8453, "sort": "asc"}):
        found = content_of(result(call("search_tokens", **arguments)))
        parameters = {"includeMarket": True, "limit": 5} | arguments
        assert found == CLIENT.get("/api/tokens", parameters).json() and found["data"][0]["name"] == HOSTILE
    page = content_of(result(call("list_tokens", limit=1)))
    second = content_of(result(call("list_tokens", limit=1, cursor=page["cursor"])))
    assert {page["data"][0]["id"], second["data"][0]["id"]} == set(Token.objects.values_list("pk", flat=True))
    found = content_of(result(call("get_token", chainId=token.chain_id, address=token.contract_address)))
    assert found == CLIENT.get(f"/api/tokens/8453/{token.contract_address}", {"includeMarket": 1}).json()


def test_thousands_of_unknown_arguments_are_counted():
    body = json.loads(result(call("get_status", **{f"x{number}": 1 for number in range(5_000)}))["content"][0]["text"])
    assert len(body["details"]) == 20
    assert body["details"][0] == {"field": "x0", "message": "is not known; known are: none"}
    assert body["details"][-1]["message"] == "breaks rules in 4981 more places"


@pytest.mark.parametrize(
    ("tool", "arguments", "field", "rule"),
    [
        ("search_tokens", {}, "q", "is required"),
        ("search_tokens", {"q": None}, "q", "is required"),
        ("search_tokens", {"q": ""}, "q", "is required"),
        ("search_tokens", {"q": "x", "chain": 5}, "chain", "is not known; known are: chainId, cursor, "),
        ("search_tokens", {"q": {"a": 1}}, "q", "must be text, a number, true or false, or a list of these"),
        ("search_tokens", {"q": [["a"]]}, "q", "must be text, a number, true or false, or a list of these"),
        ("get_token", {"chainId": 8453}, "address", "is required"),
        ("get_status", {"x" * 5_000: 1}, "x" * 60, "is not known; known are: none"),
        # The endpoints' own rules.
        ("search_tokens", {"q": "x", "limit": 21}, "limit", "must be a whole number from 0 to 20"),
        ("search_tokens", {"q": "x", "limit": 1.5}, "limit", "must be a whole number from 0 to 20"),
        ("search_tokens", {"q": "x", "sort": True}, "sort", "must be desc or asc"),
        ("get_token", {"chainId": "x", "address": "0x1"}, "chainId", "must be "),
        ("get_token", {"chainId": 8453, "address": "../../admin"}, "address", "must be "),
        ("get_token", {"chainId": 8453, "address": "?a=1#b"}, "address", "must be "),
        ("list_candles", {"chainId": 8453, "address": "0x" + "1" * 40, "interval": "2h"}, "interval", "must be one of"),
    ],
)
def test_a_call_with_wrong_arguments_names_field_and_rule(tool, arguments, field, rule):
    body, sentence = error_of(result(call(tool, **arguments)))
    assert sentence == "HTTP status 400."
    (detail,) = body["details"]
    assert detail["field"] == field and detail["message"].startswith(rule)
    assert body["error"].startswith(field)


def test_the_list_of_trending_pools_is_short(market, settings):
    settings.MARKET_PROVIDER_CHAINS = ()
    pools = [traded(TokenFactory(), price_change_24h=float(change)).pool_address for change in (6, 5, 4, 3, 2, 1)]
    assert content_of(result(call("list_trending")))["trending"] == pools[:5]
    assert content_of(result(call("list_trending", limit=20)))["trending"] == pools


def test_numbers_and_lists_are_written_as_in_a_query():
    token = TokenFactory(requestor_fid=12)
    page = content_of(result(call("list_tokens", fid=12.0, chainId="8453", includeMarket=False, limit=3)))
    assert [each["id"] for each in page["data"]] == [token.pk]
    huge = error_of(result(call("list_tokens", fid=2**70)))[0]
    assert huge["details"][0]["field"] == "fid"


def test_a_missing_record_is_404():
    body, sentence = error_of(result(call("get_token", chainId=8453, address="0x" + "1" * 40)))
    assert (body, sentence) == ({"error": "Token not found"}, "HTTP status 404.")


@pytest.mark.parametrize("tool", sorted(set().union(*BY_SCOPE.values())))
def test_a_tool_of_a_scope_is_refused_without_it(tool):
    scope = next(scope for scope, tools in BY_SCOPE.items() if tool in tools)
    arguments = dict.fromkeys(installed_tools()[tool].required, "x")
    expected = {
        "API key is required": {},
        "Unauthorized": {"x-api-key": "lb_live_x"},
        f"This key lacks the scope {scope}": key_header(*set(Scope) - {scope}),
    }
    for text, headers in expected.items():
        body, sentence = error_of(result(call(tool, headers, **arguments)))
        assert body["error"] == text
        assert sentence == ("HTTP status 403." if "lacks" in text else "HTTP status 401.")


@pytest.mark.parametrize("tool", sorted(OF_USERS))
def test_a_tool_of_users_is_refused_without_a_user(tool, issuer):
    for headers in ({}, key_header(*Scope), bearer("a.b.c")):
        assert error_of(result(call(tool, headers))) == ({"error": "Unauthorized"}, "HTTP status 401.")
    assert content_of(result(call("list_pretokens", as_user(issuer, 7)))) == {"pendingPretokens": []}


def test_a_cookie_is_no_credential():
    make_snapshot()
    staff = User.objects.create_user("operator", is_staff=True)
    cookie = f"{sessions.COOKIE}={sessions.begin_session(staff).cookie}"
    assert "score" in CLIENT.get("/api/droid/leaderboard", headers={"Cookie": cookie}).json()["data"][0]
    for standing in content_of(result(call("get_leaderboard", {"Cookie": cookie})))["data"]:
        assert "score" not in standing


def test_a_call_with_a_body_has_the_rules_of_the_body(index_key, deploy_key):
    body, _ = error_of(result(call("index_transaction", index_key, chainId=8453)))
    assert body["details"][0]["field"] == "txHash"
    body, _ = error_of(result(call("deploy_token", deploy_key, chainId=8453, token={"name": "A"}, more=1)))
    assert {detail["field"] for detail in body["details"]} >= {"more", "token.symbol"} and body["success"] is False


@pytest.mark.usefixtures("no_calls")
def test_each_message_counts_once_for_the_limits_of_the_api(settings):
    settings.RATE_LIMIT_PUBLIC = 6
    remaining = []

    def count(response):
        remaining.append(int(response.headers["RateLimit-Remaining"]))

    count(call("get_status"))
    count(request("tools/list"))
    count(call("search_tokens"))
    count(request("resources/list"))
    count(send(b"{"))
    count(CLIENT.get("/api/status"))
    assert remaining == [5, 4, 3, 2, 1, 0]
    refused = result(call("get_status"))
    body, sentence = error_of(refused)
    assert body == {"error": "Too many requests. Please try again later."}
    assert sentence.startswith("HTTP status 429. Retry after ")
    for response in (request("tools/list"), send(b"{"), request("resources/list"), call("search_tokens")):
        assert error(response)[:2] == (429, 429)
        assert response.json()["error"]["data"] == {"retryAfter": int(response.headers["Retry-After"])}


@pytest.mark.usefixtures("no_calls")
def test_a_key_counts_for_its_own_limit_and_usage(settings, read_key):
    settings.RATE_LIMIT_PUBLIC, settings.RATE_LIMIT_KEYED = 1, 3
    arguments = {"tokenAddress": "0x" + "1" * 40, "feeRecipient": "0x" + "2" * 40}
    answers = [request("tools/list", read_key), *(call("get_claimed_fees", read_key, **arguments) for _ in range(2))]
    assert [int(answer.headers["RateLimit-Remaining"]) for answer in answers] == [2, 1, 0]
    refused = call("get_claimed_fees", read_key, **arguments)
    assert error_of(result(refused))[1].startswith("HTTP status 429.")
    assert int(refused.headers["Retry-After"]) > 0
    assert PartnerKey.objects.get().last_used_at is not None


def test_a_call_has_the_address_of_the_caller(settings):
    settings.TRUSTED_PROXIES, settings.RATE_LIMIT_PUBLIC = 1, 1
    headers = [{"X-Forwarded-For": f"198.51.100.{last}"} for last in (1, 2)]
    assert not any(result(call("get_status", each))["isError"] for each in headers)
    assert all(result(call("get_status", each))["isError"] for each in headers)


def test_a_call_of_a_list_has_few_queries(django_assert_max_num_queries):
    TokenFactory.create_batch(5)
    installed_tools()
    with django_assert_max_num_queries(6):
        assert len(content_of(result(call("list_tokens")))["data"]) == 5


def test_a_name_in_the_header_does_not_call_another_tool(index_key):
    body = message("tools/call", name="index_transaction", arguments={})
    assert error(send(body, metadata_headers("tools/call", "get_status") | index_key))[1] == -32020

"""Both clients' retries: each call against a real server with scripted responses."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from launchboard import Launchboard, LaunchboardError, new_request_key
from urllib3.exceptions import HTTPError

from development.standins.loopback import Reply
from tests.clients.scripted_server import ScriptedServer, scripted_server
from tests.clients.typescript_package import NodeClient

TOKENS, WEBHOOKS, DEPLOY = "/api/tokens", "/api/webhooks", "/api/tokens/deploy"
METADATA = "/api/uploads/metadata"
BODY = b'{"data":[],"cursor":null}'
GOOD = Reply(BODY)
FAILED = "no response"
LAUNCH = {"token": {"name": "Dog", "symbol": "DOG", "tokenAdmin": "0x", "requestKey": new_request_key()}}
HOOK = {"url": "https://a.example/"}
DOCUMENT = {"name": "Dog", "symbol": "DOG"}

# Makes a call with so many retries; returns the status, or FAILED.
Call = Callable[[ScriptedServer, str, str, Any], str]


# Without the last byte.
CUT_OFF = Reply(BODY, headers={"content-length": str(len(BODY) + 1), "connection": "close"})


def refusal(status: int, retry_after: str | None = "0") -> Reply:
    return Reply(b'{"error":"Not now"}', status, {} if retry_after is None else {"retry-after": retry_after})


@pytest.fixture(params=["python", "typescript"])
def call(request: pytest.FixtureRequest) -> Call:
    """Return a function that makes a call by a client."""

    def by_python(server: ScriptedServer, method: str, path: str, body: Any) -> str:
        with Launchboard(server.url, key="lb_live_x", retries=2) as api:
            try:
                api.call(method, path, dict[str, Any], body=body)
            except LaunchboardError as error:
                return str(error.status)
            except HTTPError:
                return FAILED
        return "200"

    node: NodeClient | None = request.getfixturevalue("node") if request.param == "typescript" else None

    def by_typescript(server: ScriptedServer, method: str, path: str, body: Any) -> str:
        assert node
        init = {} if body is None else {"body": body}
        outcome = node.call(server.url, method, path, init, key="lb_live_x", retries=2)
        return FAILED if "failure" in outcome else str(outcome["status"])

    return by_typescript if node else by_python


@dataclass(frozen=True)
class Case:
    """A call, the responses to it, and the outcome. Each response left over was not requested."""

    method: str
    path: str
    script: list[Reply | None]
    outcome: str
    left: int = 0
    body: Any = None


CASES = {
    "busy, then a response": Case("GET", TOKENS, [refusal(503), refusal(502), GOOD], "200"),
    "busy for longer than the retries": Case("GET", TOKENS, [refusal(503)] * 4, "503", left=1),
    "over the rate limit": Case("GET", TOKENS, [refusal(429), GOOD], "200"),
    "a wait of an hour": Case("GET", TOKENS, [refusal(429, "3600"), GOOD], "429", left=1),
    "a wait of many digits": Case("GET", TOKENS, [refusal(429, "9" * 5_000), GOOD], "429", left=1),
    "a response that is cut off": Case("GET", TOKENS, [CUT_OFF, GOOD], "200"),
    "a creation with a response that is cut off": Case("POST", WEBHOOKS, [CUT_OFF, GOOD], FAILED, left=1, body=HOOK),
    "no response to a read": Case("GET", TOKENS, [None, GOOD], "200"),
    "an invalid read": Case("GET", TOKENS, [refusal(400), GOOD], "400", left=1),
    "a creation over the rate limit": Case("POST", WEBHOOKS, [refusal(429), GOOD], "200", body=HOOK),
    "a creation that may have been made": Case("POST", WEBHOOKS, [refusal(503), GOOD], "503", left=1, body=HOOK),
    "no response to a creation": Case("POST", WEBHOOKS, [None, GOOD], FAILED, left=1, body=HOOK),
    "a deployment with a request key": Case("POST", DEPLOY, [refusal(503), None, GOOD], "200", body=LAUNCH),
    "a document, which is stored once": Case("POST", METADATA, [refusal(503), CUT_OFF, GOOD], "200", body=DOCUMENT),
    "a deletion": Case("DELETE", f"{WEBHOOKS}/1", [refusal(503), Reply(b"", 204)], "200"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_call_is_repeated_only_where_that_has_no_second_effect(call: Call, case: Case) -> None:
    with scripted_server(*case.script) as server:
        outcome = call(server, case.method, case.path, case.body)
        assert (outcome.replace("204", "200"), len(server.script)) == (case.outcome, case.left)
        assert {request.headers["x-api-key"] for request in server.requests} == {"lb_live_x"}
        assert {request.body for request in server.requests if case.body} <= {
            server.requests[0].body,
        }
        assert case.body is None or json.loads(server.requests[0].body) == case.body


def test_a_call_waits_as_long_as_retry_after_requests(call: Call) -> None:
    # A date has whole seconds.
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=5), usegmt=True)
    with scripted_server(refusal(429, date), refusal(429, "1"), GOOD) as server:
        assert call(server, "GET", TOKENS, None) == "200"
        first, second = server.gaps()
        assert first >= 2 and second >= 1


PAST, NO_DATE = "Thu, 01 Jan 2026 00:00:00 GMT", "Thu, 99 Jan 2099 00:00:00 GMT"


@pytest.mark.parametrize("values", [("soon", "-5"), (None, None), ("\u00b2", "1.5"), (PAST, NO_DATE)])
def test_a_call_waits_twice_as_long_each_time_without_a_usable_value(call: Call, values: list[str | None]) -> None:
    with scripted_server(*[refusal(429, value) for value in values], GOOD) as server:
        assert call(server, "POST", WEBHOOKS, HOOK) == "200"
        first, second = server.gaps()
        assert first >= 0.5 and second >= 1

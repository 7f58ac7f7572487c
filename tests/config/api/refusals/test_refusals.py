"""All operations in the OpenAPI description refuse their tables' requests, with exactly the tables' bodies.

A refused request stores nothing, queues nothing, and its body has nothing but the table's. Who may call an operation
is tested in `test_access_matrix`, and each limit of each field in `test_described_bodies` and
`test_described_parameters`.
"""

import functools
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from psycopg import sql

from accounts.models import WebhookEndpoint
from config.api.openapi_examples import PARAMETERS
from config.environment.issuers import read_issuers
from tests.config.api.refusals import feed_reads, partner_writes, people, token_reads, transactions
from tests.config.api.refusals.refusal_rows import ADDRESS, BODY, Refusal, Rows
from tests.config.api.test_described_bodies import all_fields
from tests.config.api.test_described_examples import described, json_body, operations_in
from tests.rows.agent_factories import AgentFactory
from tests.rows.changed_bodies import ABSENT, with_value
from tests.rows.factories import DeploymentFactory, PartnerKeyFactory, PretokenFactory, TokenFactory
from tokens.models import SavedTree
from tokens.transactions.actions import ACTIONS
from tokens.transactions.views import operation_id

pytestmark = pytest.mark.django_db

Json = dict[str, Any]
TABLES = (token_reads, feed_reads, partner_writes, people, transactions)
REFUSALS: dict[str, Rows] = {name: rows for table in TABLES for name, rows in table.REFUSALS.items()}
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x")
MEBIBYTE = 1024 * 1024
# Bytes, if other than a mebibyte.
BODY_LIMITS = {
    **dict.fromkeys(("createPretoken", "deployToken", "deployTokenV4", "saveAirdrop"), 8 * MEBIBYTE),
    **dict.fromkeys(("beginAdminSession", "saveDeployedToken", "signIn"), 16 * 1024),
    **dict.fromkeys(map(operation_id, ACTIONS.values()), 64 * 1024),
    "fetchByPoolAddresses": 16_000,
    "savePresaleAllowlist": 2 * MEBIBYTE,
    "uploadPicture": 5 * MEBIBYTE,
}
# One for all, since each client constructs all middleware.
CLIENT = Client(raise_request_exception=False)


def added_keys(path: str, status: int, body: Json) -> Json:
    """Return the keys that errors have in the format of a feed, or beside a deployment's other keys."""
    if "/feeds/dextools/" in path:
        issues = [{"param": each["field"], "message": each["message"]} for each in body.get("details", [])]
        return {"code": str(status), "message": body["error"], "issues": issues}
    if "/feeds/udf/" in path:
        return {"s": "error", "errmsg": body["error"]}
    return {"success": False, "message": body["error"]} if "/tokens/deploy" in path else {}


def changed_body(body: Any, changes: Json) -> Any:
    for path, value in changes.items():
        body = value if path == BODY else with_value(body, re.sub(r"\[(\d+)\]", r".\1", path), value)
    return body


def call(method: str, path: str, operation: Json, headers: dict[str, str], row: Refusal) -> Any:
    """Send an operation's valid request with the row's changes."""
    parameters = {entry["name"]: entry for entry in operation.get("parameters", []) if entry["in"] != "header"}
    examples = {name: entry["example"] for name, entry in parameters.items() if "example" in entry}
    values = examples | {name: value for name, value in row.changes.items() if name in parameters}
    for name in [name for name, entry in parameters.items() if entry["in"] == "path"]:
        path = path.replace(f"{{{name}}}", quote(str(values.pop(name)), safe=""))
    query = {name: value for name, value in values.items() if value is not ABSENT}
    if "requestBody" not in operation:
        return getattr(CLIENT, method)(path, query, headers=headers)
    example = (json_body(operation) or {}).get("example")
    body = changed_body(example, {name: value for name, value in row.changes.items() if name not in parameters})
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    media_type = next(iter(operation["requestBody"]["content"])) if row.media_type is None else row.media_type
    return CLIENT.generic(method.upper(), path, content, content_type=media_type, headers=headers)


def is_deprecated(answer: Any) -> bool:
    return {"Deprecation", "Link"} <= set(answer.headers)


def row_counts() -> dict[str, int]:
    tables = [model._meta.db_table for model in apps.get_models(include_auto_created=True) if model._meta.managed]
    one = sql.SQL("SELECT {}, count(*) FROM {}")
    counts = [one.format(sql.Literal(table), sql.Identifier(table)) for table in tables]
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL(" UNION ALL ").join(counts))
        return dict(cursor.fetchall())


def common_rows(name: str, operation: Json) -> Rows:
    """Return the rows that each operation with a body has."""
    content = operation.get("requestBody", {}).get("content", {})
    limit, accepted = BODY_LIMITS.get(name, MEBIBYTE), ", ".join(content)
    larger = Refusal({BODY: b" " * (limit + 1)}, f"Request body is over {limit} bytes", {}, status=413)
    others = tuple(
        Refusal({BODY: b"{}"}, f'Unsupported media type "{other}" in request. Accepted: {accepted}.', {}, 415, other)
        for other in (*FORMS, "", "text/plain", "application/xml", "json")
    )
    malformed = (Refusal({BODY: b"{"}, "Malformed JSON", {}),) if "application/json" in content else ()
    return (larger, *others, *malformed) if content else ()


def hide_records() -> None:
    """Store what no caller may see: a dropped launch, and another partner's and another user's records."""
    other = PartnerKeyFactory()
    TokenFactory(chain_id=8453, contract_address=ADDRESS, pool_address=ADDRESS, unindexed=True)
    DeploymentFactory(request_key=PARAMETERS["requestKey"], partner_key=other)
    AgentFactory(agent_id=PARAMETERS["agentId"], partner_key=other)
    WebhookEndpoint.objects.create(pk=PARAMETERS["id"], url="https://other.example/", partner_key=other)
    SavedTree.objects.create(pk=PARAMETERS["id"], partner_key=other, root="", amount=1, entry_count=1, nodes=b"")
    PretokenFactory(pk=PARAMETERS["deletePretoken id"])


OPERATIONS = functools.cache(lambda: operations_in(described()))


@pytest.fixture
def refuse(
    settings: Any, unmet_limits: None, forget_chains: Any, callers: dict[str, dict[str, str]], queue: Any, tmp_path: Any
) -> Callable[[str, Rows], list[str]]:
    """Return a function that sends an operation's rows, and returns the rows that had another response.

    Base has no node that responds, so that a refused request which needed one would be a 503.
    """
    settings.UPLOAD_STORAGE, settings.UPLOAD_DIR = "directory", tmp_path / "uploads"
    settings.IDENTITY_ISSUERS += read_issuers({"WALLET_SIGN_IN": "true"}, site_url=settings.SITE_URL)
    settings.FEEDS = ("dexscreener", "dextools", "udf", "daily")
    settings.RPC_URLS, settings.MARKET_PROVIDER_CHAINS = {8453: ("http://127.0.0.1:9",)}, ()
    forget_chains()
    TokenFactory(chain_id=8453, contract_address=PARAMETERS["address"])
    hide_records()
    # A user's first request stores the user.
    CLIENT.get("/api/pretoken/pending", headers=callers["userToken"])

    def send(name: str, rows: Rows) -> list[str]:
        method, path, operation = OPERATIONS()[name]
        schemes = [scheme for alternative in operation.get("security", []) for scheme in alternative]
        headers = callers[schemes[0]] if schemes and name != "beginAdminSession" else {}
        problems = []
        for row in (*rows, *common_rows(name, operation)):
            answer = call(method, path, operation, headers, row)
            expected = row.body | added_keys(path, row.status, row.body)
            got = (answer.status_code, answer.json() if answer.content else None, answer.headers["Cache-Control"])
            if got != (row.status, expected, "no-store") or is_deprecated(answer) is not ("deprecated" in operation):
                problems.append(f"{name} {str(dict(row.changes))[:120]}: {got}, not {(row.status, expected)}")
        return problems

    return send


@pytest.mark.parametrize("operation", REFUSALS)
def test_it_refuses_each_row(refuse: Any, queue: Callable[[], Any], operation: str) -> None:
    before = row_counts()
    problems = refuse(operation, REFUSALS[operation])
    assert not problems, "\n".join(problems)
    assert (row_counts(), queue()) == (before, [])


def test_each_operation_and_each_of_its_parameters_and_fields_has_a_row() -> None:
    declared: dict[str, set[str]] = {}
    for name, (_, _, operation) in OPERATIONS().items():
        parameters = {entry["name"] for entry in operation.get("parameters", []) if entry["in"] != "header"}
        if parameters or "requestBody" in operation:
            declared[name] = parameters
    for field in all_fields():
        declared[field.operation].add(str(field.path[0]))
    named = {
        name: {re.split(r"[.[]", path)[0] for row in rows for path in (*row.changes, *row.details)}
        for name, rows in REFUSALS.items()
    }
    assert {name: fields - named.get(name, set()) for name, fields in declared.items()} == {
        name: set() for name in named
    }

"""A parameter with a chain that the registry lacks: 400 by its name in a query, and 404 in a path, everywhere."""

import pytest

from accounts.keys import credentials
from accounts.models import Scope
from tests.config.api.test_described_parameters import good_values

pytestmark = pytest.mark.django_db

UNKNOWN = 999_999
NAMES = {"chainId", "exchange"}
# It opens a stream in a process of its own, which filters events to come.
STREAM = "/api/tokens/stream"
# Feeds name the chain that they lack, as their documents describe.
FEEDS = "/api/feeds/"


@pytest.fixture
def operations(client, settings):
    settings.RATE_LIMIT_PUBLIC = settings.RATE_LIMIT_KEYED = 0
    settings.FEEDS = ("dexscreener", "dextools", "udf", "daily")
    paths = client.get("/api/openapi.json").json()["paths"]
    return [
        (path, entry["in"], entry["name"], operation["parameters"])
        for path, methods in paths.items()
        for method, operation in methods.items()
        if method == "get" and path != STREAM
        for entry in operation.get("parameters", ())
        if entry["name"] in NAMES
    ]


def test_an_unknown_chain_is_refused_alike_everywhere(client, operations):
    key = {"x-api-key": credentials.issue_key("Reader", scopes=[Scope.READ, Scope.WEBHOOKS, Scope.DEPLOY])}
    assert len([place for _, place, _, _ in operations if place == "query"]) > 10
    answers = {}
    for path, place, name, parameters in operations:
        values = {entry["name"]: good_values(entry["schema"])[0] for entry in parameters if entry.get("required")}
        values[name] = UNKNOWN
        url = path
        for entry in parameters:
            if entry["in"] == "path":
                url = url.replace(f"{{{entry['name']}}}", str(values.pop(entry["name"])))
        answer = client.get(url, values, headers=key)
        if place == "query":
            details = answer.json().get("details", [])
            expected = {"field": name, "message": "must be a chain of this service"}
            answers[path] = answer.status_code == 400 and expected in details
        else:
            answers[path] = answer.status_code == (400 if path.startswith(FEEDS) else 404)
        if not answers[path]:
            answers[path] = (answer.status_code, answer.content[:200])
    assert {path: answer for path, answer in answers.items() if answer is not True} == {}

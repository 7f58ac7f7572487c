"""Parameters validated as in the OpenAPI description: values at each bound pass, values beyond it are refused."""

import re
from urllib.parse import quote

import pytest
from django.http import QueryDict
from django.urls import resolve
from rest_framework.exceptions import ValidationError

from accounts.keys import credentials
from accounts.models import Scope
from config.api.error_handling import error_body
from config.api.query_parameters import parse_query
from tests.rows.user_tokens import as_user

pytestmark = pytest.mark.django_db

ADDRESS = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
MINT = "So11111111111111111111111111111111111111112"
# Candidates for parameters with a pattern: some match it, others don't.
SAMPLES = [ADDRESS, ADDRESS.lower(), ADDRESS.upper(), MINT, "0x" + "ab" * 32, "0X" + "AB" * 32]
SAMPLES += ["zora", "2026-01-05", f"8453:{ADDRESS}", f"8453:{ADDRESS}.QUOTE"]
SAMPLES += ["0x12", "WETH", "vitalik.eth", ADDRESS + "0", ADDRESS[2:], "0x" + "g" * 40, MINT + "0", "0x" + "ab" * 33]
# Parameters without a described bound: cursors are opaque and have their own rules; unknown request keys are not found.
UNBOUNDED = {"cursor", "recipientCursor", "requestKey"}
# Parameters that a view validates, as it does those of paths.
IN_VIEWS = {"symbol"}
# Rules that a schema can't express: the existing chains, and the address kind that another parameter requires.
RULES_OF_CONTENT = (
    "must be a chain of this service",
    "must be a chain that the market data provider covers",
    "must be a chain of this service with a presale contract",
    "must be base58 of 32 bytes: chain 101 is Solana",
    "must be a 20-byte hex address on a chain other than Solana",
    "must be an EVM chain of this installation, with market data from its own trades",
    "must be given, or timestamp",
    "must be at least fromBlock",
    "must be less than 1000 blocks after fromBlock",
    "must be at most to, unless countback is given",
    "must be a day that has ended in UTC",
)


@pytest.fixture
def document(client):
    return client.get("/api/openapi.json").json()


@pytest.fixture
def call(client, settings, issuer):
    """Return a function that calls an operation with its required parameters and others; it returns the details."""
    settings.RATE_LIMIT_PUBLIC = settings.RATE_LIMIT_KEYED = 0
    settings.FEEDS = ("dexscreener", "dextools", "udf", "daily")
    key = {
        "x-api-key": credentials.issue_key("Reader", scopes=[Scope.READ, Scope.WEBHOOKS, Scope.DEPLOY, Scope.AGENTS])
    }

    def call(path, parameters, **values):
        values = required(parameters) | values
        for part in {entry["name"] for entry in parameters if entry["in"] == "path"}:
            path = path.replace(f"{{{part}}}", quote(str(values.pop(part)), safe=""))
        answer = client.get(path, values, headers=key | as_user(issuer, 7))
        assert answer.status_code in (200, 307, 400, 404, 503), (path, values, answer.content)
        details = answer.json().get("details", []) if answer.status_code == 400 else []
        return {(each["field"], each["message"]) for each in details}

    return call


def required(parameters):
    return {entry["name"]: good_values(entry["schema"])[0] for entry in parameters if entry.get("required")}


def problems_of(path, values):
    """Return what an operation's serializer refuses, as (parameter, rule)."""
    query = QueryDict(mutable=True)
    query.update({name: str(value) for name, value in values.items()})
    try:
        parse_query(query, resolve(re.sub(r"\{\w+\}", "1", path)).func.cls.query_serializer)
    except ValidationError as error:
        return {(each["field"], each["message"]) for each in error_body(error, whole="query")["details"]}
    return set()


def breaks(problems, name):
    return any(field == name and not any(rule in message for rule in RULES_OF_CONTENT) for field, message in problems)


def good_values(schema):
    """Yield values at a schema's bounds."""
    if "enum" in schema:
        return schema["enum"]
    if schema["type"] == "integer":
        return [schema["minimum"], schema["maximum"]]
    if schema["type"] == "array":
        items = good_values(schema["items"])
        return [*items, ",".join(map(str, items)), ",".join([str(items[0])] * schema["maxItems"])]
    if schema["type"] == "boolean":
        return ["true", "false"]
    if "maxLength" in schema:
        return ["a" * schema["maxLength"], "é" * schema["maxLength"]]
    return [sample for sample in SAMPLES if re.search(schema.get("pattern", ADDRESS), sample)]


def bad_values(schema, name):
    """Yield values beyond a schema's bounds; blanks are no number, address or choice."""
    good = good_values(schema)
    if "maxLength" in schema:
        # A search box that is left empty may send its blanks.
        unfit = ["\0", "a\0b", *([] if name == "q" else [" "])]
        assert not any(re.search(schema["pattern"], text) for text in unfit)
        return ["a" * (schema["maxLength"] + 1), " " * (schema["maxLength"] + 1), *unfit]
    padded = [" ", "\t", "\u3000", f" {good[0]}", f"{good[-1]} "]
    if "enum" in schema:
        return [*padded, "x"]
    if schema["type"] == "integer":
        return [*padded, schema["minimum"] - 1, schema["maximum"] + 1, "x", "1.0"]
    if schema["type"] == "array" and "pattern" in schema["items"]:
        beyond = [sample for sample in SAMPLES if not re.search(schema["items"]["pattern"], sample)]
        return [*padded, *beyond, ",", f"{good[0]},", ",".join([good[0]] * (schema["maxItems"] + 1))]
    if schema["type"] == "array" and "enum" in schema["items"]:
        return [*padded, "x", ",", f"{good[0]},x", ",".join([good[0]] * (schema["maxItems"] + 1))]
    if schema["type"] == "array":
        inner = [schema["items"]["minimum"], schema["items"]["minimum"] - 1, schema["items"]["maximum"] + 1]
        return [
            *padded,
            *inner[1:],
            f"{inner[0]},{inner[1]}",
            f"1,{inner[2]}",
            "1, 2",
            ",".join(["1"] * (schema["maxItems"] + 1)),
            ",",
        ]
    if schema["type"] == "boolean":
        return [*padded, "yes", "2", "null"]
    beyond = [sample for sample in SAMPLES if not re.search(schema["pattern"], sample)]
    assert not any(re.search(schema["pattern"], text) for text in padded)
    return [*padded, *beyond]


def test_what_is_described_is_what_is_taken(document, call):
    unexpected, names = [], set()
    for path, operations in document["paths"].items():
        parameters = [entry for entry in operations.get("get", {}).get("parameters", []) if entry["in"] != "header"]
        query = required([each for each in parameters if each["in"] == "query"])
        first_bad = {}
        for entry in parameters:
            name, schema = entry["name"], entry["schema"]
            if name in UNBOUNDED or (entry["in"] == "path" and "pattern" not in schema):
                continue
            names.add(name)
            good, bad = list(good_values(schema)), bad_values(schema, name)
            largest = good[-1]
            # Without a value, a parameter counts as absent.
            if entry["in"] == "query":
                (bad if entry.get("required") or "minLength" in schema else good).append("")
                first_bad |= {name: bad[0]} if name not in IN_VIEWS else {}
            for value in (*good, *bad):
                if entry["in"] == "path" or name in IN_VIEWS:
                    problems = call(path, parameters, **{name: value})
                else:
                    problems = problems_of(path, query | {name: value})
                if breaks(problems, name) is (value in good):
                    unexpected.append((path, name, value, problems))
            # The view has no further bound.
            if breaks(call(path, parameters, **{name: largest}), name):
                unexpected.append((path, name, "refused", largest))
        # The endpoint reports what its serializer reports.
        if first_bad and call(path, parameters, **first_bad) != problems_of(path, query | first_bad):
            unexpected.append((path, first_bad))
    assert unexpected == []
    assert names >= {"fid", "fids", "startDate", "chainId", "msgSender", "pairAddress", "admin", "address", "champagne"}


def test_every_bound_is_described(document):
    unbounded = []
    for path, operations in document["paths"].items():
        for entry in operations.get("get", {}).get("parameters", []):
            schema = entry["schema"]
            bounds = {
                "integer": {"minimum", "maximum"} <= set(schema),
                "array": {"minItems", "maxItems"} <= set(schema)
                and (entry["style"], entry["explode"]) == ("form", False),
                "boolean": True,
                "string": bool({"enum", "pattern", "maxLength"} & set(schema)),
            }
            if entry["in"] == "query" and entry["name"] not in UNBOUNDED and not bounds.get(str(schema["type"])):
                unbounded.append((path, entry["name"], schema))
    assert unbounded == []


def test_unix_seconds_are_described_as_a_number(document):
    parameters = {entry["name"]: entry for entry in document["paths"]["/api/tokens"]["get"]["parameters"]}
    moment = parameters["startDate"]["schema"]
    assert (moment["type"], moment["minimum"], moment["maximum"]) == ("integer", 0, 253_402_300_799)
    assert parameters["fids"]["schema"]["maxItems"] == 100
    assert {parameters[name]["schema"]["maxLength"] for name in ("q", "pair", "socialInterface")} == {100}

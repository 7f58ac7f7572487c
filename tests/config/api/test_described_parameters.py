"""Parameters validated as in the OpenAPI description: values at each bound pass, values beyond it are refused."""

import re
from urllib.parse import quote

import pytest

from accounts.keys import credentials
from accounts.models import Scope
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
def refuses(client, settings, issuer):
    """Return a function that returns whether an operation refuses a parameter's value by its name."""
    settings.RATE_LIMIT_PUBLIC = settings.RATE_LIMIT_KEYED = 0
    settings.FEEDS = ("dexscreener", "dextools", "udf", "daily")
    key = {
        "x-api-key": credentials.issue_key("Reader", scopes=[Scope.READ, Scope.WEBHOOKS, Scope.DEPLOY, Scope.AGENTS])
    }

    def refuse(path, parameters, name, value):
        values = {entry["name"]: good_values(entry["schema"])[0] for entry in parameters if entry.get("required")}
        values[name] = value
        in_path = {entry["name"] for entry in parameters if entry["in"] == "path"}
        for part in in_path:
            path = path.replace(f"{{{part}}}", quote(str(values.pop(part)), safe=""))
        answer = client.get(path, values, headers=key | as_user(issuer, 7))
        assert answer.status_code in (200, 307, 400, 404, 503), (path, values, answer.content)
        details = answer.json().get("details", []) if answer.status_code == 400 else []
        return any(
            detail["field"] == name and not any(rule in detail["message"] for rule in RULES_OF_CONTENT)
            for detail in details
        )

    return refuse


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


def test_what_is_described_is_what_is_taken(document, refuses):
    unexpected, seen = [], set()
    for path, operations in document["paths"].items():
        parameters = [entry for entry in operations.get("get", {}).get("parameters", []) if entry["in"] != "header"]
        for entry in parameters:
            name, schema = entry["name"], entry["schema"]
            if name in UNBOUNDED or (entry["in"] == "path" and "pattern" not in schema):
                continue
            seen.add(name)
            good, bad = list(good_values(schema)), bad_values(schema, name)
            # Without a value, a parameter counts as absent.
            if entry["in"] == "query":
                (bad if entry.get("required") or "minLength" in schema else good).append("")
            refused = [value for value in good if refuses(path, parameters, name, value)]
            taken = [value for value in bad if not refuses(path, parameters, name, value)]
            unexpected += [(path, name, "refused", value) for value in refused]
            unexpected += [(path, name, "taken", value) for value in taken]
    assert unexpected == []
    assert seen >= {"fid", "fids", "startDate", "chainId", "msgSender", "pairAddress", "admin", "address", "champagne"}


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

"""Request bodies parsed as the OpenAPI description says: values at each limit pass, values beyond it are refused.

Each body begins with its operation's example. What a field needs beside it, such as the other keys of its object,
is made from the description. The limits are tested at the operation's parser; one request proves that the endpoint
uses this parser.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rest_framework.exceptions import ValidationError
from rest_framework.serializers import Serializer

from accounts.administrators.serializers import PasswordBody
from accounts.subscriptions import endpoint_bodies
from accounts.users.serializers import SignInBody
from config.api.error_handling import error_body
from config.api.errors import BadRequestError
from config.api.openapi_examples import BODIES
from config.environment.issuers import read_issuers
from config.mcp.tools import installed_tools
from config.parsing.json_rules import InvalidFieldsError, join_path, truncate_problems
from leaderboard.events.errors import InvalidEventsError
from leaderboard.events.request_body import parse_request_body
from pretokens.body import parse_pretoken
from tests.config.api.test_described_examples import call_with_examples, described, json_body, operations_in
from tests.rows.airdrop_entries import tree_dump
from tests.rows.launch_requests import WALLET
from tokens.catalogue.serializers import PoolsBody
from tokens.deploying.launch_request import parse_launch_request
from tokens.deploying.sales.posted_allowlists import ALLOWLIST_BODY
from tokens.deploying.saved_airdrops import parse_airdrop_request
from tokens.indexing.serializers import IndexBody, IndexByAddressBody, SaveBody, read_index_body
from tokens.transactions.actions import ACTIONS
from tokens.transactions.preparing import parse_body
from tokens.transactions.views import operation_id
from tokens.uploads.metadata_documents import encode_document

pytestmark = pytest.mark.django_db

Json = dict[str, Any]
Path = tuple[str | int, ...]

ADDRESS = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
# Candidates for fields with a pattern: some match it, others don't.
SAMPLES = [ADDRESS, ADDRESS.lower(), "0X" + ADDRESS[2:], "0x" + "ab" * 32, "0X" + "AB" * 32, "WETH", "", " ", "0", "1"]
# No base58: it has no 0.
SAMPLES += ["1".ljust(length, "0") for length in (29, 30, 31, 32, 78, 79)]
SAMPLES += ["9" * 29, "9" * 30, "1".rjust(30, "0"), "1".rjust(31, "0")]
SAMPLES += ["!" * length for length in (31, 32, 33, 100, 101)]
SAMPLES += [
    "https://a.example/b",
    "HTTP://a.example",
    "ipfs://a/b",
    "ftp://a.example",
    "https://",
    "https://a b",
    "https",
]
SAMPLES += [ADDRESS + "0", ADDRESS[2:], "0x" + "g" * 40, "So11111111111111111111111111111111111111112"]
# Texts in a format, good ones and bad ones.
FORMATS = {
    "date-time": (
        ["2026-01-05T12:00:00Z", "2026-01-05T12:00:00.123456789+01:00"],
        ["2026-01-05", "2020-12-31T00:00:00Z"],
    ),
    "email": (["ada@example.com"], ["ada"]),
}
# Rules that a schema can't express: amounts and shares that are compared with others, the supply, wallets and chains.
RULES_OF_CONTENT = (
    "must be a chain",
    "Unsupported chain",
    "this service pays no more",
    "must have amounts of 0.25 to 90 percent",
    "must have allocations that sum",
    "must have bps that sum",
    "must have each address once",
    "must be wei as a text of digits, from 1",
    "must have the format standard-v1 and the leafEncoding",
    "on a chain other than Solana",
    "more places",
    "must be larger than afterEventId",
    "is no key of",
    "must not be before startedAt",
    "must be an https:// URL of a public host",
    "is allowed for replies and quotes only",
)
# The deployTokenV4 view is deployToken's.
OPERATIONS = sorted(BODIES.keys() - {"deployTokenV4"})
DUMP: Json = tree_dump([(WALLET, 1)])
# Bodies that their schemas exclude by rules beside the limits of each field.
EXCLUDED: list[tuple[str, Json]] = [
    ("saveAirdrop", {}),
    ("saveAirdrop", {"entries": [{"account": WALLET, "amount": 1}], "tree": DUMP}),
    ("saveAirdrop", {"tree": DUMP | {"tree": []}}),
    ("replayWebhook", {}),
    ("replayWebhook", {"eventId": 1, "afterEventId": 1}),
    ("replayWebhook", {"eventId": 1, "untilEventId": 2}),
]
# Larger lists are tested in test_large_bodies.
MOST_SENT = 10_000
# A dump's hashes are not read, and its values equal `entries`; a person's credentials are any text.
WITHOUT_LIMITS = {"tree.leafEncoding", "tree.leafEncoding[0]", "tree.tree", "tree.tree[0]", "tree.values[0]"}


@dataclass(frozen=True)
class Field:
    """A field in a body that is good besides it."""

    operation: str
    body: Json
    path: Path
    schema: Json

    @property
    def name(self) -> str:
        """The field's name in error details."""
        return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path).lstrip(".")

    def with_value(self, value: Any) -> Json:
        """Return the body with this value in the field."""
        return replaced(self.body, self.path, value)


def replaced(body: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    first, *rest = path
    if isinstance(first, int):
        return [
            *body[:first],
            replaced(body[first] if first < len(body) else None, tuple(rest), value),
            *body[first + 1 :],
        ]
    return (body or {}) | {first: replaced((body or {}).get(first), tuple(rest), value)}


def resolved(schema: Json, components: Json) -> Json:
    """Return a schema without references at its root."""
    for part in [schema["$ref"]] if "$ref" in schema else [each["$ref"] for each in schema.get("allOf", [])]:
        schema = resolved(components[part.rpartition("/")[2]], components) | {
            name: value for name, value in schema.items() if name not in ("$ref", "allOf")
        }
    alternatives = [each for each in schema.get("oneOf", []) if each != {"type": "null"}]
    return resolved(alternatives[0], components) if len(alternatives) == 1 else schema


def type_of(schema: Json) -> str:
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return str(kinds[0])


def good_texts(schema: Json) -> list[str]:
    if schema.get("format") in FORMATS:
        return FORMATS[schema["format"]][0]
    fits = re.compile(schema.get("pattern", "")).search
    sized = ["a" * schema["maxLength"], "é" * schema["maxLength"]] if "maxLength" in schema else []
    if sized and schema.get("format") == "uri":
        sized = ["https://a.example/".ljust(schema["maxLength"], "a")]
    found = [text for text in [*sized, *SAMPLES] if fits(text)]
    return [text for text in found if schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", 200)]


def sample(schema: Json, components: Json) -> Any:
    """Return a value for the schema: the largest number, so that shares make up a whole."""
    schema = resolved(schema, components)
    if "oneOf" in schema:
        return sample(schema["oneOf"][0], components)
    if "enum" in schema:
        return schema["enum"][0]
    match type_of(schema):
        case "object":
            return {name: sample(schema["properties"][name], components) for name in schema.get("required", [])}
        case "array":
            return [sample(schema["items"], components)] * max(1, schema.get("minItems", 0))
        case "string":
            return good_texts(schema)[0]
        case "boolean":
            return False
    return schema["maximum"]


def good_values(schema: Json, components: Json) -> list[Any]:
    """Return values at a schema's limits."""
    if "enum" in schema:
        return list(schema["enum"])
    match type_of(schema):
        case "string":
            return good_texts(schema)
        case "boolean":
            return [True, False]
        case "array":
            item = resolved(schema["items"], components)
            lists = [[sample(item, components)] * max(1, schema.get("minItems", 0))]
            if schema["maxItems"] <= MOST_SENT:
                lists.append([sample(item, components)] * schema["maxItems"])
            return lists if schema.get("minItems") else [[], *lists]
    least = schema.get("minimum", 0.01)
    return [least, schema["maximum"]]


def bad_values(schema: Json, components: Json) -> list[Any]:
    """Return values beyond a schema's limits, and some with another type."""
    if "enum" in schema:
        return [*(f"{name} " for name in schema["enum"]), "x", 5, []]
    match type_of(schema):
        case "string":
            beyond = [*FORMATS[schema["format"]][1]] if schema.get("format") in FORMATS else []
            if "pattern" in schema:
                beyond += [text for text in SAMPLES if not re.search(schema["pattern"], text)]
            if "maxLength" in schema:
                beyond.append(good_texts(schema)[0].ljust(schema["maxLength"] + 1, "a"))
            return [*beyond, [], {}]
        case "boolean":
            return ["yes", 2, []]
        case "array":
            item = sample(schema["items"], components)
            return [item, {}, [item] * (schema["maxItems"] + 1), *([[]] if schema.get("minItems") else [])]
        case "object":
            return ["x", [], 5]
        case "integer":
            return [schema["minimum"] - 1, schema["maximum"] + 1, "x", 1.5]
    least = schema["minimum"] - 1 if "minimum" in schema else schema["exclusiveMinimum"]
    return [least, schema["maximum"] * 2 + 1, "x", True]


def walked(operation: str, body: Json, path: Path, schema: Json, components: Json) -> Iterator[Field]:
    """Yield the field and all fields in it."""
    schema = resolved(schema, components)
    for alternative in schema.get("oneOf", []):
        changed = replaced(body, path, sample(alternative, components)) if path else sample(alternative, components)
        if path or not set(resolved(alternative, components)["required"]) - set(body):
            changed = changed if path else body
        yield from walked(operation, changed, path, alternative, components)
    if "oneOf" in schema:
        return
    if path:
        yield Field(operation, body, path, schema)
    if type_of(schema) == "array":
        filled = replaced(body, path, [sample(schema["items"], components)])
        yield from walked(operation, filled, (*path, 0), schema["items"], components)
    for name, inner in schema.get("properties", {}).items() if type_of(schema) == "object" else ():
        own = body
        for part in path:
            own = own[part]
        filled = body if name in own else replaced(body, (*path, name), sample(inner, components))
        yield from walked(operation, filled, (*path, name), inner, components)


def all_fields() -> list[Field]:
    document = described()
    components = document["components"]["schemas"]
    found = []
    for name, (_, _, operation) in operations_in(document).items():
        content = json_body(operation)
        if content is not None:
            found += walked(name, content["example"], (), content["schema"], components)
    return found


def valid(serializer: type[Serializer[Any]]) -> Callable[[Any], Any]:
    return lambda body: serializer(data=body).is_valid(raise_exception=True)


PARSERS: dict[str, Callable[[Any], Any]] = {
    "beginAdminSession": valid(PasswordBody),
    "createPretoken": lambda body: parse_pretoken(body, request_key="0" * 32),
    "createWebhook": endpoint_bodies.NEW_ENDPOINT.parse,
    "deployToken": parse_launch_request,
    "fetchByPoolAddresses": valid(PoolsBody),
    "indexTokenByAddress": lambda body: read_index_body(IndexByAddressBody(data=body)),
    "indexTransaction": lambda body: read_index_body(IndexBody(data=body)),
    "replayWebhook": endpoint_bodies.parse_replay,
    "reportAgentEvents": parse_request_body,
    "saveAirdrop": parse_airdrop_request,
    "savePresaleAllowlist": ALLOWLIST_BODY.parse,
    "saveDeployedToken": valid(SaveBody),
    **{operation_id(action): partial(parse_body, action) for action in ACTIONS.values()},
    "signIn": valid(SignInBody),
    "updateWebhook": endpoint_bodies.parse_changes,
    "uploadMetadata": encode_document,
}


def problems_of(operation: str, body: Any) -> list[tuple[str, str]]:
    """Return the broken rules with their fields."""
    try:
        PARSERS[operation](body)
    except InvalidFieldsError as error:
        return error.problems
    except InvalidEventsError as error:
        return [(join_path(f"events[{each.index}]", each.path), each.rule) for each in error.problems]
    except (BadRequestError, ValidationError) as error:
        return [(each["field"], each["message"]) for each in error_body(error)["details"]]
    return []


def rules_of(field: Field, value: Any) -> list[str]:
    # A dump is refused as a whole.
    names = (field.name, "tree") if field.name.startswith("tree.") else (field.name,)
    problems = problems_of(field.operation, field.with_value(value))
    return [rule for path, rule in problems if path.startswith(names)]


def of_content(message: str) -> bool:
    return any(rule in message for rule in RULES_OF_CONTENT)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_each_limit_is_the_enforced_one(installed_node: None, operation: str) -> None:
    components, wrong = described()["components"]["schemas"], []
    fields = [field for field in all_fields() if field.operation == operation and field.name not in WITHOUT_LIMITS]
    for field in fields:
        for value in good_values(field.schema, components) if type_of(field.schema) != "object" else ():
            rules = [rule for rule in rules_of(field, value) if not of_content(rule)]
            wrong += [f"{field.name} refuses {str(value)[:60]!r}: {rules}"] if rules else []
        for value in bad_values(field.schema, components):
            wrong += [] if rules_of(field, value) else [f"{field.name} accepts {str(value)[:60]!r}"]
    assert fields and not wrong, "\n".join(wrong)


def test_what_the_description_excludes_is_refused(installed_node: None) -> None:
    document = described()
    operations, components = operations_in(document), {"components": document["components"]}
    for name, body in EXCLUDED:
        content = json_body(operations[name][2]) or {}
        assert not Draft202012Validator(content["schema"] | components).is_valid(body), (name, body)
        assert problems_of(name, body), (name, body)


def _length(value: Any) -> int:
    return len(json.dumps(value))


def test_each_endpoint_uses_its_parser(base: None, callers: dict[str, dict[str, str]], settings: Any) -> None:
    settings.IDENTITY_ISSUERS += read_issuers({"WALLET_SIGN_IN": "true"}, site_url=settings.SITE_URL)
    assert {*PARSERS} == {*OPERATIONS}
    document = described()
    operations, components = operations_in(document), document["components"]["schemas"]
    for name in BODIES:
        fields = {field.path[0]: field for field in all_fields() if field.operation == name and len(field.path) == 1}
        # The shortest ones, so that the body has a size that every endpoint reads.
        body = {key: min(bad_values(field.schema, components), key=_length) for key, field in fields.items()}
        (json_body(operations[name][2]) or {})["example"] = body
        answer = call_with_examples(name, operations, callers)
        details = [(each["field"], each["message"]) for each in answer.json()["details"]]
        problems = problems_of(name.removesuffix("V4"), body)
        assert (answer.status_code, details) == (400, truncate_problems(problems)), (name, body)


def test_all_fields_are_walked() -> None:
    assert {field.operation for field in all_fields()} == {*OPERATIONS, "deployTokenV4"}
    names = {field.name for field in all_fields()}
    assert names >= {"rewards[0].allocation", "presale.allowlist[0]", "fees.baseFee", "events[0].token.address"}


def test_every_limit_is_described() -> None:
    limits = {
        "string": ({"enum"}, {"pattern"}, {"maxLength"}, {"format"}),
        "integer": ({"minimum", "maximum"},),
        "number": ({"minimum", "maximum"}, {"exclusiveMinimum", "maximum"}),
        "array": ({"maxItems"},),
        "object": ({"properties"},),
        "boolean": (set(),),
    }
    unlimited = {
        field.name
        for field in all_fields()
        if not any(
            needed <= set(field.schema) | ({"enum"} & set(field.schema)) for needed in limits[type_of(field.schema)]
        )
    }
    assert unlimited == WITHOUT_LIMITS


def test_tools_have_the_limits_of_their_bodies() -> None:
    launch = installed_tools()["deploy_token"].definition["inputSchema"]["properties"]
    token, rewards = launch["token"]["properties"], launch["rewards"]
    limits = [token["name"]["maxLength"], token["symbol"]["maxLength"], token["description"]["maxLength"]]
    assert (limits, rewards["minItems"], rewards["maxItems"]) == ([128, 32, 5_000], 1, 7)

"""Calls generated from the API description: each operation with good and bad input, by callers at every level.

Every response must be described: the status, the body, the headers. The database rolls every call back, so that all
calls meet the same rows.
"""

import copy
import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from django.test import TestCase
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from jsonschema import Draft202012Validator
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.generation.feedback import NO_FEEDBACK
from schemathesis.specs.openapi import checks as conformance

from accounts.models import Scope
from config.api.openapi_schema import SCOPE
from tests.config.api.test_described_answers import close_objects
from tests.config.api.test_described_headers import API_HEADERS

# About one call in so many comes from a caller at any level, all others from one with the required level.
_OWN_CALLS = 6
# Checks for every response.
_CHECKS = [
    not_a_server_error,
    conformance.status_code_conformance,
    conformance.content_type_conformance,
    conformance.response_headers_conformance,
    conformance.response_schema_conformance,
]
# No schema states which chains are installed, which texts are cursors, which encode 32 bytes as base58, which tokens
# are older than generation v4, and which blocks and days are served: only known values are certainly good.
_OPAQUE = (
    "chainId",
    "exchange",
    "cursor",
    "recipientCursor",
    "/api/get-claim-info",
    *(f"/api/feeds/{feed}/{{chainId}}{path}" for feed in ("dexscreener", "dextools") for path in ("/events", "/block")),
    "/api/feeds/daily/{chainId}",
)
# Either parameter is required, or one is at most the other: JSON Schema can't express it.
_RELATED_PARAMETERS = (
    "/api/feeds/dextools/{chainId}/block",
    "/api/feeds/udf/history",
    "/api/tokens/{chainId}/{address}/candles",
)
_BASE58 = "{32,44}"


class Level(StrEnum):
    """A caller's level, by the call's credential."""

    ANONYMOUS = "nobody"
    PARTNER = "a partner with all scopes"
    READER = "a partner who may read"
    INDEXER = "a partner who may have transactions indexed"
    USER = "a user"
    ADMINISTRATOR = "an administrator, by token"
    SESSION = "an administrator, by cookie"
    BAD_KEY = "a bad partner key"
    BAD_TOKEN = "a bad token"
    BAD_COOKIE = "a forged cookie"


# The description's names for each level's credentials.
_SCHEMES = {
    "partnerKey": (Level.PARTNER, Level.READER, Level.INDEXER),
    "userToken": (Level.USER, Level.ADMINISTRATOR),
    "adminSession": (Level.SESSION,),
}
# Scopes for keys that don't have all.
_SCOPES = {Level.READER: {Scope.READ}, Level.INDEXER: {Scope.INDEX}}


@dataclass(frozen=True, kw_only=True)
class Known:
    """Values that real clients send, so that calls get beyond "there is no such record"."""

    # Parameter, or path and parameter -> values.
    values: Mapping[str, Sequence[str]]
    # Path -> bodies that are good.
    bodies: Mapping[str, Sequence[Any]]


@dataclass(frozen=True, kw_only=True)
class FuzzedService:
    """The service with rows, and the callers' values for it."""

    application: Callable[..., Any]
    # Level -> headers, and cookies.
    headers: Mapping[Level, Mapping[str, str]]
    cookies: Mapping[Level, Mapping[str, str]]
    known: Known


@dataclass
class Outcome:
    """What a run called and received."""

    calls: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    # Operations that responded with a 2xx.
    answered: set[str] = field(default_factory=set)
    operations: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        counts = ", ".join(f"{count} x {status}" for status, count in sorted(self.statuses.items()))
        never = ", ".join(sorted(set(self.operations) - self.answered)) or "none"
        return (
            f"{self.calls} calls of {len(self.operations)} operations: {counts}; never answered with 2xx: {never};"
            f" {len(self.failures)} failures"
        )


def run(service: FuzzedService, document: Mapping[str, Any], *, number: int, calls: int, only: str = "") -> Outcome:
    """Call all described operations about equally often, `calls` times together, deterministically for each seed.

    `only` names one operation, which then is called as if all were.
    """
    schema: Any = schemathesis.openapi.from_dict(_closed(document))
    schema.app = service.application
    schema.config.generation.update(with_security_parameters=False)
    # A failure must be printed in full to be repeated; its credentials are worth nothing.
    schema.config.output.sanitization.update(enabled=False)
    operations = [result.ok() for result in schema.get_all_operations()]
    share = -(-calls // len(operations))
    again = f"make fuzz FIRST={number} SEEDS=1 CALLS={calls}"
    chosen = [operation for operation in operations if only in ("", operation.label)]
    outcome = Outcome(operations=[operation.label for operation in chosen])
    with _within_a_transaction():
        for operation in chosen:
            failure = _call_often(service, operation, outcome, number=number, calls=share)
            outcome.failures += [f"{again} ONLY={shlex.quote(operation.label)}\n{failure}"] if failure else []
    return outcome


def _closed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy in which no response object may have an undeclared key, unless it states so."""
    copied = copy.deepcopy(dict(document))
    operations = [operation for methods in copied["paths"].values() for operation in methods.values()]
    schemas = copied["components"]["schemas"]
    requested: set[str] = set()
    waiting = [_references(operation.get("requestBody")) for operation in operations]
    while waiting:
        new = waiting.pop() - requested
        requested |= new
        waiting += [_references(schemas[name]) for name in new]
    close_objects([schema for name, schema in schemas.items() if name not in requested])
    close_objects([operation["responses"] for operation in operations])
    return copied


def _references(part: Any) -> set[str]:
    return set(re.findall(r"#/components/schemas/([^\"]+)", json.dumps(part)))


def _call_often(service: FuzzedService, operation: Any, outcome: Outcome, *, number: int, calls: int) -> str:
    """Call an operation so often; return the first failed call's errors, an empty text without any."""
    before = outcome.calls
    # Some operations take nothing that could be wrong; then the other half is theirs as well.
    for mode in (GenerationMode.NEGATIVE, GenerationMode.POSITIVE):
        left = calls // 2 if mode is GenerationMode.NEGATIVE else calls - (outcome.calls - before)

        @seed(f"{number} {operation.label} {mode.value}")
        @settings(
            max_examples=max(1, left),
            database=None,
            deadline=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
            print_blob=False,
            report_multiple_bugs=False,
        )
        @given(made=_calls(service.known, operation, mode))
        def call(made: tuple[Any, Level]) -> None:
            _call(service, *made, outcome=outcome)

        try:
            call()
        except Unsatisfiable:
            continue
        except AssertionError as error:
            return str(error)
    return ""


@st.composite
def _calls(draw: Any, known: Known, operation: Any, mode: GenerationMode) -> tuple[Any, Level]:
    """Yield a call and its caller; the call follows only from the description, and from no constant in our code."""
    case = draw(operation.as_strategy(generation_mode=mode, feedback=NO_FEEDBACK))
    if mode is GenerationMode.POSITIVE:
        _fill_in(draw, known, case)
    own = [level for level in Level if _standing(operation, level) is None] or [Level.ANONYMOUS]
    usual = draw(st.integers(min_value=0, max_value=_OWN_CALLS)) < _OWN_CALLS
    return case, draw(st.sampled_from(own if usual else list(Level)))


def _fill_in(draw: Any, known: Known, case: Any) -> None:
    """Replace some made-up values by known ones: half the parameters, and half the parts of a body."""
    for parameter in case.operation.iter_parameters():
        container = {"query": case.query, "path": case.path_parameters}.get(parameter.location.value)
        all_known = known.values.get(f"{case.operation.path} {parameter.name}") or known.values.get(parameter.name)
        if not container or parameter.name not in container or not all_known:
            continue
        shape = parameter.definition["schema"]
        fits = Draft202012Validator(shape).is_valid
        values = [value for value in all_known if shape["type"] != "string" or fits(value)]
        pattern = shape.get("items", shape).get("pattern", "")
        is_opaque = parameter.name in _OPAQUE or _BASE58 in pattern or case.operation.path in _OPAQUE
        if values and (is_opaque or draw(st.booleans())):
            container[parameter.name] = draw(st.sampled_from(values))
    bodies = known.bodies.get(case.operation.path)
    if bodies and isinstance(case.body, dict) and draw(st.booleans()):
        good = draw(st.sampled_from(bodies))
        kept = draw(st.sets(st.sampled_from(sorted(case.body)))) if case.body else set()
        case.body = good | {name: case.body[name] for name in kept}


def _call(service: FuzzedService, case: Any, level: Level, *, outcome: Outcome) -> None:
    headers, cookies = dict(service.headers.get(level, {})), dict(service.cookies.get(level, {}))
    with _undone():
        # The client for WSGI applications unpacks nothing.
        answer = case.call(headers=headers | {"Accept-Encoding": "identity"}, cookies=cookies)
    outcome.calls += 1
    outcome.statuses[answer.status_code] += 1
    if 200 <= answer.status_code < 300:
        outcome.answered.add(case.operation.label)
    wrong = list(_wrong(case, level, answer))
    if wrong:
        request = case.as_curl_command(headers=headers)
        found = [f"by {level}: {request}", f"{answer.status_code} {answer.content[:500]!r}", *wrong]
        raise AssertionError("\n".join(found))


def _wrong(case: Any, level: Level, answer: Any) -> Iterator[str]:
    standing = _standing(case.operation, level)
    if standing is None:
        # Operations that declare no credential may still judge one in the body, and describe the 401 then.
        declared = case.operation.definition.raw.get("security")
        if answer.status_code in (401, 403) and declared and not _is_optional(case.operation):
            yield "who may pass was refused"
    elif answer.status_code != standing:
        yield f"who may not pass was not refused with {standing}"
    described = case.operation.definition.raw["responses"].get(str(answer.status_code), {}).get("headers", {})
    received = {name for name in API_HEADERS if name.lower() in answer.headers}
    if received - set(described):
        yield f"headers that are not described: {sorted(received - set(described))}"
    try:
        case.validate_response(answer, checks=[*_CHECKS, *_judged_by_input(case, level, answer)])
    except FailureGroup as group:
        for failure in group.exceptions:
            yield f"{failure.title}: {failure.message}"


def _judged_by_input(case: Any, level: Level, answer: Any) -> Iterator[Any]:
    """Return the response checks that depend on whether the input is good or bad."""
    # A parameter without a value counts as absent, which JSON Schema can't express; an administrator's identity token
    # replaces the body.
    sent = parse_qsl(urlsplit(answer.request.url).query, keep_blank_values=True)
    is_read = all(value for _, value in sent) and (level is not Level.ADMINISTRATOR or not _is_optional(case.operation))
    # A body that is too long is not read.
    if is_read and answer.status_code != 413:
        yield conformance.negative_data_rejection
    # Bodies have rules that JSON Schema can't express: shares that make up a whole, chains that are installed.
    # Good input may name what is past its retention.
    if not case.operation.body and answer.status_code != 410 and case.operation.path not in _RELATED_PARAMETERS:
        yield conformance.positive_data_acceptance


def _standing(operation: Any, level: Level) -> int | None:
    """Return the caller's refusal for any request; None where it depends on that."""
    wanted = operation.definition.raw.get("security", [])
    names = {name for alternative in wanted for name in alternative}
    if level is Level.BAD_TOKEN and "userToken" in names:
        return 401
    if not names or _is_optional(operation):
        return None
    if not any(level in _SCHEMES[name] for name in names):
        return 401
    scope = operation.definition.raw.get(SCOPE)
    return None if level not in _SCOPES or scope is None or scope in _SCOPES[level] else 403


def _is_optional(operation: Any) -> bool:
    return {} in operation.definition.raw.get("security", [])


@contextmanager
def _within_a_transaction() -> Iterator[None]:
    """Keep the application from closing the connection, which holds the test's transaction."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in signals:
            signal.connect(close_old_connections)


@contextmanager
def _undone() -> Iterator[None]:
    """Roll back the block's changes to the database, after its hooks on commit have run."""
    mark = transaction.savepoint()
    try:
        with TestCase.captureOnCommitCallbacks(execute=True):
            yield
    finally:
        transaction.savepoint_rollback(mark)


def wanted() -> tuple[range, int, str]:
    """Return the seeds to run, the number of calls for each, and the only operation, from the environment."""
    first, count = int(os.environ.get("FIRST") or 1), int(os.environ.get("SEEDS") or 1)
    return range(first, first + count), int(os.environ.get("CALLS") or 300), os.environ.get("ONLY", "")

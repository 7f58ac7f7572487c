"""Every operation in the description, called with both clients against the service as `make run` starts it."""

import base64
import json
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from launchboard import Launchboard, LaunchboardError
from launchboard.description import method_name

from development.clients import CLIENTS, DESCRIPTION
from development.devchain.anvil import CHAIN_ID
from tests.clients.call_inputs import (
    AIRDROP,
    FID,
    PREPARED,
    PRESALE,
    SIMULATED,
    Facts,
    Inputs,
    Json,
    make_inputs,
    make_launch_request,
)
from tests.clients.quick_starts import run_quick_starts
from tests.clients.strict_types import check_types
from tests.clients.typescript_package import NodeClient
from tests.development.conftest import make_directory
from tests.development.test_run import Run, end_in_time
from tests.processes.example_code import compile_typescript
from tests.processes.waiting import wait_for

pytestmark = pytest.mark.slow
__all__ = ["make_directory"]
STREAM = "text/event-stream"
# What is off by default.
ENABLED = {
    "FEEDS": "dexscreener,dextools,udf,daily",
    "UPLOAD_STORAGE": "directory",
    "WALLET_SIGN_IN": "true",
    # More than there are actions, for each client in the same minute.
    "RATE_LIMIT_TRANSACTIONS_ANONYMOUS": "100",
}
# Refusals that are right: the development chain has no token up to v3.1, and no day that has ended.
REFUSED = {"dailySums": 404, "estimateRewardsByPoolAddress": 400, "getClaimInfo": 400} | dict.fromkeys(
    PREPARED.keys() - SIMULATED, 400
)


@dataclass(frozen=True)
class Made:
    """A call that was made, and its response's status and body."""

    operation: Json
    inputs: Inputs
    status: int
    body: Any

    @property
    def name(self) -> str:
        return str(self.operation["operationId"])


# Calls an operation with a credential, and returns status and body.
Caller = Callable[[Json, Inputs, str], tuple[int, Any]]


@pytest.fixture(scope="module")
def service(make_directory: Callable[[], Path]) -> Iterator[Run]:
    run = Run(
        make_directory() / "local", OVERRIDE_LAUNCH_EVERY_SECONDS="5", OVERRIDE_TRADE_EVERY_SECONDS="0.2", **ENABLED
    )
    yield from end_in_time(run)


@pytest.fixture(scope="module")
def facts(service: Run) -> Facts:
    """Return the running service's facts, once it has the rows that the calls need."""
    service.wait_for_greeting()
    key = (service.local / "partner-key").read_text().strip()
    with Launchboard(f"http://127.0.0.1:{service.port}", key=key) as api:
        dropped = deploy_extensions(api)
        token = wait_for(lambda: find_traded_token(service))
        block = api.list_trades(CHAIN_ID, token["contract_address"], limit=1)["data"][0]["block"]
    wait_for(lambda: newest_served_block(service) >= block)
    password = (service.local / "administrator").read_text().strip()
    return Facts(
        site=f"http://127.0.0.1:{service.port}",
        token=token,
        user=token["related"]["user"],
        block=block,
        dropped=dropped,
        password=password,
    )


def deploy_extensions(api: Launchboard) -> str:
    """Deploy a presale and a token with an airdrop. Return the token's address once both are on the chain."""
    sale = api.deploy_token(make_launch_request(presale=PRESALE))["requestKey"]
    dropped = api.deploy_token(make_launch_request(airdrop=AIRDROP | {"lockupDuration": 1}))["expectedAddress"]
    wait_for(lambda: api.get_deploy_status(sale)["status"] == "mined")
    wait_for(lambda: api.list_airdrops(tokenAddress=dropped)["airdrops"])
    return dropped


def find_traded_token(service: Run) -> Json:
    """Return a listed token with a market and a requestor; empty without one. Some users have no address."""
    query = "limit=20&sortBy=tx-h24&includeMarket=1&includeUser=1"
    listed = json.loads(service.get(f"/api/tokens?{query}")[1])["data"]
    related = ((each, each["related"].get("market"), each["related"].get("user")) for each in listed)
    return next((each for each, market, user in related if market and user and user["verifiedAddresses"]), {})


def newest_served_block(service: Run) -> int:
    """Return the newest block that feeds serve; -1 before there is one."""
    status, body = service.get(f"/api/feeds/dexscreener/{CHAIN_ID}/latest-block")
    return int(json.loads(body)["block"]["blockNumber"]) if status == 200 else -1


@pytest.fixture(scope="module")
def document(service: Run, facts: Facts) -> Json:
    """Return the running service's own description, with each operation's path and method in it."""
    described: Json = json.loads(service.get("/api/openapi.json")[1])
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            operation |= {"path": path, "method": method.upper()}
    return described


def operations_of(document: Json) -> list[Json]:
    """Return the operations: first those that create rows, last those that delete them."""
    found = [operation for methods in document["paths"].values() for operation in methods.values()]
    first = ("create", "report")
    return sorted(found, key=lambda each: (each["method"] == "DELETE", not each["operationId"].startswith(first)))


def in_sequence(operation: Json, inputs: Inputs) -> list[Any]:
    """Return the path values as Python's client takes them."""
    return [inputs.path[name] for name in re.findall(r"{(\w+)}", operation["path"])]


def body_arguments(inputs: Inputs) -> list[Any]:
    """Return the body as Python's client takes it, a file's with its media type."""
    if inputs.body is None:
        return []
    return [inputs.body, "image/png"] if isinstance(inputs.body, bytes) else [inputs.body]


def credential_of(operation: Json) -> str:
    """Return the name of the credential that an operation demands; empty for none."""
    alternatives = operation["security"]
    return "" if not alternatives or {} in alternatives else next(iter(alternatives[0]))


def for_client(facts: Facts) -> Facts:
    """Return the facts for another client's calls."""
    return replace(facts, answers={}, mark=secrets.token_hex(4))


def call_all(document: Json, facts: Facts, caller: Caller) -> list[Made]:
    """Call each described operation once."""
    made = []
    for operation in operations_of(document):
        inputs = make_inputs(operation, facts)
        status, body = caller(operation, inputs, credential_of(operation))
        made.append(Made(operation, inputs, status, body))
        facts.answers[operation["operationId"]] = body
    return made


def unexpected(made: list[Made]) -> dict[str, Any]:
    """Return the calls with another status than the expected one."""
    return {
        each.name: (each.status, each.body)
        for each in made
        if (each.status != REFUSED[each.name] if each.name in REFUSED else each.status // 100 != 2)
    }


@pytest.fixture(scope="module")
def credentials(service: Run, facts: Facts) -> dict[str, dict[str, str]]:
    """Return the Python client's arguments by credential."""
    key = (service.local / "partner-key").read_text().strip()
    token = service.manage("user_token", "--fid", str(FID))
    return {"": {}, "adminSession": {}, "partnerKey": {"key": key}, "userToken": {"user_token": token}}


@pytest.fixture(scope="module")
def by_python(service: Run, document: Json, facts: Facts, credentials: dict[str, dict[str, str]]) -> list[Made]:
    """Call each operation with the client for Python."""
    url = f"http://127.0.0.1:{service.port}"
    anonymous = Launchboard(url)
    clients = {name: Launchboard(url, **given) if given else anonymous for name, given in credentials.items()}

    def call(operation: Json, inputs: Inputs, credential: str) -> tuple[int, Any]:
        method = getattr(clients[credential], method_name(operation["operationId"]))
        arguments = [*in_sequence(operation, inputs), *body_arguments(inputs)]
        try:
            answer = method(*arguments, **inputs.query)
            return 200, next(answer) if STREAM in str(operation["responses"]) else answer
        except LaunchboardError as error:
            return error.status, error.body

    return call_all(document, for_client(facts), call)


@pytest.fixture(scope="module")
def by_typescript(
    service: Run, document: Json, facts: Facts, credentials: dict[str, dict[str, str]], node: NodeClient
) -> list[Made]:
    """Call each operation with the client for TypeScript."""
    url = f"http://127.0.0.1:{service.port}"
    cookies: list[str] = []

    def call(operation: Json, inputs: Inputs, credential: str) -> tuple[int, Any]:
        init = init_of(inputs) | ({"parseAs": "stream"} if STREAM in str(operation["responses"]) else {})
        if credential == "adminSession":
            # Browsers do so by themselves.
            init["headers"] = {"cookie": cookies[-1].partition(";")[0]}
        options = {name.replace("user_token", "userToken"): value for name, value in credentials[credential].items()}
        outcome = node.call(url, operation["method"], operation["path"], init, **options)
        cookies.extend([outcome["cookie"]] if outcome.get("cookie") else [])
        return outcome.get("status", 0), outcome.get("body", outcome.get("failure"))

    return call_all(document, for_client(facts), call)


def init_of(inputs: Inputs) -> Json:
    """Return inputs as the client for TypeScript takes them."""
    parameters = {"path": inputs.path, "query": inputs.query}
    given = {"params": {name: values for name, values in parameters.items() if values}}
    body = {"png": base64.b64encode(inputs.body).decode()} if isinstance(inputs.body, bytes) else inputs.body
    return {**({"body": body} if body is not None else {}), **(given if given["params"] else {})}


def init_source(inputs: Inputs) -> str:
    """Return these inputs' source in TypeScript."""
    if isinstance(inputs.body, bytes):
        return '{ body: new Blob([]), headers: { "Content-Type": "image/png" } }'
    return json.dumps(init_of(inputs))


def test_the_service_has_the_description_of_the_clients(document: Json) -> None:
    generated = json.loads((CLIENTS / DESCRIPTION).read_text())
    served = json.loads(json.dumps(document))
    for methods in served["paths"].values():
        for operation in methods.values():
            del operation["path"], operation["method"]
    # Both name the service's address.
    for description in (served, generated):
        del description["servers"], description["info"]["contact"]
    assert served == generated, "run `make clients`"


def test_every_operation_is_called_with_both_clients(
    document: Json, by_python: list[Made], by_typescript: list[Made]
) -> None:
    described = {operation["operationId"] for operation in operations_of(document)}
    assert {each.name for each in by_python} == {each.name for each in by_typescript} == described
    assert unexpected(by_python) == {}
    assert unexpected(by_typescript) == {}


def test_calls_and_responses_have_the_types_of_python(by_python: list[Made], tmp_path: Path) -> None:
    code = 'from launchboard import Launchboard\n\napi = Launchboard("")\n'
    for number, each in enumerate(by_python):
        positional = [repr(value) for value in in_sequence(each.operation, each.inputs)]
        positional += map(repr, body_arguments(each.inputs))
        arguments = ", ".join([*positional, *(f"{name}={value!r}" for name, value in each.inputs.query.items())])
        call = f"api.{method_name(each.name)}({arguments})"
        has_answer = each.body is not None and each.status < 400
        code += f"\n\ndef call_{number}() -> None:\n    {f'answer = {call}' if has_answer else call}\n"
        if each.status == 200 and each.body is not None and STREAM not in str(each.operation["responses"]):
            code += f"    answer = {each.body!r}\n"
    assert "no issues found" in (output := check_types(code, tmp_path)), output


def test_calls_and_responses_have_the_types_of_typescript(by_typescript: list[Made], typescript: Path) -> None:
    code = 'import { launchboard } from "launchboard-client";\nconst api = launchboard("");\n'
    for number, each in enumerate(by_typescript):
        operation, init = each.operation, init_source(each.inputs)
        code += f"export async function call{number}() {{\n"
        code += f"  let {{ data }} = await api.{operation['method']}({json.dumps(operation['path'])}, {init});\n"
        if each.status // 100 == 2 and each.body is not None and STREAM not in str(operation["responses"]):
            code += f"  data = {json.dumps(each.body)};\n  return data;\n"
        code += "}\n"
    compile_typescript({"calls": code}, typescript, "--noEmit")


def test_the_quick_starts_run_as_written(service: Run, facts: Facts, typescript: Path) -> None:
    key = (service.local / "partner-key").read_text().strip()
    for output in run_quick_starts(f"http://127.0.0.1:{service.port}", key, typescript):
        *tokens, address = output.splitlines()
        assert tokens and all(re.match(rf"{CHAIN_ID} 0x\w{{40}} ", line) for line in tokens)
        assert re.fullmatch(r"0x\w{40}", address)


def test_the_command_line_calls_it(service: Run, facts: Facts) -> None:
    key = (service.local / "partner-key").read_text().strip()
    environment = os.environ | {
        "PYTHONPATH": str(CLIENTS / "python"),
        "LAUNCHBOARD_URL": f"http://127.0.0.1:{service.port}",
        "LAUNCHBOARD_KEY": key,
    }

    def launchboard(*words: str) -> Any:
        program = [sys.executable, "-c", "from launchboard.command_line import main; exit(main())"]
        return json.loads(subprocess.check_output([*program, *words, "--json"], env=environment))

    token = facts.token
    assert launchboard("search", token["symbol"])["data"]
    assert launchboard("token", str(CHAIN_ID), token["contract_address"])["data"]["symbol"] == token["symbol"]
    assert launchboard("trades", str(CHAIN_ID), token["contract_address"], "--limit", "1")["data"]
    assert launchboard("marketcap", token["contract_address"])["priceUsd"]
    assert launchboard("integrity", str(CHAIN_ID), token["contract_address"])["launch"]["txHash"] == token["tx_hash"]
    assert launchboard("creator", token["msg_sender"])["data"]["totals"]["launches"]
    assert launchboard("index", token["tx_hash"], str(CHAIN_ID))["address"] == token["contract_address"]
    body = make_launch_request()
    assert launchboard("deploy", "--body", json.dumps(body))["requestKey"] == body["token"]["requestKey"]
    assert launchboard("status", body["token"]["requestKey"])["status"]

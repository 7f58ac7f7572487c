"""`launchboard`: commands from the description, against a real server."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from launchboard.command_line import SHORT_NAMES, main, make_parser
from launchboard.description import read_operations

from development.clients import CLIENTS
from development.standins.loopback import Reply
from tests.clients.scripted_server import ScriptedServer, scripted_server

TOKEN = {"chain_id": 1, "symbol": "DOG", "name": "Dog\x1b[2J\n", "extensions": {"fees": {}}, "warnings": []}
LIST = {"data": [TOKEN, TOKEN | {"symbol": "LONGER"}], "total": 2, "cursor": "b"}


def reply(body: Any, status: int = 200, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(json.dumps(body).encode(), status, named)


def run(server: ScriptedServer, *words: str) -> int:
    return main(["--server", server.url, *words])


def test_each_operation_is_a_command_with_help(capsys: pytest.CaptureFixture[str]) -> None:
    operations = read_operations()
    with pytest.raises(SystemExit, match="0"):
        make_parser(operations).parse_args(["--help"])
    listed = capsys.readouterr().out
    assert {*SHORT_NAMES, "list-tokens", "get-uncollected-fees"} <= set(listed.split())
    for name in [*SHORT_NAMES, "list-tokens", "deploy-token", "report-agent-events"]:
        with pytest.raises(SystemExit, match="0"):
            make_parser(operations).parse_args([name, "--help"])
    assert "--dry-run VALUE" in capsys.readouterr().out


def test_help_has_what_is_required_and_the_values_once(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("create-webhook", "deploy", "list"):
        with pytest.raises(SystemExit, match="0"):
            main([name, "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "--url VALUE Required, here or in --body. https://" in shown
    assert "--token JSON Required, here or in --body. Name, symbol, admin" in shown
    assert "--sort VALUE One of desc, asc." in shown
    assert "* `" not in shown


def test_json_is_the_response_and_text_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    with scripted_server(reply(LIST), reply(LIST)) as server:
        assert run(server, "search", "d g", "--limit", "2", "--json") == 0
        assert json.loads(capsys.readouterr().out) == LIST
        assert run(server, "--api-key", "k", "list") == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].split() == ["chain_id", "symbol", "name"]
        assert lines[1].split() == ["1", "DOG", "Dog\ufffd[2J\ufffd"]
        assert [line.split() for line in lines[3:]] == [["total", "2"], ["cursor", "b"]]
        assert [request.path for request in server.requests] == [
            "/api/tokens?limit=2&q=d+g",
            "/api/tokens?includeMarket=true",
        ]
        assert server.requests[1].headers["x-api-key"] == "k"


def test_an_object_is_printed_by_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with scripted_server(reply({"data": TOKEN}), reply({"success": True, "address": "0x1"})) as server:
        assert run(server, "token", "1", "0x1") == 0
        lines = [
            "symbol           DOG",
            "name             Dog\ufffd[2J\ufffd",
            "extensions.fees  {}",
            "warnings         []",
        ]
        assert capsys.readouterr().out.splitlines()[1:] == lines
        assert run(server, "index", "0xab", "31337") == 0
        assert capsys.readouterr().out == "success  true\naddress  0x1\n"
        assert json.loads(server.requests[1].body) == {"txHash": "0xab", "chainId": 31337}


def test_an_object_with_lists_is_printed_by_tables_and_lines(capsys: pytest.CaptureFixture[str]) -> None:
    facts = {"seconds": 60, "dev": {"accounts": []}, "unknown": [{"fact": "holders"}]}
    presales = {"presales": [{"presaleId": 1, "state": "active"}], "totalCount": 1}
    with scripted_server(reply(facts), reply(presales)) as server:
        assert run(server, "integrity", "1", "0x1") == 0
        lines = ["unknown:", "fact", "holders", "seconds       60", "dev.accounts  []"]
        assert capsys.readouterr().out.splitlines() == lines
        assert run(server, "list-presales", "--chain-id", "1") == 0
        assert capsys.readouterr().out.splitlines()[:2] == ["presaleId  state", "1          active"]


ADDRESS = f"0x{'ab' * 20}"


def full_token(name: str, market_cap: float | None) -> dict[str, Any]:
    """Return a token record with the field order, and the value lengths, that the service has."""
    return {
        "id": 1,
        "created_at": "2026-11-27T20:00:00.000Z",
        "tx_hash": f"0x{'cd' * 32}",
        "contract_address": ADDRESS,
        "chain_id": 31337,
        "name": name,
        "symbol": "DOG",
        "socialLinks": [{"name": "x", "link": "y"}],
        "related": {"user": None, "market": None if market_cap is None else {"marketCap": market_cap}},
    }


TOKENS = [full_token("Dog that is long", 1234567.8), full_token("Dog", None)]
TABLE = [
    "symbol  name       chain  address                                     market cap",
    f"DOG     Dog that…  31337  {ADDRESS}  1234568",
    f"DOG     Dog        31337  {ADDRESS}",
]


def test_tokens_are_a_table_of_80_columns(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    totals = {"launches": 2, "volume24h": None}
    launches = [{"token": token, "outcome": {"ageSeconds": 1}, "fees": [{}]} for token in TOKENS]
    claimed = [{"symbol": "WETH", "claimed": {"amount": "3"}, "days": []}]
    creator = {"data": {"totals": totals, "claimed": claimed, "launches": launches, "cursor": None}}
    trending = {"trending": ["0x1", "0x2"], "tokens": dict(zip(("0x1", "0x2"), TOKENS, strict=True))}
    with scripted_server(reply({"data": TOKENS}), reply(trending), reply(creator)) as server:
        assert run(server, "search", "dog", "--limit", "2") == 0
        assert capsys.readouterr().out.splitlines() == TABLE
        assert run(server, "trending") == 0
        assert capsys.readouterr().out.splitlines() == ["tokens:", *TABLE, "trending  0x1", "          0x2"]
        assert run(server, "creator", "7") == 0
        claims = ["claimed:", "symbol  claimed.amount", "WETH    3"]
        values = ["totals.launches   2", "totals.volume24h  null", "cursor            null"]
        assert capsys.readouterr().out.splitlines() == [*claims, "launches:", *TABLE, *values]


def test_the_short_names_take_what_they_are_about(capsys: pytest.CaptureFixture[str]) -> None:
    with scripted_server(reply({"marketCap": None}), reply({"data": {"cursor": None}})) as server:
        assert run(server, "marketcap", "0x1") == 0
        assert run(server, "creator", "12", "--limit", "1") == 0
        assert [request.path for request in server.requests] == [
            "/api/marketcap?tokenAddress=0x1",
            "/api/creators/12?limit=1",
        ]


def test_all_pages(capsys: pytest.CaptureFixture[str]) -> None:
    with scripted_server(reply(LIST), reply(LIST | {"cursor": None})) as server:
        assert run(server, "list", "--all", "--json") == 0
        assert [json.loads(line)["cursor"] for line in capsys.readouterr().out.splitlines()] == ["b", None]
        assert server.requests[1].path == "/api/tokens?cursor=b"


def test_all_pages_of_another_list(capsys: pytest.CaptureFixture[str]) -> None:
    first, last = ({"allocations": [{"account": "0x2", "amount": "1"}], "cursor": cursor} for cursor in ("b", None))
    with scripted_server(reply(first), reply(last)) as server:
        assert run(server, "list-allocations", "--token-address", "0x1", "--all", "--json") == 0
        assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [first, last]
        assert server.requests[1].path == "/api/airdrops/allocations?tokenAddress=0x1&cursor=b"


def test_a_body_comes_from_a_file_and_from_options(tmp_path: Path) -> None:
    launch = {"chainId": 1, "token": {"name": "Dog", "requestKey": "k" * 32}}
    (tmp_path / "launch.json").write_text(json.dumps(launch))
    with scripted_server(reply({}), reply({})) as server:
        assert run(server, "deploy", "--body", f"@{tmp_path / 'launch.json'}", "--dry-run", "true") == 0
        assert run(server, "deploy", "--token", '{"name":"Dog"}', "--chain-id", "7") == 0
        assert [json.loads(request.body) for request in server.requests] == [
            launch | {"dryRun": True},
            {"token": {"name": "Dog"}, "chainId": 7},
        ]


def test_a_failure_is_a_line_and_a_status(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    refused = {"error": "limit is wrong", "details": [{"field": "limit", "message": "must be less"}]}
    with scripted_server(reply(refused, 400), reply(refused, 400), reply({}, 429, retry_after="90")) as server:
        assert run(server, "list", "--limit", "99") == 1
        assert capsys.readouterr() == ("", "launchboard: 400: limit is wrong\n  limit: must be less\n")
        assert run(server, "list", "--json") == 1
        assert json.loads(capsys.readouterr().err) == refused
        assert run(server, "list") == 1
        assert "(retry after 90 s)" in capsys.readouterr().err
        for body in ("[]", "{", f"@{tmp_path / 'none'}"):
            assert run(server, "deploy", "--body", body) == 2
            assert capsys.readouterr().err.startswith("launchboard: --body: ")
    assert main(["--server", "http://127.0.0.1:9", "list"]) == 1
    assert "no response from http://127.0.0.1:9" in capsys.readouterr().err


PROGRAM = (sys.executable, "-c", "from launchboard.command_line import main; exit(main())")


def start(*words: str | bytes, stdout: Any = subprocess.PIPE) -> "subprocess.Popen[bytes]":
    """Start the command line in its own process."""
    environment = os.environ | {"PYTHONPATH": str(CLIENTS / "python")}
    return subprocess.Popen([*PROGRAM, *words], env=environment, stdout=stdout, stderr=subprocess.PIPE)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--server", "127.0.0.1:8000", "list"], b"URL must begin with http:// or https://"),
        (["--api-key", "lb\n", "list"], b"key and user token must be printable ASCII"),
        (["--user-token", "lb\u20ac", "list"], b"key and user token must be printable ASCII"),
        (["search", b"\xff"], b"all arguments must be UTF-8"),
        (["token", "1", b"\xff"], b"all arguments must be UTF-8"),
        (["deploy", "--body", '{"token":"\\ud800"}'], b"all arguments must be UTF-8"),
    ],
)
def test_a_value_that_no_request_can_have_is_a_line(words: list[str | bytes], message: bytes) -> None:
    with start(*words) as process:
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors.count(b"\n")) == (2, 1) and message in errors, errors


def test_a_response_that_is_not_json_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with scripted_server(Reply(b"<html>"), Reply(b"<html>")) as server:
        assert run(server, "list") == run(server, "list", "--json") == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first == "launchboard: 200: the response is not JSON"
    assert json.loads(second) == {"error": "the response is not JSON"}


def test_output_that_can_not_be_written_is_a_line() -> None:
    with (
        scripted_server(reply(LIST)) as server,
        open("/dev/full", "wb") as full,
        start("--server", server.url, "list", stdout=full) as process,
    ):
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 1
        assert errors == b"launchboard: standard output: [Errno 28] No space left on device\n"


def test_a_closed_output_is_a_line_and_no_call() -> None:
    environment = os.environ | {"PYTHONPATH": str(CLIENTS / "python")}
    with scripted_server(reply(LIST)) as server:
        words = ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *PROGRAM, "--server", server.url, "list", "--json"]
        done = subprocess.run(words, env=environment, stderr=subprocess.PIPE, timeout=60)
        assert (done.returncode, done.stderr) == (1, b"launchboard: standard output: closed\n")
        assert not server.requests


@pytest.mark.parametrize(
    ("word", "hint"), [("serch", "did you mean search?"), ("list-token", "did you mean list-tokens?"), ("q", "--help")]
)
def test_an_unknown_command_has_the_one_most_like_it(word: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([word])
    error = capsys.readouterr().err.splitlines()[-1]
    assert f"'{word}'" in error and hint in error and len(error) < 120


def test_a_table_beside_other_values_has_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    with scripted_server(reply({"success": True, "rewards": [{"recipient": "0x1", "allocation": 100}]})) as server:
        assert run(server, "deploy", "--dry-run", "true") == 0
        lines = ["rewards:", "recipient  allocation", "0x1        100", "success  true"]
        assert capsys.readouterr().out.splitlines() == lines


def test_a_long_wait_is_a_line() -> None:
    refused = reply({"error": "Not now"}, 429, retry_after="2")
    with scripted_server(refused, reply({})) as server, start("--server", server.url, "list") as process:
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, b"launchboard: 429: the next attempt is in 2 s\n")


def test_a_reader_that_has_enough_ends_it_quietly() -> None:
    with (
        scripted_server(*[reply(LIST)] * 1_000) as server,
        start("--server", server.url, "list", "--all", "--json") as process,
    ):
        assert process.stdout and process.stderr
        assert process.stdout.read(1) == b"{"
        process.stdout.close()
        assert (process.wait(60), process.stderr.read()) == (0, b"")

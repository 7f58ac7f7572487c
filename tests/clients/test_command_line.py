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
from tests.clients.scripted_server import ScriptedServer, scripted_server
from tests.nodes.json_server import Reply

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


def test_json_is_the_response_and_text_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    with scripted_server(reply(LIST), reply(LIST)) as server:
        assert run(server, "search", "d g", "--limit", "2", "--json") == 0
        assert json.loads(capsys.readouterr().out) == LIST
        assert run(server, "--api-key", "k", "list") == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].split() == ["chain_id", "symbol", "name"]
        assert lines[1].split() == ["1", "DOG", "Dog\ufffd[2J\ufffd"]
        assert [line.split() for line in lines[3:]] == [["total", "2"], ["cursor", "b"]]
        assert [request.path for request in server.requests] == ["/api/tokens?limit=2&q=d+g", "/api/tokens"]
        assert server.requests[1].headers["x-api-key"] == "k"


def test_an_object_is_printed_by_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with scripted_server(reply({"data": TOKEN}), reply({"success": True, "address": "0x1"})) as server:
        assert run(server, "token", "1", "0x1") == 0
        assert "symbol      DOG\n" in capsys.readouterr().out
        assert run(server, "index", "0xab", "31337") == 0
        assert capsys.readouterr().out == "success  true\naddress  0x1\n"
        assert json.loads(server.requests[1].body) == {"txHash": "0xab", "chainId": 31337}


def test_an_object_with_several_lists_is_printed_by_lines(capsys: pytest.CaptureFixture[str]) -> None:
    facts = {"seconds": 60, "dev": {"accounts": []}, "unknown": [{"fact": "holders"}]}
    presales = {"presales": [{"presaleId": 1, "state": "active"}], "totalCount": 1}
    with scripted_server(reply(facts), reply(presales)) as server:
        assert run(server, "integrity", "1", "0x1") == 0
        lines = ["seconds  60", 'dev      {"accounts": []}', 'unknown  [{"fact": "holders"}]']
        assert capsys.readouterr().out.splitlines() == lines
        assert run(server, "list-presales", "--chain-id", "1") == 0
        assert capsys.readouterr().out.splitlines()[:2] == ["presaleId  state", "1          active"]


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
    order = {"chainId": 1, "token": {"name": "Dog", "requestKey": "k" * 32}}
    (tmp_path / "order.json").write_text(json.dumps(order))
    with scripted_server(reply({}), reply({})) as server:
        assert run(server, "deploy", "--body", f"@{tmp_path / 'order.json'}", "--dry-run", "true") == 0
        assert run(server, "deploy", "--token", '{"name":"Dog"}', "--chain-id", "7") == 0
        assert [json.loads(request.body) for request in server.requests] == [
            order | {"dryRun": True},
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


def test_a_reader_that_has_enough_ends_it_quietly() -> None:
    program = [sys.executable, "-c", "from launchboard.command_line import main; exit(main())"]
    with (
        scripted_server(*[reply(LIST)] * 1_000) as server,
        subprocess.Popen(
            [*program, "--server", server.url, "list", "--all", "--json"],
            env=os.environ | {"PYTHONPATH": str(CLIENTS / "python")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        assert process.stdout and process.stderr
        assert process.stdout.read(1) == b"{"
        process.stdout.close()
        assert (process.wait(60), process.stderr.read()) == (0, b"")

"""The packages' quick starts against scripted responses; the slow tests run them against the whole service."""

import json
from pathlib import Path

import pytest

from development.standins.loopback import Reply
from tests.clients.quick_starts import read_quick_start, run_quick_starts
from tests.clients.scripted_server import scripted_server


@pytest.mark.parametrize("package", ["python", "typescript"])
def test_a_quick_start_has_ten_lines(package: str) -> None:
    assert read_quick_start(package).count("\n") <= 10


def test_the_quick_starts_run_as_written(typescript: Path) -> None:
    token = {"chain_id": 8453, "contract_address": "0x1", "symbol": "CAT"}
    pages = [Reply(json.dumps({"data": [token], "cursor": cursor}).encode()) for cursor in ("b", None)]
    script = [*pages, Reply(b'{"expectedAddress":"0x2"}')]
    with scripted_server(*script, *script) as server:
        for output in run_quick_starts(server.url, "lb_live_x", typescript):
            assert output == "8453 0x1 CAT\n8453 0x1 CAT\n0x2\n"
        assert server.script == []
        for sent in (json.loads(request.body) for request in server.requests if request.body):
            assert sent["dryRun"] is True and len(sent["token"]["requestKey"]) == 32

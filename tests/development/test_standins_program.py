"""`python -m development.standins`: its arguments, and its end by a signal."""

import signal
import subprocess

import pytest
import requests

from development.standins import __main__ as program
from development.standins.market_server import MarketStandIn
from tests.processes.forking.program import Program, run_program

COMMAND = ["python", "-m", "development.standins"]


@pytest.mark.parametrize("word", ["market", "nobody=8600", "market=port", "market=65536", "--verbose"])
def test_it_refuses_what_is_no_stand_in_with_a_port(word):
    with pytest.raises(
        SystemExit, match="^expected NAME=PORT, with a name of market, social, issuer, solana, explorer$"
    ):
        program.read_ports([word])


def test_it_prints_its_usage():
    printed = run_program([*COMMAND, "market=8600", "--help"]).stdout
    assert printed.startswith("usage: python -m development.standins NAME=PORT ... [service=URL] [node=URL]\n")
    assert "market, social, issuer" in printed


def test_it_reports_that_its_port_is_taken():
    with MarketStandIn() as other:
        word = f"market={other.url.rpartition(':')[2]}"
        ended = run_program([*COMMAND, word])
    assert (ended.returncode, ended.stderr) == (1, "can't listen: Address already in use\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_a_signal(number):
    with Program([*COMMAND, "social=0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        try:
            url = running.stdout.readline().rpartition(" ")[2].strip()
            assert requests.get(f"{url}/v1/userDataByFid", params={"fid": 1}, timeout=60).status_code == 200
            running.send_signal(number)
            assert running.wait(120) == 0
            assert running.stderr.read() == ""
        finally:
            running.kill()

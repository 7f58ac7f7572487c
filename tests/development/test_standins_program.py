"""`python -m development.standins`: its arguments, and its end by a signal."""

import signal
import subprocess
import sys

import pytest
import requests

from config.environment.variables import BASE_DIR
from development.standins import __main__ as program
from development.standins.market_server import MarketStandIn

COMMAND = [sys.executable, "-m", "development.standins"]


@pytest.mark.parametrize("word", ["market", "nobody=8600", "market=port", "market=65536", "--verbose"])
def test_it_refuses_what_is_no_stand_in_with_a_port(word):
    with pytest.raises(
        SystemExit, match="^expected NAME=PORT, with a name of market, social, issuer, solana, explorer$"
    ):
        program.read_ports([word])


def test_it_prints_its_usage():
    printed = subprocess.check_output([*COMMAND, "market=8600", "--help"], cwd=BASE_DIR, text=True)
    assert printed.startswith("usage: python -m development.standins NAME=PORT ... [service=URL] [node=URL]\n")
    assert "market, social, issuer" in printed


def test_it_reports_that_its_port_is_taken():
    with MarketStandIn() as other:
        word = f"market={other.url.rpartition(':')[2]}"
        ended = subprocess.run([*COMMAND, word], cwd=BASE_DIR, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (1, "can't listen: Address already in use\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_a_signal(number):
    with subprocess.Popen(
        [*COMMAND, "social=0"], cwd=BASE_DIR, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            url = running.stdout.readline().rpartition(" ")[2].strip()
            assert requests.get(f"{url}/v1/userDataByFid", params={"fid": 1}, timeout=60).status_code == 200
            running.send_signal(number)
            assert running.wait(120) == 0
            assert running.stderr.read() == ""
        finally:
            running.kill()

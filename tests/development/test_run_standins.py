"""development/run_standins.py: which outside services get a stand-in."""

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from config.environment.variables import BASE_DIR
from development import run_standins
from development.devchain.anvil import CHAIN_ID


@pytest.mark.parametrize(
    ("chains", "key", "stand_ins", "line"),
    [
        ((), "", set(), "of the chains' own trades"),
        ((CHAIN_ID,), "", {"market"}, "SAMPLE DATA of a stand-in at http://127.0.0.1:8600;"),
        ((CHAIN_ID,), "key", set(), "from provider.example"),
    ],
)
def test_the_market_stand_in_is_only_for_a_chain_that_takes_its_data_from_the_provider(
    settings: Any, chains: tuple[int, ...], key: str, stand_ins: set[str], line: str
) -> None:
    settings.RPC_URLS = {}
    settings.MARKET_PROVIDER_CHAINS = chains
    settings.MARKET_API_KEY, settings.MARKET_BASE_URL = key, "https://provider.example"
    settings.SOCIAL_API_KEY = settings.FARCASTER_HUB_URL = "set"
    settings.IDENTITY_ISSUERS = ()

    ports = run_standins.choose_ports(lambda wanted: wanted)

    assert set(ports) - {"issuer"} == stand_ins
    assert f"  Market data       {line}" in run_standins.services_greeting(ports).splitlines()


@pytest.mark.parametrize(
    ("feeds", "explorers", "line"),
    [
        ((), {}, "none: no feed needs them"),
        (("dextools",), {}, "SAMPLE DATA of a stand-in at http://127.0.0.1:8605;"),
        (("dextools",), {CHAIN_ID: "https://explorer.example"}, "from explorer.example"),
    ],
)
def test_the_explorer_stand_in_is_only_for_the_feed_with_holders(
    settings: Any, feeds: tuple[str, ...], explorers: dict[int, str], line: str
) -> None:
    settings.RPC_URLS, settings.FEEDS, settings.EXPLORER_URLS = {}, feeds, explorers
    ports = run_standins.choose_ports(lambda wanted: wanted)
    assert f"  Holders           {line}" in run_standins.services_greeting(ports).splitlines()
    url = run_standins.standin_settings(ports).get(f"EXPLORER_URL_{CHAIN_ID}")
    assert url == ("http://127.0.0.1:8605" if "explorer" in ports else None)
    # `manage.py check_feeds --holders` reads it.
    assert run_standins.command_settings(ports).get(f"EXPLORER_URL_{CHAIN_ID}") == url
    assert "MARKET_BASE_URL" not in run_standins.command_settings(ports)


def choose_port(wanted: int = 0) -> tuple[int, subprocess.Popen[str]]:
    """Return a port that a process has chosen, and the process, which lives on."""
    choose = f"from development.servers.processes import free_port; print(free_port({wanted}), flush=True); input()"
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", choose], stdin=pipe, stdout=pipe, text=True, cwd=BASE_DIR)
    assert process.stdout
    return int(process.stdout.readline()), process


def test_two_processes_choose_different_ports_before_either_listens():
    wanted, former = choose_port()
    # No port of a client's connection, which any program may have at any time.
    assert wanted < int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    former.communicate("\n")
    with ExitStack() as running:
        ports = []
        for _ in range(2):
            port, process = choose_port(wanted)
            running.enter_context(process)
            running.callback(process.kill)
            ports.append(port)
    assert ports[0] == wanted != ports[1]

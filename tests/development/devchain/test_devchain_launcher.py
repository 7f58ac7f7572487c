"""development/devchain/launcher.py: waits for the node and contracts, launches, and the end by a signal."""

import json
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from web3 import Web3
from web3.types import RPCEndpoint

from development.devchain import node_client
from development.devchain.anvil import run_anvil
from development.devchain.declared_samples import change_curve, launch_on_curve
from development.devchain.deploy_contracts import DevelopmentContracts, deploy_contracts
from development.devchain.launch_transactions import TOKEN_SUPPLY, deployment_config
from development.devchain.samples import random_launch
from tests.nodes.devchain_tests import OTHER, SENDER, launched
from tests.processes.forking.program import Program

LINE = re.compile(r"launched \S+ (0x[0-9a-fA-F]{40})\n")


@contextmanager
def launcher(rpc_url: str, *more: str) -> Iterator["subprocess.Popen[str]"]:
    words = ["python", "-m", "development.devchain.launcher", "--rpc-url", rpc_url, *more]
    with Program(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def test_it_waits_for_a_node_that_does_not_answer_and_stops_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as node:
        url = f"http://127.0.0.1:{node.getsockname()[1]}"
        with launcher(url, "--every", "0") as process:
            # Its two threads retry, each more than once.
            for _ in range(5):
                node.accept()[0].close()
            process.send_signal(signal.SIGTERM)
            # It printed that once.
            assert process.communicate(timeout=60) == (f"waiting: no answer from the node at {url}\n", "")

    assert process.returncode == 0


def test_it_waits_for_the_contracts_and_prints_what_it_has_launched(tmp_path: Path) -> None:
    with run_anvil() as url, launcher(url, "--every", "0.01", "--count", "5") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting: the contracts are not on the chain\n"
        deployed = deploy_contracts(url, chains_file=tmp_path / "chains.toml")
        output, errors = process.communicate(timeout=60)
        addresses = [found[1] for line in output.splitlines(keepends=True) if (found := LINE.fullmatch(line))]
        assert (process.returncode, errors, len(set(addresses)), output.count("\n")) == (0, "", 5, 5)
        # By the factory, the curve, the factory, the plain launchpad, and again by the factory.
        assert launched_by(url, "Factory", deployed.factory, "TokenCreated") == [addresses[n] for n in (0, 2, 4)]
        assert launched_by(url, "CurveLaunchpad", deployed.curve_launchpad, "Launched") == addresses[1:2]
        assert launched_by(url, "PlainLaunchpad", deployed.plain_launchpad, "Launched") == addresses[3:4]


def launched_by(url: str, artifact: str, address: str, event: str) -> list[str]:
    logs = node_client.bind_contract(url, artifact, address).events[event]().get_logs(from_block=0)
    return [str(log["args"].get("token") or log["args"]["tokenAddress"]) for log in logs]


def test_creators_of_curves_claim_fees_hand_them_on_and_change_uris(own_contracts: DevelopmentContracts) -> None:
    at, url, random = own_contracts, own_contracts.rpc_url, Random(1)
    accounts = [SENDER, OTHER]
    change_curve(at, accounts=accounts, random=random)
    assert "launched " in launch_on_curve(at, sender=SENDER, random=random)
    for _ in range(12):
        change_curve(at, accounts=accounts, random=random)
    curves = node_client.bind_contract(url, "CurveLaunchpad", at.curve_launchpad)
    assert all(curves.events[name]().get_logs(from_block=0) for name in ("FeesClaimed", "CreatorUpdated", "UriUpdated"))


def test_it_has_blocks_made_and_stops_between_launches_without_a_trace(own_contracts: DevelopmentContracts) -> None:
    url = own_contracts.rpc_url
    burst = node_client.BLOCK_GAS // node_client.GAS + 1
    with launcher(url, "--every", "3600") as process:
        assert process.stdout is not None
        # Three come at once; the fourth would come in an hour.
        assert all(LINE.fullmatch(process.stdout.readline()) for _ in range(3))
        # More than a block has room for.
        node_client.connect(url).manager.request_blocking(RPCEndpoint("evm_setAutomine"), [False])
        sent = [node_client.send_transaction(url, sender=SENDER, to=OTHER, data="0x", value=1) for _ in range(burst)]
        assert [node_client.wait_for_receipt(url, transaction)["status"] for transaction in sent] == [1] * burst
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == ("", "")

    assert process.returncode == 0


def test_samples_are_all_accepted_and_differ(deployment: DevelopmentContracts) -> None:
    samples = [random_launch(deployment, sender=SENDER, accounts=[SENDER, OTHER]) for _ in range(20)]

    for config in samples:
        assert launched(deployment, config)["status"] == 1
        assert json.loads(config.context)["id"].isdecimal()
        arguments = deployment_config(deployment, config, sender=SENDER)
        assert Web3.is_checksum_address(arguments["poolConfig"]["pairedToken"])
        if config.airdrop:
            assert sum(amount for _, amount in config.airdrop.entries) <= TOKEN_SUPPLY * config.airdrop.bps // 10_000
    assert len({config.salt for config in samples}) == 20
    assert len({config.name for config in samples}) == len({config.image for config in samples}) == 20
    assert len({config.tick for config in samples}) > 5

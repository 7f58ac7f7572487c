"""The development node: start, restart with its whole state, and deployment of the contracts."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from web3 import Web3
from web3.types import RPCEndpoint

from development.devchain import anvil, deploy_contracts, node_client
from development.devchain.deploy_contracts import OWNER, DevelopmentContracts
from development.devchain.launch_transactions import DevLaunchConfig, send_launch
from development.servers.processes import free_port
from development.supervisor import Supervisor
from tests.nodes.devchain_tests import OTHER, SENDER, launched
from tests.processes.waiting import wait_for
from tokens.chains.registry import chains

DEVCHAIN = Path(anvil.__file__).resolve().parent


def test_a_chain_without_contracts_raises_its_own_error_and_one_that_began_otherwise_is_refused(tmp_path: Path) -> None:
    with anvil.run_anvil() as url:
        with pytest.raises(deploy_contracts.NotDeployedError):
            deploy_contracts.locate_contracts(url)

        node_client.wait_for_receipt(url, node_client.send_transaction(url, sender=OWNER, to=OTHER, data="0x", value=1))

        with pytest.raises(deploy_contracts.NotFreshError, match="start with an empty chain"):
            deploy_contracts.deploy_contracts(url, chains_file=tmp_path / "chains.toml")

    assert not (tmp_path / "chains.toml").exists()


def test_an_interrupted_preparation_is_continued_and_another_one_changes_nothing(
    tmp_path: Path, deployment: DevelopmentContracts
) -> None:
    with anvil.run_anvil() as url:
        # Only the preparation's first transaction, copied from the other chain.
        web3 = node_client.connect(deployment.rpc_url)
        [creation] = web3.eth.get_block(1, full_transactions=True)["transactions"]
        node_client.wait_for_receipt(
            url, node_client.send_transaction(url, sender=OWNER, to=None, data=creation["input"].to_0x_hex())
        )

        first = deploy_contracts.deploy_contracts(url, chains_file=tmp_path / "first.toml")
        assert first.factory == deployment.factory

        height = node_client.connect(url).eth.block_number
        node_client.wait_for_receipt(url, send_launch(first, DevLaunchConfig(), sender=OWNER))

        assert deploy_contracts.deploy_contracts(url, chains_file=tmp_path / "second.toml") == first
        assert deploy_contracts.locate_contracts(url) == first
        assert node_client.connect(url).eth.block_number == height + 1
    assert (tmp_path / "first.toml").read_text() == (tmp_path / "second.toml").read_text()


def test_the_service_has_the_chain_by_the_registry_file(deployment: DevelopmentContracts, chains_file: Path) -> None:
    chain = chains.load_registry(chains_file).chain(anvil.CHAIN_ID)

    assert chain.factory_generation(deployment.factory.lower()).name == "v4"
    assert {role: chain.addresses(role, "v4") for role in ("locker", "fee_locker", "vault", "airdrop", "dev_buy")} == {
        "locker": (deployment.locker,),
        "fee_locker": (deployment.fee_locker,),
        "vault": (deployment.vault,),
        "airdrop": (deployment.airdrop,),
        "dev_buy": (deployment.dev_buy,),
    }
    assert (chain.wrapped_native, chain.v4_pool_manager) == (deployment.wrapped_native, deployment.pool_manager)
    assert [(quote.symbol, quote.stable) for quote in chain.quote_tokens.values()] == [("WETH", False), ("USDC", True)]
    [reference] = chain.reference_pools
    assert (reference.pool, reference.currency, reference.stable) == (
        deployment.dollar_pool_id,
        deployment.wrapped_native,
        deployment.usd,
    )


@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
def test_a_restarted_node_has_the_whole_chain(tmp_path: Path, kill: bool) -> None:
    state = tmp_path / "state.json"
    with anvil.run_anvil(state=state, save_every=1) as url:
        at = deploy_contracts.deploy_contracts(url, chains_file=tmp_path / "chains.toml")
        sent = launched(at, DevLaunchConfig())["transactionHash"].to_0x_hex()
        if kill:
            dump = anvil.dump_file(state)
            [process] = [pid for pid in children() if str(dump) in command_of(pid)]
            wait_for(lambda: stopped_with_all_written(process, dump, sent))
            os.kill(process, signal.SIGKILL)
            before = None
        else:
            before = history(url, sent, at)

    with anvil.run_anvil(state=state) as url:
        after = history(url, sent, at)
        assert before in (None, after)
        assert len(after["logs"]) > 0 and after["receipt"]["status"] == "0x1"
        again = deploy_contracts.deploy_contracts(url, chains_file=tmp_path / "chains.toml")
        assert launched(again, DevLaunchConfig(salt=os.urandom(32)))["status"] == 1


def history(url: str, transaction: str, at: DevelopmentContracts) -> dict[str, Any]:
    """Return the node's responses to calls that a chain reader makes."""

    def call_rpc(method: str, *params: Any) -> Any:
        return node_client.connect(url).provider.make_request(RPCEndpoint(method), params)["result"]

    receipt = call_rpc("eth_getTransactionReceipt", transaction)
    balance = node_client.bind_contract(url, "Token", at.usd).encode_abi("balanceOf", [OWNER])
    return {
        "receipt": receipt,
        "transaction": call_rpc("eth_getTransactionByHash", transaction),
        "block": call_rpc("eth_getBlockByHash", receipt["blockHash"], False),
        "logs": call_rpc("eth_getLogs", {"fromBlock": "0x0", "toBlock": "latest", "address": at.factory}),
        "dollars": call_rpc("eth_call", {"to": at.usd, "data": balance}, "latest"),
        "nonce": call_rpc("eth_getTransactionCount", SENDER, "latest"),
    }


def test_blocks_come_by_the_clock_on_request() -> None:
    with anvil.run_anvil(block_time=0.2) as url:
        web3 = node_client.connect(url)
        start = web3.eth.block_number
        wait_for(lambda: web3.eth.block_number >= start + 2)


def test_a_node_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    code = (
        "import os, sys, time\n"
        "from development.devchain.anvil import run_anvil\n"
        "with run_anvil() as url:\n"
        "    print(url, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        url = parent.stdout.readline().strip()
        assert Web3(Web3.HTTPProvider(url)).is_connected()
        parent.kill()

    wait_for(lambda: not Web3(Web3.HTTPProvider(url)).is_connected())


def test_the_packages_are_pinned_without_a_registry() -> None:
    lock = json.loads((DEVCHAIN / "package-lock.json").read_text(encoding="utf-8"))
    wanted = json.loads((DEVCHAIN / "package.json").read_text(encoding="utf-8"))
    pins = {**wanted["optionalDependencies"], **wanted["devDependencies"]}
    installed = {path.removeprefix("node_modules/"): entry for path, entry in lock["packages"].items() if path}

    assert {name: installed[name]["version"] for name in pins} == pins
    assert [name for name, entry in installed.items() if "resolved" in entry or "integrity" not in entry] == []


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, timeout=60
    )


def stopped_with_all_written(process: int, state: Path, transaction: str) -> bool:
    """Return whether the halted node's file is whole and has the transaction; the node writes it every second."""
    os.kill(process, signal.SIGSTOP)
    wait_for(lambda: Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "T")
    try:
        if transaction in json.dumps(json.loads(state.read_text())):
            return True
    except (FileNotFoundError, json.JSONDecodeError):
        pass
    os.kill(process, signal.SIGCONT)
    return False


def children() -> list[int]:
    return [int(word) for word in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


def test_contracts_stay_when_blocks_are_reverted_late(tmp_path: Path) -> None:
    with anvil.run_anvil() as url:
        factory = deploy_contracts.deploy_contracts(url, chains_file=tmp_path / "chains.toml").factory
        node = node_client.connect(url)
        node.manager.request_blocking(RPCEndpoint("anvil_mine"), [hex(1_100)])
        node.manager.request_blocking(RPCEndpoint("anvil_reorg"), [26, []])

        assert node.eth.get_code(factory)


def test_a_node_keeps_its_chain_when_slow_processes_use_up_the_time_to_stop(tmp_path: Path) -> None:
    program, state, heights = anvil.find_anvil(), tmp_path / "state.json", []
    assert program is not None
    for _ in range(20):
        port = free_port()
        url = f"http://{anvil.HOST}:{port}"
        processes = Supervisor(directory=tmp_path, say=lambda name, line: None, stop_seconds=0.1)
        processes.start(
            "chain", anvil.anvil_command(program, port=port, state=state), environment=os.environ, stop_seconds=20
        )
        processes.start("slow", ["/bin/sh", "-c", "trap '' TERM; sleep 9"], environment=os.environ)
        try:
            node = node_client.connect(url)
            processes.wait_until(node.is_connected, seconds=20, what="the node")
            # An account with 24 kB of code makes the file larger, and so its write longer.
            code = f"0x{os.urandom(24_000).hex()}"
            node.manager.request_blocking(RPCEndpoint("anvil_setCode"), [f"0x{os.urandom(20).hex()}", code])
            node.manager.request_blocking(RPCEndpoint("anvil_mine"), ["0x1"])
            heights.append(node.eth.block_number)
        finally:
            processes.stop()
    assert heights == list(range(1, 21))


@pytest.mark.parametrize("ends_with_a_nested_object", [False, True])
def test_a_node_that_was_killed_while_it_wrote_has_the_chain_of_its_start(
    tmp_path: Path, ends_with_a_nested_object: bool
) -> None:
    state = tmp_path / "state.json"
    for height in (1, 2):
        with anvil.run_anvil(state=state) as url:
            node = node_client.connect(url)
            node.manager.request_blocking(RPCEndpoint("anvil_mine"), ["0x1"])
            assert node.eth.block_number == height
    dump = anvil.dump_file(state)
    content = dump.read_bytes()[:-1]
    dump.write_bytes(content[: content.rindex(b"}") + 1] if ends_with_a_nested_object else content)

    with anvil.run_anvil(state=state) as url:
        assert node_client.connect(url).eth.block_number == 1

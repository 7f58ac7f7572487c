"""development/devchain/trader.py: real swaps by many wallets, a wash trader, and conversions of fees."""

import re
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from development.devchain import node_client
from development.devchain.anvil import TRADERS, run_anvil
from development.devchain.declared_samples import launch_on_curve, launch_plain
from development.devchain.deploy_contracts import DevelopmentContracts, deploy_contracts
from development.devchain.launch_transactions import DevLaunchConfig, Recipient
from development.devchain.trader import SampleTraders
from tests.nodes.devchain_tests import OTHER, SENDER, launch_token
from tests.processes.forking.program import Program


@contextmanager
def trader(rpc_url: str, *more: str) -> Iterator["subprocess.Popen[str]"]:
    words = ["python", "-m", "development.devchain.trader", "--rpc-url", rpc_url, *more]
    with Program(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def test_it_waits_for_contracts_and_tokens_and_stops_at_once(tmp_path: Path) -> None:
    with run_anvil() as url, trader(url, "--every", "0") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting: the contracts are not on the chain\n"
        at = deploy_contracts(url, chains_file=tmp_path / "chains.toml")
        assert process.stdout.readline() == "waiting: no token has been launched\n"
        launch_token(at, DevLaunchConfig())
        assert sum(map(int, re.findall(r"\d+", process.stdout.readline()))) == 50
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 0


def test_wallets_swap_one_washes_and_the_locker_converts(own_contracts: DevelopmentContracts) -> None:
    at, url = own_contracts, own_contracts.rpc_url
    share = Recipient(admin=OTHER, recipient=OTHER, bps=10_000, wants="Paired")
    # The same tokens in every run, so that the seed decides about all trades.
    for number, pair in enumerate(({}, {}, {"paired_token": at.usd, "tick": -424_400}), start=1):
        launch_token(at, DevLaunchConfig(salt=number.to_bytes(32), recipients=(share,), **pair))
    first = node_client.connect(url).eth.block_number + 1
    samples = SampleTraders(url, random=Random(1))

    lines = [line for line in (samples.trade_once() for _ in range(100)) if line]

    assert [sum(map(int, re.findall(r"\d+", line))) for line in lines] == [50, 50]
    *wallets, washer = node_client.connect(url).eth.accounts[-TRADERS:]
    swaps = [
        dict(log["args"]) | {"trader": trader_of(url, log), "transaction": log["transactionHash"]}
        for log in swap_logs(at, first=first)
    ]
    assert {swap["sender"] for swap in swaps} == {at.swap_router}
    locker = node_client.bind_contract(url, "Locker", at.locker)
    conversions = {log["transactionHash"] for log in locker.events.FeesSwapped().get_logs(from_block=first)}
    assert conversions
    trades = [swap for swap in swaps if swap["transaction"] not in conversions]
    traders = Counter(swap["trader"] for swap in trades)
    assert traders.keys() <= {*wallets, washer}
    assert len(traders) > 5
    assert len({swap["id"] for swap in swaps}) == 4
    assert at.dollar_pool_id in {"0x" + swap["id"].hex() for swap in swaps}
    # It buys and sells all of it again, in one token.
    washed = [swap for swap in trades if swap["trader"] == washer]
    assert len(washed) > 1
    assert len({swap["id"] for swap in washed}) == 1
    assert [sum(swap[f"amount{number}"] for swap in washed) for number in (0, 1)].count(0) == 1


def test_curves_are_traded_graduate_and_trade_on_in_their_pools(own_contracts: DevelopmentContracts) -> None:
    at, url, random = own_contracts, own_contracts.rpc_url, Random(3)
    launch_plain(at, sender=SENDER)
    for _ in range(6):
        launch_on_curve(at, sender=SENDER, random=random)
    first = node_client.connect(url).eth.block_number + 1
    samples = SampleTraders(url, random=random)

    for _ in range(100):
        samples.trade_once()

    curves = node_client.bind_contract(url, "CurveLaunchpad", at.curve_launchpad)
    on_curves = curves.events.Traded().get_logs(from_block=first)
    assert {log["args"]["isBuy"] for log in on_curves} == {True, False}
    graduated = {log["args"]["poolId"] for log in curves.events.Graduated().get_logs(from_block=first)}
    assert graduated
    # What a pool gets is above zero: the token in a sale, wrapped ether in a purchase.
    in_pools = [log["args"]["amount0"] > 0 for log in swap_logs(at, first=first) if log["args"]["id"] in graduated]
    assert {True, False} == {*in_pools}


def swap_logs(at: DevelopmentContracts, *, first: int) -> Any:
    pools = node_client.bind_contract(at.rpc_url, "PoolManager", at.pool_manager)
    return pools.events.Swap().get_logs(from_block=first)


def trader_of(url: str, log: Any) -> str:
    sender: str = node_client.connect(url).eth.get_transaction(log["transactionHash"])["from"]
    return sender

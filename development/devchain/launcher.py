"""Sample token launcher on the development chain.

Usage: `python -m development.devchain.launcher --rpc-url URL --every SECONDS [--count N]`.
"""

import argparse
import itertools
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from functools import partial
from random import SystemRandom
from typing import NoReturn

import requests
from web3.exceptions import Web3RPCError
from web3.logs import DISCARD

from development.devchain import node_client
from development.devchain.anvil import LAUNCHERS
from development.devchain.declared_samples import change_curve, launch_on_curve, launch_plain
from development.devchain.deploy_contracts import DevelopmentContracts, locate_contracts
from development.devchain.launch_transactions import send_launch
from development.devchain.sample_loop import exit_on_signals, repeat_sample
from development.devchain.samples import random_launch

# Launches without delay at the start, so that a fresh installation has data at once.
_AT_ONCE = 3
# Launchpads in turn: an early launch is on the curve.
_LAUNCHPADS = ("factory", "curve", "factory", "plain")
# Seconds between two checks for pending transactions.
_MINING_SECONDS = 1.0


def main() -> None:
    """Launch until the count is reached, or until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="development.devchain.launcher", description="Launch samples.")
    parser.add_argument("--rpc-url", required=True, help="the development node")
    parser.add_argument("--every", required=True, type=float, help="seconds between two launches")
    parser.add_argument("--count", type=int, help="stop after so many launches")
    options = parser.parse_args()
    exit_on_signals()
    threading.Thread(target=_keep_mining, args=(options.rpc_url,), daemon=True).start()
    repeat_sample(
        partial(_launch, options.rpc_url, itertools.count()),
        rpc_url=options.rpc_url,
        every=options.every,
        at_once=_AT_ONCE,
        count=options.count,
    )


def _keep_mining(rpc_url: str) -> NoReturn:
    """Mine blocks for other senders' pending bursts; the launching thread reports an unavailable node."""
    while True:
        try:
            mined = node_client.mine_waiting(rpc_url)
        except (requests.RequestException, Web3RPCError):
            mined = False
        if not mined:
            time.sleep(_MINING_SECONDS)


def _launch(rpc_url: str, numbers: Iterator[int]) -> str:
    """Launch one sample from a node account; return its symbol and address."""
    deployment = locate_contracts(rpc_url)
    accounts = node_client.connect(rpc_url).eth.accounts[:LAUNCHERS]
    sender = secrets.choice(accounts)
    launchpad = _LAUNCHPADS[next(numbers) % len(_LAUNCHPADS)]
    if launchpad == "plain":
        return launch_plain(deployment, sender=sender)
    if launchpad == "curve":
        random = SystemRandom()
        change_curve(deployment, accounts=accounts, random=random)
        return launch_on_curve(deployment, sender=sender, random=random)
    return _launch_by_factory(deployment, sender=sender, accounts=accounts)


def _launch_by_factory(deployment: DevelopmentContracts, *, sender: str, accounts: Sequence[str]) -> str:
    config = random_launch(deployment, sender=sender, accounts=accounts)
    receipt = node_client.wait_for_receipt(deployment.rpc_url, send_launch(deployment, config, sender=sender))
    created = node_client.bind_contract(deployment.rpc_url, "Factory", deployment.factory).events.TokenCreated()
    [event] = created.process_receipt(receipt, errors=DISCARD)
    return f"launched {config.symbol} {event['args']['tokenAddress']}"


if __name__ == "__main__":
    main()

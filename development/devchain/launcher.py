"""Launches samples on the development chain, so that there is something for the service to find.

python -m development.devchain.launcher --rpc-url URL --every SECONDS [--count N]
"""

import argparse
import secrets
import signal
import threading
import time
from types import FrameType
from typing import NoReturn

import requests
from web3.exceptions import TimeExhausted, Web3RPCError
from web3.logs import DISCARD

from development.devchain import node_client
from development.devchain.anvil import DEPLOYER
from development.devchain.deploy_contracts import NotDeployed, locate
from development.devchain.launch_transactions import launch
from development.devchain.samples import sample

# Launches without a pause at the start, so that a fresh installation shows something at once.
_AT_ONCE = 3
# Seconds between two attempts at a node that is not there.
_PATIENCE = 1.0
_TIMEOUT = 30.0


class NotYet(Exception):
    """Something isn't there or isn't able to answer; trying again may help. The text says what."""


def main() -> None:
    """Run until the count is reached, or until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="development.devchain.launcher", description="Launch samples.")
    parser.add_argument("--rpc-url", required=True, help="the development node")
    parser.add_argument("--every", required=True, type=float, help="seconds between two launches")
    parser.add_argument("--count", type=int, help="stop after so many launches")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    threading.Thread(target=_keep_mining, args=(options.rpc_url,), daemon=True).start()
    done = 0
    while options.count is None or done < options.count:
        if done >= _AT_ONCE:
            time.sleep(options.every)
        _say(f"launched {_launch_patiently(options.rpc_url)}")
        done += 1


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)


def _keep_mining(rpc_url: str) -> NoReturn:
    """Have blocks made for what others send in a burst, too; the launches' own thread tells of a node that is away."""
    while True:
        try:
            mined = node_client.mine_waiting(rpc_url)
        except (requests.RequestException, Web3RPCError):
            mined = False
        if not mined:
            time.sleep(_PATIENCE)


def _launch_patiently(rpc_url: str) -> str:
    """What was launched, however long it takes; says each new reason to wait once."""
    said = set()
    while True:
        try:
            return _launch(rpc_url)
        except NotYet as reason:
            if str(reason) not in said:
                said.add(str(reason))
                _say(f"waiting: {reason}")
            time.sleep(_PATIENCE)


def _launch(rpc_url: str) -> str:
    """Launch one sample from one of the node's accounts; its symbol and address. Raises NotYet."""
    try:
        deployment = locate(rpc_url)
        # Two senders would be in each other's way.
        accounts = [account for account in node_client.connect(rpc_url).eth.accounts if account != DEPLOYER]
        sender = secrets.choice(accounts)
        config = sample(deployment, sender=sender, accounts=accounts)
        receipt = node_client.wait(rpc_url, launch(deployment, config, sender=sender), seconds=_TIMEOUT)
    except requests.RequestException as error:
        raise NotYet(f"no answer from the node at {rpc_url}") from error
    except NotDeployed as error:
        raise NotYet("the contracts are not on the chain") from error
    except (node_client.TransactionReverted, TimeExhausted, Web3RPCError) as error:
        raise NotYet(f"the chain did not launch: {error}") from error
    created = node_client.contract(rpc_url, "Factory", deployment.factory).events.TokenCreated()
    [event] = created.process_receipt(receipt, errors=DISCARD)
    return f"{config.symbol} {event['args']['tokenAddress']}"


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()

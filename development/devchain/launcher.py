"""Launcher of sample tokens on the development chain.

Usage: `python -m development.devchain.launcher --rpc-url URL --every SECONDS [--count N]`.
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
from development.devchain.deploy_contracts import NotDeployedError, locate_contracts
from development.devchain.launch_transactions import send_launch
from development.devchain.samples import random_launch

# Launches without delay at the start, so that a fresh installation has data at once.
_AT_ONCE = 3
# Retry delay in seconds while the node is not available.
_RETRY_SECONDS = 1.0
_TIMEOUT = 30.0


class NotReadyError(Exception):
    """Raised when the node or the chain is not ready; a retry may succeed. The text has the reason."""


def main() -> None:
    """Launch until the count is reached, or until SIGTERM or SIGINT."""
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
        _print_line(f"launched {_launch_with_retries(options.rpc_url)}")
        done += 1


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)


def _keep_mining(rpc_url: str) -> NoReturn:
    """Mine blocks for pending bursts of other senders; the launching thread reports an unavailable node."""
    while True:
        try:
            mined = node_client.mine_waiting(rpc_url)
        except (requests.RequestException, Web3RPCError):
            mined = False
        if not mined:
            time.sleep(_RETRY_SECONDS)


def _launch_with_retries(rpc_url: str) -> str:
    """Retry until a launch succeeds, and return it; print each new reason once."""
    printed = set()
    while True:
        try:
            return _launch(rpc_url)
        except NotReadyError as reason:
            if str(reason) not in printed:
                printed.add(str(reason))
                _print_line(f"waiting: {reason}")
            time.sleep(_RETRY_SECONDS)


def _launch(rpc_url: str) -> str:
    """Launch one sample from an account of the node; return its symbol and address. Raises NotReadyError."""
    try:
        deployment = locate_contracts(rpc_url)
        # Two senders of one account would use the same nonces.
        accounts = [account for account in node_client.connect(rpc_url).eth.accounts if account != DEPLOYER]
        sender = secrets.choice(accounts)
        config = random_launch(deployment, sender=sender, accounts=accounts)
        receipt = node_client.wait_for_receipt(
            rpc_url, send_launch(deployment, config, sender=sender), seconds=_TIMEOUT
        )
    except requests.RequestException as error:
        raise NotReadyError(f"no answer from the node at {rpc_url}") from error
    except NotDeployedError as error:
        raise NotReadyError("the contracts are not on the chain") from error
    except (node_client.TransactionRevertedError, TimeExhausted, Web3RPCError) as error:
        raise NotReadyError(f"the chain did not launch: {error}") from error
    created = node_client.bind_contract(rpc_url, "Factory", deployment.factory).events.TokenCreated()
    [event] = created.process_receipt(receipt, errors=DISCARD)
    return f"{config.symbol} {event['args']['tokenAddress']}"


def _print_line(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()

"""Launches samples on the development chain and asks the service to index each, so that there is something to see.

python -m devchain.launcher --rpc-url URL --api-url URL --key-file FILE --every SECONDS [--count N]
"""

import argparse
import secrets
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn, TypeVar

import requests
from web3.exceptions import TimeExhausted, Web3RPCError
from web3.logs import DISCARD

from devchain import node
from devchain.deploy import NotDeployed, locate
from devchain.launches import launch
from devchain.samples import sample

# Launches without a pause at the start, so that a fresh installation shows something at once.
_AT_ONCE = 3
# Seconds between two attempts at a node or a service that is not there.
_PATIENCE = 1.0
# No service is left alone for longer, whatever it says: asking too early costs it next to nothing.
_LONGEST_WAIT = 60.0
_TIMEOUT = 30.0
# It calls the web server itself, which would send it to https where the public address is https.
_AS_A_PROXY = {"X-Forwarded-Proto": "https"}

Answer = TypeVar("Answer")


class NotYet(Exception):
    """Something isn't there or isn't able to answer; trying again in `seconds` may help. The text says what."""

    def __init__(self, reason: str, *, seconds: float = _PATIENCE) -> None:
        super().__init__(reason)
        self.seconds = seconds


@dataclass(frozen=True, kw_only=True)
class Launched:
    """A token on the chain."""

    symbol: str
    address: str
    transaction: str
    chain_id: int


def main() -> None:
    """Run until the count is reached, or until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="devchain.launcher", description="Launch samples and have them indexed.")
    parser.add_argument("--rpc-url", required=True, help="the development node")
    parser.add_argument("--api-url", required=True, help="the service's address, without a path")
    parser.add_argument("--key-file", required=True, type=Path, help="a file that holds a partner key")
    parser.add_argument("--every", required=True, type=float, help="seconds between two launches")
    parser.add_argument("--count", type=int, help="stop after so many launches")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    done = 0
    while options.count is None or done < options.count:
        if done >= _AT_ONCE:
            time.sleep(options.every)
        _launch_and_index(options.rpc_url, options.api_url, options.key_file)
        done += 1


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)


def _launch_and_index(rpc_url: str, api_url: str, key_file: Path) -> None:
    launched = _patiently(lambda: _launch(rpc_url))
    outcome = _patiently(lambda: _index(launched, api_url, key_file))
    _say(f"launched {launched.symbol} {launched.address} {outcome}")


def _patiently(act: Callable[[], Answer]) -> Answer:
    """The action's answer, however long it takes; says each new reason to wait once."""
    said = set()
    while True:
        try:
            return act()
        except NotYet as reason:
            if str(reason) not in said:
                said.add(str(reason))
                _say(f"waiting: {reason}")
            time.sleep(reason.seconds)


def _launch(rpc_url: str) -> Launched:
    """Launch one sample from one of the node's accounts. Raises NotYet."""
    try:
        deployment = locate(rpc_url)
        accounts = node.connect(rpc_url).eth.accounts
        sender = secrets.choice(accounts)
        config = sample(deployment, sender=sender, accounts=accounts)
        receipt = node.wait(rpc_url, launch(deployment, config, sender=sender), seconds=_TIMEOUT)
    except requests.RequestException as error:
        raise NotYet(f"no answer from the node at {rpc_url}") from error
    except NotDeployed as error:
        raise NotYet("the contracts are not on the chain") from error
    except (node.TransactionReverted, TimeExhausted, Web3RPCError) as error:
        raise NotYet(f"the chain did not launch: {error}") from error
    created = node.contract(rpc_url, "Factory", deployment.factory).events.TokenCreated()
    [event] = created.process_receipt(receipt, errors=DISCARD)
    return Launched(
        symbol=config.symbol,
        address=event["args"]["tokenAddress"],
        transaction=receipt["transactionHash"].to_0x_hex(),
        chain_id=deployment.chain_id,
    )


def _index(launched: Launched, api_url: str, key_file: Path) -> str:
    """Ask the service to index; says how that went. Raises NotYet."""
    try:
        key = key_file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise NotYet(f"the key file {key_file} can't be read") from error
    body = {"txHash": launched.transaction, "chainId": launched.chain_id}
    begin = time.monotonic()
    try:
        answer = requests.post(
            f"{api_url.rstrip('/')}/api/tokens/index",
            json=body,
            headers={"x-api-key": key} | _AS_A_PROXY,
            timeout=_TIMEOUT,
        )
    except requests.RequestException as error:
        raise NotYet(f"no answer from the service at {api_url}") from error
    if answer.ok:
        return f"indexed in {time.monotonic() - begin:.1f} s"
    if answer.status_code == 400:
        # The service understood and says no; the next launch may fare better.
        return f"not indexed: {answer.text[:200]}"
    # Over a limit, among others: the launch waits, and the next ones with it.
    wait = _wished_wait(answer.headers.get("Retry-After", ""))
    raise NotYet(f"the service at {api_url} answers {answer.status_code}", seconds=wait)


def _wished_wait(retry_after: str) -> float:
    """The seconds that the header asks for, within reason; the usual ones where it gives no number."""
    if not (retry_after.isascii() and retry_after.isdecimal()):
        return _PATIENCE
    return min(max(float(retry_after), _PATIENCE), _LONGEST_WAIT)


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()

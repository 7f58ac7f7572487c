"""Loop for processes that send sample transactions to the development chain."""

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

import requests
from web3.exceptions import Web3Exception

from development.devchain.deploy_contracts import NotDeployedError
from development.devchain.node_client import TransactionRevertedError

# Retry delay in seconds after a failure.
_RETRY_SECONDS = 1.0


class NotReadyError(Exception):
    """Raised when the chain is not ready for a sample; a retry may succeed. The text has the reason."""


def exit_on_signals() -> None:
    """End the process on SIGTERM and SIGINT without a traceback."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _exit)


def repeat_sample(
    send: Callable[[], str], *, rpc_url: str, every: float, at_once: int, count: int | None = None
) -> None:
    """Send a sample every `every` seconds, the first `at_once` without delay, and print texts that are not empty.

    A failed sample is repeated, and its reason printed once. `count` limits the number of samples.
    """
    reasons: set[str] = set()
    sent = 0
    while count is None or sent < count:
        if sent >= at_once and not reasons:
            time.sleep(every)
        try:
            text = _send_or_raise(send, rpc_url)
        except NotReadyError as error:
            if str(error) not in reasons:
                reasons.add(str(error))
                print(f"waiting: {error}", flush=True)
            time.sleep(_RETRY_SECONDS)
            continue
        reasons.clear()
        sent += 1
        if text:
            print(text, flush=True)


def _send_or_raise(send: Callable[[], str], rpc_url: str) -> str:
    try:
        return send()
    except requests.RequestException as error:
        raise NotReadyError(f"no answer from the node at {rpc_url}") from error
    except NotDeployedError as error:
        raise NotReadyError("the contracts are not on the chain") from error
    except (TransactionRevertedError, Web3Exception) as error:
        raise NotReadyError(f"the chain did not take it: {error}") from error


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)

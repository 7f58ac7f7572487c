"""The node of the development chain: anvil, from the npm package that package.json pins."""

import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGTERM

import requests

from config.environment.variables import env_program
from development.servers.processes import die_with_parent

CHAIN_ID = 31337
HOST = "127.0.0.1"
# The last of the accounts that every anvil has, and its private key, which stands in anvil's documentation: whatever is
# sent there on a real chain is anybody's. Nothing but the service sends from it here.
DEPLOYER = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"
DEPLOYER_KEY = "2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6"
# Seconds between two writings of the chain. All of it is written each time, some 85 kB a launch.
SAVE_EVERY = 10
# How long a node may take until it answers; it takes about 0.1 s on an idle machine.
START_SECONDS = 30.0
_HERE = Path(__file__).resolve().parent
# package.json asks for the binary of x86-64 Linux, the only one that was tried; elsewhere ANVIL names one.
_BINARIES = "node_modules/@foundry-rs/anvil-*/bin/anvil"
_NOT_INSTALLED = (
    "anvil is not installed: run `npm ci --ignore-scripts` in devchain/; on other systems than x86-64 Linux, install "
    "Foundry's anvil and put its path into the variable ANVIL"
)
# A free port can be taken by somebody else before anvil binds it.
_ATTEMPTS = 5


class AnvilError(Exception):
    """The node is not installed, or did not start."""


def find_anvil() -> Path | None:
    """The binary: the file that the variable ANVIL names, else the one that npm installed; None without either.

    Raises ImproperlyConfigured where ANVIL names no executable file.
    """
    return env_program("ANVIL") or next((path for path in sorted(_HERE.glob(_BINARIES)) if path.is_file()), None)


def command(
    anvil: Path,
    *,
    port: int,
    state: Path | None = None,
    block_time: float | None = None,
    save_every: int = SAVE_EVERY,
    states: int | None = None,
) -> list[str]:
    """The command line of a node on loopback.

    With `state`, a file, the chain (blocks, receipts, logs, the last block's state) is read from it at the start, and
    written to it every `save_every` seconds and at the end (SIGTERM or SIGINT). A killed node forgets what came after
    the last writing, which looks like a reorganisation. `block_time` is in seconds; without it every transaction makes
    its block at once. `states` is of how many of the newest blocks the state is kept, without which none can be taken
    back; of all, if not told, which takes some 2 MB each.
    """
    words = [str(anvil), "--host", HOST, "--port", str(port), "--chain-id", str(CHAIN_ID), "--quiet"]
    if state is not None:
        # Not with --preserve-historical-states: a state per block made 1.3 GB of 500 launches, against 43 MB without.
        words += ["--state", str(state), "--state-interval", str(save_every)]
    if states is not None:
        words += ["--prune-history", str(states)]
    if block_time is not None:
        words += ["--block-time", str(block_time)]
    return words


@contextmanager
def start(
    *,
    state: Path | None = None,
    block_time: float | None = None,
    save_every: int = SAVE_EVERY,
    states: int | None = None,
) -> Iterator[str]:
    """Run a node on a free port until the block ends; gives its URL. It ends with this process, however that ends.

    The arguments are those of `command`. Raises AnvilError where it isn't installed or doesn't start.
    """
    anvil = find_anvil()
    if anvil is None:
        raise AnvilError(_NOT_INSTALLED)
    process, url = _start_on_free_port(
        lambda port: command(anvil, port=port, state=state, block_time=block_time, save_every=save_every, states=states)
    )
    try:
        yield url
    finally:
        _stop(process)


def _start_on_free_port(words: Callable[[int], list[str]]) -> tuple[subprocess.Popen[bytes], str]:
    for _ in range(_ATTEMPTS):
        port = _free_port()
        process = subprocess.Popen(words(port), preexec_fn=die_with_parent(SIGTERM))
        url = f"http://{HOST}:{port}"
        if _wait_until_answering(process, url):
            return process, url
        _stop(process)
    raise AnvilError(f"anvil did not start in {_ATTEMPTS} attempts")


def _wait_until_answering(process: subprocess.Popen[bytes], url: str) -> bool:
    """Whether the node answers; not, where the process ended or took too long."""
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            answer = requests.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"}, timeout=5)
        except requests.RequestException:
            time.sleep(0.02)
            continue
        # A node of somebody else on this port would mean that ours is about to end for want of it.
        return answer.json().get("result") == hex(CHAIN_ID) and process.poll() is None
    return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
    return port


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

"""The development chain's node: anvil, from the npm package that package.json pins."""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGTERM

import requests

from development.servers.processes import die_with_parent, free_port

CHAIN_ID = 31337
HOST = "127.0.0.1"
# Anvil's last default account, with its private key from anvil's documentation: on a real chain, any person can take
# its funds. Only the service sends from it here.
DEPLOYER = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"
DEPLOYER_KEY = "2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6"
# The node signs for its accounts: launchers, the deployer, then traders. Each process has its own accounts, because two
# processes with one account would use the same nonces.
LAUNCHERS, TRADERS = 9, 20
# Seconds between two writes of the whole chain, about 85 kB per launch.
SAVE_EVERY = 10
# Timeout for the last write: a day's chain has about 800 MB.
STOP_SECONDS = 60.0
# Past states that a node keeps by default, up to 2 MB each: more than any test makes.
STATES = 10_000
# Start timeout; a start takes about 0.1 s on an idle machine.
START_SECONDS = 30.0
_HERE = Path(__file__).resolve().parent
# Registry file with the launchpads beside the factory, as an operator declares them. It is apart from the chain's file,
# which versions without declared launchpads read, too.
LAUNCHPADS_FILE = _HERE / "launchpads.toml"
# package.json pins binaries for several systems, and npm installs this system's. Only x86-64 Linux is tested.
_BINARIES = "node_modules/@foundry-rs/anvil-*/bin/anvil"
_NOT_INSTALLED = (
    "anvil is not installed: run `npm ci --ignore-scripts` in devchain/; on systems other than "
    "Linux and macOS, install Foundry's anvil on the PATH"
)
# Anvil truncates the file that it writes, and refuses to load a truncated one. So it writes a file of its own, which
# replaces the loaded one at the next start if it is whole: each brace is closed. Strings have no braces.
_WITH_STATE = """count() { tr -cd "$1" <"$2" | wc -c; }
[ "$(tail -c 1 "$2" 2>/dev/null)" = "}" ] && [ "$(count "{" "$2")" -eq "$(count "}" "$2")" ] && mv -f "$2" "$1"
[ -e "$1" ] && set -- "$@" --load-state "$1"
shift 2
exec "$@"
"""
# Another process may take the free port before anvil binds it.
_ATTEMPTS = 5


class AnvilError(Exception):
    """Raised when the node is not installed, or did not start."""


def find_anvil() -> Path | None:
    """Return the binary that npm installed, else `anvil` on the PATH; None without either."""
    on_path = shutil.which("anvil")
    installed = [path for path in sorted(_HERE.glob(_BINARIES)) if path.is_file()]
    return next(iter(installed), Path(on_path) if on_path else None)


def anvil_command(
    anvil: Path,
    *,
    port: int,
    state: Path | None = None,
    block_time: float | None = None,
    save_every: int = SAVE_EVERY,
    states: int = STATES,
) -> list[str]:
    """Return the command line for a node on loopback.

    With `state`, a file, the chain (blocks, receipts, logs, the last block's state) is loaded from it at the start. The
    node writes `dump_file(state)` every `save_every` seconds and at the end (SIGTERM or SIGINT). A killed node loses
    all blocks after the last write, which looks like a reorg; if killed in a write, all since its start.
    `block_time` is in seconds; by default every transaction makes its block at once. The node has the newest `states`
    block states in memory, including reverted blocks. A revert to an older block is an error.
    """
    words = [str(anvil), "--host", HOST, "--port", str(port), "--chain-id", str(CHAIN_ID), "--quiet"]
    words += ["--accounts", str(LAUNCHERS + 1 + TRADERS)]
    # Without this option, the node moves older block states to files after 500 blocks, and a revert to such a block
    # leaves all contracts without code.
    words += ["--prune-history", str(states)]
    if block_time is not None:
        words += ["--block-time", str(block_time)]
    if state is None:
        return words
    dump = dump_file(state)
    # Not with --preserve-historical-states: 500 launches took 1.3 GB, against 43 MB without it.
    words += ["--dump-state", str(dump), "--state-interval", str(save_every)]
    return ["/bin/sh", "-c", _WITH_STATE, "anvil", str(state), str(dump), *words]


def dump_file(state: Path) -> Path:
    """Return the file that a node with this state writes."""
    return state.with_suffix(".dump.json")


@contextmanager
def run_anvil(
    *,
    state: Path | None = None,
    block_time: float | None = None,
    save_every: int = SAVE_EVERY,
    states: int = STATES,
) -> Iterator[str]:
    """Run a node on a free port within the context; yield its URL. It ends with this process in any case.

    Arguments as for `anvil_command`. Raises AnvilError if anvil isn't installed or doesn't start.
    """
    anvil = find_anvil()
    if anvil is None:
        raise AnvilError(_NOT_INSTALLED)
    process, url = _start_on_free_port(
        lambda port: anvil_command(
            anvil, port=port, state=state, block_time=block_time, save_every=save_every, states=states
        )
    )
    try:
        yield url
    finally:
        _stop(process)


def _start_on_free_port(words: Callable[[int], list[str]]) -> tuple[subprocess.Popen[bytes], str]:
    for _ in range(_ATTEMPTS):
        port = free_port()
        process = subprocess.Popen(words(port), preexec_fn=die_with_parent(SIGTERM))
        url = f"http://{HOST}:{port}"
        if _wait_until_answering(process, url):
            return process, url
        _stop(process)
    raise AnvilError(f"anvil did not start in {_ATTEMPTS} attempts")


def _wait_until_answering(process: subprocess.Popen[bytes], url: str) -> bool:
    """Return whether the node responds; False if the process ended or the timeout passed."""
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            answer = requests.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"}, timeout=5)
        except requests.RequestException:
            time.sleep(0.02)
            continue
        # If another program's node has this port, ours is about to exit.
        return answer.json().get("result") == hex(CHAIN_ID) and process.poll() is None
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

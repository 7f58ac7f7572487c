"""Attacks by one client on the `make run` server, each beside a bystander.

    make run                                      # in another terminal, or here by --start
    python -m benchmarks.attacks [--only NAME] [--seconds 10] [--start]

`none` is always run first: on a busy machine, `list p99 by none` compares an attack with it. A bystander reads
`/api/tokens` 40 times a second and `/healthz` 10 times, from changing addresses, and simulates a transaction with a
partner key of its own every 0.6 s. Exits with code 1 where an attack costs it more than the limits: 250 ms for the list
in 99 % of requests, 1 s for all probes and simulations, and no failed response. Recovery is the time from the attack's
end to the probe's next response. Memory is the largest resident set that a web process has during the attack and five
seconds after it.
"""

import argparse
import json
import multiprocessing
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace

import psutil

from benchmarks.attacks import connections, costly_requests, many_requests, wallet_requests
from benchmarks.attacks.bystander import Bystander, Experience
from benchmarks.attacks.target import Target
from benchmarks.harness import Limits, keep, print_table
from benchmarks.starts import make_run
from config.environment.variables import BASE_DIR
from development.devchain.anvil import CHAIN_ID, dump_file
from development.servers import bundled

_LIST_LIMIT, _PROBE_LIMIT = 0.25, 1.0
_SETTLE_SECONDS, _RECOVERY_SECONDS = 5.0, 60.0
_MB = 1024 * 1024
_LOWEST_PRIORITY = 19
_WARMED, _WARM_REQUESTS, _WARM_SOURCE = ("/api/tokens", "/admin/login/"), 16, "127.0.0.77"

Attack = Callable[[Target], None]


def _rest(target: Target) -> None:
    """Attack nothing: the floor for the figures."""
    while not target.is_over():
        time.sleep(0.1)


ATTACKS: dict[str, Attack] = {
    "none": _rest,
    "http2-streams": connections.open_streams_of_http2,
    "unfinished-headers": connections.leave_headers_unfinished,
    "unsent-bodies": connections.leave_bodies_unsent,
    "slow-bodies": connections.send_bodies_slowly,
    "slow-readers": connections.read_responses_slowly,
    "content-type": costly_requests.send_long_content_types,
    "if-none-match": costly_requests.send_long_etags,
    "accept-encoding": costly_requests.send_long_encodings,
    "cookie": costly_requests.send_long_cookies,
    "host": costly_requests.send_long_hosts,
    "headers-of-30-kb": costly_requests.send_headers_of_30_kb,
    "long-lists": costly_requests.send_long_lists,
    "large-airdrops": costly_requests.rehearse_large_airdrops,
    "passwords": costly_requests.guess_passwords,
    "trending-parameters": costly_requests.vary_trending,
    "stalled-provider": costly_requests.share_one_slow_run,
    "forged-proxy-header": costly_requests.forge_proxy_headers,
    "large-bodies": many_requests.send_large_bodies,
    "large-bodies-taken": many_requests.send_large_bodies_to_an_endpoint,
    "documents-at-once": many_requests.read_documents_at_once,
    "pages-at-once": many_requests.open_pages_at_once,
    "errors-at-once": many_requests.open_errors_at_once,
    "readiness-at-once": many_requests.request_readiness,
    "nested-json": many_requests.nest_json,
    "unknown-arguments": many_requests.name_unknown_arguments,
    "unfinished-streams": many_requests.leave_stream_requests_unfinished,
    "simulations": wallet_requests.simulate_from_many_addresses,
    "simulations-by-key": wallet_requests.simulate_by_one_key,
    "longest-simulations": wallet_requests.simulate_longest_lists,
    "longest-launches": wallet_requests.prepare_longest_launches,
    "sign-ins": wallet_requests.sign_in_from_many_addresses,
    "nonces": wallet_requests.request_nonces,
    "stalled-node": wallet_requests.simulate_from_many_addresses,
    "stalled-node-by-key": wallet_requests.simulate_by_one_key_from_many_addresses,
}


def main() -> int:
    """Run the attacks; return 1 where one costs the bystander more than the limits."""
    options = _parse_options()
    if not options.start:
        return _run_attacks(options)
    # Off by default.
    os.environ["WALLET_SIGN_IN"] = "true"
    with make_run(BASE_DIR) as (_, environment):
        os.environ["LAUNCHBOARD_LOCAL"], options.port = environment["LAUNCHBOARD_LOCAL"], int(environment["PORT"])
        _lower_node_priority()
        return _run_attacks(options)


def _lower_node_priority() -> None:
    """Give the chain's node only the processor time that is left: an operator's node has its own machine."""
    for process in _processes(_chain_state()):
        for thread in process.threads():
            os.setpriority(os.PRIO_PROCESS, thread.id, _LOWEST_PRIORITY)


def _run_attacks(options: argparse.Namespace) -> int:
    key = (bundled.local_directory() / "partner-key").read_text(encoding="utf-8").strip()
    command = [sys.executable, "manage.py", "issue_partner_key", f"bystander-{secrets.token_hex(4)}"]
    bystander_key = subprocess.check_output(command, cwd=BASE_DIR, text=True).strip()
    target = Target(options.host, options.port, key, bystander_key, (), 0.0)
    _warm_up(target)
    target = replace(target, tokens=_token_addresses(target))
    for _ in range(_WARM_REQUESTS):
        # On a busy machine the first one may take longer than the timeout.
        with suppress(OSError):
            target.collect_rewards(source=_WARM_SOURCE)
    limits, rows, kept = Limits(), [], {}
    floor = 0.0
    for name in dict.fromkeys(("none", *(options.only or ATTACKS))):
        met, recovery, memory, after = _attack(name, replace(target, ends_at=time.monotonic() + options.seconds))
        floor = floor or met.list_p99
        figures = {
            "list p50 ms": round(met.list_p50 * 1000, 1),
            "list p99 ms": round(met.list_p99 * 1000, 1),
            "list p99 by none": round(met.list_p99 / floor, 1),
            "probe max ms": round(met.slowest_probe * 1000, 1),
            "simulation max ms": round(met.slowest_simulation * 1000, 1),
            "failed": met.failed,
            "recovery s": round(recovery, 1),
            "web MB": memory // _MB,
            "web MB after": after // _MB,
        }
        limits.at_most(f"{name}: list p99", met.list_p99, _LIST_LIMIT, "s")
        limits.at_most(f"{name}: slowest probe", met.slowest_probe, _PROBE_LIMIT, "s")
        limits.at_most(f"{name}: slowest simulation", met.slowest_simulation, _PROBE_LIMIT, "s")
        limits.at_most(f"{name}: failed responses", met.failed, 0, "responses")
        kept[name] = figures
        rows.append([name, *figures.values()])
    print_table(["attack", *kept[next(iter(kept))]], rows)
    if not options.only:
        keep("attacks", {"load": round(os.getloadavg()[1], 1), "seconds": options.seconds, "attacks": kept})
    return 0 if limits.are_kept else 1


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacks")
    parser.add_argument("--only", action="append", choices=ATTACKS, metavar="NAME")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--start", action="store_true", help="run the server, too")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    return parser.parse_args()


def _token_addresses(target: Target) -> list[str]:
    """Return the newest tokens' addresses on the development chain, of launches that have the followed locker."""
    body = target.request("GET", f"/api/tokens?chainId={CHAIN_ID}&limit=20", source=_WARM_SOURCE).partition(
        b"\r\n\r\n"
    )[2]
    return [token["contract_address"] for token in json.loads(body)["data"] if token["type"] == "clanker_v4"]


def _warm_up(target: Target) -> None:
    """Have every process compile its pages once: that takes 0.3 CPU seconds, and belongs to no attack."""
    for path in _WARMED:
        for _ in range(_WARM_REQUESTS):
            try:
                target.request("GET", path, source=_WARM_SOURCE)
            except OSError as error:
                sys.exit(f"no server at {target.host}:{target.port} ({error}): start it with make run, or give --port")


def _attack(name: str, target: Target) -> tuple[Experience, float, int, int]:
    """Run one attack beside the bystander; return what it met, the recovery in seconds, and two sizes in bytes.

    Raises RuntimeError if the server does not recover: no later figure would belong to its own attack.
    """
    attacker = multiprocessing.get_context("fork").Process(target=ATTACKS[name], args=(target,), daemon=True)
    stopped = _STOPPED.get(name)
    with _stopped_processes(stopped()) if stopped else nullcontext():
        attacker.start()
        bystander = Bystander(target, simulates=stopped is not _chain_state)
        memory = 0
        for _ in target.rounds(every=0.5):
            memory = max(memory, _web_memory(target.port))
        met = bystander.experience()
    attacker.join(_SETTLE_SECONDS)
    attacker.kill()
    ended = time.monotonic()
    while not _is_alive(target):
        if time.monotonic() > ended + _RECOVERY_SECONDS:
            raise RuntimeError(f"{name}: no response of the probe {_RECOVERY_SECONDS:g} s after the attack")
    recovery = time.monotonic() - ended
    time.sleep(_SETTLE_SECONDS)
    return met, recovery, memory, _web_memory(target.port)


def _is_alive(target: Target) -> bool:
    try:
        return b" 200 " in target.request("GET", "/healthz")[:20]
    except OSError:
        return False


@contextmanager
def _stopped_processes(words: str) -> Iterator[None]:
    """Stop the processes with these words in their command line during the block: nothing is answered."""
    processes = _processes(words)
    for process in processes:
        process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            process.send_signal(signal.SIGCONT)


def _processes(words: str) -> list[psutil.Process]:
    """Return the processes with these words in their command line."""
    return [process for process in psutil.process_iter(["cmdline"]) if words in " ".join(process.info["cmdline"] or ())]


def _chain_state() -> str:
    """Return the file that only the attacked server's node has in its command line."""
    return f"{dump_file(bundled.local_directory() / 'chain.json')}"


# Attack -> the words for the processes that are stopped meanwhile.
_STOPPED: dict[str, Callable[[], str]] = {
    "stalled-provider": lambda: "development.standins",
    "stalled-node": _chain_state,
    "stalled-node-by-key": _chain_state,
}


def _web_memory(port: int) -> int:
    """Return the largest resident set among the processes below the one that listens on the port, in bytes."""
    sizes = [0]
    for process in psutil.process_iter(["cmdline"]):
        if "granian" in " ".join(process.info["cmdline"] or ()):
            try:
                sizes += [child.memory_info().rss for child in process.children()]
            except psutil.NoSuchProcess:
                continue
    return max(sizes)


if __name__ == "__main__":
    sys.exit(main())

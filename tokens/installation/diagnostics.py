"""Node check for `manage.py doctor`: each URL by itself, named by its position in the setting."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice

from django.conf import settings

from config.doctor.findings import Finding, Level
from tokens.chains.errors import NodeUnavailableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.rpc.responses import CallFailure
from tokens.installation.installed_chains import LaunchChain, UnsupportedChainError, single_node_chains
from tokens.installation.installed_registry import chain_name

# Blocks that a node may be behind another one, and seconds that its newest block may be old or ahead of our clock.
_BEHIND_BLOCKS = 20
_OLD_SECONDS, _AHEAD_SECONDS = 300, 30


@dataclass(frozen=True, kw_only=True)
class _NodeState:
    """One node's responses; `error` is empty if the node is usable."""

    error: str = ""
    head: int = 0
    # Seconds since its newest block; None on Solana, where slots have no time here.
    age: float | None = None
    # Why it rejects the log range with which the follower begins.
    range_error: str = ""


def nodes(now: datetime) -> Iterator[Finding]:
    """Yield a finding for each node about its chain, head, lag and log range."""
    if not settings.RPC_URLS:
        yield Finding(
            level=Level.WARNING,
            summary="No node is set: nothing is indexed.",
            action="Set RPC_URLS_<chainId>.",
            guide="running.md#requirements",
        )
    node_chains: dict[int, list[LaunchChain]] = {}
    for chain_id in sorted(settings.RPC_URLS):
        try:
            node_chains[chain_id] = single_node_chains(chain_id)
        except UnsupportedChainError as error:
            yield Finding(
                level=Level.ERROR, summary=f"{error}.", action="See docs/chains.md.", guide="running.md#requirements"
            )
    # All at once: several may hang.
    chains = [chain for each in node_chains.values() for chain in each]
    with ThreadPoolExecutor(max(len(chains), 1)) as threads:
        states = threads.map(_read_node, chains)
    for chain_id, each in node_chains.items():
        yield from _chain_findings(chain_name(chain_id), list(islice(states, len(each))))


def _chain_findings(name: str, states: Sequence[_NodeState]) -> Iterator[Finding]:
    highest = max(state.head for state in states)
    for number, state in enumerate(states, 1):
        yield _finding(f"{name}, node {number}", state, highest)
    usable = sum(not state.error for state in states)
    if usable < 2:
        yield Finding(
            level=Level.WARNING if usable else Level.ERROR,
            summary=f"{name} has {usable} usable nodes.",
            action="Set two nodes of different providers: one node that stops looks like a chain without blocks.",
            guide="running.md#requirements",
        )


def _read_node(chain: LaunchChain) -> _NodeState:
    try:
        if not isinstance(chain, Chain):
            return _NodeState(head=chain.read_head())
        newest = chain.read_newest_header()
        return _NodeState(
            head=newest.number, age=time.time() - newest.time, range_error=_probe_range(chain, newest.number)
        )
    except NodeUnavailableError as error:
        return _NodeState(error=str(error))


def _probe_range(chain: Chain, head: int) -> str:
    """Return why the node rejects logs from FOLLOW_RANGE_BLOCKS blocks; empty if it returns them."""
    first = max(head - settings.FOLLOW_RANGE_BLOCKS + 1, 0)
    query = {"fromBlock": hex(first), "toBlock": hex(head), "address": sorted(chain.info.emitters)}
    (result,) = chain.rpc.query([("eth_getLogs", (query,))], parse=list)
    return result.message if isinstance(result, CallFailure) else ""


def _finding(name: str, state: _NodeState, highest: int) -> Finding:
    finding = partial(Finding, guide="repairing.md#runbook-following")
    if state.error:
        return finding(
            level=Level.ERROR, summary=f"{name}: {state.error}.", action="Correct its URL, or replace the node."
        )
    head = f"{name}: head {state.head:,}"
    if highest - state.head > _BEHIND_BLOCKS:
        behind = f"{head}, {highest - state.head:,} blocks behind another node."
        return finding(level=Level.WARNING, summary=behind, action="Replace the node, or name it last.")
    if state.age is not None and not -_AHEAD_SECONDS < state.age < _OLD_SECONDS:
        return finding(
            level=Level.WARNING,
            summary=f"{head}, of {state.age:,.0f} s ago by this machine's clock.",
            action="Compare with an explorer: the chain or the node stands still, or this clock is wrong.",
        )
    if state.range_error:
        return finding(
            level=Level.WARNING,
            summary=f"{head}; logs of {settings.FOLLOW_RANGE_BLOCKS:,} blocks are rejected: {state.range_error}.",
            action="Nothing, if it accepts fewer: the follower shortens its ranges. Otherwise use another provider.",
        )
    return finding(level=Level.OK, summary=f"{head}.")

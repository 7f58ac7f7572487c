"""What goes wrong with a node, and how often."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.nodes.recorded_node import Refused


@dataclass(frozen=True, kw_only=True)
class Faults:
    """Parts of all requests (1 is each) that go wrong, and what a node lacks for good. Nothing does by default."""

    # An HTTP error, 429 or a JSON-RPC error that asks to come back.
    errors: float = 0.0
    # The connection ends without an answer.
    dropped: float = 0.0
    # The answer comes after so many seconds.
    hangs: float = 0.0
    hang_seconds: float = 0.3
    # The body is cut, a batch lacks an answer, a result is null or lacks a field.
    halves: float = 0.0
    # Logs of eth_getLogs that are left out of an answer, or of all answers of this node; that stand there twice; and
    # answers whose logs are in another order.
    omitted: float = 0.0
    omitted_for_good: float = 0.0
    # Transactions of which no log is in any of these answers.
    forgotten: float = 0.0
    doubled: float = 0.0
    reordered: float = 0.0
    # Requests that reach a node behind the load balancer which is up to so many blocks behind.
    stale: float = 0.0
    stale_by: int = 8
    # How many blocks the node itself is behind.
    behind: int = 0
    # Requests that are answered as of a branch that the chain has dropped.
    forked: float = 0.0
    # New heads of which subscribers are not told, and those at which the connection ends.
    unannounced: float = 0.0
    disconnected: float = 0.0
    # The chain that it says it is of; ours where None.
    chain_id: int | None = None
    # Methods that it does not offer.
    lacking: frozenset[str] = frozenset()


# Everything that the issue asks for, at once.
ALL = Faults(
    errors=0.05,
    dropped=0.01,
    hangs=0.005,
    halves=0.01,
    omitted=0.02,
    doubled=0.02,
    reordered=0.02,
    stale=0.03,
    forked=0.02,
    unannounced=0.05,
    disconnected=0.02,
)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a node takes of one request; None is any number. The words are those of a provider."""

    blocks: int | None = None
    logs: int | None = None
    batch: int | None = None
    # Whether logs carry their block's time.
    times: bool = True
    # Whether a range may end beyond the newest block.
    beyond_head: bool = True
    words: Mapping[str, Any] = field(default_factory=lambda: dict(_WORDS))


_WORDS: Mapping[str, Any] = {
    "blocks": (-32602, "query exceeds max block range {limit}"),
    "logs": (-32602, "query exceeds max results {limit}, retry with the range {first}-{last}"),
}


def too_many(limits: Limits, what: str, *, limit: int, first: int, last: int) -> Refused:
    """The provider's refusal of a query of logs."""
    code, words = limits.words[what]
    return Refused(code, words.format(limit=limit, first=first, last=last))

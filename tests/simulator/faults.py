"""A simulated node's faults and limits."""

from dataclasses import dataclass

from development.standins.loopback import RefusedError


@dataclass(frozen=True, kw_only=True)
class Faults:
    """Rates for faulty requests (1 is each), and what a node lacks permanently. All are 0 by default."""

    # An HTTP error, 429 or a JSON-RPC error that requests a retry later.
    errors: float = 0.0
    # The connection ends without a response.
    dropped: float = 0.0
    # The response is delayed by `hang_seconds`.
    hangs: float = 0.0
    hang_seconds: float = 0.3
    # The body is cut, a batch lacks a response, a result is null or lacks a field.
    halves: float = 0.0
    # eth_getLogs logs that are missing in one response, or in all this node's responses; that are duplicated; and
    # responses whose logs are shuffled.
    omitted: float = 0.0
    omitted_for_good: float = 0.0
    # Transactions whose logs are missing in all these responses.
    forgotten: float = 0.0
    # The newest block whose logs the node has pruned: it returns none, without an error. With
    # `prunes_receipts`, it has no receipts in these blocks either.
    pruned_to: int = -1
    prunes_receipts: bool = False
    # The difference between the node's times and the chain's, in seconds: in blocks and logs, or in logs only.
    time_shift: int = 0
    log_time_shift: int = 0
    # The difference between indexes in logs and the chain's: the log's own, and its transaction's. Receipts have the
    # chain's indexes.
    log_index_shift: int = 0
    tx_index_shift: int = 0
    doubled: float = 0.0
    reordered: float = 0.0
    # Requests that reach another node behind the load balancer, which lags by up to `stale_by` blocks.
    stale: float = 0.0
    stale_by: int = 8
    # How many blocks the node itself is behind.
    behind: int = 0
    # Requests that are served from an orphaned branch.
    forked: float = 0.0
    # New heads that are not sent to subscribers, and those at which the connection ends.
    unannounced: float = 0.0
    disconnected: float = 0.0
    # The chain id that it returns; the simulated chain's where None.
    chain_id: int | None = None
    # Methods that it does not support.
    lacking: frozenset[str] = frozenset()


# All required faults at once.
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
    """One request's limits; None is unlimited. The error messages are a provider's."""

    blocks: int | None = None
    logs: int | None = None
    batch: int | None = None
    # Whether logs contain their block's time.
    times: bool = True
    # Whether a range may end beyond the newest block.
    beyond_head: bool = True


_WORDS = {
    "blocks": (-32602, "query exceeds max block range {limit}"),
    "logs": (-32602, "query exceeds max results {limit}, retry with the range {first}-{last}"),
}


def too_many(what: str, *, limit: int, first: int, last: int) -> RefusedError:
    """Return a provider's error for a log query beyond a limit."""
    code, words = _WORDS[what]
    return RefusedError(code, words.format(limit=limit, first=first, last=last))

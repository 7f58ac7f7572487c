"""Node call counts for metrics by chain, method and outcome, and request durations by chain."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from config.http.errors import (
    HTTPStatusError,
    PermanentError,
    RateLimitedError,
    ResponseTimeoutError,
    ResponseTooLargeError,
    RetryableError,
)
from config.http.process_sums import add_duration, add_to_sums
from tokens.chains.rpc.responses import Call, CallFailure

_OUTCOMES: tuple[tuple[type[Exception], str], ...] = (
    (RateLimitedError, "rate limited"),
    (ResponseTimeoutError, "timeout"),
    (ResponseTooLargeError, "too large"),
    (HTTPStatusError, "refused"),
    (PermanentError, "refused"),
    (RetryableError, "unavailable"),
)


def counted(send: Callable[[], list[Any]], calls: Sequence[Call], *, chain_id: int) -> list[Any]:
    """Return the results from `send`, one for each call, and count the calls. Raises its errors.

    Outcomes are `ok`, `rejected` for a call that the node rejects within its response, and for the whole request
    `rate limited`, `timeout`, `too large`, `refused` and `unavailable`.
    """
    begun = time.monotonic()
    outcomes = ["unavailable"] * len(calls)
    try:
        results = send()
        outcomes = ["rejected" if isinstance(result, CallFailure) else "ok" for result in results]
        return results
    except (RetryableError, PermanentError) as error:
        outcomes = [next(name for kind, name in _OUTCOMES if isinstance(error, kind))] * len(calls)
        raise
    finally:
        chain = str(chain_id)
        add_duration("rpc_request_seconds", chain, seconds=time.monotonic() - begun)
        counts = Counter((call[0], outcome) for call, outcome in zip(calls, outcomes, strict=True))
        add_to_sums({("rpc_calls", chain, method, outcome): count for (method, outcome), count in counts.items()})

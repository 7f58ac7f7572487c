"""Fees of tokens that wait in pool and fee locker: reads of the chain that all callers share, few for each request."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from config.http.errors import PermanentError, RetryableError
from config.processes.concurrency_limits import node_slot
from config.redis.single_flight import CacheTimes, fetch_shared
from tokens.chains.rpc.client import query_deadline
from tokens.fees.uncollected import read_uncollected
from tokens.installation.installed_chains import UnsupportedChainError
from tokens.ledger.earned_fees import Payee
from tokens.models import Token

logger = logging.getLogger(__name__)

# Reasons of unknown amounts.
NOT_REQUESTED = "not_requested"
NOT_READ = "not_read"
CHAIN_UNAVAILABLE = "chain_unavailable"
NODE_UNAVAILABLE = "node_unavailable"
UNREADABLE = "unreadable"
RECIPIENT_UNKNOWN = "recipient_unknown"
CONVERSION_UNKNOWN = "conversion_unknown"

# Tokens of a request for which fees are read; each costs about four node requests, once in FRESH_SECONDS.
TOKENS_READ = 5
FRESH_SECONDS = 60
# Seconds of a request for all its tokens: a thread is blocked for as long.
_DEADLINE = 3.0
# Incremented with every change of the cached value.
_CACHE_VERSION = 1
_CACHE_TIMES = CacheTimes(fresh=FRESH_SECONDS, ttl=FRESH_SECONDS, wait_timeout=_DEADLINE, lock_ttl=10.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingFees:
    """Fees of a payee that wait for a claim, in the smallest unit of the currency; None is unknown, for the reason.

    `harvested` is in the fee locker: of a paired token that of all tokens of the recipient. `pending` is in the pool.
    """

    harvested: int | None = None
    pending: int | None = None
    block_number: int | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingReport:
    """Waiting fees of a token by payee, or the reason why none is known."""

    fees: dict[Payee, WaitingFees]
    reason: str = ""

    def of(self, payee: Payee) -> WaitingFees:
        """Return the fees of a payee."""
        return self.fees.get(payee) or WaitingFees(reason=self.reason or RECIPIENT_UNKNOWN)


def read_waiting(tokens: Sequence[Token], *, is_requested: bool) -> dict[int, WaitingReport]:
    """Return token id -> the waiting fees: of the first TOKENS_READ tokens, and of the others why they are unknown."""
    reason = NOT_READ if is_requested else NOT_REQUESTED
    found = {token.pk: WaitingReport(fees={}, reason=reason) for token in tokens}
    if is_requested:
        with query_deadline(_DEADLINE):
            found |= {token.pk: _read_report(token) for token in tokens[:TOKENS_READ]}
    return found


def _read_report(token: Token) -> WaitingReport:
    name = f"waiting-fees:{_CACHE_VERSION}:{token.pk}"
    try:
        shared = fetch_shared(name, lambda: _fetch(token), times=_CACHE_TIMES)
    except UnsupportedChainError:
        return WaitingReport(fees={}, reason=CHAIN_UNAVAILABLE)
    except RetryableError as error:
        logger.info("waiting fees of %s: %s", token, error)
        return WaitingReport(fees={}, reason=NODE_UNAVAILABLE)
    except PermanentError as error:
        logger.info("waiting fees of %s: %s", token, error)
        return WaitingReport(fees={}, reason=UNREADABLE)
    return _parse(shared.value)


def _fetch(token: Token) -> dict[str, Any]:
    """Read the fees of all recipients, as JSON; amounts as text, since they may have 256 bits."""
    with node_slot():
        report = read_uncollected(token, recipient=None)
    return {
        "block": report.block_number,
        "fees": [
            [
                each.recipient,
                fee.currency.address,
                str(fee.harvested),
                None if fee.pending is None else str(fee.pending),
            ]
            for each in report.recipients
            for fee in each.fees
            if each.recipient is not None
        ],
    }


def _parse(stored: dict[str, Any]) -> WaitingReport:
    return WaitingReport(
        fees={
            Payee(recipient, currency): WaitingFees(
                harvested=int(harvested),
                pending=None if pending is None else int(pending),
                block_number=stored["block"],
                reason=CONVERSION_UNKNOWN if pending is None else "",
            )
            for recipient, currency, harvested, pending in stored["fees"]
        }
    )

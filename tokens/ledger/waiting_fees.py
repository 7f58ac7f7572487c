"""Token fees that wait in pool and fee locker, by a few chain reads per request that all callers share."""

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

# Reasons for unknown amounts.
NOT_REQUESTED = "not_requested"
NOT_READ = "not_read"
CHAIN_UNAVAILABLE = "chain_unavailable"
NODE_UNAVAILABLE = "node_unavailable"
UNREADABLE = "unreadable"
RECIPIENT_UNKNOWN = "recipient_unknown"
CONVERSION_UNKNOWN = "conversion_unknown"

# Tokens per request whose fees are read; each costs about four node requests, once in FRESH_SECONDS.
TOKENS_READ = 5
FRESH_SECONDS = 60
# Seconds per request for all its tokens; they block a thread.
_DEADLINE = 3.0
# Increment with every change to the cached value.
_CACHE_VERSION = 1
_CACHE_TIMES = CacheTimes(fresh=FRESH_SECONDS, ttl=FRESH_SECONDS, wait_timeout=_DEADLINE, lock_ttl=10.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingFees:
    """A payee's fees that wait for a claim, in the currency's smallest unit; None is unknown, with a reason.

    `pending` is in the pool, `harvested` in the fee locker. A harvested paired token is the sum for all the recipient's
    tokens.
    """

    harvested: int | None = None
    pending: int | None = None
    block_number: int | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingReport:
    """A token's waiting fees by payee, or the reason why none is known."""

    fees: dict[Payee, WaitingFees]
    reason: str = ""

    def of(self, payee: Payee) -> WaitingFees:
        """Return a payee's fees."""
        return self.fees.get(payee) or WaitingFees(reason=self.reason or RECIPIENT_UNKNOWN)


def read_waiting(tokens: Sequence[Token], *, is_requested: bool) -> dict[int, WaitingReport]:
    """Return token id -> waiting fees. Only the first TOKENS_READ tokens have fees; the others have a reason."""
    reason = NOT_READ if is_requested else NOT_REQUESTED
    reports = {token.pk: WaitingReport(fees={}, reason=reason) for token in tokens}
    if is_requested:
        with query_deadline(_DEADLINE):
            reports |= {token.pk: _read_report(token) for token in tokens[:TOKENS_READ]}
    return reports


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
    """Read all recipients' fees, as JSON; amounts are text, since they may have 256 bits."""
    with node_slot():
        report = read_uncollected(token, recipient=None)
    return {
        "block": report.block_number,
        "fees": [
            [
                recipient_fees.recipient,
                fee.currency.address,
                str(fee.harvested),
                None if fee.pending is None else str(fee.pending),
            ]
            for recipient_fees in report.recipients
            for fee in recipient_fees.fees
            if recipient_fees.recipient is not None
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

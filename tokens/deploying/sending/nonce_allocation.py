"""Wallet choice for a deployment, and nonce allocation under the wallet's row lock."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal

from django.db import OperationalError, connection
from django.db.models import Case, DecimalField, F, Max, Sum, When
from django.db.models.functions import Cast
from psycopg.errors import LockNotAvailable

from config.http.errors import RetryableError
from tokens.chains.transaction_types import AccountState
from tokens.deploying.sending.wallets import IN_FLIGHT, usable_wallets
from tokens.models import DeployAttempt, Deployment, DeployWallet

# `lock_timeout` per attempt, while other signers hold all wallets.
LOCK_TIMEOUT_MS = 500


class WalletLockedError(RetryableError):
    """Raised when another process holds the wallet's row, or the wallet was disabled."""


class InsufficientBalanceError(RetryableError):
    """Raised when the wallet can't fund the deployment besides its in-flight ones; `shortfall` is in wei."""

    def __init__(self, shortfall: int) -> None:
        super().__init__(f"{shortfall} wei short")
        self.shortfall = shortfall


def candidate_wallets(chain_id: int, *, troubled_last: bool) -> list[DeployWallet]:
    """Return the usable wallets, fewest in flight first; with `troubled_last`, those with an alert come last."""
    troubled = Case(When(alerts={}, then=0), default=1 if troubled_last else 0)
    return list(usable_wallets(chain_id).annotate(in_flight=IN_FLIGHT).order_by(troubled, "in_flight", "pk"))


def allocate_nonce(wallet: DeployWallet, *, accounts: Mapping[str, AccountState], cost: int, wait: bool) -> int:
    """Allocate the wallet's next nonce; the wallet stays locked until the database transaction ends.

    `cost` is in wei. Without `wait`, a locked wallet is skipped. `accounts` are read before, so that no lock is held
    during a node call: rows have the transactions sent since. Raises WalletLockedError, InsufficientBalanceError.
    """
    rows = DeployWallet.objects.filter(pk=wallet.pk, enabled=True, signable=True)
    with _lock_timeout():
        locked = rows.select_for_update(no_key=True, skip_locked=not wait).first()
    if locked is None:
        raise WalletLockedError
    account = accounts[wallet.address]
    shortfall = cost + pending_cost(wallet, since=account.nonce) - account.balance
    if shortfall > 0:
        raise InsufficientBalanceError(shortfall)
    # The attempts count as well: next_nonce may come from an older backup.
    last_nonce = DeployAttempt.objects.filter(wallet=wallet).aggregate(last=Max("nonce"))["last"]
    nonce = max(locked.next_nonce, account.nonce, -1 if last_nonce is None else last_nonce + 1)
    DeployWallet.objects.filter(pk=wallet.pk).update(next_nonce=nonce + 1)
    return nonce


def pending_cost(wallet: DeployWallet, *, since: int) -> int:
    """Return the maximum wei reserved by attempts with nonce >= `since`: the balance at that nonce still has them."""
    attempts = DeployAttempt.objects.filter(wallet=wallet, nonce__gte=since, deployment__isnull=False)
    # Wei exceed the integer types for gas and fees.
    gas = Cast("deployment__gas", DecimalField(max_digits=78, decimal_places=0))
    most = F("deployment__value") + gas * F("fee")
    costs = attempts.annotate(fee=Max("versions__max_fee"), most=most)
    total: Decimal | None = costs.aggregate(total=Sum("most"))["total"]
    return int(total or 0)


def max_cost(deployment: Deployment, *, max_fee: int) -> int:
    """Return the maximum wei that a deployment may cost: its value, and its whole gas limit."""
    return int(deployment.value) + deployment.gas * max_fee


@contextmanager
def _lock_timeout() -> Iterator[None]:
    """Limit how long this database transaction blocks on a lock. Raises WalletLockedError."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{LOCK_TIMEOUT_MS}ms"])
    try:
        yield
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            raise WalletLockedError from error
        raise

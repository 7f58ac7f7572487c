"""Which wallet sends an order, and with which nonce: taken under the lock of the wallet's row, one at a time."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal

from django.db import OperationalError, connection
from django.db.models import Case, DecimalField, F, Max, Sum, When
from django.db.models.functions import Cast
from psycopg.errors import LockNotAvailable

from config.http.json_client import Retryable
from tokens.chains.transaction_types import Account
from tokens.deploying.sending.wallets import IN_FLIGHT, usable_wallets
from tokens.models import DeployAttempt, Deployment, DeployWallet

# How long a wallet is waited for at a time, while all of them are held by others' signers.
PATIENCE_MS = 500


class WalletBusy(Retryable):
    """Somebody else is taking a nonce of the wallet, or it was switched off."""


class WalletPoor(Retryable):
    """The wallet can't pay for the order besides what it has in flight; `lacks` is how many wei short it is."""

    def __init__(self, lacks: int) -> None:
        super().__init__(f"{lacks} wei short")
        self.lacks = lacks


def candidates(chain_id: int, *, troubled_last: bool) -> list[DeployWallet]:
    """The wallets that may send, those with the least in flight first; and before them, those without a trouble."""
    troubled = Case(When(trouble="", then=0), default=1 if troubled_last else 0)
    return list(usable_wallets(chain_id).annotate(in_flight=IN_FLIGHT).order_by(troubled, "in_flight", "pk"))


def take(wallet: DeployWallet, *, accounts: Mapping[str, Account], cost: int, wait: bool) -> int:
    """The wallet's next nonce, which nobody else gets; the wallet is locked until the database transaction ends.

    `cost` is in wei. Without `wait`, a wallet that somebody has locked is left alone. `accounts` were read before, so
    that no lock waits for a node: whatever was sent since is in the rows. Raises WalletBusy, WalletPoor.
    """
    rows = DeployWallet.objects.filter(pk=wallet.pk, enabled=True, signable=True)
    with _patience():
        locked = rows.select_for_update(no_key=True, skip_locked=not wait).first()
    if locked is None:
        raise WalletBusy
    account = accounts[wallet.address]
    lacks = cost + spoken_for(wallet, since=account.nonce) - account.balance
    if lacks > 0:
        raise WalletPoor(lacks)
    # The rows are asked, too: next_nonce may be an older backup's.
    given = DeployAttempt.objects.filter(wallet=wallet).aggregate(last=Max("nonce"))["last"]
    nonce = max(locked.next_nonce, account.nonce, -1 if given is None else given + 1)
    DeployWallet.objects.filter(pk=wallet.pk).update(next_nonce=nonce + 1)
    return nonce


def spoken_for(wallet: DeployWallet, *, since: int) -> int:
    """Wei that the wallet's attempts may cost from this nonce on, which a balance read with it does not show yet."""
    attempts = DeployAttempt.objects.filter(wallet=wallet, nonce__gte=since, deployment__isnull=False)
    # Wei don't fit into the integers of gas and fees.
    gas = Cast("deployment__gas", DecimalField(max_digits=78, decimal_places=0))
    most = F("deployment__value") + gas * F("fee")
    costs = attempts.annotate(fee=Max("versions__max_fee"), most=most)
    total: Decimal | None = costs.aggregate(total=Sum("most"))["total"]
    return int(total or 0)


def cost_of(order: Deployment, *, max_fee: int) -> int:
    """Wei that an order may cost at the most: what it sends, and all of its gas."""
    return int(order.value) + order.gas * max_fee


@contextmanager
def _patience() -> Iterator[None]:
    """Locks are waited for so long in this database transaction, and no longer. Raises WalletBusy."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{PATIENCE_MS}ms"])
    try:
        yield
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            raise WalletBusy from error
        raise

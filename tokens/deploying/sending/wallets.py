"""Wallets that send deployments: rows and balances, simulation senders, and chains' pause flags."""

from collections.abc import Collection, Iterator
from decimal import Decimal

from django.conf import settings
from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from config.http.errors import RetryableError
from tokens.deploying.sending import wallet_alerts
from tokens.installation.installed_chains import installed_chain
from tokens.installation.signing_wallets import named_wallets, signing_chains
from tokens.models import AttemptState, DeployAttempt, DeployWallet, WalletAlert
from tokens.models.deployment import DeploySwitch

_WEI_PER_COIN = 10**18


_OPEN = DeployAttempt.objects.filter(wallet=OuterRef("pk"), state=AttemptState.OPEN, final_at__isnull=True)
# Number of nonces without a receipt, by the partial index on attempts that are not final: most are final.
IN_FLIGHT = Coalesce(Subquery(_OPEN.order_by().values("wallet").annotate(count=Count("pk")).values("count")), 0)


class NoWalletError(RetryableError):
    """Raised when a chain has no usable wallet: none exists, all are disabled, or no signer has their keys."""


def refresh_wallets(chain_id: int, *, addresses: Collection[str]) -> None:
    """Store a row for each signer address on the chain, with its balance.

    Rows with other addresses are no longer `signable`. A balance below DEPLOY_LOW_BALANCE_ETH is a wallet alert
    until it is higher, and an account delegation (EIP-7702) until it is revoked. Raises UnsupportedChainError and
    NodeUnavailableError, after the rows are stored.
    """
    _store_new(chain_id, addresses)
    wallets = DeployWallet.objects.filter(chain_id=chain_id)
    wallets.filter(address__in=addresses, signable=False).update(signable=True)
    wallets.filter(signable=True).exclude(address__in=addresses).update(signable=False)
    _refresh_balances(chain_id)
    _refresh_delegations(chain_id)


def _store_new(chain_id: int, addresses: Collection[str]) -> None:
    rows = [DeployWallet(chain_id=chain_id, address=address, signable=True) for address in sorted(addresses)]
    DeployWallet.objects.bulk_create(rows, ignore_conflicts=True)


def _refresh_balances(chain_id: int) -> None:
    # Including wallets without a key: they may have transactions in flight, and funds left.
    wallet_by_address = {wallet.address: wallet for wallet in DeployWallet.objects.filter(chain_id=chain_id)}
    if wallet_by_address:
        for address, account in installed_chain(chain_id).read_accounts(tuple(wallet_by_address)).items():
            _note_balance(wallet_by_address[address], account.balance)


def _refresh_delegations(chain_id: int) -> None:
    # Including wallets without a key, as for balances.
    id_by_address = dict(DeployWallet.objects.filter(chain_id=chain_id).values_list("address", "pk"))
    if id_by_address:
        delegates = installed_chain(chain_id).read_delegates(tuple(id_by_address))
        for address, wallet_id in id_by_address.items():
            delegate = delegates.get(address)
            message = f"the account executes the code of {delegate} (EIP-7702)" if delegate else ""
            wallet_alerts.set_alert(wallet_id, WalletAlert.DELEGATION, message)


def chains_with_wallets() -> set[int]:
    """Return the chains that have or had a signer; their wallets are to be refreshed."""
    return signing_chains() | set(DeployWallet.objects.values_list("chain_id", flat=True).distinct())


def list_wallets() -> QuerySet[DeployWallet]:
    """Return all wallets that were ever stored, by chain; `in_flight` counts their nonces without receipt."""
    return DeployWallet.objects.annotate(in_flight=IN_FLIGHT).order_by("chain_id", "address")


def has_disabled_wallet(chain_id: int) -> bool:
    """Return whether an operator has disabled a wallet that could send."""
    return DeployWallet.objects.filter(chain_id=chain_id, enabled=False, signable=True).exists()


def usable_wallets(chain_id: int) -> QuerySet[DeployWallet]:
    """Return the enabled wallets that have a signer, highest balance first."""
    usable = DeployWallet.objects.filter(chain_id=chain_id, enabled=True, signable=True)
    return usable.order_by(F("balance").desc(nulls_last=True), "pk")


def simulation_senders(chain_id: int) -> list[str]:
    """Return the addresses (EIP-55) that simulations may come from, highest balance first. Raises NoWalletError.

    If no wallet on the chain has a signer, the wallets that the settings name are stored now, with the errors that
    `refresh_wallets` raises: an installation's first deployment needs no worker for that. A stored wallet stays
    unchanged: the worker, which opens the key files, has stored it.
    """
    if not DeployWallet.objects.filter(chain_id=chain_id, signable=True).exists():
        _store_new(chain_id, named_wallets(chain_id))
        _refresh_balances(chain_id)
    addresses = list(usable_wallets(chain_id).values_list("address", flat=True))
    if not addresses:
        raise NoWalletError(f"no wallet can send on chain {chain_id}")
    return addresses


def is_low_balance(balance: Decimal | int | None) -> bool:
    """Return whether a balance in wei is below DEPLOY_LOW_BALANCE_ETH; an unknown one is not."""
    low: Decimal = settings.DEPLOY_LOW_BALANCE_ETH
    return balance is not None and balance < low * _WEI_PER_COIN


def _note_balance(wallet: DeployWallet, balance: int) -> None:
    DeployWallet.objects.filter(pk=wallet.pk).update(balance=balance, balance_at=timezone.now())
    # A wallet without a signer needs no balance.
    low = wallet.signable and is_low_balance(balance)
    # Without the balance itself, which changes with each deployment: the text stays the same and is logged once.
    message = f"less than {settings.DEPLOY_LOW_BALANCE_ETH.normalize():f} of the native coin is left" if low else ""
    wallet_alerts.set_alert(wallet.pk, WalletAlert.BALANCE, message)


def is_paused(chain_id: int) -> bool:
    """Return whether operators have paused deployments on the chain; without a row they are not paused."""
    return DeploySwitch.objects.filter(chain_id=chain_id, paused=True).exists()


def pause_restored_chains() -> Iterator[str]:
    """Pause deployments on all chains with a wallet: transactions after the backup are unknown, and may be in flight.

    The chain's nonce counts mined transactions, so that a new one could replace a deployment that was sent, and a
    partner may request again what is deployed already.
    """
    for chain_id in DeployWallet.objects.order_by("chain_id").values_list("chain_id", flat=True).distinct():
        paused = {"paused": True, "reason": "restored from a backup"}
        DeploySwitch.objects.update_or_create(chain_id=chain_id, defaults=paused)
        yield (
            f"Deployments on chain {chain_id} are paused. Resume them once no transaction of its wallets is pending on"
            " the chain, and the launches since the backup are indexed."
        )

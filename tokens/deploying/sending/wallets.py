"""Wallets that send deployments: their rows, and which of them may send."""

from collections.abc import Collection

from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from config.http.errors import RetryableError
from tokens.chains.evm.evm_chain import Chain
from tokens.deploying.sending.wallet_accounts import refresh_balances, refresh_delegations
from tokens.installation.installed_chains import installed_chain
from tokens.installation.signing_wallets import named_wallets, signing_chains
from tokens.models import AttemptState, DeployAttempt, DeployWallet

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
    chain = installed_chain(chain_id)
    refresh_balances(chain)
    refresh_delegations(chain)


def _store_new(chain_id: int, addresses: Collection[str]) -> None:
    rows = [DeployWallet(chain_id=chain_id, address=address, signable=True) for address in sorted(addresses)]
    DeployWallet.objects.bulk_create(rows, ignore_conflicts=True)


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


def simulation_senders(chain: Chain) -> list[str]:
    """Return the addresses (EIP-55) that simulations may come from, highest balance first. Raises NoWalletError.

    If no wallet on the chain has a signer, the wallets that the settings name are stored now, with the errors that
    `refresh_wallets` raises: an installation's first deployment needs no worker for that. A stored wallet stays
    unchanged: the worker, which opens the key files, has stored it.
    """
    chain_id = chain.info.chain_id
    if not DeployWallet.objects.filter(chain_id=chain_id, signable=True).exists():
        _store_new(chain_id, named_wallets(chain_id))
        refresh_balances(chain)
    addresses = list(usable_wallets(chain_id).values_list("address", flat=True))
    if not addresses:
        raise NoWalletError(f"no wallet can send on chain {chain_id}")
    return addresses

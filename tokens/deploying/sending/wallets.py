"""The wallets that send deployments: which there are, what they own, and whom a simulation comes from."""

from dataclasses import dataclass, fields
from decimal import Decimal

from django.conf import settings
from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from config.http.json_client import Retryable
from tokens.deploying.sending import wallet_alerts
from tokens.deploying.sending.wallet_alerts import Trouble
from tokens.installation.installed_chains import installed_chain
from tokens.installation.installed_signers import installed_signer, signing_chains
from tokens.models import DeployAttempt, DeployWallet
from tokens.models.deployment import DeploySwitch

_WEI_PER_COIN = 10**18


_OPEN = DeployAttempt.objects.filter(wallet=OuterRef("pk"), state=DeployAttempt.State.OPEN, final_at__isnull=True)
# How many nonces of a wallet wait for a receipt: by the index of what is not final, for a wallet has many that are.
IN_FLIGHT = Coalesce(Subquery(_OPEN.order_by().values("wallet").annotate(count=Count("pk")).values("count")), 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class WalletState:
    """A wallet as its row has it: `balance` is in wei, None before a node was asked."""

    chain_id: int
    address: str
    balance: Decimal | None
    next_nonce: int
    in_flight: int
    enabled: bool
    signable: bool
    trouble: str


class NoWallet(Retryable):
    """No wallet can send on the chain now: there is none, an operator switched it off, or nobody has its key."""


def note_wallets(chain_id: int) -> int:
    """Have a row for each address that the chain's signer has, with its present balance; how many they are.

    Rows of other addresses are no longer `signable`. A balance below DEPLOY_LOW_BALANCE_ETH is a trouble of the wallet
    until it is higher. Raises UnsupportedChain and NodeUnavailable, after the rows are there.
    """
    addresses = installed_signer(chain_id).addresses
    rows = [DeployWallet(chain_id=chain_id, address=address, signable=True) for address in sorted(addresses)]
    DeployWallet.objects.bulk_create(rows, ignore_conflicts=True)
    wallets = DeployWallet.objects.filter(chain_id=chain_id)
    wallets.filter(address__in=addresses, signable=False).update(signable=True)
    wallets.filter(signable=True).exclude(address__in=addresses).update(signable=False)
    # With those whose key is gone: they may have transactions in flight, and somebody may miss what is left there.
    known = {wallet.address: wallet for wallet in wallets}
    if known:
        for address, account in installed_chain(chain_id).read_accounts(tuple(known)).items():
            _note_balance(known[address], account.balance)
    return len(addresses)


def noted_chains() -> set[int]:
    """The chains whose wallets are to be noted: those that have a signer, and those that had one."""
    return signing_chains() | set(DeployWallet.objects.values_list("chain_id", flat=True).distinct())


def read_wallets() -> list[WalletState]:
    """All wallets that were ever noted, chain by chain."""
    rows = DeployWallet.objects.annotate(in_flight=IN_FLIGHT).order_by("chain_id", "address")
    return [WalletState(**{field.name: getattr(row, field.name) for field in fields(WalletState)}) for row in rows]


def is_any_switched_off(chain_id: int) -> bool:
    """Whether an operator has switched a wallet off that could send."""
    return DeployWallet.objects.filter(chain_id=chain_id, enabled=False, signable=True).exists()


def usable_wallets(chain_id: int) -> QuerySet[DeployWallet]:
    """The wallets that an operator has not switched off and that somebody can sign for, the richest first."""
    usable = DeployWallet.objects.filter(chain_id=chain_id, enabled=True, signable=True)
    return usable.order_by(F("balance").desc(nulls_last=True), "pk")


def senders_for(chain_id: int) -> list[str]:
    """The addresses (EIP-55) that simulations may come from, one at least: the richest wallet's first. Raises NoWallet.

    Where no wallet of the chain can be signed for, they are noted now, with the errors of `note_wallets`: the first
    deployment of an installation does not wait for a worker to do so.
    """
    if not DeployWallet.objects.filter(chain_id=chain_id, signable=True).exists():
        note_wallets(chain_id)
    addresses = list(usable_wallets(chain_id).values_list("address", flat=True))
    if not addresses:
        raise NoWallet(f"no wallet can send on chain {chain_id}")
    return addresses


def is_low(balance: Decimal | int | None) -> bool:
    """Whether a balance in wei wants an operator; an unknown one does not yet."""
    low: Decimal = settings.DEPLOY_LOW_BALANCE_ETH
    return balance is not None and balance < low * _WEI_PER_COIN


def _note_balance(wallet: DeployWallet, balance: int) -> None:
    DeployWallet.objects.filter(pk=wallet.pk).update(balance=balance, balance_at=timezone.now())
    # One that sends nothing needs nothing.
    low = wallet.signable and is_low(balance)
    # Without the balance itself, which changes with each deployment: a trouble is said once.
    words = f"less than {settings.DEPLOY_LOW_BALANCE_ETH.normalize():f} of the native coin is left" if low else ""
    wallet_alerts.note(wallet.pk, Trouble.BALANCE, words)


# The operators' switch of a chain: while it is off, no order is taken there and none is signed.
def is_paused(chain_id: int) -> bool:
    """Whether operators have paused deployments on the chain; without a row they go on."""
    return DeploySwitch.objects.filter(chain_id=chain_id, paused=True).exists()

"""Alerts of wallets, for operators: one line for each kind, so that none overwrites another."""

import logging
from collections.abc import Iterable
from enum import StrEnum

from django.db import transaction

from tokens.models import DeployWallet

logger = logging.getLogger(__name__)


class WalletAlert(StrEnum):
    """Kind of an alert; each line begins with it."""

    # The balance in the native coin is low.
    BALANCE = "balance"
    # The signer does not sign.
    SIGNER = "signer"
    # The fee cap is below the chain's gas price.
    FEES = "fees"
    # A node suggests far more than the others, or the registry's cap of the priority fee binds.
    TIP = "tip"
    # The account executes a contract's code (EIP-7702), which only its key can have allowed.
    DELEGATION = "delegation"
    # A node rejects a transaction, or another one uses the nonce.
    SENDING = "sending"


def set_alert(wallet_id: int, kind: WalletAlert, message: str) -> None:
    """Store a wallet's alert of this kind as one line without a URL; an empty text clears it."""
    line = f"{kind}: {' '.join(message.split())}" if message else ""
    seen = DeployWallet.objects.filter(pk=wallet_id).values_list("trouble", flat=True).first()
    if seen is None or _with(seen, kind, line) == seen:
        return
    with transaction.atomic():
        wallet = DeployWallet.objects.select_for_update(no_key=True).get(pk=wallet_id)
        wallet.trouble = _with(wallet.trouble, kind, line)
        wallet.save(update_fields=["trouble"])
    if line:
        logger.warning("chain %s, wallet %s: %s", wallet.chain_id, wallet.address, line)


def report_tip(wallets: Iterable[DeployWallet], alarm: str) -> None:
    """Set the alert about the priority fee of these wallets; an empty text clears it, if the row as read has one."""
    for wallet in wallets:
        if alarm or f"{WalletAlert.TIP}:" in wallet.trouble:
            set_alert(wallet.pk, WalletAlert.TIP, alarm)


def clear_alerts(wallet: DeployWallet, *kinds: WalletAlert) -> None:
    """Clear these kinds of alerts, if the row as it was read has any."""
    if wallet.trouble:
        for kind in kinds:
            set_alert(wallet.pk, kind, "")


def _with(trouble: str, kind: WalletAlert, line: str) -> str:
    others = [other for other in trouble.splitlines() if not other.startswith(f"{kind}:")]
    return "\n".join([*others, line] if line else others)

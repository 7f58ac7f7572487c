"""Wallet alerts, for operators: one text per kind, so that none overwrites another."""

import logging
from collections.abc import Iterable, Mapping
from decimal import Decimal

from django.conf import settings
from django.db import transaction

from tokens.models import DeployWallet, WalletAlert

logger = logging.getLogger(__name__)

_WEI_PER_COIN = 10**18


def set_alert(wallet_id: int, kind: WalletAlert, message: str) -> None:
    """Store a wallet's alert of this kind as one line without a URL; an empty text clears it."""
    text = " ".join(message.split())
    alerts = DeployWallet.objects.filter(pk=wallet_id).values_list("alerts", flat=True).first()
    if alerts is None or alerts.get(kind, "") == text:
        return
    with transaction.atomic():
        wallet = DeployWallet.objects.select_for_update(no_key=True).get(pk=wallet_id)
        wallet.alerts = _with(wallet.alerts, kind, text)
        wallet.save(update_fields=["alerts"])
    if text:
        logger.warning("chain %s, wallet %s: %s: %s", wallet.chain_id, wallet.address, kind, text)


def report_tip(wallets: Iterable[DeployWallet], alarm: str) -> None:
    """Set these wallets' alert about the priority fee; an empty text clears it, if the row as read has one."""
    for wallet in wallets:
        if alarm or WalletAlert.TIP in wallet.alerts:
            set_alert(wallet.pk, WalletAlert.TIP, alarm)


def clear_alerts(wallet: DeployWallet, *kinds: WalletAlert) -> None:
    """Clear alerts with these kinds, if the row as it was read has any."""
    if wallet.alerts:
        for kind in kinds:
            set_alert(wallet.pk, kind, "")


def is_low_balance(balance: Decimal | int | None) -> bool:
    """Return whether a balance in wei is below DEPLOY_LOW_BALANCE_ETH; an unknown one is not."""
    low: Decimal = settings.DEPLOY_LOW_BALANCE_ETH
    return balance is not None and balance < low * _WEI_PER_COIN


def _with(alerts: Mapping[str, str], kind: WalletAlert, text: str) -> dict[str, str]:
    others = {other: text for other, text in alerts.items() if other != kind}
    return others | ({kind.value: text} if text else {})

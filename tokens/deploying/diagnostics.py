"""Doctor check for deployment wallets."""

from collections.abc import Iterator
from datetime import datetime

from config.doctor.findings import Finding, Level
from tokens.installation.installed_registry import chain_name
from tokens.models import DeployWallet, WalletAlert

# By alert kind.
_ACTIONS: dict[str, str] = {
    WalletAlert.DELEGATION: "Unless an operator has set this delegation, the key is known to others: disable the"
    " wallet, move its coins and use another key.",
}


def wallets(_now: datetime) -> Iterator[Finding]:
    """Yield each wallet's alerts, as of the workers' last node query."""
    all_wallets = DeployWallet.objects.order_by("chain_id", "address")
    for wallet in all_wallets:
        for kind, text in sorted(wallet.alerts.items()):
            yield Finding(
                level=Level.ERROR if kind in _ACTIONS else Level.WARNING,
                summary=f"Wallet {wallet.address} on {chain_name(wallet.chain_id)}: {kind}: {text}.",
                action=_ACTIONS.get(kind, "See the table of alerts."),
                guide="repairing.md#wallets",
            )
    alerted = sum(1 for wallet in all_wallets if wallet.alerts)
    yield Finding(level=Level.OK, summary=f"{len(all_wallets)} wallets, {alerted} with an alert.")

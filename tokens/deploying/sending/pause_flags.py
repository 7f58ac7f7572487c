"""Per-chain pause flags: on a paused chain no deployment is accepted or signed.

Operators set them in the admin site; a restored backup sets them for all chains with a wallet.
"""

from collections.abc import Iterator

from config.http.errors import RetryableError
from tokens.models import DeployWallet
from tokens.models.deployment import DeploySwitch


class DeploymentsPausedError(RetryableError):
    """Raised when operators have paused deployments on the chain."""


def is_paused(chain_id: int) -> bool:
    """Return whether operators have paused deployments on the chain; without a row they are not paused."""
    return DeploySwitch.objects.filter(chain_id=chain_id, paused=True).exists()


def check_not_paused(chain_id: int) -> None:
    """Raise DeploymentsPausedError if operators have paused deployments on the chain."""
    if is_paused(chain_id):
        raise DeploymentsPausedError(f"deployments on chain {chain_id} are paused")


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

"""What keeps wallets from sending, in words for operators: one line for each kind, so that none wipes out another."""

import logging
from enum import StrEnum

from django.db import transaction

from tokens.models import DeployWallet

logger = logging.getLogger(__name__)


class Trouble(StrEnum):
    """What a line is about; each begins with its kind."""

    # There is little of the native coin left.
    BALANCE = "balance"
    # Whoever has the key does not sign.
    SIGNER = "signer"
    # The cap is below what the chain wants.
    FEES = "fees"
    # A node says no, or another transaction has the place.
    SENDING = "sending"


def note(wallet_id: int, kind: Trouble, words: str) -> None:
    """Say what is the matter with a wallet, in one line without a URL; without words, that this is over."""
    line = f"{kind}: {' '.join(words.split())}" if words else ""
    seen = DeployWallet.objects.filter(pk=wallet_id).values_list("trouble", flat=True).first()
    if seen is None or _with(seen, kind, line) == seen:
        return
    with transaction.atomic():
        wallet = DeployWallet.objects.select_for_update(no_key=True).get(pk=wallet_id)
        wallet.trouble = _with(wallet.trouble, kind, line)
        wallet.save(update_fields=["trouble"])
    if line:
        logger.warning("chain %s, wallet %s: %s", wallet.chain_id, wallet.address, line)


def settled(wallet: DeployWallet, *kinds: Trouble) -> None:
    """Say that this is over, where the row as it was read says that there is anything."""
    if wallet.trouble:
        for kind in kinds:
            note(wallet.pk, kind, "")


def _with(trouble: str, kind: Trouble, line: str) -> str:
    others = [other for other in trouble.splitlines() if not other.startswith(f"{kind}:")]
    return "\n".join([*others, line] if line else others)

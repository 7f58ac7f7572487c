"""Check for one recipient's share in a token's airdrop, for the form on the token's page."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from tokens.chains.addresses import is_solana_address, parse_address
from tokens.deploying.airdrop_proofs import find_proofs
from tokens.models import Token
from tokens.site.details.claim_history import read_claimed_airdrop
from tokens.site.details.launch_terms import whole_amount

_MAX_ADDRESS = 64


@dataclass(frozen=True, kw_only=True)
class AirdropPart:
    """Amount that a recipient may claim, in whole tokens and in smallest units, and the proof for the contract."""

    amount: Decimal
    units: int
    proof: Sequence[str]

    @property
    def proof_text(self) -> str:
        """Return the proof as JSON, for wallets and scripts."""
        return json.dumps(list(self.proof))


@dataclass(frozen=True, kw_only=True)
class AirdropCheck:
    """Check result: the recipient as typed, whether it is an address, its parts, and the claimed amount.

    An unknown amount is None.
    """

    recipient: str
    is_address: bool = False
    parts: Sequence[AirdropPart] = ()
    claimed: Decimal | None = None


def check_airdrop(token: Token, recipient: str) -> AirdropCheck | None:
    """Return the recipient's part; None without a recipient. At most four queries.

    Proofs exist for airdrops that this service deployed or that partners saved. Other recipients are unknown.
    """
    text = recipient.strip()[:_MAX_ADDRESS]
    if not text:
        return None
    try:
        account = parse_address(text)
    except ValueError:
        return AirdropCheck(recipient=text)
    if is_solana_address(token.contract_address):
        return AirdropCheck(recipient=account, is_address=True)
    parts = [
        AirdropPart(amount=whole_amount(token, entry.amount), units=entry.amount, proof=entry.proof)
        for entry in find_proofs(token.contract_address, claimer=account)
    ]
    return AirdropCheck(
        recipient=account, is_address=True, parts=parts, claimed=read_claimed_airdrop(token, account=account)
    )

"""Launch requests, as partners send them."""

import secrets
from typing import Any

from accounts.models import PartnerKey
from development.devchain.anvil import CHAIN_ID
from tokens.models import SpendingLimit

# Accounts 1 and 2 on the development chain's node: the tokens' owner, and their deployer.
ADMIN = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
WALLET = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"


def order(*, token: dict[str, Any] | None = None, **parts: Any) -> dict[str, Any]:
    """Return the smallest launch request on the development chain, under its own key, with these parts changed."""
    settings = {"name": "Dog", "symbol": "DOG", "tokenAdmin": ADMIN, "requestKey": secrets.token_hex(16)}
    return {"token": settings | (token or {}), "chainId": CHAIN_ID} | parts


def allow_dev_buys(partner: PartnerKey, *, own: str = "10", together: str = "10", chain_id: int = CHAIN_ID) -> None:
    """Set the spending limits for a key and for all keys together, in ETH a day."""
    for key, eth in ((partner, own), (None, together)):
        SpendingLimit.objects.update_or_create(partner_key=key, chain_id=chain_id, defaults={"eth_per_day": eth})


def pretoken(keyword: str = "doge", *, settings: dict[str, Any] | None = None, **parts: Any) -> dict[str, Any]:
    """Return a pretoken's smallest body on the development chain, with these parts changed."""
    admins = [{"admin": ADMIN, "recipient": ADMIN, "bps": 10_000}]
    token = {"name": "Doge", "symbol": "DOGE", "admins": admins} | (settings or {})
    return {"keyword": keyword, "chain_id": CHAIN_ID, "token_settings": token} | parts

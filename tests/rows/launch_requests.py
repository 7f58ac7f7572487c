"""Launch requests, as partners send them."""

import secrets
from typing import Any

from development.devchain.anvil import CHAIN_ID

# Accounts 1 and 2 of the development chain's node: the owner of the tokens, and their deployer.
ADMIN = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
WALLET = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"


def order(*, token: dict[str, Any] | None = None, **parts: Any) -> dict[str, Any]:
    """Return the smallest launch request on the development chain, under a key of its own, with these parts changed."""
    settings = {"name": "Dog", "symbol": "DOG", "tokenAdmin": ADMIN, "requestKey": secrets.token_hex(16)}
    return {"token": settings | (token or {}), "chainId": CHAIN_ID} | parts


def pretoken(keyword: str = "doge", *, settings: dict[str, Any] | None = None, **parts: Any) -> dict[str, Any]:
    """Return the smallest body of a pretoken on the development chain, with these parts changed."""
    admins = [{"admin": ADMIN, "recipient": ADMIN, "bps": 10_000}]
    token = {"name": "Doge", "symbol": "DOGE", "admins": admins} | (settings or {})
    return {"keyword": keyword, "chain_id": CHAIN_ID, "token_settings": token} | parts

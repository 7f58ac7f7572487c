"""Tokens of pages: by the address in a page's path, and what all pages show of a token."""

from typing import Any

from tokens.chains.addresses import parse_address
from tokens.installation import installed_registry
from tokens.installation.installed_registry import generation_label
from tokens.models import Token

_MAX_CHAIN_ID = 2**63 - 1


def find_page_token(chain_id: int, address: str) -> Token | None:
    """Return the token at an address in any spelling, also a blocked one; None without one."""
    try:
        stored = parse_address(address, allow_mint=True)
    except ValueError:
        return None
    # No chain id exceeds the column's range.
    return Token.objects.at_address(stored, chain_id=min(chain_id, _MAX_CHAIN_ID)).with_copies().first()


def describe_token(token: Token) -> dict[str, Any]:
    """Return the template context that all pages share."""
    return {
        "token": token,
        "type": generation_label(token.generation),
        "chain": installed_registry.chain_name(token.chain_id),
        "explorer_page": installed_registry.explorer_token_page(token.chain_id, token.contract_address),
    }

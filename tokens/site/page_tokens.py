"""Token lookup by the address in a page's path, and the token facts that all pages show."""

from typing import Any

from django.http import Http404

from tokens.chains.addresses import parse_address
from tokens.installation import installed_registry
from tokens.installation.installed_launchpads import is_declared, launchpad_badge
from tokens.installation.installed_registry import generation_label, generation_version
from tokens.models import Token

_MAX_CHAIN_ID = 2**63 - 1


def find_page_token(chain_id: int, address: str) -> Token | None:
    """Return the token at an address in any spelling, with its market and launch; also a blocked one. One query."""
    try:
        stored = parse_address(address, allow_mint=True)
    except ValueError:
        return None
    # No chain id exceeds the column's range.
    tokens = Token.objects.at_address(stored, chain_id=min(chain_id, _MAX_CHAIN_ID))
    return tokens.select_related("market", "launch").with_warnings().first()


def find_token_or_404(chain_id: int, address: str) -> Token:
    """Return the token in a page's path. Raises Http404."""
    token = find_page_token(chain_id, address)
    if token is None:
        raise Http404
    return token


def has_moved(token: Token) -> bool:
    """Return whether the token trades in another pool than its launch pool, whose fees and rules do not apply."""
    pool = token.launch.facts.get("pool") if hasattr(token, "launch") else None
    return bool(pool and pool.get("address") and pool["address"] != token.pool_address)


def describe_token(token: Token) -> dict[str, Any]:
    """Return the template context that all pages share."""
    return {
        "token": token,
        "type": generation_label(token.generation),
        "version": generation_version(token.generation),
        "launchpad": launchpad_badge(token.generation),
        "is_declared": is_declared(token.generation),
        "chain": installed_registry.chain_name(token.chain_id),
        "explorer_page": installed_registry.explorer_token_page(token.chain_id, token.contract_address),
    }

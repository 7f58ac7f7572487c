"""Public pages: the newest tokens, and a page per token.

They load no external resources: an image is on the launcher's server, which could log the visitors of its token.
"""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from config.api.replica_reads import from_replica
from config.api.response_headers import page_headers
from tokens.chains.addresses import parse_address
from tokens.following.chain_status import chain_name
from tokens.indexing.metadata import social_links
from tokens.installation import installed_registry
from tokens.installation.installed_registry import generation_label
from tokens.models import Token

NEWEST = 20
_MAX_CHAIN_ID = 2**63 - 1

_HEADERS = page_headers(2)


@require_safe
@from_replica
def home(request: HttpRequest) -> HttpResponse:
    """Render the newest listed tokens."""
    tokens = Token.objects.listed().order_by("-deployed_at", "-id")[:NEWEST]
    return TemplateResponse(request, "home.html", {"tokens": [_describe(token) for token in tokens]}, headers=_HEADERS)


@require_safe
@from_replica
def token_page(request: HttpRequest, chain_id: int, address: str) -> HttpResponse:
    """Render the page of a token, the target of the API's `url`; the page of a blocked token is marked as blocked."""
    token = _find_token(chain_id, address)
    return TemplateResponse(request, "token.html", _describe(token) | _facts(token), headers=_HEADERS)


def _find_token(chain_id: int, address: str) -> Token:
    try:
        stored = parse_address(address, allow_mint=True)
    except ValueError as error:
        raise Http404 from error
    # No chain id exceeds the column's range.
    tokens = Token.objects.at_address(stored, chain_id=min(chain_id, _MAX_CHAIN_ID)).with_copies()
    token = tokens.first()
    if token is None:
        raise Http404
    return token


def _describe(token: Token) -> dict[str, Any]:
    """Return the template context that both pages share."""
    return {
        "token": token,
        "type": generation_label(token.generation),
        "chain": chain_name(token.chain_id),
        "explorer_page": installed_registry.explorer_token_page(token.chain_id, token.contract_address),
    }


def _facts(token: Token) -> dict[str, Any]:
    # Browsers open no ipfs:// URLs.
    links = [link for link in social_links(token.metadata) if link["link"].lower().startswith(("https://", "http://"))]
    return {
        "supply": None if token.supply is None else _whole_tokens(int(token.supply), decimals=token.decimals),
        "warnings": token.warnings,
        "links": links,
    }


def _whole_tokens(amount: int, *, decimals: int) -> str:
    """Format an exact amount with thousands separators: 100,000,000,000 or 0.5."""
    whole, rest = divmod(amount, 10**decimals)
    return f"{whole:,}." + f"{rest:0{decimals}}".rstrip("0") if rest else f"{whole:,}"

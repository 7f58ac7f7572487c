"""The public pages: the newest tokens, and one token's facts.

They load nothing from anywhere: an image address is the launcher's, and would tell him who looks at his token.
"""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from config.api.fields import parse_address
from config.api.response_headers import shared_for
from tokens.catalogue.viewed_tokens import note_viewed
from tokens.following.chain_status import chain_name
from tokens.indexing.metadata import social_links
from tokens.installation import installed_chains
from tokens.installation.installed_chains import generation_label
from tokens.models import Token

NEWEST = 20
_MAX_CHAIN_ID = 2**63 - 1

_HEADERS = {
    "Cache-Control": shared_for(2),
    # Styles stand in the page itself; there is nothing else to load, and no script.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The newest listed tokens."""
    tokens = Token.objects.listed().order_by("-deployed_at", "-id")[:NEWEST]
    return TemplateResponse(request, "home.html", {"tokens": [_describe(token) for token in tokens]}, headers=_HEADERS)


@require_safe
def token_page(request: HttpRequest, chain_id: int, address: str) -> HttpResponse:
    """One token, to which the API's `url` leads; blocked tokens have their page, which says so."""
    token = _find(chain_id, address)
    note_viewed([token.pk])
    return TemplateResponse(request, "token.html", _describe(token) | _facts(token), headers=_HEADERS)


def _find(chain_id: int, address: str) -> Token:
    try:
        stored = parse_address(address, allow_mint=True)
    except ValueError as error:
        raise Http404 from error
    # A number that no column holds is no chain.
    tokens = Token.objects.at_address(stored, chain_id=min(chain_id, _MAX_CHAIN_ID)).with_copies()
    token = tokens.first()
    if token is None:
        raise Http404
    return token


def _describe(token: Token) -> dict[str, Any]:
    """What both pages show of a token."""
    return {
        "token": token,
        "type": generation_label(token.generation),
        "chain": chain_name(token.chain_id),
        "explorer_page": installed_chains.token_page(token.chain_id, token.contract_address),
    }


def _facts(token: Token) -> dict[str, Any]:
    # Anything may stand where launchers put links: only addresses of the web become one.
    links = [link for link in social_links(token.metadata) if link["link"].lower().startswith(("https://", "http://"))]
    return {
        "supply": None if token.supply is None else _whole_tokens(int(token.supply), decimals=token.decimals),
        "warnings": token.warnings,
        "links": links,
    }


def _whole_tokens(amount: int, *, decimals: int) -> str:
    """Exact, with a comma for each three digits: 100,000,000,000 or 0.5."""
    whole, rest = divmod(amount, 10**decimals)
    return f"{whole:,}." + f"{rest:0{decimals}}".rstrip("0") if rest else f"{whole:,}"

"""Page of a token.

It loads no external resources: an image is on the launcher's server, which could log the visitors of its token.
"""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from config.api.replica_reads import from_replica
from config.api.response_headers import page_headers
from tokens.indexing.metadata import social_links
from tokens.models import Token
from tokens.site.page_tokens import describe_token, find_page_token

_HEADERS = page_headers(2)


@require_safe
@from_replica
def token_page(request: HttpRequest, chain_id: int, address: str) -> HttpResponse:
    """Render the page of a token, the target of the API's `url`; the page of a blocked token is marked as blocked."""
    token = find_page_token(chain_id, address)
    if token is None:
        raise Http404
    return TemplateResponse(request, "site/token.html", describe_token(token) | _facts(token), headers=_HEADERS)


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

"""A token's page, and the page with its trades.

They load no external resources: an image is on the launcher's server, which could log the token's visitors.
"""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import escape
from django.views.decorators.http import require_safe

from config.api.replica_reads import from_replica
from config.site.formats import plain
from config.site.page_limits import limited_page
from config.web.response_headers import page_headers
from tokens.installation.installed_registry import explorer_transaction_page
from tokens.models import Token
from tokens.site.details.airdrop_check import check_airdrop
from tokens.site.details.claim_history import read_claims
from tokens.site.details.curve_state import read_curve
from tokens.site.details.drawn_chart import choose_chart, read_chart
from tokens.site.details.integrity_panel import read_integrity
from tokens.site.details.launch_terms import exact_amount, launch_terms
from tokens.site.details.token_facts import contracts, launcher_links, read_creator, read_day_trades, read_verification
from tokens.site.details.trade_list import read_trades
from tokens.site.page_tokens import describe_token, find_token_or_404
from tokens.site.warning_texts import warning_texts

_HEADERS = page_headers(2)
_FRAME = '<iframe src="{url}" width="420" height="300" title="{title}" loading="lazy"></iframe>'
_MAX_FRAME_TITLE = 30
_MAX_DESCRIPTION, _MAX_LINES = 1000, 30


@require_safe
@limited_page
@from_replica
def token_page(request: HttpRequest, chain_id: int, address: str) -> HttpResponse:
    """Render a token's page, the target of the API's `url`; a blocked token's page is marked as blocked."""
    token = find_token_or_404(chain_id, address)
    context = describe_token(token) | _facts(token) | _parts(token, request)
    return TemplateResponse(request, "site/token.html", context, headers=_HEADERS)


@require_safe
@limited_page
@from_replica
def token_trades(request: HttpRequest, chain_id: int, address: str) -> HttpResponse:
    """Render a token's trades, newest first, by cursor; the token's page refreshes its list from here."""
    token = find_token_or_404(chain_id, address)
    context = describe_token(token) | {"trades": read_trades(token, request.GET.dict())}
    return TemplateResponse(request, "site/token_trades.html", context, headers=_HEADERS)


def _facts(token: Token) -> dict[str, Any]:
    """Return the context from the token's columns."""
    return {
        "market": token.market,
        "exact_supply": None if token.supply is None else exact_amount(int(token.supply), decimals=token.decimals),
        "terms": launch_terms(token),
        "description": token.description[:_MAX_DESCRIPTION].splitlines()[:_MAX_LINES],
        "warnings": warning_texts(token.warnings),
        # A blocked token's page advertises nothing.
        "links": [] if token.blocked else launcher_links(token),
        "contracts": contracts(token),
        "transaction_page": explorer_transaction_page(token.chain_id, token.tx_hash),
        "embed_code": _embed_code(token),
    }


def _embed_code(token: Token) -> str:
    """Return the HTML that shows the token on another site, as text that pages escape once more.

    Empty without the section `embed`, and for a blocked token.
    """
    if token.blocked or "embed" not in settings.SITE_SECTIONS:
        return ""
    url = settings.SITE_URL + reverse("token-embed", args=[token.chain_id, token.contract_address])
    return _FRAME.format(url=escape(url), title=escape(plain(token.symbol or token.contract_address, _MAX_FRAME_TITLE)))


def _parts(token: Token, request: HttpRequest) -> dict[str, Any]:
    """Return the context from other tables."""
    return {
        "day": read_day_trades(token),
        "chart": read_chart(token, choose_chart(token, request.GET.dict())),
        "trades": read_trades(token, {}),
        "claims": read_claims(token),
        "curve": read_curve(token),
        "creator": read_creator(token),
        "verification": read_verification(token),
        "integrity": read_integrity(token),
        "airdrop_check": check_airdrop(token, request.GET.get("recipient", "")),
    }

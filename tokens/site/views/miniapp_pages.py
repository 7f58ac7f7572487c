"""Farcaster mini app pages, which its clients show in frames, and the manifest that names them.

The manifest: https://miniapps.farcaster.xyz/docs/specification
"""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from config.api.replica_reads import from_replica
from config.site.page_limits import limited_page
from config.site.sections import section_page
from config.web.response_headers import page_headers, public_cache_control
from tokens.site import home_lists
from tokens.site.cards import card_links
from tokens.site.cards.card_links import EMBED, WIDE
from tokens.site.cards.card_tags import LONGEST_NAME, SPLASH_SIDE
from tokens.site.cards.site_icons import ICON_SIDES, icon_path
from tokens.site.details.drawn_chart import choose_chart, read_chart
from tokens.site.page_tokens import describe_token, find_token_or_404
from tokens.site.token_rows import read_rows
from tokens.site.warning_texts import warning_texts

# Clients are apps and pages on many hosts. The pages have no form and no session, so that any frame may show them.
_HEADERS = page_headers(5, frames="*")
_MANIFEST_SECONDS = 3_600
# The specification's limit.
_LONGEST_DESCRIPTION = 170


@xframe_options_exempt
@require_safe
@section_page("miniapp")
@limited_page
@from_replica
def miniapp_home(request: HttpRequest) -> HttpResponse:
    """Render trending tokens, and the newest ones before any token is traded."""
    lists = (home_lists.read_list(home_lists.parse_home_query({"tab": tab})) for tab in ("trending", "new"))
    rows = read_rows(next((tokens.token_ids for tokens in lists if tokens.token_ids), []))
    return TemplateResponse(request, "site/miniapp.html", {"rows": rows}, headers=_HEADERS)


@xframe_options_exempt
@require_safe
@section_page("miniapp")
@limited_page
@from_replica
def token_miniapp(request: HttpRequest, chain_id: int, address: str) -> HttpResponse:
    """Render a token's market, chart and warnings, with a link to its page."""
    token = find_token_or_404(chain_id, address)
    context: dict[str, Any] = {"market": token.market, "warnings": warning_texts(token.warnings)}
    if not token.blocked:
        context["chart"] = read_chart(token, choose_chart(token, request.GET.dict()))
    return TemplateResponse(request, "site/token_miniapp.html", describe_token(token) | context, headers=_HEADERS)


@require_safe
@section_page("miniapp")
def miniapp_manifest(request: HttpRequest) -> HttpResponse:
    """Respond with the manifest; FARCASTER_ACCOUNT_ASSOCIATION proves who has the domain."""
    home = card_links.home_card()
    link = card_links.page_link("home", home)
    app = {
        "version": "1",
        "name": settings.SITE_NAME[:LONGEST_NAME],
        "description": str(home.description)[:_LONGEST_DESCRIPTION],
        "homeUrl": settings.SITE_URL + reverse("miniapp"),
        "iconUrl": settings.SITE_URL + icon_path(ICON_SIDES[0]),
        "imageUrl": settings.SITE_URL + link.path(EMBED),
        "heroImageUrl": settings.SITE_URL + link.path(WIDE),
        "splashImageUrl": settings.SITE_URL + icon_path(SPLASH_SIDE),
        "splashBackgroundColor": settings.SITE_COLOR,
        "primaryCategory": "finance",
    }
    manifest: dict[str, Any] = {"miniapp": app}
    if settings.FARCASTER_ACCOUNT_ASSOCIATION:
        parts = settings.FARCASTER_ACCOUNT_ASSOCIATION.split(".")
        manifest["accountAssociation"] = dict(zip(("header", "payload", "signature"), parts, strict=True))
    return JsonResponse(manifest, headers={"Cache-Control": public_cache_control(_MANIFEST_SECONDS)})

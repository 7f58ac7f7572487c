"""Share cards for tokens, creators and pages, and the installation's icon as pictures."""

import hashlib
from collections.abc import Callable
from typing import NamedTuple

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect, HttpResponseRedirect
from django.utils import timezone
from django.utils.encoding import escape_uri_path
from django.views.decorators.http import require_safe

from config.api.replica_reads import from_replica
from config.processes.concurrency_limits import BusyError, card_slot
from config.site.page_limits import limited_card
from config.web.response_headers import NO_STORE, public_cache_control
from tokens.ledger import creator_facts
from tokens.ledger.creators import user_name
from tokens.site.cards import card_links
from tokens.site.cards.card_drawing import draw_card, draw_page_card
from tokens.site.cards.card_facts import fetch_card
from tokens.site.cards.card_links import CardLink, CardShape
from tokens.site.cards.site_icons import ICON_SIDES, draw_favicon, draw_icon
from tokens.site.page_tokens import find_token_or_404

# An operator's block has an effect within this time: caches have cards for no longer.
_CARD_SECONDS = 300
# A token may be launched at any moment.
_MISSING_SECONDS = 60
_FAVICON_SECONDS = 86_400
_HEADERS = {
    # Opened by itself, a picture runs and loads nothing.
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
}


class _Card(NamedTuple):
    link: CardLink
    draw: Callable[[CardShape], bytes]


@require_safe
def token_card(request: HttpRequest, chain_id: int, address: str, version: str = "") -> HttpResponse:
    """Respond with a token's share card; 503 while other cards are drawn.

    Each card version has one path. Other spellings, earlier versions and queries are redirected to it, so that each
    card is drawn once for all caches.
    """
    return _respond(request, lambda: _find_token_card(chain_id, address), version)


@require_safe
def creator_card(request: HttpRequest, text: str, version: str) -> HttpResponse:
    """Respond with the share card for a creator with launches, likewise."""
    return _respond(request, lambda: _find_creator_card(text), version)


@require_safe
def page_card(request: HttpRequest, page: str, version: str) -> HttpResponse:
    """Respond with a page's share card by its route, likewise."""
    return _respond(request, lambda: _find_page_card(page), version)


@require_safe
def site_icon(request: HttpRequest, side: int, digest: str) -> HttpResponse:
    """Respond with the installation's icon as a PNG file with this side."""
    if side not in ICON_SIDES or hashlib.sha256(body := draw_icon(side)).hexdigest()[: len(digest)] != digest:
        raise Http404
    return _picture(body, "image/png", _FAVICON_SECONDS)


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """Respond with the installation's icon to clients that read no page."""
    return _picture(draw_favicon(), "image/x-icon", _FAVICON_SECONDS)


def _respond(request: HttpRequest, find: Callable[[], _Card], version: str) -> HttpResponse:
    if request.META.get("QUERY_STRING"):
        # Not cached, so that changing queries fill no cache.
        return HttpResponsePermanentRedirect(escape_uri_path(request.path), headers={"Cache-Control": NO_STORE})
    return _respond_within_limit(request, find, version)


@limited_card
def _respond_within_limit(request: HttpRequest, find: Callable[[], _Card], version: str) -> HttpResponse:
    try:
        card = find()
    except Http404:
        return HttpResponse(status=404, headers=_HEADERS | {"Cache-Control": public_cache_control(_MISSING_SECONDS)})
    _, shape = card_links.split_version(version)
    path = card.link.path(shape)
    if request.path != path:
        return HttpResponseRedirect(path, headers={"Cache-Control": NO_STORE})
    try:
        with card_slot():
            body = card.draw(shape)
    except BusyError:
        return HttpResponse(status=503, headers={"Cache-Control": NO_STORE, "Retry-After": "2"})
    return _picture(body, "image/png", _CARD_SECONDS)


def _picture(body: bytes, content_type: str, seconds: int) -> HttpResponse:
    headers = _HEADERS | {"Cache-Control": public_cache_control(seconds)}
    return HttpResponse(body, content_type=content_type, headers=headers)


@from_replica
def _find_token_card(chain_id: int, address: str) -> _Card:
    token = find_token_or_404(chain_id, address)
    facts = fetch_card(token)
    return _Card(card_links.token_link(token), lambda shape: draw_card(facts, shape))


@from_replica
def _find_creator_card(text: str) -> _Card:
    try:
        creator = creator_facts.parse_creator(text)
    except ValueError as error:
        raise Http404 from error
    count = creator_facts.read_totals(creator, timezone.now()).count
    if not count or "creators" not in settings.SITE_SECTIONS:
        raise Http404
    card = card_links.describe_creator(creator, user_name(creator_facts.read_user(creator)), count)
    return _Card(card_links.creator_link(creator, card), lambda shape: draw_page_card(card, shape))


def _find_page_card(page: str) -> _Card:
    card = card_links.find_page_card(page)
    if card is None:
        raise Http404
    return _Card(card_links.page_link(page, card), lambda shape: draw_page_card(card, shape))

"""Pictures of tokens, and their share cards."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from config.api.page_limits import limited_card, limited_picture
from config.api.replica_reads import from_replica
from config.api.response_headers import NO_STORE, public_cache_control
from config.concurrency_limits import CardSlotTimeoutError, card_slot
from tokens.models import Token
from tokens.site.cards.card_drawing import draw_card
from tokens.site.cards.card_facts import CardFacts, fetch_card
from tokens.site.page_tokens import find_page_token, find_token_or_404
from tokens.site.pictures.picture_files import read_picture
from tokens.site.pictures.placeholders import placeholder_svg
from tokens.site.pictures.wanted_pictures import picture_key, picture_sources, request_picture

# An operator's block has an effect within this time: caches have pictures and cards for no longer.
_PICTURE_SECONDS = _CARD_SECONDS = 300
# Time for a worker to fetch a picture.
_PLACEHOLDER_SECONDS = 10

_HEADERS = {
    # Opened by itself, a picture runs and loads nothing.
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
}


@require_safe
@limited_picture
def token_picture(request: HttpRequest, chain_id: int, address: str, key: str) -> HttpResponse:
    """Respond with a token's stored picture, or with its placeholder until a worker has fetched it."""
    if not settings.SITE_PICTURES:
        raise Http404
    token = _find_token(chain_id, address, key)
    picture = None if token.blocked else read_picture(key)
    if picture is not None:
        caching = f"{public_cache_control(_PICTURE_SECONDS)}, max-age={_PICTURE_SECONDS}"
        return HttpResponse(picture, content_type="image/webp", headers=_HEADERS | {"Cache-Control": caching})
    if not token.blocked and picture_sources(token.img_url):
        request_picture(token.img_url)
    caching = f"{public_cache_control(_PLACEHOLDER_SECONDS)}, max-age={_PLACEHOLDER_SECONDS}"
    body = placeholder_svg(token.symbol, token.contract_address)
    return HttpResponse(body, content_type="image/svg+xml", headers=_HEADERS | {"Cache-Control": caching})


@require_safe
def token_card(request: HttpRequest, chain_id: int, address: str) -> HttpResponse:
    """Respond with the share card of a token, 1200 by 800 pixels; 503 while other cards are drawn.

    A card has one URL. Other spellings of it, and queries, are redirected: caches draw each card once.
    """
    if request.META.get("QUERY_STRING"):
        return _redirect(chain_id, address)
    return _canonical_card(request, chain_id, address)


@limited_card
def _canonical_card(request: HttpRequest, chain_id: int, address: str) -> HttpResponse:
    token, facts = _find_card(chain_id, address)
    if request.path != _card_path(token.chain_id, token.contract_address):
        return _redirect(token.chain_id, token.contract_address)
    try:
        with card_slot():
            body = draw_card(facts)
    except CardSlotTimeoutError:
        return HttpResponse(status=503, headers={"Cache-Control": NO_STORE, "Retry-After": "2"})
    caching = public_cache_control(_CARD_SECONDS)
    return HttpResponse(body, content_type="image/png", headers=_HEADERS | {"Cache-Control": caching})


def _card_path(chain_id: int, address: str) -> str:
    return reverse("token-card", args=[chain_id, address])


def _redirect(chain_id: int, address: str) -> HttpResponse:
    # Not cached, so that changing queries fill no cache.
    return HttpResponsePermanentRedirect(_card_path(chain_id, address), headers={"Cache-Control": NO_STORE})


@from_replica
def _find_token(chain_id: int, address: str, key: str) -> Token:
    token = find_page_token(chain_id, address)
    if token is None or not token.img_url or key != picture_key(token.img_url):
        raise Http404
    return token


@from_replica
def _find_card(chain_id: int, address: str) -> tuple[Token, CardFacts]:
    token = find_token_or_404(chain_id, address)
    return token, fetch_card(token)

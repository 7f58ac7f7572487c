"""Token pictures."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from config.api.replica_reads import from_replica
from config.site.page_limits import limited_picture
from config.web.response_headers import public_cache_control
from tokens.models import Token
from tokens.site.page_tokens import find_page_token
from tokens.site.pictures.picture_files import read_picture
from tokens.site.pictures.placeholders import placeholder_svg
from tokens.site.pictures.wanted_pictures import picture_key, picture_sources, request_picture

# An operator's block has an effect within this time: caches have pictures for no longer.
_PICTURE_SECONDS = 300
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


@from_replica
def _find_token(chain_id: int, address: str, key: str) -> Token:
    token = find_page_token(chain_id, address)
    if token is None or not token.img_url or key != picture_key(token.img_url):
        raise Http404
    return token

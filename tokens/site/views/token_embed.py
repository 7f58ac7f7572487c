"""Compact token page for frames on other sites."""

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from config.api.replica_reads import from_replica
from config.site.page_limits import limited_page
from config.site.sections import section_page
from config.web.response_headers import page_headers
from tokens.models import Token
from tokens.site.details.drawn_chart import DrawnChart, choose_chart, read_chart
from tokens.site.page_tokens import describe_token, find_token_or_404

_BARS = 80
# Any site may show it: it has no form and no session.
_HEADERS = page_headers(5, frames="*")


@xframe_options_exempt
@require_safe
@section_page("embed")
@limited_page
@from_replica
def token_embed(request: HttpRequest, chain_id: int, address: str) -> HttpResponse:
    """Render a token's name, price and a small chart, with a link to its page; 404 without the section `embed`.

    The chart has the same parameters as on the token's page: `interval`, `unit` and `currency`.
    """
    token = find_token_or_404(chain_id, address)
    context = describe_token(token) | {"market": token.market, "chart": _read_small_chart(token, request)}
    return TemplateResponse(request, "site/token_embed.html", context, headers=_HEADERS)


def _read_small_chart(token: Token, request: HttpRequest) -> DrawnChart | None:
    """Return the chart by the frame URL's parameters; none for a blocked token. One query."""
    if token.blocked:
        return None
    return read_chart(token, choose_chart(token, request.GET.dict(), bars=_BARS), bars=_BARS)

"""Home page: the newest tokens."""

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from config.api.replica_reads import from_replica
from config.api.response_headers import page_headers
from tokens.models import Token
from tokens.site.page_tokens import describe_token

NEWEST = 20

_HEADERS = page_headers(2)


@require_safe
@from_replica
def home(request: HttpRequest) -> HttpResponse:
    """Render the newest listed tokens."""
    tokens = Token.objects.listed().order_by("-deployed_at", "-id")[:NEWEST]
    context = {"tokens": [describe_token(token) for token in tokens]}
    return TemplateResponse(request, "site/home.html", context, headers=_HEADERS)

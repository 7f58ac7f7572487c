"""Page of a creator: a user by the FID, or a wallet, with the launches."""

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from config.api.replica_reads import from_replica
from config.api.response_headers import page_headers
from config.site.sections import section_page
from tokens.site import creator_facts
from tokens.site.token_rows import read_rows

_HEADERS = page_headers(5)


@require_safe
@section_page("creators")
@from_replica
def creator_page(request: HttpRequest, text: str) -> HttpResponse:
    """Render a creator's facts and a page of launches, newest first."""
    try:
        creator = creator_facts.parse_creator(text)
    except ValueError as error:
        raise Http404 from error
    page = creator_facts.read_launches(creator, request.GET.get("cursor", ""))
    context = {
        "creator": creator,
        "profile": creator_facts.read_user(creator),
        "totals": creator_facts.read_totals(creator, timezone.now()),
        "claims": creator_facts.read_claims(creator),
        "rows": read_rows(page.token_ids),
        "next_cursor": page.cursor,
        "is_first": not request.GET.get("cursor"),
        "path": reverse("creator-page", args=[creator.key]),
    }
    return TemplateResponse(request, "site/creator.html", context, headers=_HEADERS)

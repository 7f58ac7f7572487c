"""Pages in sections that an installation may leave out: chain status, first steps with the API, creators."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from config.api.replica_reads import from_replica
from config.site.page_limits import limited_page
from config.site.sections import section_page
from config.web.response_headers import page_headers
from config.workers.periodic_tasks import are_urgent_tasks_late
from tokens.ledger import creator_facts
from tokens.ledger.creators import user_name
from tokens.site.chain_reports import overall_state, read_chain_reports
from tokens.site.docs_examples import LANGUAGES, build_groups
from tokens.site.token_rows import read_rows

_LIVE_HEADERS = page_headers(5)
_DOCS_HEADERS = page_headers(60)


@require_safe
@section_page("status")
@limited_page
@from_replica
def status_page(request: HttpRequest) -> HttpResponse:
    """Render each followed chain's state; nodes and their errors are left out."""
    now = timezone.now()
    reports = read_chain_reports(now)
    progress, sentence = overall_state(reports, are_tasks_late=are_urgent_tasks_late(now))
    context = {"chains": reports, "progress": progress, "sentence": sentence}
    return TemplateResponse(request, "site/status.html", context, headers=_LIVE_HEADERS)


@require_safe
@section_page("docs")
@limited_page
@from_replica
def docs_page(request: HttpRequest) -> HttpResponse:
    """Render the first steps with the API in three languages."""
    return TemplateResponse(request, "site/docs.html", docs_context(), headers=_DOCS_HEADERS)


def docs_context() -> dict[str, Any]:
    """Return the context for the first steps; one query."""
    names = {language: name for language, (name, _) in LANGUAGES.items()}
    return {"groups": build_groups(), "code_languages": names}


@require_safe
@section_page("creators")
@limited_page
@from_replica
def creator_page(request: HttpRequest, text: str) -> HttpResponse:
    """Render a creator's facts and a page with launches, newest first.

    A creator without launches has a page, too: rankings link to users without a known launch.
    """
    try:
        creator = creator_facts.parse_creator(text)
    except ValueError as error:
        raise Http404 from error
    page = creator_facts.read_launches(creator, request.GET.dict())
    profile = creator_facts.read_user(creator)
    context = {
        "creator": creator,
        "profile": profile,
        "name": user_name(profile),
        "totals": creator_facts.read_totals(creator, timezone.now()),
        "claims": creator_facts.read_claims(creator),
        "rows": read_rows(page.token_ids),
        "next_cursor": page.cursor,
        "is_first": not request.GET.get("cursor"),
        "path": reverse("creator-page", args=[creator.key]),
    }
    return TemplateResponse(request, "site/creator.html", context, headers=_LIVE_HEADERS)

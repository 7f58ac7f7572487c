"""Status page: how far each chain is read and verified."""

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from config.api.replica_reads import from_replica
from config.api.response_headers import page_headers
from config.site.sections import section_page
from tokens.site.chain_reports import overall_state, read_chain_reports

_HEADERS = page_headers(5)


@require_safe
@section_page("status")
@from_replica
def status_page(request: HttpRequest) -> HttpResponse:
    """Render the state of each followed chain; nodes and their errors are left out."""
    reports = read_chain_reports(timezone.now())
    progress, sentence = overall_state(reports)
    context = {"chains": reports, "progress": progress, "sentence": sentence}
    return TemplateResponse(request, "site/status.html", context, headers=_HEADERS)

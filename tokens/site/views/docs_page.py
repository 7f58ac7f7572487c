"""Page for integrators: the API's first steps in three languages."""

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from config.api.replica_reads import from_replica
from config.api.response_headers import page_headers
from config.site.sections import section_page
from tokens.site.docs_examples import LANGUAGES, build_tasks

_HEADERS = page_headers(60)


@require_safe
@section_page("docs")
@from_replica
def docs_page(request: HttpRequest) -> HttpResponse:
    """Render the first steps with the API."""
    names = {language: name for language, (name, _) in LANGUAGES.items()}
    context = {"tasks": build_tasks(), "code_languages": names}
    return TemplateResponse(request, "site/docs.html", context, headers=_HEADERS)

"""The site for language models: `/llms.txt`, the skill, and the page `/docs` and the API's reference as Markdown."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from config.api.replica_reads import from_replica
from config.mcp.api_reference import api_reference
from config.mcp.tools import Tool, installed_tools
from config.site.page_limits import limited_page
from config.site.page_markdown import page_markdown
from config.site.sections import section_page
from config.web.response_headers import public_cache_control
from tokens.site.agent_guides import Site, ToolNote, llms_full, llms_index, skill
from tokens.site.views.section_pages import docs_context

# As long as the page, whose examples name a new token.
_SECONDS = 60


@require_safe
@section_page("docs")
@limited_page
@from_replica
def docs_markdown(request: HttpRequest) -> HttpResponse:
    """Return the first steps with the API as Markdown."""
    return _text(_docs(request))


@require_safe
@section_page("docs")
@limited_page
def reference_markdown(request: HttpRequest) -> HttpResponse:
    """Return the API's reference as Markdown."""
    return _text(api_reference(settings.SITE_URL))


@require_safe
@section_page("docs")
@limited_page
@from_replica
def skill_markdown(request: HttpRequest) -> HttpResponse:
    """Return the skill."""
    return _text(skill(_site(), _tools(), _docs(request)))


@require_safe
@section_page("docs")
@limited_page
def llms_txt(request: HttpRequest) -> HttpResponse:
    """Return the index for language models."""
    return _text(llms_index(_site(), _tools()), kind="plain")


@require_safe
@section_page("docs")
@limited_page
@from_replica
def llms_full_txt(request: HttpRequest) -> HttpResponse:
    """Return the index with all documents for language models."""
    parts = (_docs(request), api_reference(settings.SITE_URL))
    return _text(llms_full(llms_index(_site(), _tools()), *parts), kind="plain")


def _docs(request: HttpRequest) -> str:
    page = render_to_string("site/docs.html", docs_context(), request)
    return page_markdown(page, base_url=settings.SITE_URL)


def _site() -> Site:
    return Site(settings.SITE_NAME, settings.SITE_URL)


def _tools() -> list[ToolNote]:
    return [ToolNote(name, tool.entry.hint, _access(tool)) for name, tool in installed_tools().items()]


def _access(tool: Tool) -> str:
    return "a user's token" if tool.needs_user else f"a key with the scope {tool.scope}" if tool.scope else ""


def _text(text: str, *, kind: str = "markdown") -> HttpResponse:
    headers = {"Cache-Control": public_cache_control(_SECONDS)}
    return HttpResponse(text, content_type=f"text/{kind}; charset=utf-8", headers=headers)

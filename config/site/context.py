"""Context for all public pages: the installation's look, its sections, and the page's languages."""

from typing import Any, NamedTuple

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from config.environment.site_variables import LANGUAGES
from config.site.assets import logo_width
from config.site.languages import canonical_path, link_path, page_languages, path_language, translated_path
from config.site.page_input import MAX_QUERY_STRING

_LONGEST_PATH = 200


class PageLanguage(NamedTuple):
    """A page's language, with the page's public URL in that language."""

    code: str
    name: str
    path: str
    url: str
    is_current: bool


def site(request: HttpRequest) -> dict[str, Any]:
    """Return `site`, which is built once where a template uses it."""
    return {"site": SimpleLazyObject(lambda: _site(request))}


def _site(request: HttpRequest) -> dict[str, Any]:
    path, query = request.path, f"?{query}" if (query := request.META.get("QUERY_STRING", "")) else ""
    # An error page repeats no longer address than pages have.
    if len(path) > _LONGEST_PATH:
        path = "/"
    if len(query) > MAX_QUERY_STRING:
        query = ""
    current = path_language(path)
    languages = [
        PageLanguage(
            code,
            LANGUAGES[code],
            translated_path(path, code) + query,
            settings.SITE_URL + translated_path(canonical_path(path), code),
            code == current,
        )
        for code in page_languages(path)
    ]
    return {
        "name": settings.SITE_NAME,
        "logo_width": logo_width(),
        "header_links": settings.SITE_HEADER_LINKS,
        "footer_links": settings.SITE_FOOTER_LINKS,
        "footer_text": settings.SITE_FOOTER_TEXT,
        "intro": settings.SITE_INTRO,
        "sections": settings.SITE_SECTIONS,
        "languages": languages,
        "language": current,
        "origin": settings.SITE_URL,
        "path": link_path(path),
        "canonical_url": settings.SITE_URL + link_path(canonical_path(path)),
    }

"""Page languages by path: the first in SITE_LANGUAGES without a prefix, the others with one.

No response depends on Accept-Language or a cookie, so that caches can share pages.
"""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.urls import LocalePrefixPattern, URLPattern, URLResolver
from django.utils import translation

# The API, its descriptions for language models, the admin site and logs are English.
_ENGLISH = (
    *("/api/", "/mcp", "/llms", "/docs/api.md", "/docs/skill.md"),
    *("/admin/", "/metrics", "/healthz", "/readyz"),
)


def page_language(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return a middleware that activates the language in each request's path."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        path = request.path_info
        language = path_language(path)
        with translation.override(language):
            response = get_response(request)
            # Templates are rendered by now: TemplateResponse is rendered below the middleware.
            if not path.startswith(_ENGLISH):
                response.headers.setdefault("Content-Language", language)
            return response

    return respond


def page_languages(path: str) -> tuple[str, ...]:
    """Return the languages of the page at a path; none for what is English only."""
    languages: tuple[str, ...] = settings.SITE_LANGUAGES
    return () if path.startswith(_ENGLISH) else languages


def path_language(path: str) -> str:
    """Return the language of a page's path."""
    if path.startswith(_ENGLISH):
        return "en"
    first_segment = path.removeprefix("/").partition("/")[0]
    return first_segment if first_segment in settings.SITE_LANGUAGES[1:] else settings.SITE_LANGUAGES[0]


def page_patterns(patterns: Sequence[URLPattern | URLResolver | Any]) -> list[URLResolver]:
    """Return page URL patterns with the active language's prefix, none for the first language."""
    return [URLResolver(LocalePrefixPattern(prefix_default_language=False), list(patterns))]


def translated_path(path: str, language: str) -> str:
    """Return the same page's path in another language, as `link_path`."""
    current = path_language(path)
    unprefixed = link_path(path if current == settings.SITE_LANGUAGES[0] else path.removeprefix(f"/{current}"))
    return unprefixed if language == settings.SITE_LANGUAGES[0] else f"/{language}{unprefixed}"


def link_path(path: str) -> str:
    """Return a request's path for a link on this host: encoded, and with one slash at its beginning.

    Browsers take `//evil.example` and `/\\evil.example` for another host.
    """
    return quote(f"/{path.lstrip('/')}", safe="/:@!$&'()*+,;=~")


def canonical_path(path: str) -> str:
    """Return a page's path without the slash at its end, which routes accept; only home pages have it."""
    is_home = translated_path(path, settings.SITE_LANGUAGES[0]) == "/"
    return path if is_home else path.rstrip("/")

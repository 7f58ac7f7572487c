"""Files for search engines: `/robots.txt` and `/sitemap.xml`."""

import threading
from typing import Any

from cachetools import TTLCache
from django.conf import settings
from django.contrib.sitemaps import Sitemap
from django.contrib.sitemaps.views import sitemap
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from config.api.replica_reads import from_replica
from config.web.response_headers import public_cache_control
from tokens.site.sitemap import PageSitemap, TokenSitemap

_ROBOTS_SECONDS, SITEMAP_SECONDS = 3_600, 600
# This process's newest sitemap: its build takes most of a second, and shared caches may be missing.
built_sitemap: TTLCache[None, bytes] = TTLCache(1, SITEMAP_SECONDS)
_building = threading.Lock()
_SITEMAPS: "dict[str, type[Sitemap[Any]] | Sitemap[Any]]" = {"pages": PageSitemap, "tokens": TokenSitemap}


@require_safe
def robots_txt(request: HttpRequest) -> HttpResponse:
    """Allow pages to crawlers, and name the sitemap; the API has rate limits, and the admin site is for operators."""
    lines = (
        "User-agent: *",
        "Disallow: /api/",
        "Disallow: /admin/",
        "Allow: /",
        f"Sitemap: {settings.SITE_URL}{reverse('sitemap')}",
    )
    headers = {"Cache-Control": public_cache_control(_ROBOTS_SECONDS)}
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8", headers=headers)


@require_safe
@from_replica
def sitemap_xml(request: HttpRequest) -> HttpResponse:
    """Respond with the pages and the newest tokens; no query evades the caches."""
    if request.META.get("QUERY_STRING"):
        raise Http404
    with _building:
        body = built_sitemap.get(None)
        if body is None:
            # In Django's own template, dates take most of the time.
            body = sitemap(request, _SITEMAPS, template_name="site/sitemap.xml").render().content
            built_sitemap[None] = body
    headers = {"Cache-Control": public_cache_control(SITEMAP_SECONDS)}
    return HttpResponse(body, content_type="application/xml", headers=headers)

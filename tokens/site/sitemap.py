"""Public sitemap: the site's pages in all languages, and the newest tokens."""

from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.sitemaps import Sitemap
from django.urls import reverse

from tokens.models import Token

MAX_TOKENS = 5_000

# URL name -> its section in SITE_SECTIONS.
_PAGES = {"home": "", "leaderboard-page": "leaderboard", "status-page": "status", "docs-page": "docs"}


if TYPE_CHECKING:
    AnySitemap = Sitemap[Any]
else:
    # Generic in its stubs only.
    AnySitemap = Sitemap


class _SiteUrls(AnySitemap):
    """Protocol and host from SITE_URL. The request may have another allowed host."""

    def get_protocol(self, protocol: str | None = None) -> str:
        """Return SITE_URL's scheme."""
        return urlsplit(settings.SITE_URL).scheme

    def get_domain(self, site: object = None) -> str:
        """Return SITE_URL's host and port."""
        return urlsplit(settings.SITE_URL).netloc


class PageSitemap(_SiteUrls):
    """Pages in this installation's sections."""

    i18n = True
    alternates = True
    x_default = True

    def get_languages_for_item(self, item: str) -> list[str]:
        """Return the languages that pages have."""
        return list(settings.SITE_LANGUAGES)

    def items(self) -> list[str]:
        """Return the pages' URL names."""
        return [name for name, section in _PAGES.items() if not section or section in settings.SITE_SECTIONS]

    def location(self, item: str) -> str:
        """Return the path in the active language."""
        return reverse(item)


class TokenSitemap(_SiteUrls):
    """The newest listed tokens, in the first language: their pages name the others."""

    def items(self) -> list[Token]:
        """Return the tokens, in one query."""
        newest = Token.objects.listed().order_by("-deployed_at", "-id")
        return list(newest.only("chain_id", "contract_address", "last_indexed")[:MAX_TOKENS])

    def location(self, item: Token) -> str:
        """Return the path to the token's page."""
        return reverse("token-page", args=[item.chain_id, item.contract_address])

    def lastmod(self, item: Token) -> datetime:
        """Return when the token was last read from its chain."""
        return item.last_indexed

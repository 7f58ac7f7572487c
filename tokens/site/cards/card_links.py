"""Share card paths. Networks store a picture by its URL for good: each path has a version of the card's content."""

import hashlib
from typing import Any, NamedTuple

from django.conf import settings
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from config.site.formats import launches, percent, plain, short_address, usd_text
from tokens.ledger.creators import Creator
from tokens.site.pictures.wanted_pictures import picture_key

# Increase it with each change to the drawing.
_DESIGN = 1


class CardShape(NamedTuple):
    """Card size in pixels, and the suffix to a card's version in paths."""

    suffix: str
    width: int
    height: int


# Farcaster's embeds are 3:2, and OpenGraph's pictures 1.91:1.
EMBED, WIDE = SHAPES = (CardShape("", 1200, 800), CardShape("-wide", 1200, 630))


class CardLink(NamedTuple):
    """A card: the route and its arguments, and the version for its current content."""

    route: str
    args: tuple[object, ...]
    version: str

    def path(self, shape: CardShape) -> str:
        """Return the path to the card in a shape, in the active language."""
        return reverse(self.route, args=[*self.args, self.version + shape.suffix])


class PageCard(NamedTuple):
    """Texts on a page's card and in its share tags, and the page's section; empty for the home page."""

    title: str | Promise
    description: str | Promise
    section: str


# Page route -> its card.
_PAGES = {
    "leaderboard-page": PageCard(
        _("Leaderboard"),
        _("Automated agents, ranked by the accounts that interact with them and by what they do themselves."),
        "leaderboard",
    ),
    "status-page": PageCard(
        _("Status"),
        _(
            "Each launch and trade is read from the chain itself. Once a block is final, it is read a second time from "
            "another source and compared."
        ),
        "status",
    ),
    "docs-page": PageCard(
        _("Start with the API"),
        _("First steps with the API for tokens, launches and events, with examples in curl, Python and TypeScript."),
        "docs",
    ),
}


def home_card() -> PageCard:
    """Return the home page's card."""
    text = gettext("New and trending tokens of %(name)s: prices, trades, creators and warnings.")
    return PageCard(settings.SITE_NAME, settings.SITE_INTRO or text % {"name": settings.SITE_NAME}, "")


def find_page_card(page: str) -> PageCard | None:
    """Return a page's card by its route; None if this installation has no such page."""
    if page == "home":
        return home_card()
    card = _PAGES.get(page)
    return card if card and card.section in settings.SITE_SECTIONS else None


def describe_creator(creator: Creator, name: str, count: int) -> PageCard:
    """Return the card for a creator with `count` launches; `name` is empty without a profile."""
    shown = plain(name, 60) or creator.fid or short_address(creator.address)
    description = gettext("%(count)s on %(site)s, with their prices and collected fees.")
    return PageCard(
        gettext("Tokens launched by %(name)s") % {"name": shown},
        description % {"count": launches(count), "site": settings.SITE_NAME},
        "creators",
    )


def page_link(page: str, card: PageCard) -> CardLink:
    """Return the link to a page's card."""
    return CardLink("page-card", (page,), _version(card.title, card.description))


def creator_link(creator: Creator, card: PageCard) -> CardLink:
    """Return the link to a creator's card."""
    return CardLink("creator-card", (creator.key,), _version(card.title, card.description))


def token_link(token: Any) -> CardLink:
    """Return the link to a token's card, without the name of a blocked token. Requires the market."""
    shown: tuple[object, ...] = ("blocked",)
    if not token.blocked:
        market = token.market
        picture = picture_key(token.img_url) if settings.SITE_PICTURES and token.img_url else ""
        figures = (usd_text(market.market_cap), percent(market.price_change_24h))
        shown = (token.symbol, token.name, picture, *figures)
    return CardLink("token-card", (token.chain_id, token.contract_address), _version(*shown))


def split_version(text: str) -> tuple[str, CardShape]:
    """Return the version in a path, and the shape that its suffix names."""
    version = text.removesuffix(WIDE.suffix)
    return version, EMBED if version == text else WIDE


def _version(*shown: object) -> str:
    """Return the digest for a card's content, without the price line, which changes with the market."""
    look = (_DESIGN, settings.SITE_NAME, settings.SITE_COLOR, settings.SITE_URL)
    return hashlib.sha256(repr([*map(str, (*look, *shown))]).encode()).hexdigest()[:12]

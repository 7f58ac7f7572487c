"""Template tags for share tags: OpenGraph and Twitter cards, and the Farcaster mini app embed.

The embed: https://miniapps.farcaster.xyz/docs/specification
"""

import json
from typing import Any, NamedTuple

from django import template
from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext

from config.site.formats import plain, short_address
from tokens.installation import installed_registry
from tokens.ledger.creators import Creator
from tokens.site.cards import card_links
from tokens.site.cards.card_links import EMBED, WIDE, CardLink, PageCard
from tokens.site.cards.site_icons import icon_path

register = template.Library()

# The specification's limit for the button's title and the app's name.
LONGEST_NAME = 32
# Side in pixels, for the picture that a client shows until a mini app is ready.
SPLASH_SIDE = 200


class ShareTags(NamedTuple):
    """Contents for a page's share tags."""

    title: str
    description: str
    url: str
    image_url: str
    image_alt: str
    # JSON for the mini app's embed; empty without one.
    miniapp: str = ""
    width: int = WIDE.width
    height: int = WIDE.height


@register.simple_tag
def share_tags(token: Any) -> ShareTags:
    """Return a token's share tags, with absolute URLs; without the name of a blocked token."""
    path = [token.chain_id, token.contract_address]
    address, chain = short_address(token.contract_address), installed_registry.chain_name(token.chain_id)
    symbol = "" if token.blocked else plain(token.symbol, 40)
    title = gettext("%(token)s on %(chain)s") % {"token": symbol or address, "chain": chain}
    name = "" if token.blocked else plain(token.name, 80)
    description = gettext("Price, trades and facts of %(token)s") % {"token": name or symbol or address}
    link = card_links.token_link(token)
    has_miniapp = "miniapp" in settings.SITE_SECTIONS and not token.blocked
    return ShareTags(
        title=title,
        description=description,
        url=settings.SITE_URL + reverse("token-page", args=path),
        image_url=settings.SITE_URL + link.path(WIDE),
        image_alt=gettext("Card of %(token)s with its market") % {"token": title},
        miniapp=_miniapp(settings.SITE_URL + reverse("token-miniapp", args=path), link) if has_miniapp else "",
    )


@register.simple_tag
def page_share_tags(page: str) -> ShareTags:
    """Return a page's share tags by its route. Raises ValueError if this installation has no such page."""
    card = card_links.find_page_card(page)
    if card is None:
        raise ValueError(f"{page} has no card")
    return _tags_of_page(card, reverse(page), card_links.page_link(page, card))


@register.simple_tag
def creator_share_tags(creator: Creator, name: str, count: int) -> ShareTags:
    """Return the share tags for a creator with launches."""
    card = card_links.describe_creator(creator, name, count)
    return _tags_of_page(card, reverse("creator-page", args=[creator.key]), card_links.creator_link(creator, card))


def _tags_of_page(card: PageCard, path: str, link: CardLink) -> ShareTags:
    return ShareTags(
        title=str(card.title),
        description=str(card.description),
        url=settings.SITE_URL + path,
        image_url=settings.SITE_URL + link.path(WIDE),
        image_alt=f"{settings.SITE_NAME}: {card.title}",
    )


def _miniapp(url: str, link: CardLink) -> str:
    # All clients accept `launch_frame`, but some do not yet accept the later `launch_miniapp`.
    action = {
        "type": "launch_frame",
        "name": settings.SITE_NAME[:LONGEST_NAME],
        "url": url,
        "splashImageUrl": settings.SITE_URL + icon_path(SPLASH_SIDE),
        "splashBackgroundColor": settings.SITE_COLOR,
    }
    button = {"title": gettext("View token")[:LONGEST_NAME], "action": action}
    embed = {"version": "1", "imageUrl": settings.SITE_URL + link.path(EMBED), "button": button}
    return json.dumps(embed, ensure_ascii=False)

"""Template tag of share tags: OpenGraph and Twitter cards, and the embed of Farcaster mini apps.

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
from tokens.site.cards.card_drawing import HEIGHT, WIDTH

register = template.Library()

# The specification's limit of the button's title and of the app's name.
_LONGEST_NAME = 32


class ShareTags(NamedTuple):
    """Contents of the share tags of a token's page."""

    title: str
    description: str
    url: str
    image_url: str
    image_alt: str
    # JSON of the mini app's embed.
    miniapp: str
    width: int = WIDTH
    height: int = HEIGHT


@register.simple_tag
def share_tags(token: Any) -> ShareTags:
    """Return the share tags of a token, with absolute URLs; those of a blocked token do not have its name."""
    path = [token.chain_id, token.contract_address]
    url = settings.SITE_URL + reverse("token-page", args=path)
    image_url = settings.SITE_URL + reverse("token-card", args=path)
    address, chain = short_address(token.contract_address), installed_registry.chain_name(token.chain_id)
    symbol = "" if token.blocked else plain(token.symbol, 40)
    title = gettext("%(token)s on %(chain)s") % {"token": symbol or address, "chain": chain}
    name = "" if token.blocked else plain(token.name, 80)
    description = gettext("Price, trades and facts of %(token)s") % {"token": name or symbol or address}
    return ShareTags(
        title=title,
        description=description,
        url=url,
        image_url=image_url,
        image_alt=gettext("Card of %(token)s with its market") % {"token": title},
        miniapp=_miniapp(url, image_url),
    )


def _miniapp(url: str, image_url: str) -> str:
    # All clients accept `launch_frame`, some of them not yet the later `launch_miniapp`.
    action = {
        "type": "launch_frame",
        "name": settings.SITE_NAME[:_LONGEST_NAME],
        "url": url,
        "splashBackgroundColor": settings.SITE_COLOR,
    }
    button = {"title": gettext("View token")[:_LONGEST_NAME], "action": action}
    return json.dumps({"version": "1", "imageUrl": image_url, "button": button}, ensure_ascii=False)

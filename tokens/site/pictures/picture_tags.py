"""Template tags for token pictures: a picture's URL, and its placeholder's letters and tint."""

from typing import Any

from django import template
from django.conf import settings
from django.urls import reverse

from tokens.site.pictures.placeholders import initials, tint_class
from tokens.site.pictures.wanted_pictures import picture_key, picture_sources

register = template.Library()
register.filter("initials", initials)
register.filter("tint", tint_class)


@register.simple_tag
def picture_url(token: Any) -> str:
    """Return the path to a token's picture; empty if it has none, or if pictures are off.

    The token needs `chain_id`, `contract_address` and `img_url`. The path has a digest of `img_url`, so that a changed
    picture is shown at once.
    """
    if not settings.SITE_PICTURES or not token.img_url or not picture_sources(token.img_url):
        return ""
    return reverse("token-picture", args=[token.chain_id, token.contract_address, picture_key(token.img_url)])

"""Token facts on a share card."""

from dataclasses import dataclass

from django.conf import settings
from django.utils import timezone

from tokens.installation import installed_registry
from tokens.models import Token
from tokens.site.pictures.picture_files import read_picture
from tokens.site.pictures.wanted_pictures import picture_key, picture_sources, request_picture
from tokens.site.sparklines import Sparkline, draw_sparklines


@dataclass(frozen=True, kw_only=True)
class CardFacts:
    """Facts on a share card. Texts are the token's own and untrusted."""

    chain: str
    contract_address: str
    symbol: str = ""
    name: str = ""
    # USD, and percentage points; None if unknown.
    market_cap: float | None = None
    change_24h: float | None = None
    # As in token lists.
    line: Sparkline | None = None
    # WebP file; None for a placeholder.
    picture: bytes | None = None
    is_blocked: bool = False


def fetch_card(token: Token) -> CardFacts:
    """Return the facts for a token's card, in two queries. A blocked token's card has only its chain and address."""
    chain = installed_registry.chain_name(token.chain_id)
    if token.blocked:
        return CardFacts(chain=chain, contract_address=token.contract_address, is_blocked=True)
    return CardFacts(
        chain=chain,
        contract_address=token.contract_address,
        symbol=token.symbol,
        name=token.name,
        market_cap=token.market.market_cap,
        change_24h=token.market.price_change_24h,
        line=draw_sparklines([token], now=timezone.now()).get(token.pk),
        picture=_picture(token.img_url),
    )


def _picture(img_url: str) -> bytes | None:
    if not settings.SITE_PICTURES or not img_url or not picture_sources(img_url):
        return None
    picture = read_picture(picture_key(img_url))
    if picture is None:
        request_picture(img_url)
    return picture

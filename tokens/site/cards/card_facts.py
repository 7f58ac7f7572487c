"""What a share card shows of a token."""

import time
from dataclasses import dataclass

from django.conf import settings

from tokens.installation import installed_registry
from tokens.market.trading.candle_pages import INTERVALS, CandleRange, fetch_candles
from tokens.models import Token
from tokens.models.candle import DAY
from tokens.site.pictures.picture_files import read_picture
from tokens.site.pictures.wanted_pictures import picture_key, picture_source, request_picture

_INTERVAL = INTERVALS["15m"]


@dataclass(frozen=True, kw_only=True)
class CardFacts:
    """Facts of a share card. Texts are the token's own and untrusted."""

    chain: str
    contract_address: str
    symbol: str = ""
    name: str = ""
    # USD, and percentage points; None if unknown.
    market_cap: float | None = None
    change_24h: float | None = None
    # Prices in USD of the last 24 hours, oldest first.
    prices: tuple[float, ...] = ()
    # WebP file; None for a placeholder.
    picture: bytes | None = None
    is_blocked: bool = False


def fetch_card(token: Token) -> CardFacts:
    """Return the facts of a token's card, in two queries; those of a blocked token are its chain and its address."""
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
        prices=_prices(token),
        picture=_picture(token.img_url),
    )


def _prices(token: Token) -> tuple[float, ...]:
    now = int(time.time())
    wanted = CandleRange(interval=_INTERVAL, start=now - DAY, end=now, limit=DAY // _INTERVAL.seconds)
    return tuple(candle["c"] for candle in fetch_candles(token.pk, wanted, in_usd=True, fill=True))


def _picture(img_url: str) -> bytes | None:
    if not settings.SITE_PICTURES or not img_url or picture_source(img_url) is None:
        return None
    picture = read_picture(picture_key(img_url))
    if picture is None:
        request_picture(img_url)
    return picture

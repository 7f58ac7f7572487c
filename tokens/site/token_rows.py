"""Token list rows on pages: each token with its market, daily trades, sparkline, creator and warnings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F, FilteredRelation, Q, QuerySet
from django.utils import timezone

from accounts.profiles import social_refresh
from accounts.profiles.responses import RelatedUser
from tokens.installation import installed_registry
from tokens.installation.installed_launchpads import launchpad_badge
from tokens.ledger.creators import Creator, count_launches, creator_of, user_name
from tokens.models import Market, Token
from tokens.models.candle import DAY
from tokens.models.expressions import INTERFACE
from tokens.site.sparklines import Sparkline, draw_sparklines
from tokens.site.warning_texts import WarningText, warning_texts

_COLUMNS = (
    *("chain_id", "contract_address", "generation", "name", "symbol", "img_url", "deployed_at"),
    *("requestor_fid", "requestor_address", "msg_sender", "known_interface_deployer", "launch_warnings"),
    *(f"market__{name}" for name in ("market_cap", "volume_24h", "price_change_24h", "curve_progress")),
    *("market__price_quote", "market__price_usd"),
)


@dataclass(frozen=True, kw_only=True)
class TokenRow:
    """A token's facts in a list; unknown numbers are None."""

    token: Token
    chain: str
    # Empty if all tokens have the same launchpad.
    launchpad: str
    market: Market
    # Trades in the last 24 hours.
    buys: int | None
    sells: int | None
    sparkline: Sparkline | None
    creator: Creator
    # From the creator's social profile, empty without one.
    creator_name: str
    launches: int
    warnings: list[WarningText]
    # As filters compare it, empty without one.
    interface: str


def read_rows(token_ids: Sequence[int]) -> list[TokenRow]:
    """Return the rows for the tokens with these ids, in the same sequence, in at most four queries."""
    if not token_ids:
        return []
    token_by_id = {token.pk: token for token in _select_tokens(token_ids)}
    tokens = [token_by_id[token_id] for token_id in token_ids if token_id in token_by_id]
    users = _named_users(tokens)
    creators = {token.pk: creator_of(token, users) for token in tokens}
    launches = count_launches(creators.values())
    sparklines = draw_sparklines(tokens, now=timezone.now())
    return [
        TokenRow(
            token=token,
            chain=installed_registry.chain_name(token.chain_id),
            launchpad=launchpad_badge(token.generation),
            market=token.market,
            buys=token.buys,
            sells=token.sells,
            sparkline=sparklines.get(token.pk),
            creator=creators[token.pk],
            creator_name=_creator_name(creators[token.pk], users),
            launches=launches.get(creators[token.pk].key, 0),
            warnings=warning_texts(token.warnings),
            interface=token.interface or "",
        )
        for token in tokens
    ]


def _select_tokens(token_ids: Sequence[int]) -> QuerySet[Any]:
    """Return the tokens with their markets, `interface`, and the last 24 hours' `buys` and `sells`."""
    day = FilteredRelation("rolling_sums", condition=Q(rolling_sums__seconds=DAY))
    tokens = Token.objects.filter(pk__in=token_ids).with_warnings().select_related("market").only(*_COLUMNS)
    return tokens.annotate(day=day).annotate(buys=F("day__buys"), sells=F("day__sells"), interface=INTERFACE)


def _named_users(tokens: Sequence[Token]) -> dict[int, RelatedUser]:
    """Return FID -> profile for the users that launches name."""
    fids = {token.requestor_fid for token in tokens if token.requestor_fid is not None}
    return social_refresh.users_by_fid(fids) if fids else {}


def _creator_name(creator: Creator, users: Mapping[int, Mapping[str, Any]]) -> str:
    """Return the name in the creator's social profile, empty without one."""
    return "" if creator.fid is None else user_name(users.get(creator.fid))

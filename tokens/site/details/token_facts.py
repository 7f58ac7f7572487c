"""Further facts on a token's page: daily trades, creator, links, verified blocks."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from accounts.profiles.social_refresh import users_by_fid
from tokens.chains.addresses import ZERO_ADDRESS
from tokens.chains.pool_types import is_v4_pool
from tokens.following.chain_status import read_chain_states
from tokens.indexing.metadata import SocialLink, social_links
from tokens.installation.installed_registry import explorer_address_page, explorer_token_page
from tokens.ledger.creators import Creator, creator_of, is_user_unverified, user_name
from tokens.models import RollingSum, Token
from tokens.models.candle import DAY
from tokens.site.page_tokens import has_moved

OTHERS_SHOWN = 10
_LINKS_SHOWN = 12


@dataclass(frozen=True, kw_only=True)
class DayTrades:
    """Trade counts for the last 24 hours."""

    buys: int
    sells: int
    traders: int


@dataclass(frozen=True, kw_only=True)
class CreatorFacts:
    """A token's creator, with the named user's name if known and the creator's newest other launches."""

    creator: Creator
    # The user that the launch names; the creator only if that is confirmed.
    fid: int | None
    name: str
    # The reason USER_UNVERIFIED in the record's trust.
    is_unverified: bool
    address_page: str | None
    others: Sequence[Token]


@dataclass(frozen=True, kw_only=True)
class Verification:
    """Newest verified block on the token's chain, None without any, and whether the launch's block is included."""

    is_followed: bool
    verified: int | None
    is_included: bool


def read_day_trades(token: Token) -> DayTrades | None:
    """Return the trade counts for the last 24 hours; None without trades. One query."""
    row = RollingSum.objects.filter(token=token, seconds=DAY).values_list("buys", "sells", "traders").first()
    return row and DayTrades(buys=row[0], sells=row[1], traders=row[2])


def read_creator(token: Token) -> CreatorFacts:
    """Return the creator with the newest listed launches besides this one. Two queries, one without a FID."""
    fid = token.requestor_fid
    users = users_by_fid([fid]) if fid is not None else {}
    user = None if fid is None else users.get(fid)
    creator = creator_of(token, users)
    others = Token.objects.deployed_with(token.pk, fid=creator.fid, wallet=creator.address).listed()
    if user and creator.fid is not None:
        others = others.launched_from(user["verifiedAddresses"])
    return CreatorFacts(
        creator=creator,
        fid=fid,
        name=user_name(user),
        is_unverified=is_user_unverified(token, user),
        address_page=explorer_address_page(token.chain_id, creator.address) if creator.address else None,
        others=list(others.exclude(pk=token.pk).order_by("-deployed_at", "-id")[:OTHERS_SHOWN]),
    )


def read_verification(token: Token) -> Verification:
    """Return how far the token's chain is verified. One query."""
    state = next(iter(read_chain_states(timezone.now(), chain_id=token.chain_id)), None)
    verified = None if state is None else state.verified
    return Verification(
        is_followed=verified is not None,
        verified=verified if verified and verified > 0 else None,
        is_included=verified is not None and token.block_number <= verified,
    )


def launcher_links(token: Token) -> list[SocialLink]:
    """Return the launcher's links that browsers open: ipfs:// URLs are left out."""
    links = social_links(token.metadata)
    return [link for link in links if link["link"].lower().startswith(("https://", "http://"))][:_LINKS_SHOWN]


def contracts(token: Token) -> list[tuple[str, str, str | None]]:
    """Return kind, address and explorer page for each known contract and account in the launch."""
    addresses = {
        "token": token.contract_address,
        "pool": token.pool_address,
        # The chain's coin has no contract.
        "paired": "" if token.paired_token == ZERO_ADDRESS else token.paired_token,
        "hook": "" if has_moved(token) else token.pool_config.get("hook") or "",
        "locker": token.locker_address,
        "factory": token.factory_address,
        "admin": token.admin,
        "sender": token.msg_sender,
    }
    return [(kind, address, _page(token, kind, address)) for kind, address in addresses.items() if address]


def _page(token: Token, kind: str, address: str) -> str | None:
    if kind == "token":
        return explorer_token_page(token.chain_id, address)
    # Explorers have no page for a v4 pool, whose id has 32 bytes.
    return None if is_v4_pool(address) else explorer_address_page(token.chain_id, address)

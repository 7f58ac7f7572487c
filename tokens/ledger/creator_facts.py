"""Facts about a creator's launches, for the user or wallet that a page's path names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from django.db.models import Count, DecimalField, F, Func, Max, Min, Q, Sum

from accounts.models.profiles import MAX_FID
from accounts.profiles import social_refresh
from accounts.profiles.responses import RelatedUser
from config.site.formats import COUNTED_LAUNCHES
from config.site.page_input import parse_page_cursor
from tokens.catalogue.list_plan import fetch_list
from tokens.catalogue.listing import ListSort, PageRequest
from tokens.catalogue.selections import Selection
from tokens.chains.addresses import parse_address
from tokens.installation.installed_registry import chain_name
from tokens.ledger.creators import Creator
from tokens.ledger.fee_ledger import read_wallet_claims
from tokens.ledger.launch_outcomes import TRADED_WITHIN

PAGE_SIZE = 20
_FID = re.compile(r"[1-9][0-9]{0,18}")


@dataclass(frozen=True, kw_only=True)
class LaunchTotals:
    """Figures about a creator's newest launches: a prolific wallet has millions."""

    # A number above COUNTED_LAUNCHES means "or more"; the first launch is then unknown.
    count: int
    first_at: datetime | None
    last_at: datetime | None
    # Launches with a trade within TRADED_WITHIN.
    traded: int
    # Launches that left their bonding curve.
    graduated: int
    warned: int
    volume_24h: float | None

    @property
    def is_complete(self) -> bool:
        """Return whether all launches are counted."""
        return self.count <= COUNTED_LAUNCHES


@dataclass(frozen=True)
class ClaimTotal:
    """Fees that a wallet claimed on one chain in one currency, in whole units."""

    amount: Decimal
    symbol: str
    chain: str


@dataclass(frozen=True)
class LaunchPage:
    """A page's launch ids, newest first, and the next page's cursor."""

    token_ids: list[int]
    cursor: str | None


def parse_creator(text: str) -> Creator:
    """Return the creator that a path names: a FID in digits, or an address in any spelling. Raises ValueError."""
    if _FID.fullmatch(text) and int(text) <= MAX_FID:
        return Creator(text, int(text), "")
    address = parse_address(text, allow_mint=True)
    return Creator(address, None, address)


def read_user(creator: Creator) -> RelatedUser | None:
    """Return the creator's social profile; None for a wallet, or without a profile."""
    return None if creator.fid is None else social_refresh.users_by_fid([creator.fid]).get(creator.fid)


def read_totals(creator: Creator, now: datetime) -> LaunchTotals:
    """Return figures about the creator's launches, in one query."""
    tokens = select_launches(creator).tokens().order_by("-deployed_at", "-id")
    facts = tokens.annotate(
        # A float sum has digits that no addend has.
        volume=Func(F("market__volume_24h"), template="%(expressions)s::numeric", output_field=DecimalField()),
        traded_at=F("market__last_trade_at"),
        day_count=F("market__tx_count_24h"),
        is_graduated=Q(market__graduated_at__isnull=False),
    )
    # The provider reports no last trade time.
    is_traded = Q(traded_at__gte=now - TRADED_WITHIN) | Q(day_count__gt=0)
    totals = facts[: COUNTED_LAUNCHES + 1].aggregate(
        number=Count("pk"),
        first=Min("deployed_at"),
        last=Max("deployed_at"),
        traded=Count("pk", filter=is_traded),
        graduated=Count("pk", filter=Q(is_graduated=True)),
        warned=Count("pk", filter=~Q(launch_warnings=[])),
        total_volume=Sum("volume"),
    )
    return LaunchTotals(
        count=totals["number"],
        first_at=totals["first"] if totals["number"] <= COUNTED_LAUNCHES else None,
        last_at=totals["last"],
        traded=min(totals["traded"], COUNTED_LAUNCHES),
        graduated=min(totals["graduated"], COUNTED_LAUNCHES),
        warned=min(totals["warned"], COUNTED_LAUNCHES),
        volume_24h=None if totals["total_volume"] is None else float(totals["total_volume"]),
    )


def read_claims(creator: Creator) -> list[ClaimTotal]:
    """Return the creator's claimed fees, in two queries. Chains that are not summed yet are left out."""
    # A first day in the far future leaves out daily amounts.
    claims = read_wallet_claims(creator.address, date.max)
    return [
        ClaimTotal(Decimal(total).scaleb(-claim.quote.decimals), claim.quote.symbol, chain_name(claim.account.chain_id))
        for claim in claims
        if (total := claim.claimed.total)
    ]


def read_launches(creator: Creator, parameters: Mapping[str, str]) -> LaunchPage:
    """Return the page of the creator's launches that the parameters select, newest first, in one query.

    Raises PageInputError, and ReplicaBehindError for a cursor that the primary issued.
    """
    list_sort = ListSort()
    cursor = parse_page_cursor(parameters, list_sort.parse_cursor)
    page, _ = fetch_list(select_launches(creator), list_sort, PageRequest(PAGE_SIZE, cursor=cursor))
    return LaunchPage([record["id"] for record in page.records], page.cursor)


def select_launches(creator: Creator) -> Selection:
    """Return the selection for launches that the user requested, or that the wallet sent or requested."""
    return Selection(fid=creator.fid) if creator.fid is not None else Selection(deployer=creator.address)

"""Home page lists: new tokens by the catalogue's sorts, a search, trending and graduating tokens."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.conf import settings
from django.utils.translation import gettext

from config.cursors import Cursor, LegacyCursor
from config.site.page_input import PageInputError, parse_choice, parse_page_cursor, refuse_longer
from tokens.catalogue import list_plan, text_search
from tokens.catalogue.listing import ListSort, PageRequest
from tokens.catalogue.selections import Selection
from tokens.catalogue.totals import Total
from tokens.installation.installed_registry import registry
from tokens.models import Token
from tokens.models.search_entry import SearchEntryQuerySet
from tokens.models.sorts import DEPLOYED_AT, SORTS
from tokens.models.token import TokenQuerySet
from tokens.site.filter_chips import FILTERS, parse_filters

PAGE_SIZE = 20

NEW, TRENDING, GRADUATING = TABS = ("new", "trending", "graduating")
# The values of `sort`; the first is the default.
HOME_SORTS = {
    "newest": DEPLOYED_AT,
    "market-cap": SORTS["market-cap"],
    "volume": SORTS["volume-h24"],
    "change": SORTS["price-percent-h24"],
}
ALL_CHAINS = "all"
PARAMETERS = ("tab", "q", "chain", "sort", "cursor", *FILTERS)
_MAX_CHAIN_ID = 2**63 - 1
_PART_OF_ADDRESS = re.compile(r"0x[0-9a-f]{3,63}", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class HomeQuery:
    """A visitor's choices."""

    tab: str
    # Empty without a search.
    q: str
    # None is all chains.
    chain_id: int | None
    # Conditions besides text and chain.
    filters: Selection
    # A key in HOME_SORTS.
    sort: str
    # The previous page's last row; None is the first page.
    cursor: Cursor | LegacyCursor | None

    @property
    def selection(self) -> Selection:
        """Return all conditions."""
        return replace(self.filters, q=self.q, chain_id=self.chain_id)

    @property
    def has_filters(self) -> bool:
        """Return whether there is a condition besides text and chain."""
        return self.filters != Selection()

    @property
    def is_symbol(self) -> bool:
        """Return whether the search is for a whole symbol: too many names contain one Latin letter or digit."""
        return len(self.q) == 1 and self.q.isascii() and self.q.isalnum()

    @property
    def is_part_of_address(self) -> bool:
        """Return whether the search is the beginning of an address or hash, which match only as a whole."""
        return _PART_OF_ADDRESS.fullmatch(self.q) is not None

    @property
    def is_newest(self) -> bool:
        """Return whether the list has the newest tokens first, so that new ones precede it."""
        return self.tab == NEW and self.sort == "newest"

    @property
    def event_types(self) -> tuple[str, ...]:
        """Return the event types that change the page; none for a search, and after the first page."""
        if self.q or self.cursor:
            return ()
        launches = ("token.indexed",) if self.is_newest or self.tab == GRADUATING else ()
        return (*launches, "token.updated", "token.reorged", "markets.changed")


@dataclass(frozen=True)
class HomeList:
    """A page's token ids, the next page's cursor, and the total, if the list has a search or filter."""

    token_ids: list[int]
    cursor: str | None = None
    total: Total | None = None


def parse_home_query(values: Mapping[str, str]) -> HomeQuery:
    """Return the choices in a URL's parameters; an empty parameter is the default. Raises PageInputError.

    Another sort's cursor is the first page. Raises ReplicaBehindError for a cursor from the primary.
    """
    # PostgreSQL's texts have no NUL.
    q = values.get("q", "").replace("\0", "").strip()
    refuse_longer(q, "q", text_search.MAX_QUERY_LENGTH)
    sort = parse_choice(values, "sort", HOME_SORTS) or next(iter(HOME_SORTS))
    return HomeQuery(
        tab=parse_choice(values, "tab", TABS) or NEW,
        q=q,
        chain_id=_parse_chain(values.get("chain", "")),
        filters=parse_filters(values),
        sort=sort,
        cursor=parse_page_cursor(values, ListSort(HOME_SORTS[sort]).parse_cursor),
    )


def _parse_chain(text: str) -> int | None:
    """Return a chain id; None for all chains; SITE_DEFAULT_CHAIN for an empty text."""
    if not text:
        return settings.SITE_DEFAULT_CHAIN or None
    if text == ALL_CHAINS:
        return None
    if text.isascii() and text.isdigit() and len(text) <= len(str(_MAX_CHAIN_ID)) and 0 < int(text) <= _MAX_CHAIN_ID:
        return int(text)
    raise PageInputError("chain", gettext("must be a chain id, or %(word)s") % {"word": ALL_CHAINS})


def choosable_chains(chosen: int | None) -> dict[int, str]:
    """Return chain id -> name for the chains that have a node, and for the chosen one if it is in the registry."""
    chains = registry().chains.values()
    return {chain.chain_id: chain.name for chain in chains if chain.chain_id in (chosen, *settings.RPC_URLS)}


def has_curve_tokens() -> bool:
    """Return whether a token on a bonding curve is listed."""
    return Token.objects.listed().filter(chain_id__in=_curve_chains()).exists()


def read_list(query: HomeQuery) -> HomeList:
    """Return one page. Raises SearchTimeoutError."""
    if query.is_symbol:
        entries = query.selection.entries().filter(text_search.symbol_match(query.q))
        return HomeList(_first_ids(query.filters, entries.order_by("-deployed_at", "-pk")))
    if query.tab == TRENDING and not query.q:
        return HomeList(_first_ids(query.filters, _trending_tokens(query.selection)))
    if query.tab == GRADUATING and not query.q:
        return HomeList(_graduating_ids(query.filters))
    list_sort, page_request = ListSort(HOME_SORTS[query.sort]), PageRequest(PAGE_SIZE, cursor=query.cursor)
    page, total = list_plan.fetch_list(query.selection, list_sort, page_request)
    return HomeList([record["id"] for record in page.records], page.cursor, total)


def _trending_tokens(selection: Selection) -> TokenQuerySet:
    """Return the selection's tokens on chains with followed trades, by the trending score."""
    tokens = selection.tokens().filter(market__trending__isnull=False)
    if settings.MARKET_PROVIDER_CHAINS:
        tokens = tokens.exclude(chain_id__in=settings.MARKET_PROVIDER_CHAINS)
    return tokens.order_by("-market__trending", "-market__token_id")


def _graduating_ids(filters: Selection) -> list[int]:
    """Return tokens on a bonding curve, the closest to graduation first, then the newest with unknown progress."""
    tokens = filters.tokens()
    by_progress = _first_ids(
        filters, tokens.filter(market__curve_progress__lt=100).order_by("-market__curve_progress", "-market__token_id")
    )
    unknown = tokens.filter(chain_id__in=_curve_chains(), market__curve_progress=None).order_by("-deployed_at", "-id")
    return (by_progress + _first_ids(filters, unknown))[:PAGE_SIZE]


def _curve_chains() -> list[int]:
    # All Solana generations launch on a bonding curve.
    return [chain.chain_id for chain in registry().chains.values() if chain.is_solana]


def _first_ids(filters: Selection, tokens: TokenQuerySet | SearchEntryQuerySet) -> list[int]:
    if filters == Selection():
        return list(tokens.values_list("pk", flat=True)[:PAGE_SIZE])
    return list_plan.first_ids(tokens, PAGE_SIZE)

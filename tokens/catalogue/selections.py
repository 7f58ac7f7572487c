"""Token list conditions: hashable values that are compared, used as cache keys and sent to a worker."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from django.contrib.postgres.fields import ArrayField
from django.db.models import BigIntegerField, F, QuerySet, Value
from django.db.models.functions import Cast

from tokens.catalogue import text_search
from tokens.installation.installed_registry import registry
from tokens.models import ClaimSum, SearchEntry, Token
from tokens.models.expressions import EqualsAny
from tokens.models.search_entry import SearchEntryQuerySet
from tokens.models.token import TokenQuerySet

# Tokens without any warning, and tokens with a launch warning.
NO_WARNING, ANY_WARNING = WARNING_CHOICES = ("none", "any")
# Conditions with their own index, sorted by time.
_INDEXED = frozenset({"fid", "fids", "msg_sender", "chain_id", "deployer", "admin", "fee_recipient", "paid_account"})
# Payments by day and currency, newest tokens first, among which an account's declared launches are searched.
PAYING_TOKENS = 10_000
_BIGINTS = ArrayField(BigIntegerField())
# Search entries have copies of the tokens' filtered columns, under the same names.
Filtered = TypeVar("Filtered", TokenQuerySet, SearchEntryQuerySet)


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The listed tokens that meet all conditions; an unset condition is None, empty or False.

    Addresses are in stored form.
    """

    # Part of a name or symbol, or a whole address or hash.
    q: str = ""
    fid: int | None = None
    fids: tuple[int, ...] | None = None
    msg_sender: str = ""
    # A pool, or a paired token.
    pool_or_pair: str = ""
    # The paired token's symbol.
    pair: str = ""
    interface: str = ""
    # Launchpad names, sorted.
    launchpads: tuple[str, ...] = ()
    # Unix seconds.
    launched_after: int | None = None
    champagne: bool = False
    chain_id: int | None = None
    # The sender or the requestor.
    deployer: str = ""
    admin: str = ""
    # A current fee recipient.
    fee_recipient: str = ""
    # An account that declared launchpads have paid: their launches name no recipient.
    paid_account: str = ""
    # Verified by an operator, or launched by a known deployer.
    trusted: bool = False
    # One of WARNING_CHOICES; empty is no condition.
    warnings: str = ""
    # USD.
    min_market_cap: int | None = None
    min_volume_24h: int | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Selection":
        """Return the selection for a list's validated parameters, or for `conditions`."""
        conditions = {field.name: values[field.name] for field in fields(cls) if field.name in values}
        # JSON has no tuples.
        conditions |= {name: tuple(value) for name, value in conditions.items() if isinstance(value, list)}
        return cls(**conditions)

    @property
    def conditions(self) -> dict[str, Any]:
        """Return the conditions that are set, as JSON values."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name)) != field.default}

    def identity_filters_only(self) -> "Selection":
        """Return the selection reduced to the filters by user, wallet or chain."""
        return Selection(fid=self.fid, fids=self.fids, msg_sender=self.msg_sender, chain_id=self.chain_id)

    @property
    def has_filters(self) -> bool:
        """Return whether there is a condition besides user, wallet and chain, which have their own indexes."""
        return not _INDEXED.issuperset(self.conditions)

    def least_of(self, column: str) -> int | None:
        """Return the least value for a Market column; None without a minimum."""
        return {"market_cap": self.min_market_cap, "volume_24h": self.min_volume_24h}.get(column)

    def without_search(self) -> "Selection":
        """Return the selection with all conditions except the search."""
        return replace(self, q="")

    def tokens(self) -> TokenQuerySet:
        """Return the selection's tokens."""
        tokens = Token.objects.listed()
        if self.q:
            text_matches, exact = text_search.text_match(self.q), text_search.exact_match(self.q)
            tokens = tokens.filter(text_matches if exact is None else exact | text_matches)
        tokens = self._restrict(tokens)
        if self.deployer:
            tokens = tokens.deployed_by(self.deployer)
        if self.fee_recipient:
            tokens = tokens.paying(self.fee_recipient)
        if self.paid_account:
            tokens = tokens.of_generations(declared_generations()).filter(pk__in=_paying_tokens(self.paid_account))
        return tokens.filter(admin=self.admin) if self.admin else tokens

    def entries(self) -> SearchEntryQuerySet:
        """Return the search entries for tokens that meet a search's conditions besides the text."""
        return self._restrict(SearchEntry.objects.listed())

    def _restrict(self, rows: Filtered) -> Filtered:
        """Apply the conditions on columns that tokens and search entries share."""
        if self.fid is not None:
            rows = _requested_by(rows, (self.fid,))
        if self.fids is not None:
            rows = _requested_by(rows, self.fids)
        if self.msg_sender:
            rows = rows.filter(msg_sender=self.msg_sender)
        if self.pool_or_pair:
            rows = rows.in_pool_or_paired_with(self.pool_or_pair)
        if self.pair:
            rows = rows.paired(self.pair)
        if self.interface:
            rows = rows.launched_by_interface(self.interface)
        if self.launched_after is not None:
            rows = rows.filter(deployed_at__gt=datetime.fromtimestamp(self.launched_after, UTC))
        if self.champagne:
            rows = rows.filter(champagne=True)
        rows = self._restrict_by_facts(rows)
        return rows if self.chain_id is None else rows.filter(chain_id=_as_bigint(self.chain_id))

    def _restrict_by_facts(self, rows: Filtered) -> Filtered:
        """Apply the conditions on launchpads, trust, warnings and markets, whose facts search entries don't copy."""
        if self.launchpads:
            installed = registry()
            rows = rows.of_generations([name for pad in self.launchpads for name in installed.generations_of(pad)])
        if self.trusted:
            rows = rows.trusted()
        if self.warnings:
            rows = rows.without_warnings() if self.warnings == NO_WARNING else rows.warned()
        if self.min_market_cap is not None:
            rows = rows.with_least("market_cap", self.min_market_cap)
        return rows if self.min_volume_24h is None else rows.with_least("volume_24h", self.min_volume_24h)


def _requested_by(rows: Filtered, fids: Sequence[int]) -> Filtered:
    """Return the rows with one of the requestors: one parameter for all, so that a cached statement stays small."""
    if len(fids) == 1:
        # An index is in time order only for one value.
        return rows.filter(requestor_fid=_as_bigint(fids[0]))
    return rows.filter(EqualsAny(F("requestor_fid"), Value(list(fids), output_field=_BIGINTS)))


def declared_generations() -> list[str]:
    """Return the names of the declared launchpads."""
    return [launchpad.name for launchpad in registry().launchpads.values() if launchpad.launches]


def _paying_tokens(account: str) -> QuerySet[Any, Any]:
    """Return the ids of the newest tokens that have paid an account: a launchpad's treasury may have millions."""
    paid = ClaimSum.objects.filter(recipient=account, amount__gt=0)
    return paid.order_by("-token_id").values("token_id")[:PAYING_TOKENS]


def _as_bigint(number: int) -> Cast:
    """Cast a number to its column's type, which PostgreSQL's GIN indexes require."""
    return Cast(Value(number), BigIntegerField())

"""Filter values of token lists, as hashable values that can be compared, used as cache keys and sent to a worker."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from tokens.catalogue.filters import FILTER_SETS, IDENTITY_FILTERS
from tokens.models import SearchEntry, Token
from tokens.models.search_entry import SearchEntryQuerySet
from tokens.models.token import TokenQuerySet


@dataclass(frozen=True)
class Selection:
    """The listed tokens that match a filter set. `values` are query parameters, trimmed and sorted by name."""

    filter_set: str = "TokenFilter"
    values: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, filter_set: Any, values: dict[str, str]) -> "Selection":
        """Return the selection of a filter set's validated parameters.

        Texts are trimmed and blank ones dropped, so that equal selections are equal values and share one cached count.
        """
        trimmed = ((name, text.strip()) for name, text in values.items())
        return cls(filter_set.__name__, tuple(sorted((name, text) for name, text in trimmed if text)))

    @property
    def q(self) -> str:
        """Return the search text; empty without a search."""
        return dict(self.values).get("q", "")

    def identity_filters_only(self) -> "Selection":
        """Return the selection reduced to the filters by user, wallet or chain (IDENTITY_FILTERS)."""
        return Selection(self.filter_set, tuple(pair for pair in self.values if pair[0] in IDENTITY_FILTERS))

    def without_search(self) -> "Selection":
        """Return the selection with all filters except the search."""
        return Selection(self.filter_set, tuple(pair for pair in self.values if pair[0] != "q"))

    def tokens(self) -> TokenQuerySet:
        """Return the tokens of the selection."""
        selected: TokenQuerySet = FILTER_SETS[self.filter_set](dict(self.values), Token.objects.listed()).qs
        return selected

    def entries(self, match: Q) -> SearchEntryQuerySet:
        """Return the search entries that match, for tokens that match all other filters."""
        filters = FILTER_SETS[self.filter_set](dict(self.without_search().values), SearchEntry.objects.listed())
        entries: SearchEntryQuerySet = filters.qs
        return entries.filter(match)

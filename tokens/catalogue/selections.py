"""Which tokens a list holds: the values of its filters, which can be compared, kept and sent to a worker."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from tokens.catalogue.filters import FILTER_SETS, IDENTITY_FILTERS
from tokens.models import SearchEntry, Token
from tokens.models.querysets import SearchEntryQuerySet, TokenQuerySet


@dataclass(frozen=True)
class Selection:
    """The listed tokens that a filter set lets through. `values` are parameters, trimmed and sorted by name."""

    filter_set: str = "TokenFilter"
    values: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, filter_set: Any, values: dict[str, str]) -> "Selection":
        """The selection that checked parameters of a filter set make.

        Blanks around a text mean nothing, and a text of blanks alone is none: each selection has one form, and one
        count that is kept.
        """
        trimmed = ((name, text.strip()) for name, text in values.items())
        return cls(filter_set.__name__, tuple(sorted((name, text) for name, text in trimmed if text)))

    @property
    def q(self) -> str:
        """What is searched for; empty where nothing is."""
        return dict(self.values).get("q", "")

    def identities(self) -> "Selection":
        """What is left under the filters that say whose tokens they are, or on which chain."""
        return Selection(self.filter_set, tuple(pair for pair in self.values if pair[0] in IDENTITY_FILTERS))

    def without_search(self) -> "Selection":
        """What is left under all filters but the search."""
        return Selection(self.filter_set, tuple(pair for pair in self.values if pair[0] != "q"))

    def tokens(self) -> TokenQuerySet:
        """The tokens."""
        selected: TokenQuerySet = FILTER_SETS[self.filter_set](dict(self.values), Token.objects.listed()).qs
        return selected

    def entries(self, match: Q) -> SearchEntryQuerySet:
        """The search entries that match and whose tokens all other filters let through."""
        filters = FILTER_SETS[self.filter_set](dict(self.without_search().values), SearchEntry.objects.listed())
        entries: SearchEntryQuerySet = filters.qs
        return entries.filter(match)

"""Which tokens a list holds: the values of its filters, which can be compared, kept and sent to a worker."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from tokens.filters import FILTER_SETS, IDENTITY_FILTERS, MomentField
from tokens.models import SearchEntry, Token
from tokens.querysets import SearchEntryQuerySet, TokenQuerySet


@dataclass(frozen=True)
class Selection:
    """The listed tokens that a filter set lets through. `values` are parameters as they came, sorted by name."""

    filter_set: str = "TokenFilter"
    values: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, filter_set: Any, values: dict[str, str]) -> "Selection":
        """The selection that checked parameters of a filter set make."""
        return cls(filter_set.__name__, tuple(sorted(values.items())))

    @property
    def q(self) -> str:
        """What is searched for; empty where nothing is."""
        return dict(self.values).get("q", "").strip()

    def identities(self) -> "Selection":
        """What is left under the filters that say whose tokens they are, or on which chain."""
        return Selection(self.filter_set, tuple(pair for pair in self.values if pair[0] in IDENTITY_FILTERS))

    def without_search(self) -> "Selection":
        """What is left under all filters but the search."""
        return Selection(self.filter_set, tuple(pair for pair in self.values if pair[0] != "q"))

    def search_alone(self) -> "Selection":
        """The search without all other filters."""
        return Selection(self.filter_set, tuple(pair for pair in self.values if pair[0] == "q"))

    def tokens(self) -> TokenQuerySet:
        """The tokens."""
        selected: TokenQuerySet = FILTER_SETS[self.filter_set](dict(self.values), Token.objects.listed()).qs
        return selected

    @property
    def has_filters_of_tokens(self) -> bool:
        """Whether filters beside the search ask for more than a search entry tells."""
        return bool(self._beside_entries().values)

    def entries(self, match: Q) -> SearchEntryQuerySet:
        """The search entries that match and whose tokens all other filters let through."""
        entries = SearchEntry.objects.listed().filter(match)
        start = dict(self.values).get("startDate")
        if start:
            entries = entries.filter(deployed_at__gt=MomentField().clean(start))
        if not self.has_filters_of_tokens:
            return entries
        return entries.filter(token__in=self._beside_entries().tokens().values("pk"))

    def _beside_entries(self) -> "Selection":
        return Selection(self.filter_set, tuple(pair for pair in self.values if pair[0] not in ("q", "startDate")))

"""Token list filters on pages: the API's parameters in the URL, and the links that set and remove them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext

from config.site.formats import compact_text, in_usd, plain
from config.site.page_input import parse_choice, parse_page_flag, parse_page_number, refuse_longer
from tokens.catalogue.list_parameters import MAX_USD
from tokens.catalogue.selections import ANY_WARNING, NO_WARNING, WARNING_CHOICES, Selection
from tokens.installation.installed_launchpads import MAX_LAUNCHPADS, indexed_launchpads
from tokens.installation.installed_registry import registry
from tokens.models.expressions import MAX_INTERFACE_LENGTH

# Parameter -> `Selection` condition.
FILTERS = {
    "verified": "trusted",
    "warnings": "warnings",
    "minMarketCap": "min_market_cap",
    "minVolume24h": "min_volume_24h",
    "launchpad": "launchpads",
    "socialInterface": "interface",
}
# USD.
_MARKET_CAPS = (10_000, 100_000, 1_000_000)
_VOLUMES = (1_000, 10_000, 100_000)
_MOST_INTERFACES = 3
_ON = "true"


@dataclass(frozen=True)
class FilterChip:
    """Link that sets a filter, or removes the one that is set."""

    name: str
    value: str
    text: str
    # Query string for the list that it leads to.
    address: str
    is_set: bool


@dataclass(frozen=True)
class ChipGroup:
    """Chips that exclude one another, under their title; or chips that need no title."""

    title: str
    chips: list[FilterChip]


def parse_filters(values: Mapping[str, str]) -> Selection:
    """Return the conditions in a URL's parameters; an empty parameter is no condition. Raises PageInputError."""
    # PostgreSQL's texts have no NUL.
    interface = values.get("socialInterface", "").replace("\0", "").strip()
    refuse_longer(interface, "socialInterface", MAX_INTERFACE_LENGTH)
    launchpads = values.get("launchpad", "").split(",")[:MAX_LAUNCHPADS]
    names = registry().launchpads
    return Selection(
        trusted=parse_page_flag(values, "verified"),
        warnings=parse_choice(values, "warnings", WARNING_CHOICES),
        min_market_cap=parse_page_number(values, "minMarketCap", MAX_USD),
        min_volume_24h=parse_page_number(values, "minVolume24h", MAX_USD),
        launchpads=tuple(sorted({parse_choice({"launchpad": name}, "launchpad", names) for name in launchpads} - {""})),
        interface=interface,
    )


def filter_parameters(filters: Selection) -> dict[str, str]:
    """Return the URL parameters for these conditions."""
    conditions = filters.conditions
    return {name: _parameter(conditions[condition]) for name, condition in FILTERS.items() if condition in conditions}


def _parameter(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    return _ON if value is True else str(value)


def build_chips(filters: Selection, interfaces: Iterable[str], address: Callable[..., str]) -> list[ChipGroup]:
    """Return a list's chips, with the most frequent `interfaces` in its rows; `address` is `address_with`."""
    parameters = filter_parameters(filters)

    def chip(name: str, value: str, text: str) -> FilterChip:
        is_set = parameters.get(name) == value
        return FilterChip(name, value, text, address(**{name: None if is_set else value}), is_set)

    def amounts(name: str, usual: tuple[int, ...]) -> list[FilterChip]:
        several = sorted({*usual, *map(int, filter(None, [parameters.get(name)]))})
        return [chip(name, str(amount), _at_least(amount)) for amount in several]

    of_launches = [chip("verified", _ON, gettext("Verified")), chip("warnings", NO_WARNING, gettext("No warnings"))]
    if filters.warnings == ANY_WARNING:
        of_launches.append(chip("warnings", ANY_WARNING, gettext("With warnings")))
    return [
        ChipGroup("", of_launches),
        ChipGroup(gettext("Market cap"), amounts("minMarketCap", _MARKET_CAPS)),
        ChipGroup(gettext("Volume, 24 h"), amounts("minVolume24h", _VOLUMES)),
        ChipGroup(
            gettext("Launchpad"),
            [chip("launchpad", ",".join(names), _titles(names)) for names in _launchpads(filters.launchpads)],
        ),
        ChipGroup(
            gettext("Interface"),
            [chip("socialInterface", name, plain(name, 16)) for name in _interfaces(filters.interface, interfaces)],
        ),
    ]


def _launchpads(selected: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return each indexed launchpad, and the selected ones together; none if there is only one."""
    indexed = [(name,) for name in indexed_launchpads()]
    launchpads = list(dict.fromkeys([*indexed, selected] if selected else indexed))
    return launchpads if selected or len(launchpads) > 1 else []


def _titles(names: tuple[str, ...]) -> str:
    return plain(", ".join(registry().launchpads[name].title for name in names), 40)


def _interfaces(selected: str, interfaces: Iterable[str]) -> list[str]:
    """Return only the selected interface, as all rows have it; without one, the most frequent interfaces."""
    if selected:
        return [selected]
    # The filter accepts only names up to this length.
    usable = Counter(name for name in interfaces if 0 < len(name.strip()) <= MAX_INTERFACE_LENGTH)
    return [name for name, _ in usable.most_common(_MOST_INTERFACES)]


def _at_least(amount: int) -> str:
    # As many digits as a round amount has.
    digits = min(3, max(1, len(str(amount).rstrip("0"))))
    return gettext("%(amount)s+") % {"amount": in_usd(compact_text(amount, digits))}

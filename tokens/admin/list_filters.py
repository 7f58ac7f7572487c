"""Admin list filters with choices from the registry, which need no query."""

from django.db.models import QuerySet
from django_filters import ChoiceFilter

from config.operators.admin_pages import AdminFilterSet
from tokens.installation.installed_registry import registry
from tokens.models import Token


def _chains() -> list[tuple[str, str]]:
    return [(str(chain.chain_id), chain.name) for chain in registry().chains.values()]


def _generations() -> list[tuple[str, str]]:
    return [(name, generation.type) for name, generation in registry().generations.items()]


def _launchpads() -> list[tuple[str, str]]:
    return [(name, launchpad.title) for name, launchpad in registry().launchpads.items()]


class LaunchFilterSet(AdminFilterSet):
    """Filters by chain, launchpad and generation."""

    chain_id = ChoiceFilter(label="chain", choices=_chains)
    launchpad = ChoiceFilter(label="launchpad", choices=_launchpads, method="of_launchpad")
    generation = ChoiceFilter(label="generation", choices=_generations)

    def of_launchpad(self, rows: QuerySet[Token], name: str, value: str) -> QuerySet[Token]:
        """Return a launchpad's tokens."""
        return rows.filter(generation__in=registry().generations_of(value))


ChainFilter, LaunchpadFilter, GenerationFilter = LaunchFilterSet.list_filters()

"""Filters of admin lists with choices from the registry, which need no query."""

from django_filters import ChoiceFilter

from config.operators.admin_pages import AdminFilterSet
from tokens.installation.installed_registry import registry


def _chains() -> list[tuple[str, str]]:
    return [(str(chain.chain_id), chain.name) for chain in registry().chains.values()]


def _generations() -> list[tuple[str, str]]:
    return [(name, generation.type) for name, generation in registry().generations.items()]


class LaunchFilterSet(AdminFilterSet):
    """Filters of rows of a chain, and of a generation."""

    chain_id = ChoiceFilter(label="chain", choices=_chains)
    generation = ChoiceFilter(label="generation", choices=_generations)


ChainFilter, GenerationFilter = LaunchFilterSet.list_filters()

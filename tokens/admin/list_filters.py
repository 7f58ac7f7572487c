"""Filters of admin lists with choices from the registry, which need no query."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from tokens.installation.installed_chains import registry


class ChainFilter(admin.SimpleListFilter):
    title = "chain"
    parameter_name = "chain_id"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(str(chain.chain_id), chain.name) for chain in registry().chains.values()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset.filter(chain_id=int(value)) if value in dict(self.lookup_choices) else queryset


class GenerationFilter(admin.SimpleListFilter):
    title = "generation"
    parameter_name = "generation"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, generation.type) for name, generation in registry().generations.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset.filter(generation=value) if value else queryset

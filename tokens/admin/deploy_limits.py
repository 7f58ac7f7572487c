"""Admin of deployment limits: the pause flag of a chain, and quotas of partner keys."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminSelectWidget

from tokens.admin.chain_progress import ChainColumn
from tokens.admin.indexed_search import IndexedSearch, match_chain
from tokens.admin.list_filters import ChainFilter
from tokens.installation.installed_registry import registry
from tokens.models import DeployQuota, DeploySwitch


class ChainSettingAdmin(ChainColumn, ModelAdmin):
    """Base of rows that operators create per chain of this installation; the chain cannot be changed later."""

    list_per_page = 50
    list_filter = (ChainFilter,)

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> tuple[str, ...]:
        return ("chain",) if obj else ()

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        if db_field.name != "chain_id":
            return super().formfield_for_dbfield(db_field, request, **options)
        chains = [(chain.chain_id, f"{chain.name} ({chain.chain_id})") for chain in registry().chains.values()]
        return forms.TypedChoiceField(label="Chain", coerce=int, choices=chains, widget=UnfoldAdminSelectWidget)


@admin.register(DeploySwitch)
class DeploySwitchAdmin(IndexedSearch, ChainSettingAdmin):
    list_display = ("chain", "paused", "reason")
    search_fields = ("chain_id",)
    search_help_text = "A chain's id, or part of its name."
    ordering = ("chain_id",)
    match = staticmethod(match_chain)

    def get_fields(self, request: HttpRequest, obj: object = None) -> tuple[str, ...]:
        return ("chain" if obj else "chain_id", "paused", "reason")


@admin.register(DeployQuota)
class DeployQuotaAdmin(ChainSettingAdmin):
    list_display = ("partner_key", "chain", "per_day")
    list_select_related = ("partner_key",)
    search_fields = ("partner_key__name",)
    search_help_text = "Part of a partner's name."
    ordering = ("partner_key__name", "chain_id")

    def get_fields(self, request: HttpRequest, obj: object = None) -> tuple[str, ...]:
        return ("partner_key", "chain" if obj else "chain_id", "per_day")

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> tuple[str, ...]:
        return ("partner_key", "chain") if obj else ()

"""Admin of deployment limits: the pause flag of a chain, quotas of partner keys, and spending limits."""

from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminSelectWidget

from config.operators.admin_pages import ListedAdmin
from tokens.admin.chain_progress import ChainColumn
from tokens.admin.grant_forms import GrantAdmin, GrantForm
from tokens.admin.indexed_search import IndexedSearch, match_chain
from tokens.admin.list_filters import ChainFilter
from tokens.installation.installed_registry import registry
from tokens.models import DeployQuota, DeploySwitch, SpendingLimit


class ChainSettingAdmin(ChainColumn, ListedAdmin):
    """Base of rows that operators create per chain of this installation; the chain cannot be changed later."""

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
    empty_text = (
        "No chain is paused: add a row for a chain, and switch Paused on, to accept and send no deployments there."
    )
    list_display = ("chain", "paused", "reason")
    search_fields = ("chain_id",)
    search_help_text = "A chain's id, or part of its name."
    ordering = ("chain_id",)
    match = staticmethod(match_chain)

    def get_fields(self, request: HttpRequest, obj: object = None) -> tuple[str, ...]:
        return ("chain" if obj else "chain_id", "paused", "reason")


def default_quota() -> Decimal:
    """Return the deployments a day of a key without a quota."""
    return Decimal(settings.RATE_LIMIT_DEPLOY or "Infinity")


class DeployQuotaForm(GrantForm):
    """Form of a quota, beside the default RATE_LIMIT_DEPLOY."""

    limit = "per_day"

    def without_row(self) -> Decimal:
        """Return the default quota."""
        return default_quota()


@admin.register(DeployQuota)
class DeployQuotaAdmin(GrantAdmin, ChainSettingAdmin):
    empty_text = "No quota yet: each key may deploy RATE_LIMIT_DEPLOY times a day; add a row to set another number."
    form = DeployQuotaForm
    list_display = ("partner_key", "chain", "per_day")
    list_select_related = ("partner_key",)
    search_fields = ("partner_key__name",)
    search_help_text = "Part of a partner's name."
    ordering = ("partner_key__name", "chain_id")

    def limit_fields(self, obj: DeployQuota | None) -> tuple[str, ...]:
        return ("partner_key", "chain" if obj else "chain_id", "per_day")

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> tuple[str, ...]:
        return ("partner_key", "chain") if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: DeployQuota | None = None) -> bool:
        """Forbid the deletion of a quota below the default: it would allow more without a code."""
        return super().has_delete_permission(request, obj) and (obj is None or default_quota() <= obj.per_day)


class SpendingLimitForm(GrantForm):
    """Form of a spending limit, without which nothing may be spent."""

    limit = "eth_per_day"

    class Meta:
        labels: ClassVar = {"eth_per_day": "ETH per day"}
        help_texts: ClassVar = {
            "partner_key": "Empty: all keys together. A key buys within launches only if both have a limit.",
            "eth_per_day": "Native coins for dev buys, per day in UTC.",
        }

    def without_row(self) -> Decimal:
        """Return that nothing is allowed."""
        return Decimal(0)


@admin.register(SpendingLimit)
class SpendingLimitAdmin(GrantAdmin, ChainSettingAdmin):
    empty_text = (
        "No limit yet, so no key may buy within launches: add a row for the key, and one without a key for "
        "all together."
    )
    form = SpendingLimitForm
    list_display = ("owner", "chain", "eth_a_day")
    list_select_related = ("partner_key",)
    search_fields = ("partner_key__name",)
    search_help_text = "Part of a partner's name."
    ordering = ("chain_id", "partner_key__name")

    @admin.display(description="partner key")
    def owner(self, limit: SpendingLimit) -> str:
        return "all keys together" if limit.partner_key is None else str(limit.partner_key)

    @admin.display(description="ETH per day")
    def eth_a_day(self, limit: SpendingLimit) -> str:
        return f"{limit.eth_per_day.normalize():f}"

    def limit_fields(self, obj: SpendingLimit | None) -> tuple[str, ...]:
        return ("owner", "chain", "eth_per_day") if obj else ("partner_key", "chain_id", "eth_per_day")

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> tuple[str, ...]:
        return ("owner", "chain") if obj else ()

"""Follower admin: chain heads, block coverage and coverage alarms."""

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action

from config.operators.admin_pages import (
    ReadOnlyAdmin,
    ServiceWrittenAdmin,
    confirm_action,
    list_action,
    log_changes,
)
from tokens.admin.indexed_search import IndexedSearch, match_alarms, match_chain, match_coverage
from tokens.admin.list_filters import ChainFilter
from tokens.admin.trades.chain_costs import ChainCosts, read_chain_costs
from tokens.admin.trades.partition_page import PartitionPage
from tokens.following.chain_status import ChainState, chain_state, with_progress
from tokens.installation.installed_registry import chain_name
from tokens.models import ChainHead, Coverage, CoverageAlarm


class ChainColumn:
    """Admin mixin with a column for the chain's name."""

    @admin.display(description="chain", ordering="chain_id")
    def chain(self, row: Any) -> str:
        return chain_name(row.chain_id)


@admin.register(ChainHead)
class ChainHeadAdmin(ChainColumn, PartitionPage, IndexedSearch, ReadOnlyAdmin):
    empty_text = "No chain is followed yet: set RPC_URLS_<chainId>, and run manage.py follow."
    list_display = ("chain", "head", "final", "followed", "verified", "lag", "halted", "error", "follower")
    list_filter = (ChainFilter,)
    search_fields = ("chain_id",)
    search_help_text = "A chain's id, or part of its name."
    ordering = ("chain_id",)
    match = staticmethod(match_chain)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ChainHead]:
        return with_progress(super().get_queryset(request))

    def get_fields(self, request: HttpRequest, obj: object = None) -> list[str]:
        plain = [field.name for field in ChainHead._meta.fields]
        return ["chain", *plain, "covered", "verified", "lag", "trades", "calls_for_trades", "disk_for_trades"]

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        """Render the page with the chain's trade costs, read once: Django renders fields several times."""
        head = options["obj"]
        head.costs = read_chain_costs(head.chain_id)
        return super().render_change_form(request, context, *args, **options)

    @admin.display(description="covered to")
    def covered(self, head: Any) -> int | None:
        """Return the last block up to which all followed contracts are indexed."""
        return _state(head).covered

    @admin.display(description="verified to")
    def verified(self, head: Any) -> int | None:
        return _state(head).verified

    @admin.display(description="lag")
    def lag(self, head: Any) -> str:
        state = _state(head)
        if state.lag_blocks is None or state.lag_seconds is None:
            return "not followed yet"
        return f"{state.lag_blocks:,} blocks, {state.lag_seconds:,.0f} s"

    @admin.display(description="trades")
    def trades(self, head: Any) -> str:
        costs: ChainCosts = head.costs
        return costs.trades

    @admin.display(description="calls for trades")
    def calls_for_trades(self, head: Any) -> str:
        costs: ChainCosts = head.costs
        return costs.calls

    @admin.display(description="disk for trades")
    def disk_for_trades(self, head: Any) -> str:
        costs: ChainCosts = head.costs
        return costs.disk


@admin.register(Coverage)
class CoverageAdmin(ChainColumn, IndexedSearch, ReadOnlyAdmin):
    empty_text = "No block is read yet: set RPC_URLS_<chainId>, and run manage.py follow."
    list_display = (
        "chain",
        "contracts",
        "first_block",
        "last_block",
        "followed_to",
        "verified_to",
        "repeated_from",
        "percent",
        "behind_head",
        "updated_at",
    )
    list_filter = (ChainFilter, ("last_block", admin.EmptyFieldListFilter))
    search_fields = ("addresses",)
    search_help_text = "The whole address of a contract, a chain's id, or part of its name."
    ordering = ("chain_id", "-pk")
    match = staticmethod(match_coverage)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Coverage]:
        heads = ChainHead.objects.filter(chain_id=OuterRef("chain_id"))
        rows: QuerySet[Coverage] = super().get_queryset(request)
        return rows.annotate(head=Subquery(heads.values("head")))

    def get_fields(self, request: HttpRequest, obj: object = None) -> list[str]:
        plain = [field.name for field in Coverage._meta.fields if field.name != "addresses"]
        return ["chain", *plain, "percent", "behind_head", "all_addresses"]

    @admin.display(description="contracts")
    def contracts(self, coverage: Any) -> str:
        """Return the number of contracts, and the prefix of the set's digest."""
        return f"{len(coverage.addresses)} ({coverage.address_set[:8]})"

    @admin.display(description="contracts' addresses")
    def all_addresses(self, coverage: Any) -> str:
        return ", ".join(coverage.addresses)

    @admin.display(description="read")
    def percent(self, coverage: Any) -> str:
        """Return the percentage of blocks that are read, up to the last block or the chain's head."""
        end = coverage.head if coverage.last_block is None else coverage.last_block
        if end is None:
            return ""
        block_count, read_count = end - coverage.first_block + 1, coverage.followed_to - coverage.first_block + 1
        # Rounded down: only complete coverage is 100 %.
        return f"{min(1000 * read_count // block_count, 1000) / 10:.1f} %" if block_count > 0 else "100.0 %"

    @admin.display(description="behind head")
    def behind_head(self, coverage: Any) -> int | None:
        """Return the lag in blocks behind the head, for coverage without a last block."""
        if coverage.last_block is not None or coverage.head is None:
            return None
        return max(0, int(coverage.head - coverage.followed_to))


@admin.register(CoverageAlarm)
class CoverageAlarmAdmin(ChainColumn, IndexedSearch, ServiceWrittenAdmin):
    empty_text = "No alarm: a node omitted or invented no log so far; FOLLOW_VERIFY sets how blocks are verified."
    list_display = (
        "raised_at",
        "chain",
        "first_block",
        "last_block",
        "missing",
        "invented",
        "corrected",
        "kept",
        "unproven",
        "repaired",
        "seen_at",
    )
    list_filter = (("seen_at", admin.EmptyFieldListFilter), "repaired", ChainFilter)
    search_fields = ("tx_hashes",)
    search_help_text = "The number of a block, or a whole transaction hash."
    ordering = ("-raised_at",)
    actions = ("see",)
    actions_row = ("see_this",)
    actions_detail = ("see_this",)
    match = staticmethod(match_alarms)

    def get_fields(self, request: HttpRequest, obj: object = None) -> list[str]:
        return self.get_readonly_fields(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> list[str]:
        plain = [field.name for field in CoverageAlarm._meta.fields if field.name != "tx_hashes"]
        return ["chain", *plain, "transactions"]

    def useless_actions(self, row: CoverageAlarm) -> tuple[str, ...]:
        return ("see",) if row.seen_at else ()

    @admin.display(description="transactions")
    def transactions(self, alarm: CoverageAlarm) -> str:
        return ", ".join(alarm.tx_hashes)

    @list_action("Mark as seen")
    def see(self, request: HttpRequest, alarms: QuerySet[CoverageAlarm]) -> None:
        """Mark alarms as seen; alarms that were already seen keep their time."""
        with transaction.atomic():
            unseen_alarms = list(alarms.filter(seen_at=None).select_for_update(no_key=True))
            CoverageAlarm.objects.filter(pk__in=[alarm.pk for alarm in unseen_alarms]).update(seen_at=timezone.now())
            log_changes(request, unseen_alarms, "seen")
        self.message_user(request, f"{len(unseen_alarms)} marked as seen.", messages.SUCCESS)

    @action(description="Mark as seen", permissions=["change"], url_path="see", icon="visibility")
    def see_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Mark one alarm as seen after a confirmation page."""
        text = "The dashboard and the metric of unseen alarms no longer count it; it remains in the list."
        return confirm_action(self, request, object_id, self.see, text=text)


def _state(head: Any) -> ChainState:
    return chain_state(head, timezone.now())

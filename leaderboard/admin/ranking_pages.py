"""Admin pages for current rankings, and for their fact sources: event files and a hub."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django_filters import ChoiceFilter

from config.operators.admin_pages import AdminFilterSet, QueueAdmin, ReadOnlyAdmin
from config.operators.local_times import local_time
from leaderboard.admin.evidence import render_evidence
from leaderboard.models import EventImport, HubCast, HubCursor, HubQuote, Interval, Standing
from tokens.admin.deployment_fields import admin_link
from tokens.admin.indexed_search import IndexedSearch


class IntervalFilter(admin.SimpleListFilter):
    title = "interval"
    parameter_name = "interval"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(interval.value, interval.value) for interval in Interval]

    def chosen(self) -> str:
        """Return the selected interval: ranks from several rankings can't be compared."""
        value = self.value()
        return value if value in Interval.values else Interval.DAY

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """Yield the intervals without the choice "All"."""
        for interval, label in self.lookup_choices:
            address = changelist.get_query_string({self.parameter_name: interval})
            yield {"selected": interval == self.chosen(), "query_string": address, "display": label}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Standing]) -> QuerySet[Standing]:
        return queryset.filter(snapshot__interval=self.chosen())


class DiscountFilterSet(AdminFilterSet):
    """Filter by discounts on the audience."""

    discounts = ChoiceFilter(
        label="discounts",
        choices=[("some", "with a discount"), ("most", "with most of the audience discounted")],
        method="discounted",
    )

    def discounted(self, standings: QuerySet[Standing], name: str, value: str) -> QuerySet[Standing]:
        return standings.exclude(wash_flags=[]) if value == "some" else standings.filter(wash_confidence__gte=0.5)


@admin.register(Standing)
class StandingAdmin(IndexedSearch, ReadOnlyAdmin):
    """Admin for standings in current rankings."""

    empty_text = "No ranking yet: a worker builds one for each interval once there is an agent."
    list_display = ("rank", "agent_link", "points", "wash", "flags", "interactions", "last_active_at")
    list_filter = (IntervalFilter, *DiscountFilterSet.list_filters())
    search_fields = ("public_id",)
    search_help_text = "A whole agent id."
    ordering = ("rank",)

    def match(self, text: str) -> Q:
        return Q(agent__agent_id=text)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Standing]:
        rows: QuerySet[Standing] = super().get_queryset(request)
        return (
            rows.filter(snapshot__is_current=True).select_related("snapshot", "agent").defer("evidence", "components")
        )

    def get_fields(self, request: HttpRequest, obj: Standing | None = None) -> list[str]:
        replaced_fields = {"id", "agent", "snapshot", "components", "evidence", "wash_flags"}
        plain = [field.name for field in Standing._meta.fields if field.name not in replaced_fields]
        return ["agent_link", "computed", *plain, "why"]

    def get_readonly_fields(self, request: HttpRequest, obj: Standing | None = None) -> list[str]:
        return self.get_fields(request, obj)

    @admin.display(description="agent")
    def agent_link(self, standing: Standing) -> str:
        return admin_link(standing.agent, standing.agent_name or standing.public_id)

    @admin.display(description="ranking")
    def computed(self, standing: Standing) -> str:
        return f"{standing.snapshot.interval}, computed {local_time(standing.snapshot.computed_at)}"

    @admin.display(description="composite", ordering="composite")
    def points(self, standing: Standing) -> str:
        return f"{standing.composite:.2f}"

    @admin.display(description="discounted share", ordering="wash_confidence")
    def wash(self, standing: Standing) -> str:
        return f"{standing.wash_confidence:.2f}"

    @admin.display(description="discounts")
    def flags(self, standing: Standing) -> str:
        return ", ".join(standing.wash_flags)

    @admin.display(description="why")
    def why(self, standing: Standing) -> str:
        return render_evidence(standing)


@admin.register(EventImport)
class EventImportAdmin(ReadOnlyAdmin):
    empty_text = "No import yet: manage.py import_agent_events reads a file of events."
    list_display = ("name", "started_at", "finished_at", "lines_read", "added", "known", "skipped")
    fields = ("name", "digest", "started_at", "finished_at", "bytes_read", "lines_read", "added", "known", "skipped")
    ordering = ("-id",)


@admin.register(HubCursor)
class HubCursorAdmin(QueueAdmin):
    empty_text = "No agent is read from a hub yet: set FARCASTER_HUB_URL, and give agents a FID."
    list_display = ("agent", "fid", "casts_until", "due_at", "attempts", "last_error")
    list_select_related = ("agent",)
    search_fields = ("=fid", "=agent__agent_id")
    search_help_text = "A whole FID or agent id."
    ordering = ("-pk",)


@admin.register(HubCast)
class HubCastAdmin(QueueAdmin):
    empty_text = "No cast yet: set FARCASTER_HUB_URL; the interactions of agents' casts are read from there."
    list_display = ("action_id", "fid", "read_until", "due_at", "attempts", "last_error")
    search_fields = ("=fid",)
    search_help_text = "The author's FID."
    ordering = ("-pk",)


@admin.register(HubQuote)
class HubQuoteAdmin(QueueAdmin):
    empty_text = "No quote waits: set FARCASTER_HUB_URL; quotes that partners report are then looked up there."
    list_display = ("message_hash", "agent", "fid", "at", "due_at", "attempts", "last_error")
    list_select_related = ("agent",)
    search_fields = ("=fid", "=agent__agent_id")
    search_help_text = "The quote's author by FID, or a whole agent id."
    ordering = ("-pk",)

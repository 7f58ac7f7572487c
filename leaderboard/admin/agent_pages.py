"""Agent admin pages: description, activity, and current standings with their evidence."""

from datetime import UTC, timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import TruncDate
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import format_html
from unfold.admin import TabularInline

from config.operators.admin_pages import ListedAdmin, list_action
from config.operators.dashboard import Chart
from config.operators.local_times import local_time
from leaderboard.admin.evidence import render_evidence
from leaderboard.events import field_rules, recording
from leaderboard.hub import fid_proofs
from leaderboard.models import Agent, AgentWallet, HubCursor, Interval, Standing
from leaderboard.models.agents import DESCRIPTION_TIME_COLUMNS
from tokens.admin.indexed_search import IndexedSearch
from tokens.chains.addresses import parse_address
from tokens.models import Token

DAYS = 30
# The list shows standings for this interval.
LISTED = Interval.WEEK


class AgentForm(forms.ModelForm):
    class Meta:
        model = Agent
        fields = [
            "agent_id",
            "name",
            "fid",
            "creator_fid",
            "token_chain_id",
            "token_address",
            "partner_key",
            "is_hidden",
        ]

    def __init__(self, *args: Any, **options: Any) -> None:
        """Store the initial values in the page: partners may change the agent while it is open."""
        super().__init__(*args, **options)
        for field in self.fields.values():
            field.show_hidden_initial = True

    def clean_agent_id(self) -> str:
        """Validate the id by the same rules as events."""
        try:
            return str(field_rules.agent_id(self.cleaned_data["agent_id"]))
        except ValueError as error:
            raise forms.ValidationError(f"An agent id {error}.") from error

    def clean_token_address(self) -> str:
        """Normalise the address to its stored form."""
        return _address(self.cleaned_data["token_address"])

    def clean(self) -> dict[str, Any]:
        """Reject a chain without an address, and vice versa. Unchanged fields keep their current values."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.instance.pk is not None:
            cleaned |= {name: getattr(self.instance, name) for name in cleaned.keys() - set(self.changed_data)}
        if "token_address" in cleaned and bool(cleaned["token_address"]) != (cleaned.get("token_chain_id") is not None):
            self.add_error("token_address", "A token is a chain and an address: give both or none.")
        return cleaned


class WalletForm(forms.ModelForm):
    class Meta:
        model = AgentWallet
        fields = ["address"]

    def clean_address(self) -> str:
        """Normalise the address to its form in trades."""
        return _address(self.cleaned_data["address"])


def _address(text: str) -> str:
    try:
        return parse_address(text.strip(), allow_mint=True) if text else ""
    except ValueError as error:
        raise forms.ValidationError(f"An address {error}.") from error


class WalletInline(TabularInline):
    model = AgentWallet
    form = WalletForm
    extra = 0
    verbose_name = "wallet that trades for it"
    verbose_name_plural = "wallets that trade for it"


@admin.register(Agent)
class AgentAdmin(IndexedSearch, ListedAdmin):
    """Agent admin. Agents are hidden and never deleted, since facts refer to them."""

    empty_text = (
        "No agent yet: add one, import a file by manage.py import_agent_events, or give a partner a key with "
        "the scope agents."
    )
    form = AgentForm
    inlines = (WalletInline,)
    list_display = (
        "agent_id",
        "name",
        "fid",
        "token",
        "partner_key",
        "rank",
        "wash",
        "hidden",
    )
    list_filter = ("is_hidden", "partner_key")
    actions = ("accept_fid",)
    list_select_related = ("partner_key",)
    show_full_result_count = False
    search_fields = ("agent_id",)
    search_help_text = "A whole agent id, a FID, a token's address, or a part of a name."
    ordering = ("-id",)
    autocomplete_fields = ("partner_key",)

    def match(self, text: str) -> Q:
        matches = Q(agent_id=text) | Q(name__icontains=text)
        if text.isascii() and text.isdigit() and len(text) < 19:
            matches |= Q(fid=int(text)) | Q(creator_fid=int(text))
        try:
            return matches | Q(token_address=parse_address(text, allow_mint=True))
        except ValueError:
            return matches

    def get_queryset(self, request: HttpRequest) -> QuerySet[Agent]:
        rows: QuerySet[Agent] = super().get_queryset(request)
        standing = Standing.objects.filter(agent=OuterRef("pk"), snapshot__is_current=True, snapshot__interval=LISTED)
        return rows.annotate(
            current_rank=Subquery(standing.values("rank")[:1]),
            current_wash=Subquery(standing.values("wash_confidence")[:1]),
        )

    def get_fieldsets(self, request: HttpRequest, obj: Agent | None = None) -> Any:
        about = AgentForm.Meta.fields
        if obj is None:
            return ((None, {"fields": about}),)
        # One tab per interval, since evidence is long.
        tabs = [(interval.label, {"fields": (_field(interval),), "classes": ("tab",)}) for interval in Interval]
        return (
            ("Agent", {"fields": (*about, "launch", "proof", "created_at", "described_at", "hub")}),
            ("Activity", {"fields": ("casts_by_day", "interactions_by_day")}),
            *((f"Standing, {label}", fields) for label, fields in tabs),
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Agent | None = None) -> list[str]:
        if obj is None:
            return []
        computed = ["launch", "proof", "created_at", "described_at", "hub", "casts_by_day", "interactions_by_day"]
        # Partners identify the agent by this id.
        return ["agent_id", *computed, *(_field(interval) for interval in Interval)]

    def save_model(self, request: HttpRequest, obj: Agent, form: Any, change: bool) -> None:
        """Write only the fields that the operator changed, so that no partner's change is undone.

        The change is dated now: older descriptions no longer override it, even if they are sent again. A FID or a key
        that an operator sets needs no proof.
        """
        # A concurrent description may already have read the row, and would write back the old values.
        recording.lock_fact_writes()
        time_columns = {
            DESCRIPTION_TIME_COLUMNS[column] for column in form.changed_data if column in DESCRIPTION_TIME_COLUMNS
        }
        for column in time_columns:
            setattr(obj, column, timezone.now())
        needs_no_proof = bool({"fid", "partner_key"} & set(form.changed_data))
        if needs_no_proof:
            obj.proven_fid = obj.fid
            time_columns.add("proven_fid")
        if change:
            obj.save(update_fields=[*form.changed_data, *time_columns])
        else:
            super().save_model(request, obj, form, change)
        if needs_no_proof:
            # Queues again the casts and quotes that were read without a proof.
            fid_proofs.accept_fids([obj])

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if any(formset.has_changed() for formset in formsets):
            Agent.objects.filter(pk=form.instance.pk).update(wallets_told_at=timezone.now())

    def has_delete_permission(self, request: HttpRequest, obj: Agent | None = None) -> bool:
        """Deny deletion: an agent is hidden instead, so that rankings can still be explained."""
        return False

    @admin.display(description="token", ordering="token_address")
    def token(self, agent: Agent) -> str:
        """Return both ends of the address, to leave room for the rank; the agent's page has the whole address."""
        return f"{agent.token_address[:6]}…{agent.token_address[-4:]}" if agent.token_address else ""

    @admin.display(description=f"rank, {LISTED}", ordering="current_rank")
    def rank(self, agent: Any) -> str:
        return str(agent.current_rank or "")

    @admin.display(description="discounted share", ordering="current_wash")
    def wash(self, agent: Any) -> str:
        return "" if agent.current_wash is None else f"{agent.current_wash:.2f}"

    @admin.display(description="", ordering="is_hidden")
    def hidden(self, agent: Agent) -> str:
        """Return an empty text for visible agents."""
        return "hidden" if agent.is_hidden else ""

    @admin.display(description="launch of the token")
    def launch(self, agent: Agent) -> str:
        """Describe the requester of the token's launch, which can confirm or refute what partners describe."""
        if agent.token_chain_id is None:
            return "no token"
        token = Token.objects.filter(chain_id=agent.token_chain_id, contract_address=agent.token_address).first()
        if token is None:
            return "not indexed"
        requester = token.requestor_fid
        if requester is None:
            return f"sent by {token.msg_sender or 'an unknown wallet'}; it names no FID"
        roles = {agent.fid: "the agent itself", agent.creator_fid: "its creator, as described"}
        return (
            f"requested by FID {requester}, {roles.get(requester, 'neither the agent nor its creator, as described')}"
        )

    @list_action("Accept the FID: what the hub has about it counts")
    def accept_fid(self, request: HttpRequest, agents: QuerySet[Agent]) -> None:
        fid_proofs.accept_fids(agents)

    @admin.display(description="proof of the FID")
    def proof(self, agent: Agent) -> str:
        """Describe whether the FID is proven, and the code that proves it."""
        if agent.fid is None:
            return "no FID"
        if agent.has_proven(agent.fid):
            return "proven"
        return f"not yet: a post of the FID with {fid_proofs.proof_code(agent)} proves it"

    @admin.display(description="hub")
    def hub(self, agent: Agent) -> str:
        """Describe the agent's progress on the hub."""
        cursor = HubCursor.objects.filter(agent=agent).first()
        if cursor is None:
            return "not pulled"
        return cursor.last_error or f"next pull due at {local_time(cursor.due_at)}"

    @admin.display(description="casts")
    def casts_by_day(self, agent: Agent) -> str:
        return _by_day("Casts by day, UTC", agent.actions)

    @admin.display(description="interactions")
    def interactions_by_day(self, agent: Agent) -> str:
        return _by_day("Interactions by day, UTC", agent.interactions)

    @admin.display(description="")
    def standing_day(self, agent: Agent) -> str:
        return _standing(agent, Interval.DAY)

    @admin.display(description="")
    def standing_week(self, agent: Agent) -> str:
        return _standing(agent, Interval.WEEK)

    @admin.display(description="")
    def standing_month(self, agent: Agent) -> str:
        return _standing(agent, Interval.MONTH)


def _field(interval: Interval) -> str:
    return f"standing_{interval.name.lower()}"


def _by_day(title: str, facts: Any) -> str:
    today = timezone.now().date()
    days = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    recent = facts.filter(at__gte=timezone.now() - timedelta(days=DAYS))
    counted = dict(
        recent.annotate(day=TruncDate("at", tzinfo=UTC))
        .values("day")
        .annotate(many=Count("pk"))
        .values_list("day", "many")
    )
    bars = tuple((f"{day:%d %b}", counted.get(day, 0)) for day in days)
    chart = Chart(title=title, bars=bars, start=bars[0][0], end="today")
    return render_to_string("operators/chart.html", {"chart": chart})


def _standing(agent: Agent, interval: Interval) -> str:
    """Render the current standing and its evidence."""
    current = Standing.objects.filter(agent=agent, snapshot__is_current=True, snapshot__interval=interval)
    standing = current.select_related("snapshot").first()
    if standing is None:
        return "not ranked yet"
    rank = f"Rank {standing.rank}" if standing.rank else "Not ranked: hidden, or without a token that is indexed"
    computed = f"{rank}; computed {local_time(standing.snapshot.computed_at)}"
    return format_html("<p>{}</p>{}", computed, render_evidence(standing))

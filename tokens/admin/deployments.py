"""The operators' page for deployments: what partners ordered, how each was sent, and another try for what failed."""

from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.admin import StackedInline
from unfold.decorators import action

from config.operators.admin_pages import ReadRows, ask, change_page, choose, find_row, note, without_actions
from tokens import tasks
from tokens.admin.chain_progress import OnAChain
from tokens.admin.deployment_fields import VERSIONS, attempt_wallet, cost, fieldsets, inward, mined, versions
from tokens.admin.indexed_search import IndexedSearch, deployments_of
from tokens.admin.list_filters import ChainFilter
from tokens.deploying.sending import state_transitions
from tokens.models import DeployAttempt, Deployment

_REFUSALS_SHOWN = 5


class AttemptInline(StackedInline):
    """The nonces that a deployment was given, with all that was signed for them."""

    model = DeployAttempt
    verbose_name_plural = "attempts"
    fields = ("nonce", attempt_wallet, "state", "reason", mined, cost, versions, "created_at")
    readonly_fields = fields
    ordering = ("pk",)
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[DeployAttempt]:
        attempts: QuerySet[DeployAttempt] = super().get_queryset(request)
        return attempts.select_related("wallet").prefetch_related(VERSIONS)


@admin.register(Deployment)
class DeploymentAdmin(OnAChain, IndexedSearch, ReadRows):
    list_display = (
        "request_key",
        "partner",
        "chain",
        "status",
        "expected_address",
        "launched",
        "attempts",
        "error",
        "created_at",
    )
    list_filter = (ChainFilter, "status", "partner_key")
    search_fields = ("request_key", "expected_address", "tx_hash")
    search_help_text = "A whole request key, address of a token, or transaction hash."
    ordering = ("-id",)
    actions = ("retry",)
    actions_detail = ("retry_this",)
    inlines = (AttemptInline,)
    fieldsets = fieldsets()

    def match(self, text: str) -> Q:
        return deployments_of(text)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Deployment]:
        rows: QuerySet[Deployment] = super().get_queryset(request)
        return (
            rows.select_related("partner_key", "token")
            .defer("calldata")
            .annotate(
                calldata_bytes=Length("calldata"),
                airdrop_root=F("airdrop__root"),
                airdrop_bytes=Length("airdrop__nodes"),
            )
        )

    def has_retry_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Who may change deployments may do this alone about them: no line of their pages is edited."""
        return request.user.has_perm("tokens.change_deployment")

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Any = None, **options: Any
    ) -> Any:
        """Without the action that would be refused."""
        if obj.status != Deployment.Status.FAILED:
            without_actions(context, "retry")
        return super().render_change_form(request, context, *args, obj=obj, **options)

    @admin.display(description="partner", ordering="partner_key")
    def partner(self, deployment: Deployment) -> str:
        return str(deployment.partner_key or "an operator")

    @admin.display(description="token")
    def launched(self, deployment: Deployment) -> str:
        return inward(deployment.token, deployment.token.symbol) if deployment.token else ""

    @admin.action(description="Try again", permissions=["retry"])
    def retry(self, request: HttpRequest, deployments: QuerySet[Deployment]) -> None:
        """Put those that failed back in line; the others are named."""
        chosen = choose(self, request, deployments)
        if chosen is None:
            return
        retried, refusals = [], []
        with transaction.atomic():
            for deployment in chosen.defer("calldata", "config"):
                try:
                    state_transitions.retry(deployment.pk)
                except state_transitions.NotRetryable as error:
                    refusals.append(f"{deployment.request_key}: {error}.")
                else:
                    retried.append(deployment)
                    transaction.on_commit(partial(tasks.enqueue_deployment, deployment.pk))
            note(request, retried, "try again")
        if retried:
            self.message_user(request, f"{len(retried)} back in line.", messages.SUCCESS)
        if refusals:
            more = ["..."] if len(refusals) > _REFUSALS_SHOWN else []
            text = " ".join([f"Left alone: {len(refusals)}.", *refusals[:_REFUSALS_SHOWN], *more])
            self.message_user(request, text, messages.WARNING)

    @action(description="Try again", permissions=["retry"], url_path="retry", icon="replay")
    def retry_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """GET asks; POST does with one deployment what the list's action does with many."""
        deployment = find_row(self, request, object_id)
        if request.method == "POST":
            self.retry(request, Deployment.objects.filter(pk=deployment.pk))
            return redirect(change_page(deployment))
        text = "It is sent once more, under the same request key and for the same address, unless its token is there."
        return ask(self, request, row=deployment, title=f"Try again: {deployment}", text=text, button="Yes, try again")

"""Deployment admin: configuration and transactions, and retries for failed deployments."""

from functools import partial

from django.contrib import admin
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest, HttpResponse
from unfold.admin import StackedInline
from unfold.decorators import action

from config.operators.admin_pages import (
    ReadOnlyAdmin,
    change_each,
    confirm_action,
    list_action,
)
from tokens.admin.chain_progress import ChainColumn
from tokens.admin.deployment_fields import VERSIONS, admin_link, attempt_wallet, cost, fieldsets, mined, versions
from tokens.admin.indexed_search import IndexedSearch, match_deployments
from tokens.admin.list_filters import ChainFilter
from tokens.deploying.enqueueing import enqueue_deployment
from tokens.deploying.sending import state_transitions
from tokens.models import DeployAttempt, Deployment, DeploymentStatus


class AttemptInline(StackedInline):
    """Inline for a deployment's nonces, each with all its signed transactions."""

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
class DeploymentAdmin(ChainColumn, IndexedSearch, ReadOnlyAdmin):
    empty_text = (
        "No deployment yet: fund a wallet of DEPLOYER_KEYS_<chainId>, and give a partner a key with the scope deploy."
    )
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
    actions_row = ("retry_this",)
    actions_detail = ("retry_this",)
    inlines = (AttemptInline,)
    fieldsets = fieldsets()
    match = staticmethod(match_deployments)

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
        """Return whether the user may change deployments; retrying is the only change that the pages offer."""
        return request.user.has_perm("tokens.change_deployment")

    def useless_actions(self, row: Deployment) -> tuple[str, ...]:
        return ("retry",) if row.status != DeploymentStatus.FAILED else ()

    @admin.display(description="partner", ordering="partner_key")
    def partner(self, deployment: Deployment) -> str:
        return str(deployment.partner_key or "an operator")

    @admin.display(description="token")
    def launched(self, deployment: Deployment) -> str:
        return admin_link(deployment.token, deployment.token.symbol) if deployment.token else ""

    @list_action("Try again", permission="retry")
    def retry(self, request: HttpRequest, deployments: QuerySet[Deployment]) -> None:
        """Enqueue failed deployments again, and report the others."""

        def retry(deployment: Deployment) -> None:
            state_transitions.retry_failed(deployment.pk)
            transaction.on_commit(partial(enqueue_deployment, deployment.pk))

        change_each(
            self,
            request,
            deployments.defer("calldata", "config"),
            retry,
            refusal=state_transitions.NotRetryableError,
            name="request_key",
            log="try again",
            done="enqueued again",
            left_out="Skipped",
        )

    @action(description="Try again", permissions=["retry"], url_path="retry", icon="replay")
    def retry_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Retry one deployment after a confirmation page."""
        text = "It is sent again with the same request key and for the same address, unless its token exists."
        return confirm_action(self, request, object_id, self.retry, text=text, button="Yes, try again")

"""Admin page for pretokens, including deleted ones: state, restore and deploy."""

import uuid
from functools import partial

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action

from accounts.admin import user_pages
from config.http.errors import PermanentError, RetryableError
from config.operators.admin_pages import (
    ReadOnlyAdmin,
    change_each,
    confirm_action,
    list_action,
    log_changes,
)
from pretokens import conversion, lifecycle
from pretokens.body import normalize_keyword
from pretokens.models import Pretoken, PretokenState
from tokens.admin.chain_progress import ChainColumn
from tokens.admin.deployment_fields import admin_link
from tokens.admin.indexed_search import IndexedSearch
from tokens.admin.list_filters import ChainFilter
from tokens.admin.token_fields import pretty_json
from tokens.deploying.enqueueing import enqueue_deployment


@admin.register(Pretoken)
class PretokenAdmin(ChainColumn, IndexedSearch, ReadOnlyAdmin):
    empty_text = (
        "No pretoken yet: users store them by POST /api/pretoken/v4, with a token of an issuer in "
        "FARCASTER_AUTH_DOMAINS, PRIVY_APP_ID or OIDC_ISSUERS."
    )
    list_display = ("keyword", "user", "chain", "status", "created_at", "expires_at", "deleted_at", "launched")
    list_filter = (ChainFilter, "state")
    search_fields = ("keyword",)
    search_help_text = "A whole keyword, a pretoken's id, or a user's FID."
    ordering = ("-created_at", "-id")
    actions = ("restore",)
    actions_row = ("restore_this", "deploy_this")
    actions_detail = ("restore_this", "deploy_this")
    fieldsets = (
        ("Pretoken", {"fields": ("id", "keyword", "user", "chain", "status", "launched")}),
        ("Times", {"fields": ("created_at", "expires_at", "deleted_at")}),
        ("Request body", {"fields": ("size", "configuration")}),
    )

    def match(self, text: str) -> Q:
        condition = Q(keyword_key=normalize_keyword(text))
        owner_ids = user_pages.owner_ids_by_fid(text)
        if owner_ids is not None:
            condition |= Q(owner__in=owner_ids)
        try:
            return condition | Q(pk=uuid.UUID(text))
        except ValueError:
            return condition

    def get_queryset(self, request: HttpRequest) -> QuerySet[Pretoken]:
        rows: QuerySet[Pretoken] = super().get_queryset(request)
        # An airdrop makes a body long; the detail page loads it separately.
        heavy = ("body", "deployment__calldata", "deployment__config")
        return rows.select_related("owner__linked_to", "deployment").defer(*heavy)

    def has_act_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Return whether the user may run actions. Nothing else about pretokens can be changed here."""
        return request.user.has_perm("pretokens.change_pretoken")

    def useless_actions(self, row: Pretoken) -> tuple[str, ...]:
        """Return the actions that would be rejected."""
        states = {"restore": PretokenState.DELETED, "deploy": PretokenState.PENDING}
        return tuple(name for name, state in states.items() if row.state != state or _is_overdue(row))

    @admin.display(description="user", ordering="owner")
    def user(self, pretoken: Pretoken) -> str:
        return user_pages.owner_label(pretoken.owner)

    @admin.display(description="state", ordering="state")
    def status(self, pretoken: Pretoken) -> str:
        """Return the state; expired also before the periodic task has marked the row."""
        is_overdue = pretoken.state == PretokenState.PENDING and _is_overdue(pretoken)
        return str(PretokenState.EXPIRED.label if is_overdue else pretoken.get_state_display())

    @admin.display(description="deployment")
    def launched(self, pretoken: Pretoken) -> str:
        return admin_link(pretoken.deployment, pretoken.deployment.status) if pretoken.deployment else ""

    @admin.display(description="configuration")
    def configuration(self, pretoken: Pretoken) -> str:
        """Return the body. An airdrop's entries, up to 100,000, are replaced by their number."""
        if pretoken.size == 0:
            return "Pruned."
        body = pretoken.body
        if airdrop := body.get("airdrop"):
            body = body | {"airdrop": airdrop | {"entries": f"{len(airdrop['entries']):,} accounts"}}
        return pretty_json(body)

    @list_action("Restore", permission="act")
    def restore(self, request: HttpRequest, pretokens: QuerySet[Pretoken]) -> None:
        """Make deleted pretokens pending again where the quotas allow it; report the others."""
        change_each(
            self,
            request,
            # Sorted by owner, since each owner's row is locked.
            pretokens.defer("body").order_by("owner", "pk"),
            lambda pretoken: lifecycle.restore_pretoken(pretoken.pk),
            refusal=lifecycle.NotRestorableError,
            name="keyword",
            log="restore",
            done="pending again",
            left_out="Not restored",
        )

    @action(description="Restore", permissions=["act"], url_path="restore", icon="restore_from_trash")
    def restore_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show a confirmation page; on POST restore this pretoken like the list's action."""
        text = "The pretoken is pending and visible to its owner again, until its original expiry."
        return confirm_action(self, request, object_id, self.restore, text=text, button="Yes, restore")

    @action(description="Deploy", permissions=["act"], url_path="deploy", icon="rocket_launch")
    def deploy_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show a confirmation page; on POST simulate the launch and, if it succeeds, store the deployment."""
        text = "One of the service's wallets launches the token and pays the gas. This can't be undone."
        return confirm_action(self, request, object_id, self._deploy, text=text, button="Yes, deploy")

    @admin.action(description="Deploy")
    def _deploy(self, request: HttpRequest, pretokens: QuerySet[Pretoken]) -> None:
        (pretoken,) = pretokens
        try:
            # Calls a node, so it runs outside the transaction that locks rows.
            prepared = conversion.prepare_launch(pretoken.pk)
            with transaction.atomic():
                deployment = conversion.create_deployment(prepared)
                log_changes(request, [pretoken], "deploy")
                transaction.on_commit(partial(enqueue_deployment, deployment.pk))
        except (PermanentError, RetryableError) as error:
            self.message_user(request, f"Not deployed: {error}", messages.ERROR)
        else:
            self.message_user(request, f"Deployment {deployment.request_key} is enqueued.", messages.SUCCESS)


def _is_overdue(pretoken: Pretoken) -> bool:
    return pretoken.expires_at <= timezone.now()

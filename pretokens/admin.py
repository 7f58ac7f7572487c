"""The operators' page for pretokens: whose they are, what became of them, deleted ones included, and what to do."""

import uuid
from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from unfold.decorators import action

from accounts.admin import user_pages
from config.http.json_client import Permanent, Retryable
from config.operators.admin_pages import ReadRows, ask, change_page, choose, find_row, note, without_actions
from pretokens import body as bodies
from pretokens import conversion, lifecycle
from pretokens.models import Pretoken, State
from tokens import tasks
from tokens.admin.chain_progress import OnAChain
from tokens.admin.deployment_fields import inward
from tokens.admin.indexed_search import IndexedSearch
from tokens.admin.list_filters import ChainFilter
from tokens.admin.token_fields import pretty_json

_REFUSALS_SHOWN = 5


@admin.register(Pretoken)
class PretokenAdmin(OnAChain, IndexedSearch, ReadRows):
    list_display = ("keyword", "user", "chain", "status", "created_at", "expires_at", "deleted_at", "launched")
    list_filter = (ChainFilter, "state")
    search_fields = ("keyword",)
    search_help_text = "A whole keyword, a pretoken's id, or a user's FID."
    ordering = ("-created_at", "-id")
    actions = ("restore",)
    actions_detail = ("restore_this", "deploy_this")
    fieldsets = (
        ("Pretoken", {"fields": ("id", "keyword", "user", "chain", "status", "launched")}),
        ("Times", {"fields": ("created_at", "expires_at", "deleted_at")}),
        ("As it was made", {"fields": ("size", "configuration")}),
    )

    def match(self, text: str) -> Q:
        found = Q(keyword_key=bodies.keyword_key(text))
        people = user_pages.with_fid(text)
        if people is not None:
            found |= Q(owner__in=people)
        try:
            return found | Q(pk=uuid.UUID(text))
        except ValueError:
            return found

    def get_queryset(self, request: HttpRequest) -> QuerySet[Pretoken]:
        rows: QuerySet[Pretoken] = super().get_queryset(request)
        # An airdrop makes a body long; its own page reads it apart.
        heavy = ("body", "deployment__calldata", "deployment__config")
        return rows.select_related("owner__linked_to", "deployment").defer(*heavy)

    def has_act_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Who may change pretokens may do this alone about them: no line of their pages is edited."""
        return request.user.has_perm("pretokens.change_pretoken")

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Any = None, **options: Any
    ) -> Any:
        """Without the actions that would be refused."""
        if obj.state != State.DELETED or _is_over(obj):
            without_actions(context, "restore")
        if obj.state != State.PENDING or _is_over(obj):
            without_actions(context, "deploy")
        return super().render_change_form(request, context, *args, obj=obj, **options)

    @admin.display(description="user", ordering="owner")
    def user(self, pretoken: Pretoken) -> str:
        return user_pages.shown(pretoken.owner)

    @admin.display(description="state", ordering="state")
    def status(self, pretoken: Pretoken) -> str:
        """Also where beat is late."""
        late = pretoken.state == State.PENDING and _is_over(pretoken)
        return str(State.EXPIRED.label if late else pretoken.get_state_display())

    @admin.display(description="deployment")
    def launched(self, pretoken: Pretoken) -> str:
        return inward(pretoken.deployment, pretoken.deployment.status) if pretoken.deployment else ""

    @admin.display(description="configuration")
    def configuration(self, pretoken: Pretoken) -> str:
        """With an airdrop's entries counted: nobody reads a hundred thousand."""
        if pretoken.size == 0:
            return "Not kept any more."
        body = pretoken.body
        if airdrop := body.get("airdrop"):
            body = body | {"airdrop": airdrop | {"entries": f"{len(airdrop['entries']):,} accounts"}}
        return pretty_json(body)

    @admin.action(description="Restore", permissions=["act"])
    def restore(self, request: HttpRequest, pretokens: QuerySet[Pretoken]) -> None:
        """Make those that were deleted pending again, where that keeps the rules; the others are named."""
        chosen = choose(self, request, pretokens)
        if chosen is None:
            return
        restored, refusals = [], []
        with transaction.atomic():
            # By owner, since each one's row is locked.
            for pretoken in chosen.defer("body").order_by("owner", "pk"):
                try:
                    lifecycle.restore(pretoken.pk)
                except lifecycle.NotRestorable as error:
                    refusals.append(f"{pretoken.keyword}: {error}.")
                else:
                    restored.append(pretoken)
            note(request, restored, "restore")
        if restored:
            self.message_user(request, f"{len(restored)} pending again.", messages.SUCCESS)
        if refusals:
            more = ["..."] if len(refusals) > _REFUSALS_SHOWN else []
            text = " ".join([f"Left alone: {len(refusals)}.", *refusals[:_REFUSALS_SHOWN], *more])
            self.message_user(request, text, messages.WARNING)

    @action(description="Restore", permissions=["act"], url_path="restore", icon="restore_from_trash")
    def restore_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """GET asks; POST does with one pretoken what the list's action does with many."""
        pretoken = find_row(self, request, object_id)
        if request.method == "POST":
            self.restore(request, Pretoken.objects.filter(pk=pretoken.pk))
            return redirect(change_page(pretoken))
        text = "It is pending again, and its owner sees it, until the time at which it would have expired."
        return ask(self, request, row=pretoken, title=f"Restore: {pretoken}", text=text, button="Yes, restore")

    @action(description="Deploy", permissions=["act"], url_path="deploy", icon="rocket_launch")
    def deploy_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """GET asks; POST has the launch tried and, where it would go through, ordered."""
        pretoken = find_row(self, request, object_id)
        if request.method == "POST":
            self._deploy(request, pretoken)
            return redirect(change_page(pretoken))
        text = "Its token is launched by one of our wallets, which pays the gas. There is no way back."
        return ask(self, request, row=pretoken, title=f"Deploy: {pretoken}", text=text, button="Yes, deploy")

    def _deploy(self, request: HttpRequest, pretoken: Pretoken) -> None:
        try:
            # Asks a node: not while rows are locked.
            prepared = conversion.prepare(pretoken.pk)
            with transaction.atomic():
                deployment = conversion.launch(prepared)
                note(request, [pretoken], "deploy")
                transaction.on_commit(partial(tasks.enqueue_deployment, deployment.pk))
        except (Permanent, Retryable) as error:
            self.message_user(request, f"Not deployed: {error}", messages.ERROR)
        else:
            self.message_user(request, f"Deployment {deployment.request_key} is enqueued.", messages.SUCCESS)


def _is_over(pretoken: Pretoken) -> bool:
    return pretoken.expires_at <= timezone.now()

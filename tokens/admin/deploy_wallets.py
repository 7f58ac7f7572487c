"""The operators' page for the wallets that send deployments: what they own, what troubles them, and their switch."""

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join

from config.operators.admin_pages import WrittenRows, choose, note
from tokens.admin.chain_progress import OnAChain
from tokens.admin.deployment_fields import coins, outward, purpose
from tokens.admin.indexed_search import IndexedSearch, wallets_of
from tokens.admin.list_filters import ChainFilter
from tokens.deploying.sending.wallets import IN_FLIGHT
from tokens.installation import installed_chains
from tokens.models import DeployAttempt, DeployWallet

_ATTEMPTS_SHOWN = 20
# A DeployWallet with its `in_flight`.
ShownWallet = Any


@admin.register(DeployWallet)
class DeployWalletAdmin(OnAChain, IndexedSearch, WrittenRows):
    list_display = ("address", "chain", "enabled", "signable", "owns", "trouble", "in_flight", "balance_at")
    list_filter = (ChainFilter, "enabled", "signable", ("trouble", admin.EmptyFieldListFilter))
    search_fields = ("address",)
    search_help_text = "A whole address, a chain's id, or part of its name."
    ordering = ("chain_id", "pk")
    actions = ("enable", "disable")
    fields = (
        "enabled",
        "at",
        "chain",
        "signable",
        "owns",
        "balance_at",
        "trouble",
        "next_nonce",
        "in_flight",
        "open_attempts",
    )
    readonly_fields = fields[1:]

    def match(self, text: str) -> Q:
        return wallets_of(text)

    def get_queryset(self, request: HttpRequest) -> QuerySet[DeployWallet]:
        rows: QuerySet[DeployWallet] = super().get_queryset(request)
        return rows.annotate(open_count=IN_FLIGHT)

    def save_model(self, request: HttpRequest, obj: DeployWallet, form: Any, change: bool) -> None:
        # Only the switch: the row as it was read may be older than a nonce that was given away.
        obj.save(update_fields=form.changed_data)

    @admin.display(description="address")
    def at(self, wallet: DeployWallet) -> str:
        return outward(installed_chains.address_page(wallet.chain_id, wallet.address), wallet.address)

    @admin.display(description="balance", ordering="balance")
    def owns(self, wallet: DeployWallet) -> str:
        """In the chain's native coin, when it was last asked."""
        return "unknown" if wallet.balance is None else coins(wallet.balance, wallet.chain_id)

    @admin.display(description="attempts in flight", ordering="open_count")
    def in_flight(self, wallet: ShownWallet) -> int:
        return int(wallet.open_count)

    @admin.display(description="next to be mined")
    def open_attempts(self, wallet: DeployWallet) -> str:
        """The lowest nonces in flight, with what they are for."""
        waiting = DeployAttempt.objects.filter(wallet=wallet, state=DeployAttempt.State.OPEN, final_at__isnull=True)
        attempts = waiting.order_by("nonce").select_related("deployment")
        light = attempts.defer("deployment__calldata", "deployment__config")
        rows = format_html_join(
            "",
            "<li>{}: {}</li>",
            ((attempt.nonce, purpose(attempt)) for attempt in light[:_ATTEMPTS_SHOWN]),
        )
        return format_html("<ul>{}</ul>", rows) if rows else "none"

    @admin.action(description="Enable", permissions=["change"])
    def enable(self, request: HttpRequest, wallets: QuerySet[DeployWallet]) -> None:
        self._switch(request, wallets, on=True)

    @admin.action(description="Disable: give it no more deployments", permissions=["change"])
    def disable(self, request: HttpRequest, wallets: QuerySet[DeployWallet]) -> None:
        self._switch(request, wallets, on=False)

    def _switch(self, request: HttpRequest, wallets: QuerySet[DeployWallet], *, on: bool) -> None:
        chosen = choose(self, request, wallets)
        if chosen is None:
            return
        with transaction.atomic():
            changed = list(chosen.exclude(enabled=on).select_for_update(no_key=True))
            DeployWallet.objects.filter(pk__in=[wallet.pk for wallet in changed]).update(enabled=on)
            note(request, changed, f"enabled = {on}")
        self.message_user(request, f"{len(changed)} changed.", messages.SUCCESS)

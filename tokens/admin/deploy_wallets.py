"""Admin of deployment wallets: balance, errors and whether they are enabled."""

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django_filters import ChoiceFilter

from config.operators.admin_pages import AdminFilterSet, ServiceWrittenAdmin, list_action, log_changes
from tokens.admin.chain_progress import ChainColumn
from tokens.admin.deployment_fields import explorer_link, format_native_amount, purpose
from tokens.admin.indexed_search import IndexedSearch, match_wallets
from tokens.admin.list_filters import ChainFilter
from tokens.deploying.sending.wallets import IN_FLIGHT
from tokens.installation import installed_registry
from tokens.models import AttemptState, DeployAttempt, DeployWallet, WalletAlert

_ATTEMPTS_SHOWN = 20
# A DeployWallet with its `in_flight`.
ShownWallet = Any


class WalletFilterSet(AdminFilterSet):
    """Filter of wallets by a kind of alert."""

    alerts = ChoiceFilter(label="alert", choices=WalletAlert.choices, lookup_expr="has_key")


(AlertFilter,) = WalletFilterSet.list_filters()


@admin.register(DeployWallet)
class DeployWalletAdmin(ChainColumn, IndexedSearch, ServiceWrittenAdmin):
    empty_text = "No wallet yet: set DEPLOYER_KEYS_<chainId>, key files or a remote signer, and start a worker."
    list_display = (
        "address",
        "chain",
        "enabled",
        "signable",
        "native_balance",
        "alert_text",
        "in_flight",
        "balance_at",
    )
    list_filter = (ChainFilter, "enabled", "signable", AlertFilter)
    search_fields = ("address",)
    search_help_text = "A whole address, a chain's id, or part of its name."
    ordering = ("chain_id", "pk")
    actions = ("enable", "disable")
    fields = (
        "enabled",
        "linked_address",
        "chain",
        "signable",
        "native_balance",
        "balance_at",
        "alert_text",
        "next_nonce",
        "in_flight",
        "open_attempts",
    )
    readonly_fields = fields[1:]
    match = staticmethod(match_wallets)

    def get_queryset(self, request: HttpRequest) -> QuerySet[DeployWallet]:
        rows: QuerySet[DeployWallet] = super().get_queryset(request)
        return rows.annotate(open_count=IN_FLIGHT)

    def save_model(self, request: HttpRequest, obj: DeployWallet, form: Any, change: bool) -> None:
        # Only the changed flag: the nonce of the form's row may be older than the latest assigned one.
        obj.save(update_fields=form.changed_data)

    @admin.display(description="address")
    def linked_address(self, wallet: DeployWallet) -> str:
        return explorer_link(installed_registry.explorer_address_page(wallet.chain_id, wallet.address), wallet.address)

    @admin.display(description="balance", ordering="balance")
    def native_balance(self, wallet: DeployWallet) -> str:
        """Return the last fetched balance in the chain's native coin."""
        return "unknown" if wallet.balance is None else format_native_amount(wallet.balance, wallet.chain_id)

    @admin.display(description="alerts")
    def alert_text(self, wallet: DeployWallet) -> str:
        return "; ".join(wallet.alert_lines)

    @admin.display(description="attempts in flight", ordering="open_count")
    def in_flight(self, wallet: ShownWallet) -> int:
        return int(wallet.open_count)

    @admin.display(description="next to be mined")
    def open_attempts(self, wallet: DeployWallet) -> str:
        """Return the lowest nonces in flight and their deployments."""
        waiting = DeployAttempt.objects.filter(wallet=wallet, state=AttemptState.OPEN, final_at__isnull=True)
        attempts = waiting.order_by("nonce").select_related("deployment")
        light = attempts.defer("deployment__calldata", "deployment__config")
        rows = format_html_join(
            "",
            "<li>{}: {}</li>",
            ((attempt.nonce, purpose(attempt)) for attempt in light[:_ATTEMPTS_SHOWN]),
        )
        return format_html("<ul>{}</ul>", rows) if rows else "none"

    @list_action("Enable")
    def enable(self, request: HttpRequest, wallets: QuerySet[DeployWallet]) -> None:
        self._switch(request, wallets, on=True)

    @list_action("Disable: assign no more deployments")
    def disable(self, request: HttpRequest, wallets: QuerySet[DeployWallet]) -> None:
        self._switch(request, wallets, on=False)

    def _switch(self, request: HttpRequest, wallets: QuerySet[DeployWallet], *, on: bool) -> None:
        with transaction.atomic():
            changed = list(wallets.exclude(enabled=on).select_for_update(no_key=True))
            DeployWallet.objects.filter(pk__in=[wallet.pk for wallet in changed]).update(enabled=on)
            log_changes(request, changed, f"enabled = {on}")
        self.message_user(request, f"{len(changed)} changed.", messages.SUCCESS)

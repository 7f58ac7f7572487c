"""Admin pages for webhook endpoints: add, edit, test, rotate, replay, disable and enable. A secret is shown once."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.postgres.forms import SimpleArrayField
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django_filters import ChoiceFilter
from unfold.decorators import action
from unfold.enums import ActionVariant
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from accounts.models import (
    DisabledBy,
    EndpointState,
    KeyState,
    PartnerKey,
    Scope,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEndpointQuerySet,
)
from accounts.subscriptions import deliveries, endpoints, webhook_secrets
from accounts.subscriptions.endpoint_bodies import MAX_CHAINS
from config.events.event_types import stored_types
from config.operators.admin_pages import (
    AdminFilterSet,
    ListedAdmin,
    change_url,
    confirmation_page,
    get_row_or_404,
    secret_page,
)
from config.parsing.json_rules import LARGEST_JSON_NUMBER, MAX_URL

_USAGE = "The receiver verifies the webhook-signature of each message with it."
_NO_EVENTS = "The endpoint gets no events: it is disabled, or its key isn't active with the scope webhooks."


class WebhookEndpointForm(forms.ModelForm):
    """Endpoint form, by the rules in the partners' API."""

    url = forms.CharField(label="URL", max_length=MAX_URL, widget=UnfoldAdminTextInputWidget)
    chain_ids = SimpleArrayField(
        forms.IntegerField(min_value=1, max_value=LARGEST_JSON_NUMBER),
        max_length=MAX_CHAINS,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="Ids of chains, with commas between them. Empty for all chains.",
    )

    class Meta:
        model = WebhookEndpoint
        fields = ["partner_key", "url", "description", "types", "chain_ids", "email"]
        help_texts = {"partner_key": "Empty for an endpoint of operators, which gets the events of all partners."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # A type that no longer exists stays checked: an empty list would mean all types.
        names = sorted({*stored_types(), *(self.instance.types or ())})
        self.fields["types"] = forms.MultipleChoiceField(
            choices=[(name, name) for name in names],
            required=False,
            widget=UnfoldAdminCheckboxSelectMultipleWidget,
            help_text="None checked: all types.",
        )

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        try:
            endpoints.check_endpoint_url(url)
        except ValueError as error:
            raise forms.ValidationError(f"The URL {error}.") from error
        return url

    def clean_partner_key(self) -> PartnerKey | None:
        key: PartnerKey | None = self.cleaned_data["partner_key"]
        if key is not None and not (key.state == KeyState.ACTIVE and Scope.WEBHOOKS in key.scopes):
            raise forms.ValidationError("This key isn't active, or lacks the scope webhooks.")
        return key

    def clean_chain_ids(self) -> list[int]:
        return list(dict.fromkeys(self.cleaned_data["chain_ids"]))


class DisableForm(forms.Form):
    """An operator's reason."""

    reason = forms.CharField(
        max_length=200,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        help_text="Its owner reads it, in the event endpoint.disabled and by mail.",
    )


class ReplayForm(forms.Form):
    """Range of event ids."""

    after = forms.IntegerField(
        label="After event id", min_value=0, max_value=LARGEST_JSON_NUMBER, widget=UnfoldAdminTextInputWidget
    )
    until = forms.IntegerField(
        label="Until event id",
        min_value=0,
        max_value=LARGEST_JSON_NUMBER,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="Included. Empty for all up to the newest event.",
    )


class EndpointFilterSet(AdminFilterSet):
    """Filter by state."""

    state = ChoiceFilter(label="state", choices=EndpointState.choices, method="in_state")

    def in_state(self, queryset: WebhookEndpointQuerySet, name: str, value: str) -> WebhookEndpointQuerySet:
        return queryset.in_state(EndpointState(value))


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(ListedAdmin):
    empty_text = (
        "No endpoint yet: add one without a partner key for your own system; partners add theirs by POST /api/webhooks."
    )
    form = WebhookEndpointForm
    list_display = ["url", "owner", "filters", "state_label", "failing_since"]
    list_filter = EndpointFilterSet.list_filters()
    list_select_related = ["partner_key"]
    autocomplete_fields = ["partner_key"]
    search_fields = ["url", "description", "partner_key__name"]
    search_help_text = "Part of a URL, of a description or of a partner key's name."
    actions_row = ["enable", "disable"]
    actions_detail = ["test", "replay", "rotate", "enable", "disable"]

    @admin.display(description="owner")
    def owner(self, endpoint: WebhookEndpoint) -> str:
        return "operators" if endpoint.partner_key is None else str(endpoint.partner_key)

    @admin.display(description="filters")
    def filters(self, endpoint: WebhookEndpoint) -> str:
        return endpoints.filter_names(endpoint.types, endpoint.chain_ids)

    @admin.display(description="state")
    def state_label(self, endpoint: WebhookEndpoint) -> str:
        return str(endpoint.state.label)

    @admin.display(description="deliveries")
    def delivery_log(self, endpoint: WebhookEndpoint) -> str:
        """Return a link to the endpoint's part of the delivery log."""
        page = reverse("admin:accounts_webhookdelivery_changelist")
        return format_html(
            '<a class="text-link" href="{}?endpoint__id__exact={}">Deliveries of this endpoint</a>', page, endpoint.pk
        )

    def get_fields(self, request: HttpRequest, obj: WebhookEndpoint | None = None) -> list[Any]:
        editable = ["partner_key", "url", "description", "types", "chain_ids", "email"]
        readonly = [name for name in self.get_readonly_fields(request, obj) if name != "partner_key"]
        return [*editable, *readonly]

    def get_readonly_fields(self, request: HttpRequest, obj: WebhookEndpoint | None = None) -> list[str]:
        """Return the state, and the owner: another partner would get an endpoint with the first one's secret."""
        field_names = [
            "partner_key",
            "state_label",
            "disabled_reason",
            "disabled_at",
            "failing_since",
            "paused_until",
            "previous_expires_at",
            "created_at",
            "delivery_log",
        ]
        return [] if obj is None else field_names

    def get_deleted_objects(
        self, objs: Iterable[WebhookEndpoint], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Return the endpoints only: the deliveries, which are deleted with them, can be millions."""
        names = [f"{endpoint}, with its delivery log" for endpoint in objs]
        return names, {str(self.opts.verbose_name_plural): len(names)}, set(), []

    def delete_model(self, request: HttpRequest, obj: WebhookEndpoint) -> None:
        endpoints.delete_endpoint(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> None:
        for endpoint in queryset:
            endpoints.delete_endpoint(endpoint)

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Show the form again if the key has all its endpoints."""
        try:
            page: HttpResponse = super().add_view(request, form_url, extra_context)
        except endpoints.TooManyEndpointsError as error:
            messages.error(request, f"{error}.")
            return redirect("admin:accounts_webhookendpoint_add")
        return page

    def save_model(self, request: HttpRequest, obj: WebhookEndpoint, form: Any, change: bool) -> None:
        if change:
            # Only edited fields are written: the row read by the form may be older than a failure or a rotation.
            obj.save(update_fields=form.changed_data)
            return
        fields = {name: value for name, value in form.cleaned_data.items() if name != "partner_key"}
        obj.pk = endpoints.create_endpoint(obj.partner_key, **fields).pk
        obj.refresh_from_db()

    def response_add(
        self, request: HttpRequest, obj: WebhookEndpoint, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show the secret, within the transaction that created the endpoint."""
        return self._show_secret(request, obj, title="Webhook endpoint added")

    def useless_actions(self, row: WebhookEndpoint) -> tuple[str, ...]:
        return ("test", "replay", "disable") if row.disabled_at else ("enable",)

    @action(description="Test", permissions=["change"], icon="send")
    def test(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show a confirmation page; on POST queue a test and show its delivery."""
        endpoint = get_row_or_404(self, request, object_id)
        if request.method != "POST":
            text = f"One event of type {deliveries.TEST_TYPE} is sent to {endpoint}, and not repeated if it fails."
            return confirmation_page(
                self, request, row=endpoint, title="Test webhook endpoint", text=text, button="Send it"
            )
        if not _is_active(endpoint):
            messages.error(request, _NO_EVENTS)
            return redirect(change_url(endpoint))
        with transaction.atomic():
            delivery = deliveries.queue_test(endpoint)
            self.log_change(request, endpoint, "Tested.")
        messages.success(request, "The test is queued. Reload this page for its outcome.")
        return redirect(change_url(delivery) if _may_view_deliveries(request) else change_url(endpoint))

    @action(description="Replay", permissions=["change"], icon="replay")
    def replay(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show a form for a range of events; on a valid POST queue them again."""
        endpoint = get_row_or_404(self, request, object_id)
        form = ReplayForm(request.POST or None)
        if not form.is_valid():
            text = (
                f"The events of these ids that its filters let through are sent to {endpoint} again, at most "
                f"{deliveries.MAX_REPLAYED:,} at a time and without those that are queued already. Their webhook-id is "
                "that of the first delivery."
            )
            return confirmation_page(
                self, request, row=endpoint, title="Replay events", text=text, button="Replay", form=form
            )
        if not _is_active(endpoint):
            messages.error(request, _NO_EVENTS)
            return redirect(change_url(endpoint))
        after, until = form.cleaned_data["after"], form.cleaned_data["until"]
        last_id = LARGEST_JSON_NUMBER if until is None else until
        with transaction.atomic():
            replayed = deliveries.replay_events(endpoint, first=after + 1, last=last_id)
            span = f"after {after}" if until is None else f"after {after} until {until}"
            self.log_change(request, endpoint, f"Replayed events {span}: {replayed.queued} queued.")
        messages.success(request, f"{replayed.queued:,} events are queued.")
        if replayed.cursor is not None:
            messages.warning(request, f"There may be more: replay those after event id {replayed.cursor}, too.")
        return redirect(change_url(endpoint))

    @action(description="Rotate secret", permissions=["change"], icon="autorenew")
    def rotate(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show a confirmation page; on POST show a new secret."""
        endpoint = get_row_or_404(self, request, object_id)
        if request.method != "POST":
            hours = int(endpoints.ROTATION_OVERLAP.total_seconds()) // 3600
            text = (
                f"A new secret of {endpoint} is created and shown once. For {hours} hours each message is signed by "
                "the current one as well; any older one is dropped at once."
            )
            return confirmation_page(
                self, request, row=endpoint, title="Rotate secret", text=text, button="Yes, rotate it"
            )
        with transaction.atomic():
            endpoints.rotate_secret(endpoint)
            self.log_change(request, endpoint, "Rotated its secret.")
        return self._show_secret(request, endpoint, title="Secret rotated")

    @action(description="Enable", permissions=["change"], icon="play_arrow")
    def enable(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show a confirmation page; on POST enable the endpoint."""
        endpoint = get_row_or_404(self, request, object_id)
        if request.method != "POST":
            text = f"{endpoint} gets events from now on. Replay those that it missed."
            return confirmation_page(
                self, request, row=endpoint, title="Enable webhook endpoint", text=text, button="Enable it"
            )
        with transaction.atomic():
            endpoints.enable_endpoint(endpoint)
            self.log_change(request, endpoint, "Enabled.")
        messages.success(request, f"{endpoint} is enabled. Test it, and replay the events that it missed.")
        return redirect(change_url(endpoint))

    @action(description="Disable", permissions=["change"], icon="block", variant=ActionVariant.DANGER)
    def disable(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show a form for the reason; on a valid POST disable the endpoint, and notify a partner."""
        endpoint = get_row_or_404(self, request, object_id)
        form = DisableForm(request.POST or None)
        if not form.is_valid():
            text = f"{endpoint} gets no events from now on, and what is queued for it is cancelled."
            return confirmation_page(
                self, request, row=endpoint, title="Disable webhook endpoint", text=text, button="Disable it", form=form
            )
        reason, notice = f"disabled by an operator: {form.cleaned_data['reason']}", endpoint.partner_key_id is not None
        with transaction.atomic():
            if endpoints.disable_endpoint(endpoint, reason, by=DisabledBy.OPERATOR, notice=notice):
                self.log_change(request, endpoint, f"Disabled: {form.cleaned_data['reason']}")
        messages.success(request, f"{endpoint} is disabled.")
        return redirect(change_url(endpoint))

    def _show_secret(self, request: HttpRequest, endpoint: WebhookEndpoint, *, title: str) -> HttpResponse:
        secret = webhook_secrets.endpoint_secret(endpoint)
        return secret_page(self, request, row=endpoint, title=title, label="Signing secret", text=secret, usage=_USAGE)


def _is_active(endpoint: WebhookEndpoint) -> bool:
    """Return whether deliveries to the endpoint are sent."""
    return WebhookEndpoint.objects.active().filter(pk=endpoint.pk).exists()


def _may_view_deliveries(request: HttpRequest) -> bool:
    return admin.site.get_model_admin(WebhookDelivery).has_view_permission(request)

"""The admin pages of webhook endpoints, deliveries and published events."""

import re
from datetime import timedelta
from ipaddress import ip_network

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from standardwebhooks import Webhook

from accounts.models import DeliveryReason, WebhookDelivery, WebhookEndpoint
from accounts.subscriptions import deliveries, endpoints, webhook_secrets
from config.events.models import Event, OutboxEvent
from config.events.outbox import newest_event_id
from config.operators.admin_pages import BoundedPaginator
from tests.accounts.subscriptions.subscribers import queue_events
from tests.config.operators.admin_pages import messages, page_of, shown
from tests.rows.factories import PartnerKeyFactory, WebhookDeliveryFactory, WebhookEndpointFactory

pytestmark = pytest.mark.django_db

LIST = "/admin/accounts/webhookendpoint/"
ADD = f"{LIST}add/"
DELIVERIES = "/admin/accounts/webhookdelivery/"
EVENTS = "/admin/events/event/"
URL = "https://receiver.example/hook"


def action(endpoint, name):
    return f"{LIST}{endpoint.pk}/{name}/"


def secret_on(page):
    [text] = re.findall(r"whsec_[0-9A-Za-z+/=]+", page.content.decode())
    return text


def logged():
    return list(LogEntry.objects.order_by("pk").values_list("change_message", flat=True))


def test_an_added_endpoint_shows_its_secret_once_and_stores_it_nowhere(operator):
    key = PartnerKeyFactory(scopes=["webhooks"])
    form = {
        "partner_key": key.pk,
        "url": URL,
        "types": ["token.indexed"],
        "chain_ids": "8453, 1,1",
        "email": "a@b.example",
    }
    page = operator.post(ADD, form)
    assert page.status_code == 200 and "no-store" in page.headers["Cache-Control"]
    endpoint = WebhookEndpoint.objects.get()
    assert (endpoint.partner_key, endpoint.url, endpoint.types) == (key, URL, ["token.indexed"])
    assert (endpoint.chain_ids, endpoint.email) == ([8453, 1], "a@b.example")
    secret = secret_on(page)
    assert secret == webhook_secrets.endpoint_secret(endpoint)
    for address in (LIST, page_of(endpoint), f"{LIST}{endpoint.pk}/history/", action(endpoint, "rotate"), "/admin/"):
        assert "whsec_" not in operator.get(address).text
    assert all(secret not in str(session.get_decoded()) for session in Session.objects.all())
    assert all(secret not in entry.change_message + entry.object_repr for entry in LogEntry.objects.all())
    assert LogEntry.objects.get().is_addition()


@pytest.mark.parametrize("button", ["_addanother", "_continue", "_popup"])
def test_it_shows_the_secret_whichever_button_saved_it(operator, button):
    assert secret_on(operator.post(ADD, {"url": URL, button: "1"}))
    assert WebhookEndpoint.objects.get().partner_key is None


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({}, "This field is required"),
        ({"url": "http://receiver.example/"}, "The URL must be an https:// URL of a public host, on port 443"),
        ({"url": "https://user:secret@receiver.example/"}, "without credentials"),
        ({"url": "https://receiver.example/" + "a" * 2_048}, "at most 2048 characters"),
        ({"url": URL, "types": ["token.unheard"]}, "token.unheard is not one of the available choices"),
        ({"url": URL, "chain_ids": "x"}, "Enter a whole number"),
        ({"url": URL, "chain_ids": "0"}, "greater than or equal to 1"),
        ({"url": URL, "chain_ids": str(2**63)}, "less than or equal to"),
        ({"url": URL, "email": "nonsense"}, "Enter a valid email address"),
    ],
)
def test_it_refuses_what_the_api_refuses(operator, form, words):
    page = operator.post(ADD, form)
    assert page.status_code == 200 and words in page.text.replace("&#x27;", "'")
    assert not WebhookEndpoint.objects.exists()


@pytest.mark.parametrize("fields", [{"scopes": ["read"]}, {"scopes": ["webhooks"], "revoked": True}])
def test_a_key_must_be_able_to_get_events(operator, fields):
    page = operator.post(ADD, {"url": URL, "partner_key": PartnerKeyFactory(**fields).pk})
    assert "lacks the scope webhooks" in page.text
    assert not WebhookEndpoint.objects.exists()


def test_http_is_accepted_beside_a_private_network(operator, settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = (ip_network("10.0.0.0/8"),)
    assert secret_on(operator.post(ADD, {"url": "http://10.0.0.5/hook"}))


def test_a_key_has_no_more_endpoints_than_by_the_api(operator):
    key = PartnerKeyFactory(scopes=["webhooks"])
    WebhookEndpointFactory.create_batch(endpoints.MAX_ENDPOINTS, partner_key=key)
    page = operator.post(ADD, {"url": URL, "partner_key": key.pk}, follow=True)
    assert messages(page) == [f"A key has at most {endpoints.MAX_ENDPOINTS} endpoints."]
    assert WebhookEndpoint.objects.count() == endpoints.MAX_ENDPOINTS


def test_editing_writes_what_was_edited_and_keeps_the_owner(operator):
    key, other = PartnerKeyFactory(scopes=["webhooks"]), PartnerKeyFactory(scopes=["webhooks"])
    # A type that a later release dropped is no reason to send all types.
    endpoint = WebhookEndpointFactory(partner_key=key, types=["token.gone"])
    assert 'value="token.gone"' in operator.get(page_of(endpoint)).text
    form = {"url": "https://new.example/hook", "types": ["token.gone"], "partner_key": other.pk, "salt": "x"}
    operator.post(page_of(endpoint), form)
    changed = WebhookEndpoint.objects.get()
    assert (changed.url, changed.types, changed.partner_key) == ("https://new.example/hook", ["token.gone"], key)
    assert changed.salt == endpoint.salt


def test_the_list_shows_states_owners_and_filters(operator):
    now = timezone.now()
    enabled = WebhookEndpointFactory(types=["token.indexed"], chain_ids=[8453])
    failing = WebhookEndpointFactory(partner_key=PartnerKeyFactory(name="Acme"), failing_since=now)
    disabled = WebhookEndpointFactory(disabled_at=now, failing_since=now, disabled_by="service")
    off = WebhookEndpointFactory(disabled_at=now, disabled_by="owner")
    text = operator.get(LIST).text
    for word in ("token.indexed; 8453", "Acme", "operators", "Failing", "Disabled", "turned off"):
        assert word in text
    states = {"enabled": enabled, "failing": failing, "disabled": disabled, "off": off}
    assert {state: shown(operator, LIST, state=state) for state in states} == {
        state: [endpoint.pk] for state, endpoint in states.items()
    }
    assert {str(endpoint.state): endpoint for endpoint in states.values()} == states
    assert shown(operator, LIST, q="acme") == [failing.pk]


@pytest.mark.parametrize(
    ("name", "form"), [("test", {}), ("replay", {}), ("rotate", {}), ("enable", {}), ("disable", {})]
)
def test_opening_the_page_of_an_action_changes_nothing(operator, name, form):
    endpoint = WebhookEndpointFactory()
    queue_events()
    before = WebhookEndpoint.objects.values().get(), WebhookDelivery.objects.count()
    page = operator.get(action(endpoint, name), form)
    assert page.status_code == 200 and endpoint.url in page.text
    assert (WebhookEndpoint.objects.values().get(), WebhookDelivery.objects.count()) == before
    assert logged() == []


@pytest.mark.parametrize("name", ["test", "replay", "rotate", "enable", "disable"])
def test_strangers_get_the_login_page(client, name):
    answer = client.post(action(WebhookEndpointFactory(), name))
    assert (answer.status_code, answer.url.partition("?")[0]) == (302, "/admin/login/")


def test_a_test_is_queued_and_its_page_shown(operator):
    endpoint = WebhookEndpointFactory()
    page = operator.post(action(endpoint, "test"), follow=True)
    delivery = WebhookDelivery.objects.get()
    assert (delivery.event_type, delivery.reason, delivery.endpoint) == ("webhook.test", DeliveryReason.TEST, endpoint)
    assert page.redirect_chain[-1][0] == page_of(delivery)
    assert "none: a test" in page.text and "None yet." in page.text
    assert logged() == ["Tested."]


def test_rotation_shows_a_secret_that_signs_beside_the_one_before(operator):
    endpoint = WebhookEndpointFactory()
    former = webhook_secrets.endpoint_secret(endpoint)
    secret = secret_on(operator.post(action(endpoint, "rotate")))
    endpoint.refresh_from_db()
    assert secret == webhook_secrets.endpoint_secret(endpoint) != former
    headers = webhook_secrets.signed_headers(endpoint, message_id="evt_1", body=b"{}", now=timezone.now())
    assert [Webhook(each).verify(b"{}", headers) for each in (former, secret)] == [{}, {}]
    assert logged() == ["Rotated its secret."]


def test_disabling_needs_a_reason_and_notifies_a_partner(operator):
    partner = PartnerKeyFactory(scopes=["webhooks"])
    endpoint = WebhookEndpointFactory(partner_key=partner)
    [delivery] = queue_events()
    assert "This field is required" in operator.post(action(endpoint, "disable"), {"reason": " "}).text
    page = operator.post(action(endpoint, "disable"), {"reason": "floods us"}, follow=True)
    endpoint.refresh_from_db()
    delivery.refresh_from_db()
    assert (str(endpoint.state), endpoint.disabled_reason) == ("off", "disabled by an operator: floods us")
    assert delivery.status == "cancelled"
    event = OutboxEvent.objects.get()
    assert (event.type, event.owner_id, event.data["reason"]) == (
        "endpoint.disabled",
        partner.pk,
        "disabled by an operator: floods us",
    )
    assert logged() == ["Disabled: floods us"]
    text = page.text
    assert action(endpoint, "enable") in text
    assert not any(action(endpoint, name) in text for name in ("test", "replay", "disable"))


def test_operators_are_not_notified_of_what_they_disable(operator):
    operator.post(action(WebhookEndpointFactory(), "disable"), {"reason": "moved"})
    assert not OutboxEvent.objects.exists()


def test_an_enabled_endpoint_begins_anew(operator):
    then = timezone.now() - timedelta(days=6)
    times = dict.fromkeys(("disabled_at", "failing_since", "warned_at", "paused_until"), then)
    endpoint = WebhookEndpointFactory(**times, disabled_reason="failures")
    operator.post(action(endpoint, "enable"))
    endpoint.refresh_from_db()
    assert str(endpoint.state) == "enabled" and {getattr(endpoint, name) for name in times} == {None}
    assert logged() == ["Enabled."]


def test_a_range_of_events_is_replayed_by_the_filters(operator):
    endpoint = WebhookEndpointFactory(types=["token.indexed"])
    first, second, third = [delivery.event_id for delivery in queue_events(3)]
    queue_events(event_type="token.confirmed")
    WebhookDelivery.objects.update(status="delivered")
    page = operator.post(action(endpoint, "replay"), {"after": first, "until": second}, follow=True)
    assert messages(page) == ["1 events are queued."]
    operator.post(action(endpoint, "replay"), {"after": first})
    replayed = WebhookDelivery.objects.filter(reason="replay").order_by("pk").values_list("event_id", flat=True)
    assert list(replayed) == [second, third]
    assert logged() == [
        f"Replayed events after {first} until {second}: 1 queued.",
        f"Replayed events after {first}: 1 queued.",
    ]


def test_a_long_replay_names_the_next_one(operator):
    columns = {"type": "token.indexed", "version": 1, "subject": "0xabc", "data": {}}
    OutboxEvent.objects.bulk_create(OutboxEvent(**columns) for _ in range(deliveries.MAX_REPLAYED + 1))
    while deliveries.publish_and_queue():
        pass
    endpoint, newest = WebhookEndpointFactory(), newest_event_id()
    page = operator.post(action(endpoint, "replay"), {"after": 0}, follow=True)
    assert messages(page) == [
        "10,000 events are queued.",
        f"There may be more: replay those after event id {newest - 1}, too.",
    ]


@pytest.mark.parametrize("form", [{"after": ""}, {"after": "-1"}, {"after": "x"}, {"after": "0", "until": str(2**60)}])
def test_a_replay_needs_ids(operator, form):
    endpoint = WebhookEndpointFactory()
    queue_events()
    page = operator.post(action(endpoint, "replay"), form)
    assert page.status_code == 200 and page.context["form"].errors
    assert not WebhookDelivery.objects.filter(reason="replay").exists()


@pytest.mark.parametrize("name", ["test", "replay"])
@pytest.mark.parametrize("is_disabled", [True, False])
def test_nothing_is_queued_for_an_endpoint_that_gets_no_events(operator, name, is_disabled):
    key = PartnerKeyFactory(scopes=["webhooks"], revoked=not is_disabled)
    endpoint = WebhookEndpointFactory(partner_key=key, disabled_at=timezone.now() if is_disabled else None)
    page = operator.post(action(endpoint, name), {"after": "0"}, follow=True)
    assert messages(page)[0].startswith("The endpoint gets no events: it is disabled")
    assert not WebhookDelivery.objects.exists()


@pytest.mark.parametrize("through", ["its page", "the list"])
def test_deleting_an_endpoint_takes_its_log_without_listing_it(operator, through):
    endpoint, other = WebhookEndpointFactory(), WebhookEndpointFactory()
    kept = WebhookDeliveryFactory(endpoint=other)
    WebhookDeliveryFactory.create_batch(3, endpoint=endpoint)
    chosen = {"action": "delete_selected", "_selected_action": [endpoint.pk]}
    page = action(endpoint, "delete") if through == "its page" else LIST
    text = operator.post(page, {} if through == "its page" else chosen).text
    assert "with its delivery log" in text and "token.indexed" not in text
    operator.post(page, {"post": "yes"} if through == "its page" else chosen | {"post": "yes"})
    assert list(WebhookEndpoint.objects.all()) == [other]
    assert list(WebhookDelivery.objects.all()) == [kept]
    assert LogEntry.objects.get().is_deletion()


def test_the_log_of_deliveries_is_filtered_and_searched(operator):
    endpoint = WebhookEndpointFactory(url="https://acme.example/hook")
    failed = WebhookDeliveryFactory(endpoint=endpoint, status="failed", last_error="HTTP status 500")
    test = WebhookDeliveryFactory(reason="test", event_id=None, status="delivered")
    waiting = WebhookDeliveryFactory()
    assert shown(operator, DELIVERIES) == [waiting.pk, test.pk, failed.pk]
    assert "HTTP status 500" in operator.get(DELIVERIES).text
    assert shown(operator, DELIVERIES, status__exact="failed") == [failed.pk]
    assert shown(operator, DELIVERIES, reason__exact="test") == [test.pk]
    assert shown(operator, DELIVERIES, queue="waiting") == [waiting.pk]
    assert shown(operator, DELIVERIES, endpoint__id__exact=endpoint.pk) == [failed.pk]
    assert shown(operator, DELIVERIES, q=str(waiting.event_id)) == [waiting.pk]
    assert shown(operator, DELIVERIES, q="ACME") == [failed.pk]
    assert f"{DELIVERIES}?endpoint__id__exact={endpoint.pk}" in operator.get(page_of(endpoint)).text


def test_a_delivery_shows_each_attempt(operator):
    log = [
        {"at": "2026-11-26T10:00:00.123+00:00", "status": None, "ms": 15_000, "bytes": 0, "error": "a <b>timeout</b>"},
        {"at": "2026-11-26T10:05:00.456+00:00", "status": 204, "ms": 31, "bytes": 7, "error": ""},
    ]
    delivery = WebhookDeliveryFactory(status="delivered", log=log)
    text = operator.get(page_of(delivery)).text
    for word in ("2026-11-26 10:00:00", "no response", "15000", "a &lt;b&gt;timeout", "2026-11-26 10:05:00", "204"):
        assert word in text
    assert page_of(delivery.endpoint) in text
    assert reverse("admin:events_event_change", args=[delivery.event_id]) in text


def test_chosen_deliveries_are_replayed_once_each(operator):
    endpoint = WebhookEndpointFactory()
    delivery, queued = queue_events(2)
    twice = WebhookDeliveryFactory(endpoint=endpoint, event_id=delivery.event_id)
    WebhookDelivery.objects.filter(event_id=delivery.event_id).update(status="delivered")
    dropped = WebhookDeliveryFactory(endpoint=endpoint, event_id=2**40)
    test = WebhookDeliveryFactory(endpoint=endpoint, event_id=None, reason="test")
    off = WebhookDeliveryFactory(endpoint__disabled_at=timezone.now(), event_id=queued.event_id)
    chosen = [row.pk for row in (delivery, twice, queued, dropped, test, off)]
    page = operator.post(DELIVERIES, {"action": "replay", "_selected_action": chosen}, follow=True)
    [replayed] = WebhookDelivery.objects.exclude(pk__in=chosen)
    assert (replayed.endpoint, replayed.event_id, replayed.reason) == (endpoint, delivery.event_id, "replay")
    done, left_out = messages(page)
    assert done == "1 queued." and left_out.startswith("5 left out: ")
    assert logged() == ["Replayed."]


def test_published_events_are_shown_with_their_data(operator):
    partner = PartnerKeyFactory()
    queue_events(data={"name": "<i>é</i>"})
    queue_events(event_type="deployment.failed", owner_id=partner.pk)
    public, private = Event.objects.order_by("pk")
    assert shown(operator, EVENTS) == [private.pk, public.pk]
    assert shown(operator, EVENTS, type="token.indexed") == [public.pk]
    assert shown(operator, EVENTS, q=f" {private.pk} ") == [private.pk]
    text = operator.get(page_of(public)).text
    assert "&lt;i&gt;é&lt;/i&gt;" in text and "all subscribers" in text
    assert f"partner key {partner.pk}" in operator.get(page_of(private)).text


class _TwoRows(BoundedPaginator):
    max_rows = 2


@pytest.mark.parametrize("page", [DELIVERIES, EVENTS])
def test_long_lists_are_counted_to_a_bound(operator, page):
    WebhookEndpointFactory()
    queue_events(3)
    with CaptureQueriesContext(connection) as queries:
        assert len(shown(operator, page)) == 3
    counts = [query["sql"] for query in queries if "COUNT(*)" in query["sql"]]
    assert counts and all("LIMIT 10000" in sql for sql in counts)
    pages = _TwoRows(WebhookDelivery.objects.order_by("-pk"), 1)
    assert (pages.count, pages.num_pages) == (2, 2)

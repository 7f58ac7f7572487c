"""The webhook API: a partner's endpoints, their secrets, tests, delivery log and replays."""

from datetime import timedelta
from importlib import import_module
from ipaddress import ip_network

import pytest
from django.db import connection
from django.utils import timezone

from accounts.keys import credentials
from accounts.models import DisabledBy, PartnerKey, WebhookDelivery, WebhookEndpoint
from accounts.subscriptions import deliveries, endpoints
from accounts.subscriptions.webhook_secrets import endpoint_secret
from config.events.models import EventAudience
from config.events.outbox import publish_events
from tests.accounts.subscriptions.subscribers import queue_events, store_event

pytestmark = pytest.mark.django_db

PATH = "/api/webhooks"
URL = "https://receiver.example/hook"


@pytest.fixture
def call(client):
    """Return a function that calls the API as a partner with the scope."""
    key = {"x-api-key": credentials.issue_key("Subscriber", scopes=["webhooks"])}

    def call(method, path="", body=None):
        send = getattr(client, method.lower())
        return (
            send(f"{PATH}{path}", body, content_type="application/json", headers=key)
            if body is not None
            else send(f"{PATH}{path}", headers=key)
        )

    return call


@pytest.fixture
def partner(call):
    return PartnerKey.objects.get(name="Subscriber")


def create(call, **fields):
    return call("POST", "", {"url": URL, **fields}).json()


def test_an_endpoint_is_created_with_its_secret(call, partner):
    created = call(
        "POST", "", {"url": URL, "types": ["token.indexed"], "chainIds": [8453, 1, 8453], "email": "a@b.example"}
    )
    assert created.status_code == 201 and created.headers["cache-control"] == "no-store"
    endpoint = WebhookEndpoint.objects.get()
    assert endpoint.partner_key == partner
    assert created.json() == {
        "id": endpoint.pk,
        "url": URL,
        "description": "",
        "types": ["token.indexed"],
        "chainIds": [8453, 1],
        "email": "a@b.example",
        "enabled": True,
        "disabledReason": None,
        "failingSince": None,
        "pausedUntil": None,
        "previousSecretUntil": None,
        "createdAt": created.json()["createdAt"],
        "secret": endpoint_secret(endpoint),
    }
    assert created.json()["secret"].startswith("whsec_") and len(created.json()["secret"]) == 50
    listed = call("GET").json()["data"]
    assert listed == [{name: value for name, value in created.json().items() if name != "secret"}]
    assert call("GET", f"/{endpoint.pk}").json() == listed[0]


def test_no_row_contains_a_secret(call):
    created = create(call)
    row = WebhookEndpoint.objects.values().get()
    assert created["secret"] not in str(row) and bytes(row["salt"]) not in created["secret"].encode()


def test_plain_http_is_accepted_for_private_receivers_only(call, settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = (ip_network("10.0.0.0/8"),)
    # A name may belong to a private receiver.
    for url in ("http://10.1.2.3:8080/", "http://receiver:8080/", "https://receiver.example:8443/", "https://8.8.8.8/"):
        assert call("POST", "", {"url": url}).status_code == 201
    for url in ("http://169.254.169.254/", "https://[::1]/", "https://8.8.8.8:8443/"):
        assert call("POST", "", {"url": url}).json()["details"][0]["field"] == "url"


def test_a_key_has_at_most_twenty(call):
    for _ in range(20):
        assert call("POST", "", {"url": URL}).status_code == 201
    refused = call("POST", "", {"url": URL})
    assert (refused.status_code, refused.json()["error"]) == (409, "A key has at most 20 endpoints")


def test_given_keys_are_changed(call):
    path = f"/{create(call, types=['token.indexed'])['id']}"
    changed = call("PATCH", path, {"url": "https://other.example/", "chainIds": [1]}).json()
    assert (changed["url"], changed["types"], changed["chainIds"]) == ("https://other.example/", ["token.indexed"], [1])
    call("PATCH", path, {"email": "a@b.example"})
    assert (
        call("PATCH", path, {"email": None, "chainIds": None}).json().items() >= {"email": None, "chainIds": []}.items()
    )
    for body, field in (({}, "body"), ({"enabled": 5}, "enabled"), ({"url": None}, "url"), ({"id": 7}, "id")):
        refused = call("PATCH", path, body)
        assert (refused.status_code, refused.json()["details"][0]["field"]) == (400, field)


def test_a_disabled_endpoint_gets_nothing_until_it_is_enabled(call):
    path = f"/{create(call)['id']}"
    (queued,) = queue_events()
    disabled = call("PATCH", path, {"enabled": False}).json()
    queued.refresh_from_db()
    assert (disabled["enabled"], disabled["disabledReason"], queued.status) == (
        False,
        "disabled by its owner",
        "cancelled",
    )
    assert queue_events() == []
    for action, body in (("test", None), ("replay", {"eventId": 1})):
        assert call("POST", f"{path}/{action}", body).status_code == 409
    assert call("PATCH", path, {"enabled": True}).json()["enabled"] is True
    assert len(queue_events()) == 1


@pytest.mark.parametrize(
    ("method", "action", "body"),
    [("PATCH", "", {"url": URL}), ("PATCH", "", {"enabled": True}), ("POST", "/test", None)],
)
def test_a_new_url_and_a_test_end_a_pause(call, method, action, body):
    path = f"/{create(call)['id']}"
    until = timezone.now() + timedelta(hours=1)
    WebhookEndpoint.objects.update(paused_until=until)
    assert call("PATCH", path, {"description": "d"}).json()["pausedUntil"]
    call(method, f"{path}{action}", body)
    assert call("GET", path).json()["pausedUntil"] is None


def test_an_operators_decision_stays(call):
    path, other = f"/{create(call)['id']}", f"/{create(call, url='https://other.example/')['id']}"
    endpoint = WebhookEndpoint.objects.get(url=URL)
    # The text decides nothing.
    endpoints.disable_endpoint(endpoint, "floods us", by=DisabledBy.OPERATOR, notice=True)
    again = {"url": f"{URL}?again=1"}
    for method, place, body in (
        ("PATCH", path, {"enabled": True}),
        ("PATCH", path, {"url": "https://new.example/"}),
        ("DELETE", path, None),
        ("POST", "", {"url": URL}),
        ("POST", "", {"url": f"{URL}/"}),
        ("POST", "", again),
        ("PATCH", other, again),
    ):
        refused = call(method, place, body)
        assert (refused.status_code, refused.json()["error"]) == (409, "An operator has disabled the endpoint")
    assert call("PATCH", path, {"description": "d"}).json()["disabledReason"] == "floods us"
    assert set(WebhookEndpoint.objects.values_list("url", "disabled_by")) == {
        (URL, "operator"),
        ("https://other.example/", ""),
    }
    endpoints.enable_endpoint(endpoint)
    assert call("DELETE", path).status_code == 204
    assert call("POST", "", again).status_code == 201


@pytest.mark.parametrize("by", [DisabledBy.OWNER, DisabledBy.SERVICE])
def test_an_owner_enables_what_no_operator_disabled(call, by):
    path = f"/{create(call)['id']}"
    endpoints.disable_endpoint(WebhookEndpoint.objects.get(), "disabled by an operator: a text", by=by, notice=False)
    assert call("PATCH", path, {"enabled": True}).json()["enabled"] is True
    assert WebhookEndpoint.objects.get().disabled_by == ""


def test_texts_of_the_former_version_become_a_column():
    texts = ("", "disabled by its owner", "disabled by an operator: a test", "nothing but failures for 5 days")
    for text in texts:
        WebhookEndpoint.objects.create(url=URL, disabled_reason=text, disabled_at=timezone.now() if text else None)
    with connection.cursor() as cursor:
        cursor.execute(import_module("accounts.migrations.0002_disabled_by").FILL)
    filled = dict(WebhookEndpoint.objects.values_list("disabled_reason", "disabled_by"))
    assert filled == dict(zip(texts, ("", "owner", "operator", "service"), strict=True))


def test_a_deleted_endpoint_goes_with_its_log(call):
    path = f"/{create(call)['id']}"
    queue_events()
    assert call("DELETE", path).status_code == 204
    assert not WebhookEndpoint.objects.exists() and not WebhookDelivery.objects.exists()


def test_a_rotation_returns_the_new_secret(call):
    created = create(call)
    rotated = call("POST", f"/{created['id']}/rotate").json()
    assert rotated["secret"] == endpoint_secret(WebhookEndpoint.objects.get()) != created["secret"]
    assert rotated["previousSecretUntil"] is not None


def test_a_test_is_queued(call):
    path = f"/{create(call)['id']}"
    queued = call("POST", f"{path}/test")
    assert queued.status_code == 202
    (entry,) = call("GET", f"{path}/deliveries").json()["data"]
    assert entry["id"] == queued.json()["deliveryId"]
    assert (entry["type"], entry["reason"], entry["eventId"]) == ("webhook.test", "test", None)


def test_the_log_has_pages_and_attempts(call):
    endpoint_id = create(call)["id"]
    rows = queue_events(3)
    log = [{"at": "2026-11-26T00:00:00.000+00:00", "status": 500, "ms": 7, "bytes": 3, "error": "HTTP status 500"}]
    WebhookDelivery.objects.filter(pk=rows[2].pk).update(status="failed", log=log)
    page = call("GET", f"/{endpoint_id}/deliveries?limit=2").json()
    assert [entry["id"] for entry in page["data"]] == [rows[2].pk, rows[1].pk]
    assert page["data"][0]["attempts"] == log and page["data"][0]["nextAttemptAt"] is None
    last = call("GET", f"/{endpoint_id}/deliveries?limit=2&before={page['cursor']}").json()
    assert ([entry["id"] for entry in last["data"]], last["cursor"]) == ([rows[0].pk], None)
    (failed,) = call("GET", f"/{endpoint_id}/deliveries?status=failed").json()["data"]
    assert failed["id"] == rows[2].pk
    assert call("GET", f"/{endpoint_id}/deliveries?status=x").status_code == 400


def test_one_event_and_a_range_are_replayed_by_the_filters(call):
    for event_type in ("token.updated", "token.indexed", "token.updated", "token.indexed", "token.indexed"):
        store_event(event_type)
    _, *ids = publish_events()
    path = f"/{create(call, types=['token.indexed'])['id']}"

    def replayed(**body):
        before = set(WebhookDelivery.objects.values_list("pk", flat=True))
        response = call("POST", f"{path}/replay", body)
        assert response.status_code == 202
        new = WebhookDelivery.objects.exclude(pk__in=before)
        assert response.json() == {"queued": len(new), "cursor": None}
        assert {each.reason for each in new} <= {"replay"}
        return sorted(each.event_id for each in new)

    assert replayed(eventId=ids[0]) == [ids[0]]
    assert replayed(eventId=ids[0]) == []
    WebhookDelivery.objects.update(status="delivered")
    assert replayed(eventId=ids[0]) == [ids[0]]
    assert replayed(eventId=ids[1]) == []
    # A test event's id, which is in no list.
    assert replayed(eventId=0) == replayed(afterEventId=0, untilEventId=ids[0] - 1) == []
    assert replayed(afterEventId=ids[0]) == [ids[2], ids[3]]
    WebhookDelivery.objects.update(status="failed")
    assert replayed(afterEventId=ids[0] - 1, untilEventId=ids[2]) == [ids[0], ids[2]]


def test_a_long_replay_goes_on_from_its_cursor():
    store_event(), store_event(), store_event()
    ids = list(publish_events())
    endpoint = WebhookEndpoint.objects.create(url=URL)
    limited = deliveries.replay_events(endpoint, first=ids[0], last=ids[-1], most=2)
    assert (limited.queued, limited.cursor) == (2, ids[1])
    rest = deliveries.replay_events(endpoint, first=limited.cursor + 1, last=ids[-1], most=2)
    assert (rest.queued, rest.cursor) == (1, None)


def endpoints_of(*partners, **fields):
    return [WebhookEndpoint.objects.create(url=URL, partner_key=partner, **fields) for partner in partners]


def receivers(**fields):
    return sorted(each.endpoint_id for each in queue_events(**fields))


def test_each_endpoint_gets_what_it_may_read(partner):
    other = PartnerKey.objects.create(name="Other", scopes=["webhooks"])
    mine, others, operators = endpoints_of(partner, other, None)
    assert receivers() == sorted([mine.pk, others.pk, operators.pk])
    assert receivers(audience=EventAudience.PARTNER, owner_id=partner.pk) == sorted([mine.pk, operators.pk])
    assert receivers(audience=EventAudience.OPERATORS) == [operators.pk]
    assert receivers(audience=EventAudience.STREAM, created_at=timezone.now() - timedelta(hours=1)) == []


def test_filters_select_types_and_chains():
    every, indexed, base = (
        WebhookEndpoint.objects.create(url=URL, **fields)
        for fields in ({}, {"types": ["token.indexed"]}, {"chain_ids": [1]})
    )
    assert receivers() == [every.pk, indexed.pk]
    assert receivers(event_type="token.updated", chain_id=1) == [every.pk, base.pk]
    # An event without a chain, here about an endpoint, passes all chain filters.
    assert receivers(event_type="endpoint.failing", chain_id=None) == [every.pk, base.pk]


@pytest.mark.parametrize(
    "changes", [{"revoked_at": timezone.now()}, {"expires_at": timezone.now()}, {"scopes": ["read"]}]
)
def test_a_key_that_is_no_longer_valid_gets_nothing(partner, changes):
    endpoints_of(partner, None)
    of_partner, of_operators = queue_events()
    PartnerKey.objects.filter(pk=partner.pk).update(**changes)
    assert receivers() == [of_operators.endpoint_id]
    assert deliveries.cancel_withdrawn() == 1
    of_partner.refresh_from_db()
    of_operators.refresh_from_db()
    assert (of_partner.status, of_operators.status) == ("cancelled", "pending")


def test_deliveries_are_pruned_after_their_retention(partner, settings):
    settings.EVENT_DAYS = 14
    endpoints_of(partner)
    old, queued, new = queue_events(3)
    past = timezone.now() - timedelta(days=15)
    WebhookDelivery.objects.filter(pk__in=[old.pk, queued.pk]).update(created_at=past)
    WebhookDelivery.objects.filter(pk__in=[old.pk, new.pk]).update(status="delivered")
    assert deliveries.prune_deliveries(timezone.now()) == 1
    assert sorted(WebhookDelivery.objects.values_list("pk", flat=True)) == [queued.pk, new.pk]

"""Metrics and the dashboard panel of events and webhooks."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from accounts.models import WebhookDelivery
from accounts.subscriptions import delivery_counts
from config.events.models import OutboxEvent
from tests.accounts.subscriptions.subscribers import queue_events, store_event
from tests.config.operators.admin_pages import figures, page_of, panels
from tests.rows.factories import PartnerKeyFactory, WebhookDeliveryFactory, WebhookEndpointFactory

pytestmark = pytest.mark.django_db


def ago(**duration):
    return timezone.now() - timedelta(**duration)


def samples(name):
    """Return label values, in the sequence of their names -> number, for each sample."""
    families = {family.name: family for family in text_string_to_metric_families(Client().get("/metrics").text)}
    return {
        tuple(sample.labels[label] for label in sorted(sample.labels)): sample.value
        for sample in families[f"launchboard_{name}"].samples
    }


def test_the_outbox_has_its_lag():
    assert (samples("outbox_events"), samples("outbox_age_seconds")) == ({(): 0}, {(): 0})
    store_event()
    store_event(created_at=ago(seconds=100))
    assert samples("outbox_events") == {(): 2}
    assert 100 <= samples("outbox_age_seconds")[()] < 160


def test_endpoints_are_counted_by_state():
    WebhookEndpointFactory.create_batch(2)
    WebhookEndpointFactory(failing_since=ago(hours=1))
    WebhookEndpointFactory(disabled_at=ago(hours=1), disabled_by="service", disabled_reason="410")
    WebhookEndpointFactory(disabled_at=ago(hours=1), disabled_by="owner")
    assert samples("webhook_endpoints") == {("enabled",): 2, ("failing",): 1, ("disabled",): 1, ("off",): 1}


def test_deliveries_of_the_last_hour_are_counted_by_type_and_outcome():
    WebhookDeliveryFactory(status="failed", created_at=ago(minutes=61))
    WebhookDeliveryFactory.create_batch(3, status="delivered", attempts=1)
    WebhookDeliveryFactory()
    WebhookDeliveryFactory(attempts=2)
    WebhookDeliveryFactory(event_type="webhook.test", status="failed", attempts=1)
    counted = samples("webhook_deliveries_hour")
    assert {labels: number for labels, number in counted.items() if number} == {
        ("delivered", "token.indexed"): 3,
        ("pending", "token.indexed"): 1,
        ("retrying", "token.indexed"): 1,
        ("failed", "webhook.test"): 1,
    }
    # A series that began with its first failure would show no increase.
    assert counted["failed", "token.indexed"] == counted["cancelled", "webhook.test"] == 0


def test_only_the_newest_deliveries_are_read():
    oldest = WebhookDeliveryFactory()
    newest = WebhookDeliveryFactory(pk=oldest.pk + delivery_counts.MAX_COUNTED)
    counted = delivery_counts.count_deliveries(timezone.now())
    assert counted.total(delivery_counts.Outcome.PENDING) == 1
    # The query reads only a primary key range, whatever is in the table.
    with CaptureQueriesContext(connection) as queries:
        delivery_counts.count_deliveries(timezone.now())
    assert f'"id" > {newest.pk - delivery_counts.MAX_COUNTED}' in queries[-1]["sql"]


def test_deliveries_wait_while_their_endpoint_accepts_events():
    due = ago(seconds=500)
    WebhookDeliveryFactory(due_at=due, endpoint__failing_since=due)
    WebhookDeliveryFactory(due_at=due, endpoint__paused_until=timezone.now() + timedelta(hours=1))
    WebhookDeliveryFactory(due_at=due, endpoint__disabled_at=due)
    WebhookDeliveryFactory(due_at=due, endpoint__partner_key=PartnerKeyFactory(scopes=["webhooks"], revoked=True))
    WebhookDeliveryFactory(due_at=due, status="delivered")
    assert samples("webhook_wait_seconds") == {(): 0}
    WebhookDeliveryFactory(due_at=ago(seconds=100))
    assert 100 <= samples("webhook_wait_seconds")[()] < 160


def test_the_panel_says_what_to_do_without_an_endpoint_and_an_event(operator):
    panel = panels(operator)["Events"]
    assert (panel.figures, "add an endpoint" in panel.empty_text) == ((), True)
    queue_events()
    assert list(figures(operator, "Events")) == ["Not published yet"]


def test_the_dashboard_shows_events_and_deliveries(operator):
    WebhookEndpointFactory()
    WebhookDelivery.objects.filter(pk=queue_events(2)[0].pk).update(status="delivered")
    found = figures(operator, "Events")
    assert [(name, figure.value, figure.is_alarming) for name, figure in found.items()] == [
        ("Not published yet", "0", False),
        ("Deliveries of the last hour", "1 delivered", False),
        ("Endpoints", "1 enabled", False),
    ]
    assert found["Deliveries of the last hour"].note == "1 pending"
    assert all(operator.get(figure.page).status_code == 200 for figure in found.values())


@pytest.mark.parametrize(("seconds", "is_alarming"), [(30, False), (300, True)])
def test_the_dashboard_alarms_if_nothing_is_published(operator, seconds, is_alarming):
    store_event(created_at=ago(seconds=seconds))
    OutboxEvent.objects.exclude(created_at__lt=ago(seconds=seconds)).delete()
    publication = figures(operator, "Events")["Not published yet"]
    assert (publication.value, publication.is_alarming) == ("1", is_alarming)
    assert ("is an events process running?" in publication.note) == is_alarming


def test_the_dashboard_alarms_if_deliveries_wait(operator):
    WebhookDeliveryFactory(due_at=ago(minutes=6))
    waiting = figures(operator, "Events")["Deliveries wait"]
    assert (waiting.value, waiting.is_alarming) == ("due 6 minutes ago", True)
    assert operator.get(waiting.page).status_code == 200


def test_the_dashboard_leads_to_endpoints_that_need_a_person(operator, settings):
    failing = WebhookEndpointFactory(url="https://a.example/", failing_since=ago(hours=3))
    WebhookEndpointFactory(url="https://b.example/", failing_since=ago(minutes=5))
    disabled = WebhookEndpointFactory(url="https://c.example/", disabled_at=ago(hours=2), disabled_reason="410")
    WebhookEndpointFactory(url="https://d.example/", disabled_at=ago(hours=2), disabled_by="owner")
    found = figures(operator, "Events")
    shown = {name: (figure.value, figure.note, figure.is_alarming) for name, figure in found.items()}
    assert {name: figure for name, figure in shown.items() if "example" in name} == {
        "https://a.example/": ("Failing", "3 hours ago: it is disabled after 5 days", True),
        "https://b.example/": ("Failing", "5 minutes ago: it is disabled after 5 days", False),
        "https://c.example/": ("Disabled", "2 hours ago: 410", True),
    }
    assert (found["https://a.example/"].page, found["https://c.example/"].page) == (page_of(failing), page_of(disabled))
    assert found["Endpoints"].note == "of 4"
    WebhookEndpointFactory.create_batch(12, failing_since=ago(minutes=1))
    assert figures(operator, "Events")["More endpoints"].value == "5"

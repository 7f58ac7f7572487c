"""GET /api/events: events in the sequence of publication, each partner's own and the public ones."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.keys import credentials
from accounts.models import PartnerKey
from config.events.models import Event, EventAudience
from config.events.outbox import publish_events
from tests.accounts.subscriptions.subscribers import store_event

pytestmark = pytest.mark.django_db

PATH = "/api/events"


def publish(*subjects, **fields):
    """Publish events with these subjects; return their ids."""
    for subject in subjects:
        store_event(subject=subject, **fields)
    return list(publish_events())


def test_events_come_in_pages(fetch):
    ids = publish(*"abcde")
    first = fetch(limit=2).json()
    assert [(event["id"], event["subject"]) for event in first["data"]] == [(ids[0], "a"), (ids[1], "b")]
    rest = fetch(limit=500, after=first["cursor"]).json()
    assert ([event["subject"] for event in rest["data"]], rest["cursor"]) == (["c", "d", "e"], ids[-1])
    assert fetch(after=rest["cursor"]).json() == {"data": [], "cursor": ids[-1]}


def test_an_event_has_the_fields_of_the_contract(fetch):
    (event_id,) = publish("0xabc")
    (event,) = fetch().json()["data"]
    created_at = Event.objects.get().created_at
    assert event == {
        "id": event_id,
        "type": "token.indexed",
        "version": 1,
        "createdAt": created_at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{created_at.microsecond // 1000:03}Z",
        "chainId": 8453,
        "subject": "0xabc",
        "data": {"name": "é"},
    }


def test_filters_leave_events_out_and_the_cursor_goes_on(fetch):
    publish("a", event_type="token.indexed", chain_id=1)
    publish("b", event_type="token.updated", chain_id=8453)
    (last,) = publish("c", event_type="token.updated", chain_id=1)
    by_type, by_chain = fetch(type="token.updated").json(), fetch(chainId=8453).json()
    assert [event["subject"] for event in by_type["data"]] == ["b", "c"]
    assert ([event["subject"] for event in by_chain["data"]], by_chain["cursor"]) == (["b"], last)
    assert fetch(chainId=8453, after=last).json() == {"data": [], "cursor": last}


def test_a_partner_reads_public_events_and_its_own(client):
    text = credentials.issue_key("Mine", scopes=["read"])
    mine = PartnerKey.objects.get(name="Mine").pk
    publish("public")
    publish("mine", audience=EventAudience.PARTNER, owner_id=mine)
    publish("another's", audience=EventAudience.PARTNER, owner_id=mine + 1)
    publish("operators'", audience=EventAudience.OPERATORS)
    publish("of the stream", audience=EventAudience.STREAM, created_at=timezone.now() - timedelta(hours=1))
    found = client.get(PATH, headers={"x-api-key": text}).json()["data"]
    assert [event["subject"] for event in found] == ["public", "mine"]


def test_an_id_before_the_oldest_event_is_gone(fetch):
    ids = publish(*"abc")
    Event.objects.filter(pk=ids[0]).delete()
    gone = fetch(after=ids[0] - 1)
    assert gone.status_code == 410
    assert gone.json() == {
        "error": f"after: events from {ids[1]} to {ids[2]} are stored; read the list again and go on from its"
        " X-Last-Event-Id",
        "oldestId": ids[1],
        "newestId": ids[2],
    }
    # The next one is stored: nothing is lost.
    assert [event["subject"] for event in fetch(after=ids[0]).json()["data"]] == ["b", "c"]
    assert [event["subject"] for event in fetch().json()["data"]] == ["b", "c"]


def test_an_id_beyond_the_newest_event_is_gone(fetch):
    (newest,) = publish("a")
    # A client may have such an id from before the database was restored to an earlier state.
    assert fetch(after=newest + 1).status_code == 410


def test_while_no_event_is_stored_any_id_is_right(fetch):
    assert fetch(after=7).json() == {"data": [], "cursor": 7}
    assert fetch().json() == {"data": [], "cursor": 0}


def test_a_page_takes_a_fixed_number_of_queries(fetch, django_assert_num_queries):
    publish("a")
    fetch()
    with django_assert_num_queries(5):
        fetch()
    publish(*"bcdefgh")
    with django_assert_num_queries(5):
        fetch()

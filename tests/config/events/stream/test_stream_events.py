"""The stream's process: events, filters, positions, heartbeats, refusals and limits, over sockets."""

import asyncio
import json
from datetime import timedelta

from django.db import connection
from django.utils import timezone

from config.events.event_types import event_body
from config.events.models import Event
from config.events.stream.event_reading import EventReader, connection_options
from config.events.stream.stream_query import StreamFilter
from tests.config.events.stream.conftest import WALLET
from tests.processes.stream_clients import PATH
from tests.processes.waiting import wait_for


def subjects(events):
    return [event.data["subject"] for event in events]


def test_an_event_is_sent_as_its_id_its_type_and_its_body(start, publish):
    reader = start().listen()
    [event_id] = publish("0xAbc", data={"name": "Higher ↑\nand\r\nhigher", "supply": "1" * 40})
    [event] = reader.take(1)
    assert (event.id, event.type) == (event_id, "token.indexed")
    assert event.data == event_body(Event.objects.get(), event_id=event_id)


def test_a_client_without_an_id_gets_new_events_only(start, publish):
    *_, newest = publish("old", "older")
    stream = start()
    reader = stream.open()
    reader.read_opening()
    publish("new")
    assert subjects(reader.take(1)) == ["new"]
    # The opening has an id, so that a client that loses its connection before its first event misses none.
    other = stream.open()
    lines = [other.response.readline() for _ in range(2)]
    assert lines[0].startswith(b"retry: ") and lines[1] == b"id: %d\n" % (newest + 1)


def test_a_client_goes_on_from_its_last_event(start, publish):
    first, second, _ = publish("a", "b", "c")
    stream = start()
    assert subjects(stream.listen(f"?lastEventId={first}").take(2)) == ["b", "c"]
    assert subjects(stream.listen(Last_Event_ID=str(second)).take(1)) == ["c"]
    # A browser repeats the URL when it reconnects, and adds the header.
    assert subjects(stream.listen(f"?lastEventId={first}", Last_Event_ID=str(second)).take(1)) == ["c"]
    assert subjects(stream.listen("?lastEventId=0").take(3)) == ["a", "b", "c"]


def test_a_client_that_reconnects_gets_each_event_once(start, publish):
    stream = start(STREAM_CLIENTS_PER_ADDRESS="100")
    first = stream.listen()
    publish("a")
    [a] = first.take(1)
    # More readers than turns: most have not received the event yet.
    readers = [stream.listen(Last_Event_ID=str(a.id)) for _ in range(24)]
    publish("b")
    publish("c")
    for reader in (first, *readers):
        assert subjects(reader.take(2)) == ["b", "c"]


PRIVATE = [
    {"audience": "partner", "owner_id": 7},
    {"audience": "operators"},
    {"type": "deployment.failed", "audience": "partner", "owner_id": 7},
    {"type": "deployment.failed"},
    {"type": "fees.claimed"},
]


def test_events_of_partners_and_other_types_are_never_sent(start, publish):
    [before] = publish("first")
    for fields in PRIVATE:
        publish("stored", **fields)
    stream = start()
    live = stream.listen()
    for fields in PRIVATE:
        publish("live", **fields)
    [last] = publish("last")
    assert subjects(live.take(1)) == ["last"]
    assert subjects(stream.listen(f"?lastEventId={before}").take(1)) == ["last"]
    assert stream.metric("newest_id") == last


# An event that only the stream sends is published after its interval.
LONG_AGO = timezone.now() - timedelta(hours=1)
EVENTS = [
    ("base", {"chain_id": 8453, "data": {"msg_sender": WALLET, "requestor_fid": 5}}),
    ("updated", {"chain_id": 8453, "type": "token.updated", "data": {"admin": WALLET, "requestor_fid": None}}),
    ("reorged", {"chain_id": 1, "type": "token.reorged", "data": {"requestor_address": WALLET.lower()}}),
    ("solana", {"chain_id": 101, "data": {"msg_sender": "So11111111111111111111111111111111111111112"}}),
    # Only the stream sends it, and only by its type.
    (
        "markets",
        {"chain_id": 8453, "type": "markets.changed", "audience": "stream", "created_at": LONG_AGO},
    ),
]


SELECTED = {
    "chainId=8453": ["base", "updated"],
    "chainId=7": [],
    "type=token.updated,token.reorged": ["updated", "reorged"],
    f"creator={WALLET}": ["base", "updated", "reorged"],
    f"creator={WALLET.lower()}&chainId=8453&type=token.updated": ["updated"],
    f"creator={WALLET.upper()}": ["base", "updated", "reorged"],
    "creator=5": ["base"],
    "creator=So11111111111111111111111111111111111111112": ["solana"],
    "creator=so11111111111111111111111111111111111111112": [],
    "type=markets.changed": ["markets"],
    "chainId=8453&type=token.updated,markets.changed": ["updated", "markets"],
    "chainId=1&type=markets.changed": [],
    "chainId=&type=&creator=&unknown=1": ["base", "updated", "reorged", "solana"],
}


def test_filters_select_events_live_and_stored(start, publish):
    [before] = publish("before", chain_id=5, type="token.confirmed")
    stream = start(STREAM_CLIENTS_PER_ADDRESS="100")
    live = {query: stream.listen(f"?{query}") for query in SELECTED}
    for subject, fields in EVENTS:
        publish(subject, **fields)
    stored = {query: stream.listen(f"?lastEventId={before}&{query}") for query in SELECTED}
    for query, expected in SELECTED.items():
        for reader in (live[query], stored[query]):
            assert subjects(reader.take(len(expected))) == expected, query
    stream.service.stop()
    for reader in (*live.values(), *stored.values()):
        assert reader.next_event() is None


def test_filters_select_events_of_a_long_log(start, publish):
    publish("dropped")
    Event.objects.all().delete()
    for subject, fields in EVENTS:
        publish(subject, **fields)
    # More than the process has in memory and one statement reads through.
    for _ in range(4):
        publish(*["other"] * 4_000, chain_id=5, type="token.confirmed")
    stream = start(STREAM_CLIENTS_PER_ADDRESS="100")
    readers = {query: stream.listen(f"?lastEventId=0&{query}") for query in SELECTED if "unknown" not in query}
    publish("last", chain_id=7, data={"msg_sender": WALLET, "requestor_fid": 5})
    for query, reader in readers.items():
        last = ["last"] if query in ("chainId=7", "creator=5", f"creator={WALLET}", f"creator={WALLET.upper()}") else []
        expected = [*SELECTED[query], *last]
        assert subjects(reader.take(len(expected))) == expected, query


def test_a_heartbeat_has_the_position_of_a_client_without_matches(start, publish):
    stream = start(OVERRIDE_STREAM_HEARTBEAT_SECONDS="0.1")
    reader = stream.listen("?chainId=7")
    [newest] = publish("elsewhere")
    while b"id: %d\n" % newest != reader.response.readline():
        pass


def test_history_is_lost_with_an_id_older_than_the_stored_events(start, publish):
    ids = publish(*"abcde")
    Event.objects.filter(pk__lt=ids[3]).delete()
    stream = start()
    reader = stream.listen(f"?lastEventId={ids[1]}")
    [lost] = reader.take(1)
    assert (lost.type, lost.id, lost.data) == ("history-lost", ids[4], {"oldest": ids[3], "newest": ids[4]})
    publish("next")
    assert subjects(reader.take(1)) == ["next"]
    # After the last deleted event none is missing.
    assert subjects(stream.listen(f"?lastEventId={ids[2]}").take(3)) == ["d", "e", "next"]
    assert subjects(stream.listen("?lastEventId=0").take(3)) == ["d", "e", "next"]


def test_history_is_lost_with_an_id_of_a_database_that_was_restored(start, publish):
    oldest, newest = publish("a", "b")
    reader = start().listen(f"?lastEventId={newest + 1}")
    [lost] = reader.take(1)
    assert (lost.type, lost.id, lost.data) == ("history-lost", newest, {"oldest": oldest, "newest": newest})
    publish("next")
    assert subjects(reader.take(1)) == ["next"]


def test_an_empty_log_has_lost_every_id_but_0(start, publish):
    stream = start()
    [lost] = stream.listen("?lastEventId=5").take(1)
    assert (lost.type, lost.data) == ("history-lost", {"oldest": 0, "newest": 0})
    reader = stream.listen("?lastEventId=0")
    publish("first")
    assert subjects(reader.take(1)) == ["first"]


def test_live_clients_lose_their_history_with_a_database_that_is_restored(start, publish, end_connections):
    publish(*"abc")
    reader = start().listen()
    Event.objects.filter(subject="c").delete()
    end_connections()
    [lost] = reader.take(1)
    assert lost.type == "history-lost"
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval('events_event_numbers', %s)", [lost.id])
    publish("other")
    assert subjects(reader.take(1)) == ["other"]


TYPES = "markets.changed, token.confirmed, token.indexed, token.reorged, token.updated"
NUMBER = f"must be a whole number from 1 to {2**63 - 1}"
BAD = [
    ("chainId=0", "chainId", NUMBER),
    ("chainId=base", "chainId", NUMBER),
    (f"chainId={2**63}", "chainId", NUMBER),
    ("chainId=1&chainId=1", "chainId", "must be given once"),
    ("chainId=%D9%A1", "chainId", NUMBER),
    ("type=deployment.failed", "type", f"must be 1 to 5 of {TYPES}, separated by commas"),
    ("type=token.indexed,", "type", f"must be 1 to 5 of {TYPES}, separated by commas"),
    ("creator=0x12", "creator", "must be an address or a FID"),
    ("creator=0", "creator", "must be an address or a FID"),
    ("creator=vitalik.eth", "creator", "must be an address or a FID"),
    ("lastEventId=-1", "lastEventId", NUMBER.replace("from 1", "from 0")),
    (f"lastEventId={'9' * 5000}", "lastEventId", NUMBER.replace("from 1", "from 0")),
]


def test_invalid_parameters_are_named(start, client):
    stream = start()
    for query, field, message in BAD:
        response, body = stream.fetch(f"{PATH}?{query}")
        assert (response.status, response.headers["Access-Control-Allow-Origin"]) == (400, "*"), query
        details = [{"field": field, "message": message}]
        assert json.loads(body) == {"error": f"{field} {message}", "details": details}
        # As the web server refuses them.
        assert client.get(f"{PATH}?{query}").json() == json.loads(body)
    response, body = stream.fetch(PATH, Last_Event_ID="x")
    assert json.loads(body)["details"][0]["field"] == "Last-Event-ID"


def test_other_requests_are_refused(start):
    stream = start()
    for path, method, host, status in [
        (PATH, "POST", "127.0.0.1", 405),
        (PATH, "DELETE", "127.0.0.1", 405),
        ("/api/tokens", "GET", "127.0.0.1", 404),
        ("/", "GET", "127.0.0.1", 404),
        (PATH, "GET", "elsewhere.example", 400),
        ("/metrics", "GET", "elsewhere.example", 400),
    ]:
        response, _ = stream.fetch(path, method, Host=host)
        assert (response.status, response.headers["Connection"]) == (status, "close"), (path, method)
    for path, headers in ((f"{PATH}?{'a' * 40_000}", {}), (PATH, {"X": "a" * 40_000})):
        response, body = stream.fetch(path, **headers)
        assert (response.status, response.headers["Content-Type"]) == (400, "application/json")
        assert json.loads(body) == {"error": "Bad request"}


def test_headers_of_the_stream(start):
    stream = start()
    expected = {
        "Content-Type": "text/event-stream",
        "Cache-Control": "no-store",
        "X-Accel-Buffering": "no",
        "Access-Control-Allow-Origin": "*",
    }
    for response in (stream.listen().response, stream.fetch(f"{PATH}/", "HEAD")[0]):
        assert expected.items() <= dict(response.headers).items()
    preflight, _ = stream.fetch(PATH, "OPTIONS", Origin="https://app.example", Access_Control_Request_Method="GET")
    assert (preflight.status, preflight.headers["Access-Control-Allow-Origin"]) == (204, "*")
    assert {"last-event-id", "hx-request"} <= set(preflight.headers["Access-Control-Allow-Headers"].split(", "))


def test_clients_beyond_the_limits_are_refused_until_others_leave(start):
    stream = start(OVERRIDE_STREAM_CLIENTS="3", STREAM_CLIENTS_PER_ADDRESS="2")
    wait_for(lambda: stream.metric("clients") == 0)
    first, second = stream.listen(), stream.listen()
    refused = stream.open()
    assert (refused.response.status, refused.response.headers["Retry-After"]) == (429, "5")
    assert json.loads(refused.response.read()) == {"error": "Too many open streams from this address"}
    third = stream.listen(address="127.0.0.2")
    full = stream.open(address="127.0.0.3")
    assert (full.response.status, full.response.headers["Retry-After"]) == (503, "5")
    reasons = ("address", "clients")
    assert [stream.metric(f'refused_total{{reason="{reason}"}}') for reason in reasons] == [1, 1]
    assert stream.metric("clients") == 3
    for reader in (first, second, third):
        reader.close()
    wait_for(lambda: stream.metric("clients") == 0)
    assert stream.open().response.status == 200


def test_behind_a_proxy_the_forwarded_address_counts(start):
    stream = start(STREAM_CLIENTS_PER_ADDRESS="1", TRUSTED_PROXIES="1")
    addresses = ("192.0.2.1", "192.0.2.2, 192.0.2.1", "192.0.2.1, 192.0.2.3")
    readers = [stream.open(X_Forwarded_For=address) for address in addresses]
    assert [reader.response.status for reader in readers] == [200, 429, 200]


def test_metrics_have_the_same_access_as_those_of_the_web_server(start):
    stream = start(METRICS_TOKEN="collector")
    assert stream.fetch("/healthz")[1] == b'{"status":"ok"}'
    refused, _ = stream.fetch("/metrics")
    assert (refused.status, refused.headers["WWW-Authenticate"]) == (401, "Bearer")
    response, body = stream.fetch("/metrics", Authorization="Bearer collector")
    assert response.status == 200 and b"launchboard_stream_poll_age_seconds" in body
    hidden, _ = start().fetch("/metrics", X_Forwarded_For="192.0.2.1")
    assert hidden.status == 404


def test_the_list_names_the_event_to_listen_from(start, publish, client):
    assert client.get("/api/tokens").headers["X-Last-Event-Id"] == "0"
    *_, newest = publish("a", "b")
    response = client.get("/api/tokens")
    assert response.headers["X-Last-Event-Id"] == str(newest)
    assert "X-Last-Event-Id" in response.headers["Access-Control-Expose-Headers"]
    publish("c")
    assert subjects(start().listen(f"?lastEventId={newest}").take(1)) == ["c"]


def test_the_web_server_redirects_to_the_stream(client, settings):
    settings.STREAM_URL = "https://stream.example"
    response = client.get(f"{PATH}?type=token.indexed&lastEventId=5")
    assert (response.status_code, response.headers["Cache-Control"]) == (307, "no-store")
    assert response.headers["Location"] == f"https://stream.example{PATH}?type=token.indexed&lastEventId=5"
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert client.get(PATH).headers["Location"] == f"https://stream.example{PATH}"


def test_unknown_parameters_are_ignored_and_named(start):
    stream = start()
    assert stream.open("?chain=1&wallet=2&type=").response.headers["X-Ignored-Params"] == "chain,wallet"
    assert stream.open("?chainId=x&chain=1").response.headers["X-Ignored-Params"] == "chain"
    assert "X-Ignored-Params" not in stream.open("?chainId=1").response.headers


def test_the_web_server_refuses_an_id_that_is_none_before_its_redirect(client):
    address = "/api/tokens/stream"
    assert client.get(address, headers={"Last-Event-ID": "7"}).status_code == 307
    for text in ("", "x", "-1", "1.5"):
        refused = client.get(address, headers={"Last-Event-ID": text})
        assert (refused.status_code, refused.json()["details"][0]["field"]) == (400, "Last-Event-ID")


def test_a_read_of_the_log_includes_its_last_id(publish):
    first, *between, last, _ = publish("a", "b", "c", "d")

    async def read_ids():
        async with EventReader(connection_options(connection.settings_dict), streamed=["token.indexed"]) as reader:
            rows = await reader.fetch_matching(StreamFilter(chain_id=8453), after=first, upto=last, limit=10)
            return [row.id for row in rows]

    assert asyncio.run(read_ids()) == [*between, last]

"""The event chaos run's check finds each planted fault."""

import json
from dataclasses import replace

import pytest

from tests.chaos.event_check import Change, Fact, Found, Receipt, Row, Target, commit_times, judge

REORGED, INDEXED = "token.reorged", "token.indexed"
TOKEN, OTHER, KEY = "0xaa", "0xbb", "cc"
PARTNER, RIVAL = 1, 2


def data_of(event_type, mark):
    if event_type.startswith("deployment."):
        return {"status": mark, "txHash": "0x11"}
    return {"block_hash": mark, "img_url": "https://chaos.example/1", "tags": {"champagne": False}}


def fact(event_type, subject, mark, owner_id=None):
    marks = (mark, "0x11") if owner_id else (mark, "https://chaos.example/1", False)
    return Fact(event_type, 1, subject, owner_id, marks)


# A launch, its reorg and its return; a rolled back reorg; a launch that is final at once; a partner's deployment.
CHANGES = [
    Change(place=1, facts=(fact(INDEXED, TOKEN, "0x01"),), is_committed=True, sent_at=10.0),
    Change(place=3, facts=(fact(REORGED, TOKEN, "0x01"),), is_committed=True, sent_at=20.0),
    Change(place=5, facts=(fact(INDEXED, TOKEN, "0x02"),), is_committed=True, sent_at=30.0),
    Change(place=7, facts=(fact(REORGED, TOKEN, "0x02"),), is_committed=False, sent_at=0.0),
    Change(place=2, facts=(fact(INDEXED, OTHER, "0x03"), fact("token.confirmed", OTHER, "0x03")), is_committed=True,
           sent_at=15.0),
    Change(place=4, facts=(fact("deployment.submitted", KEY, "submitted", PARTNER),), is_committed=True, sent_at=25.0),
]  # fmt: skip
# All events; reorgs; chain 2, which has none; the deployment's partner; another one; a misbehaving receiver.
TARGETS = [
    Target(endpoint_id=1),
    Target(endpoint_id=2, types=frozenset({REORGED})),
    Target(endpoint_id=3, chain_ids=frozenset({2})),
    Target(endpoint_id=4, partner_id=PARTNER),
    Target(endpoint_id=5, partner_id=RIVAL),
    Target(endpoint_id=6, is_healthy=False),
]


def logged(number, event_type, subject, mark, owner_id=None):
    return Row(
        id=number,
        type=event_type,
        version=1,
        chain_id=1,
        subject=subject,
        owner_id=owner_id,
        data=data_of(event_type, mark),
    )


ROWS = [
    logged(1, INDEXED, TOKEN, "0x01"),
    logged(2, INDEXED, OTHER, "0x03"),
    logged(3, "token.confirmed", OTHER, "0x03"),
    logged(5, REORGED, TOKEN, "0x01"),
    logged(6, "deployment.submitted", KEY, "submitted", PARTNER),
    logged(7, INDEXED, TOKEN, "0x02"),
]


def body_of(row):
    event = {
        "id": row.id,
        "type": row.type,
        "version": row.version,
        "createdAt": "2026-01-01T00:00:00.000Z",
        "chainId": row.chain_id,
        "subject": row.subject,
        "data": row.data,
    }
    return json.dumps(event).encode()


def digest_of(row):
    return f"digest {row.id}".encode()


def found(rows=ROWS, *, drop=(), add=(), bodies=None, **more):
    """Return these rows at the receivers, without and with some receipts."""
    receipts = [
        Receipt(number, 100.0 + row.id, f"evt_{row.id}", True, digest_of(row))
        for number, target in enumerate(TARGETS)
        for row in rows
        if target.allows(row) and (number, row.id) not in drop
    ]
    stored = {digest_of(row): body_of(row) for row in rows} | (bodies or {})
    return Found(rows=rows, receipts=[*receipts, *add], bodies=stored, **more)


def receipt(number, row, **changes):
    return Receipt(number, 200.0, f"evt_{row.id}", True, digest_of(row))._replace(**changes)


def test_what_was_promised_is_right():
    assert judge(CHANGES, TARGETS, found()) == []


def test_an_event_may_come_twice():
    assert judge(CHANGES, TARGETS, found(add=[receipt(0, ROWS[0])])) == []


def test_a_misbehaving_receiver_may_miss_events():
    assert judge(CHANGES, TARGETS, found(drop=[(5, 1), (5, 5)])) == []


def without(number):
    return [row for row in ROWS if row.id != number]


ROLLED_BACK = logged(9, REORGED, TOKEN, "0x02")
INVENTED = logged(9, INDEXED, TOKEN, "0x77")
SWAPPED = [replace(row, id={1: 7, 7: 1}.get(row.id, row.id)) for row in ROWS]
FAULTS = {
    "an event that one receiver misses": (found(drop=[(0, 3)]), "receiver 0 never got event 3"),
    "an event that a filter wrongly drops": (found(drop=[(1, 5)]), "receiver 1 never got event 5"),
    "an event that is missing in the log": (found(without(3)), "the log has no token.confirmed of 0xbb"),
    "a reorg that is missing": (found(without(5)), "the log has no token.reorged of 0xaa"),
    "an invented event": (found([*ROWS, INVENTED]), "event 9 is of no transaction"),
    "an event of a rolled back transaction": (found([*ROWS, ROLLED_BACK]), "event 9 is of a rolled back transaction"),
    "an event that is stored twice": (found([*ROWS, logged(9, REORGED, TOKEN, "0x01")]), "event 9 is of no transact"),
    "an id that two events have": (found([*ROWS, replace(ROWS[1], id=1)]), "id 1 is in the log 2 times"),
    "ids in another sequence": (found(sorted(SWAPPED, key=lambda row: row.id)), "are in another sequence"),
    "a forged message": (found(add=[receipt(0, ROWS[0], is_genuine=False)]), "evt_1 to receiver 0 has no valid sig"),
    "a message of no event": (found(add=[receipt(0, ROWS[0], message_id="evt_8")]), "evt_8 to receiver 0 is not in"),
    "a message before the commit": (
        found(add=[receipt(5, ROWS[0], began_at=9.9)]),
        "evt_1 to receiver 5 came 0.100 s before its commit",
    ),
    "a changed body": (
        found(add=[receipt(0, ROWS[0], digest=b"changed")], bodies={b"changed": b"{}"}),
        "evt_1 to receiver 0 has another body",
    ),
    "a body that differs from the log": (
        found(bodies={digest_of(ROWS[0]): body_of(replace(ROWS[0], subject="0xcc"))}),
        "evt_1 to receiver 0 differs from the log",
    ),
    "a partner's event for another partner": (found(add=[receipt(4, ROWS[4])]), "evt_6 to receiver 4 is not for its"),
    "a type that a filter excludes": (found(add=[receipt(1, ROWS[0])]), "evt_1 to receiver 1 is not for its endpoint"),
    "an event that was never published": (found(unpublished=1), "1 events are in the outbox"),
    "a delivery that was given up": (found(undelivered={"failed": 2}), "2 deliveries to healthy receivers are failed"),
}


@pytest.mark.parametrize(("planted", "error"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_found(planted, error):
    assert [line for line in judge(CHANGES, TARGETS, planted) if error in line]


def test_the_time_of_a_commit_is_that_of_its_own_change():
    assert commit_times(CHANGES, ROWS) == {1: 10.0, 2: 15.0, 3: 15.0, 5: 20.0, 6: 25.0, 7: 30.0}

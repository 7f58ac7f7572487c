"""Check for events and their deliveries: the commit journal against the event log and the receivers' requests.

It reads the database by plain SQL, the receivers have verified each signature by the published library, and it shares
no code with the service.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import psycopg

_ID_PREFIX = "evt_"
# Owner for events that only the stream sends: they are for no endpoint. Publishers before 0.2.0 queue them for
# operators' ones.
_STREAM_ONLY = -1
# All fields in a message's body.
_BODY_FIELDS = frozenset({"id", "type", "version", "createdAt", "chainId", "subject", "data"})


class Fact(NamedTuple):
    """An event as a change must store it; `marks` are the data fields that differ between changes."""

    type: str
    chain_id: int
    subject: str
    # None for a public event, else the only permitted partner's id; 0 for operators only.
    owner_id: int | None
    marks: tuple[object, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """A change to one token or deployment by a writer, with the events that it must store if it is committed."""

    # For one subject, in the row's lock order, which is the commit order.
    place: int
    facts: tuple[Fact, ...]
    is_committed: bool
    # Monotonic time before COMMIT was sent, in seconds; 0 if it never was.
    sent_at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """An event log row."""

    id: int
    type: str
    version: int
    chain_id: int
    subject: str
    owner_id: int | None
    data: Any

    @property
    def fact(self) -> Fact:
        """Return the event without its id, with its data's marks."""
        return Fact(self.type, self.chain_id, self.subject, self.owner_id, marks_of(self.type, self.data))


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """An endpoint as the test created it. Empty filters allow everything; without a partner it is an operator's."""

    endpoint_id: int
    types: frozenset[str] = frozenset()
    chain_ids: frozenset[int] = frozenset()
    partner_id: int | None = None
    is_healthy: bool = True

    def allows(self, row: Row) -> bool:
        """Return whether the endpoint may get this event."""
        return (
            (not self.types or row.type in self.types)
            and (not self.chain_ids or row.chain_id in self.chain_ids)
            and (self.partner_id is None or row.owner_id is None or row.owner_id == self.partner_id)
        )


class Receipt(NamedTuple):
    """A complete request to a receiver."""

    # The receiver's index in the target list.
    receiver: int
    # The connection's monotonic time, in seconds.
    began_at: float
    message_id: str
    is_genuine: bool
    digest: bytes


@dataclass(frozen=True, kw_only=True)
class Found:
    """Contents of tables and receivers at the end."""

    rows: Sequence[Row]
    receipts: Sequence[Receipt]
    # By the receipts' digests.
    bodies: Mapping[bytes, bytes]
    # Outbox rows that were never published.
    unpublished: int = 0
    # Healthy endpoints' deliveries by status, without the successful ones.
    undelivered: Mapping[str, int] | None = None


def marks_of(event_type: str, data: Mapping[str, Any]) -> tuple[object, ...]:
    """Return the event data fields that the writers change."""
    if event_type.startswith("deployment."):
        return data["status"], data["txHash"]
    if event_type == "markets.changed":
        return ()
    return data["block_hash"], data["img_url"], data["tags"]["champagne"]


def read_rows(database_url: str) -> list[Row]:
    """Read the event log by id."""
    query = "SELECT id, type, version, chain_id, subject, owner_id, data FROM events_event ORDER BY id"
    names = ("id", "type", "version", "chain_id", "subject", "owner_id", "data")
    with psycopg.connect(database_url) as connection:
        return [Row(**dict(zip(names, values, strict=True))) for values in connection.execute(query)]


def count_unpublished(database_url: str) -> int:
    """Return the number of committed events without an id."""
    with psycopg.connect(database_url) as connection:
        ((count,),) = connection.execute("SELECT count(*) FROM events_outboxevent")
    return int(count)


def count_undelivered(database_url: str, endpoint_ids: Collection[int]) -> dict[str, int]:
    """Return delivery counts for these endpoints by status, without the successful ones."""
    query = """
        SELECT status, count(*) FROM accounts_webhookdelivery
        WHERE status <> 'delivered' AND endpoint_id = ANY(%s) GROUP BY status
    """
    with psycopg.connect(database_url) as connection:
        return dict(connection.execute(query, [list(endpoint_ids)]).fetchall())


def is_pending(connection: "psycopg.Connection[Any]", endpoint_ids: Collection[int]) -> bool:
    """Return whether an event has no id, or one of these endpoints has an unfinished delivery."""
    pending = "SELECT FROM accounts_webhookdelivery WHERE status = 'pending' AND endpoint_id = ANY(%s) LIMIT 1"
    is_unpublished = connection.execute("SELECT FROM events_outboxevent LIMIT 1").rowcount > 0
    return is_unpublished or connection.execute(pending, [list(endpoint_ids)]).rowcount > 0


def judge(changes: Collection[Change], targets: Sequence[Target], found: Found) -> list[str]:
    """Return the errors, a line each; none if every event was delivered as promised."""
    commits, wrong = _match_log(changes, found.rows)
    return [*wrong, *judge_deliveries(targets, found, commits)]


def judge_deliveries(targets: Sequence[Target], found: Found, commits: Mapping[int, float]) -> list[str]:
    """Return the errors of requests to receivers, a line each; `commits` are commit times by event id."""
    return [
        *_judge_messages(targets, found, commits),
        *_judge_completeness(targets, found),
        *_judge_leftovers(found),
    ]


def commit_times(changes: Collection[Change], rows: Sequence[Row]) -> dict[int, float]:
    """Return the monotonic time before each event's COMMIT, by the event's id."""
    return _match_log(changes, rows)[0]


def _match_log(changes: Collection[Change], rows: Sequence[Row]) -> tuple[dict[int, float], list[str]]:
    """Return the time before COMMIT by event id, and the differences between the journal and the log."""
    committed: dict[str, list[tuple[Fact, float]]] = defaultdict(list)
    rolled_back = set[Fact]()
    for change in sorted(changes, key=lambda change: change.place):
        if change.is_committed:
            for fact in change.facts:
                committed[fact.subject].append((fact, change.sent_at))
        else:
            rolled_back.update(change.facts)
    logged: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        logged[row.subject].append(row)
    times: dict[int, float] = {}
    wrong = [f"id {number} is in the log {count} times" for number, count in _repeated(row.id for row in rows)]
    for subject in committed.keys() | logged.keys():
        wrong += _match_subject(committed.get(subject, []), logged.get(subject, []), rolled_back, times)
    return times, wrong


def _repeated(numbers: Iterator[int]) -> list[tuple[int, int]]:
    return [(number, count) for number, count in Counter(numbers).items() if count > 1]


def _match_subject(
    expected: Sequence[tuple[Fact, float]],
    rows: Sequence[Row],
    rolled_back: Collection[Fact],
    times: dict[int, float],
) -> Iterator[str]:
    """Compare one subject's events, each matched with the first equal one that is left."""
    left = list(expected)
    in_sequence = [fact for fact, _ in expected]
    for row in rows:
        match = next((each for each in left if each[0] == row.fact), None)
        if match is not None:
            left.remove(match)
            times[row.id] = match[1]
        elif row.fact in rolled_back:
            yield f"event {row.id} is of a rolled back transaction: {row.fact}"
        else:
            yield f"event {row.id} is of no transaction: {row.fact}"
    for fact, _ in left:
        yield f"the log has no {fact.type} of {fact.subject}: {fact}"
    facts = [row.fact for row in rows]
    if Counter(facts) == Counter(in_sequence) and facts != in_sequence:
        yield f"the ids of {rows[0].subject} are in another sequence than its commits: {[row.id for row in rows]}"


def _judge_messages(targets: Sequence[Target], found: Found, commits: Mapping[int, float]) -> Iterator[str]:
    """Compare each request with the log, its endpoint's filters, and the commit time."""
    by_id = {f"{_ID_PREFIX}{row.id}": row for row in found.rows}
    digests: dict[str, bytes] = {}
    for receipt in found.receipts:
        message = f"message {receipt.message_id} to receiver {receipt.receiver}"
        if not receipt.is_genuine:
            yield f"{message} has no valid signature"
            continue
        row = by_id.get(receipt.message_id)
        if row is None:
            yield f"{message} is not in the log"
            continue
        if not targets[receipt.receiver].allows(row):
            yield f"{message} is not for its endpoint: {row.fact}"
        if receipt.began_at < commits.get(row.id, 0.0):
            yield f"{message} came {commits[row.id] - receipt.began_at:.3f} s before its commit"
        if receipt.message_id not in digests:
            digests[receipt.message_id] = receipt.digest
            yield from _judge_body(message, row, found.bodies[receipt.digest])
        elif receipt.digest != digests[receipt.message_id]:
            yield f"{message} has another body than the one before"


def _judge_body(message: str, row: Row, body: bytes) -> Iterator[str]:
    event = json.loads(body)
    stored = {
        "id": row.id,
        "type": row.type,
        "version": row.version,
        "chainId": row.chain_id,
        "subject": row.subject,
        "data": row.data,
    }
    if event.keys() != _BODY_FIELDS or {name: event[name] for name in stored} != stored:
        yield f"{message} differs from the log: {body.decode()}"


def _judge_completeness(targets: Sequence[Target], found: Found) -> Iterator[str]:
    received: dict[int, set[str]] = defaultdict(set)
    for receipt in found.receipts:
        if receipt.is_genuine:
            received[receipt.receiver].add(receipt.message_id)
    for number, target in enumerate(targets):
        if target.is_healthy:
            for row in found.rows:
                is_expected = target.allows(row) and row.owner_id != _STREAM_ONLY
                if is_expected and f"{_ID_PREFIX}{row.id}" not in received[number]:
                    yield f"receiver {number} never got event {row.id}: {row.fact}"


def _judge_leftovers(found: Found) -> Iterator[str]:
    if found.unpublished:
        yield f"{found.unpublished} events are in the outbox"
    for status, count in (found.undelivered or {}).items():
        yield f"{count} deliveries to healthy receivers are {status}"

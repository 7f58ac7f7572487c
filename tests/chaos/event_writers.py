"""Token and deployment writers by plain SQL, with a journal of what was committed and when.

Transactions overlap, some commit late, and a share is rolled back. A COMMIT's outcome that PostgreSQL did not
confirm is read from a table that the same transaction wrote.
"""

import itertools
import random
import threading
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import Jsonb

from tests.chaos.event_check import Change, Fact
from tests.processes.waiting import wait_for

CHAIN_IDS = (1, 8453, 42161)
# Tokens and deployments in one transaction, at most.
_LAUNCHES, _CHANGES = 6, 5
# Transaction shares.
_LAUNCHING, _DEPLOYING, _SAVEPOINT, _LATE, _VERY_LATE = 0.3, 0.15, 0.15, 0.15, 0.02
_LATE_SECONDS, _VERY_LATE_SECONDS = 0.3, 3.0
_CONNECT_SECONDS = 5
_UNIT = "0x" + "11" * 20

_INSERT_TOKEN = """
INSERT INTO tokens_token (
    chain_id, contract_address, block_hash, img_url, confirmed, generation, unindexed, tx_hash, log_index,
    block_number, created_at, last_indexed, deployed_at, name, symbol, description, admin, msg_sender,
    requestor_address, cast_hash, pool_address, paired_token, pair, factory_address, locker_address, position_id,
    presale_id, metadata, social_context, deploy_config, pool_config, extensions, launch_warnings, copy_key, champagne,
    verified, known_interface_deployer, blocked
) VALUES (
    %(chain_id)s, %(address)s, %(block_hash)s, %(img_url)s, %(confirmed)s, 'v4', false, %(block_hash)s, 1,
    1, now(), now(), now(), 'Chaos', 'CHAOS', '', %(unit)s, %(unit)s,
    '', '', '', '', '', %(unit)s, '', '',
    '', '{}', '{}', '{}', '{}', '{}', '{}', '', false,
    false, false, false
)
"""
_LOCK_TOKEN = "SELECT * FROM tokens_token WHERE chain_id = %s AND contract_address = %s FOR UPDATE"
_UPDATE_TOKEN = """
UPDATE tokens_token SET unindexed = %(unindexed)s, confirmed = %(confirmed)s, block_hash = %(block_hash)s,
    img_url = %(img_url)s, champagne = %(champagne)s WHERE id = %(id)s
"""
_INSERT_DEPLOYMENT = """
INSERT INTO tokens_deployment (
    partner_key_id, request_key, body_digest, chain_id, config, salt, to_address, calldata, value, gas,
    expected_address, status, error, attempts, tx_hash, created_at, updated_at
) VALUES (%s, %s, '', %s, %s, '', %s, '', 0, 0, '', 'enqueued', '', 0, '', now(), now())
"""
_UPDATE_DEPLOYMENT = "UPDATE tokens_deployment SET status = %s, tx_hash = %s WHERE request_key = %s"
# Event type by deployment status.
_STATUS_EVENTS = {
    "submitted": "deployment.submitted",
    "indexed": "deployment.succeeded",
    "failed": "deployment.failed",
}


@dataclass
class Journal:
    """All transactions' changes."""

    changes: list[Change] = field(default_factory=list)
    commits: int = 0
    rollbacks: int = 0
    # COMMITs that PostgreSQL did not confirm.
    unconfirmed: int = 0
    # The committed changes' events.
    events: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def store(self, changes: Collection[Change], *, is_committed: bool, sent_at: float, unconfirmed: bool) -> None:
        """Store a transaction's changes with its outcome; those in rolled back savepoints keep theirs."""
        ended = [
            replace(change, is_committed=change.is_committed and is_committed, sent_at=sent_at) for change in changes
        ]
        with self._lock:
            self.changes += ended
            self.commits += is_committed
            self.rollbacks += not is_committed
            self.unconfirmed += unconfirmed
            self.events += sum(len(change.facts) for change in ended if change.is_committed)

    @property
    def reorged(self) -> int:
        """Return how many committed changes took a token from its block."""
        return sum(
            fact.type == "token.reorged" for change in self.changes if change.is_committed for fact in change.facts
        )


@dataclass
class _Transaction:
    """An open transaction's changes and launches."""

    changes: list[Change] = field(default_factory=list)
    launched: list[tuple[int, str]] = field(default_factory=list)


class Writers:
    """Threads, each with its own connection, that write until the journal has enough events."""

    def __init__(self, url: str, *, partner_ids: Sequence[int], seed: int, rolled_back: float) -> None:
        self.journal = Journal()
        self._url, self._seed, self._rolled_back = url, seed, rolled_back
        # None is the operator's own deployment.
        self._owners = (None, *partner_ids)
        self._numbers, self._threads = itertools.count(1), itertools.count(1)
        self._tokens: list[tuple[int, str]] = []
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE event_chaos_commits (number bigint PRIMARY KEY)")

    def write(self, threads: int, *, events: int, may_write: Callable[[], bool]) -> ThreadPoolExecutor:
        """Start threads that write until the journal has these events, each transaction once it may."""
        pool = ThreadPoolExecutor(threads, thread_name_prefix="writer")
        self.running = [pool.submit(self._write, events, may_write) for _ in range(threads)]
        return pool

    def have_ended(self) -> bool:
        """Return whether all threads have ended. Raises a failed thread's error."""
        return all(thread.done() and thread.result() is None for thread in self.running)

    def _write(self, events: int, may_write: Callable[[], bool]) -> None:
        rng = random.Random(f"{self._seed} {next(self._threads)}")
        connection = self._connect()
        while self.journal.events < events:
            wait_for(may_write)
            if not self._run(connection, rng):
                connection.close()
                connection = self._connect()
        connection.close()

    def _connect(self) -> psycopg.Connection[DictRow]:
        def try_to_connect() -> psycopg.Connection[DictRow] | None:
            with suppress(psycopg.OperationalError):
                return psycopg.connect(
                    self._url,
                    autocommit=True,
                    row_factory=dict_row,
                    connect_timeout=_CONNECT_SECONDS,
                    application_name="writer",
                )
            return None

        return wait_for(try_to_connect)

    def _run(self, connection: psycopg.Connection[DictRow], rng: random.Random) -> bool:
        """Run one transaction, and store it in the journal; return False if PostgreSQL failed."""
        number, transaction, sent_at = next(self._numbers), _Transaction(), 0.0
        is_committed = has_failed = False
        try:
            connection.execute("BEGIN")
            connection.execute("INSERT INTO event_chaos_commits VALUES (%s)", [number])
            self._change(connection, rng, transaction)
            if rng.random() < self._rolled_back:
                connection.execute("ROLLBACK")
            else:
                sent_at = time.monotonic()
                connection.execute("COMMIT")
                is_committed = True
        except psycopg.Error:
            has_failed = True
            is_committed = bool(sent_at) and self._is_committed(number)
        self.journal.store(
            transaction.changes, is_committed=is_committed, sent_at=sent_at, unconfirmed=has_failed and bool(sent_at)
        )
        if is_committed:
            self._tokens += transaction.launched
        return not has_failed

    def _is_committed(self, number: int) -> bool:
        """Return a COMMIT's outcome. The server accepts connections again after all its old sessions ended."""

        def look_up() -> list[bool]:
            with suppress(psycopg.OperationalError), self._connect() as connection:
                found = connection.execute("SELECT FROM event_chaos_commits WHERE number = %s", [number])
                return [bool(found.rowcount)]
            return []

        return wait_for(look_up)[0]

    def _change(self, connection: psycopg.Connection[DictRow], rng: random.Random, transaction: _Transaction) -> None:
        if self._tokens and rng.random() < _SAVEPOINT:
            connection.execute("SAVEPOINT undone")
            undone = _Transaction()
            self._change_tokens(connection, rng, undone, most=1)
            connection.execute("ROLLBACK TO SAVEPOINT undone")
            transaction.changes += [replace(change, is_committed=False) for change in undone.changes]
        if not self._tokens or rng.random() < _LAUNCHING:
            self._launch(connection, rng, transaction)
        else:
            self._change_tokens(connection, rng, transaction, most=_CHANGES)
        if rng.random() < _DEPLOYING:
            self._deploy(connection, rng, transaction)
        if (chance := rng.random()) < _LATE:
            seconds = _VERY_LATE_SECONDS if chance < _VERY_LATE else _LATE_SECONDS
            connection.execute("SELECT pg_sleep(%s)", [rng.uniform(0, seconds)])

    def _add(self, transaction: _Transaction, *facts: Fact) -> None:
        # The row is locked until the commit, so that its changes are numbered in commit order.
        change = Change(place=next(self._numbers), facts=facts, is_committed=True, sent_at=0.0)
        transaction.changes.append(change)

    def _launch(self, connection: psycopg.Connection[DictRow], rng: random.Random, transaction: _Transaction) -> None:
        launches = [
            {
                "chain_id": rng.choice(CHAIN_IDS),
                "address": f"0x{rng.getrandbits(160):040x}",
                "block_hash": f"0x{rng.getrandbits(256):064x}",
                "img_url": self._marker(),
                "confirmed": rng.random() < 0.2,
                "unit": _UNIT,
            }
            for _ in range(rng.randint(1, _LAUNCHES))
        ]
        for launch in launches:
            connection.execute(_INSERT_TOKEN, launch)
            transaction.launched.append((launch["chain_id"], launch["address"]))
            types = ["token.indexed", *(["token.confirmed"] if launch["confirmed"] else [])]
            self._add(transaction, *(_token_fact(each, launch | {"champagne": False}) for each in types))

    def _change_tokens(
        self, connection: psycopg.Connection[DictRow], rng: random.Random, transaction: _Transaction, *, most: int
    ) -> None:
        # Rows are locked in one sequence, which prevents deadlocks.
        count = min(rng.randint(1, most), len(self._tokens))
        for chain_id, address in sorted(set(rng.sample(self._tokens, count))):
            old = connection.execute(_LOCK_TOKEN, [chain_id, address]).fetchone()
            assert old is not None
            old["address"] = address
            new, types = self._next_state(old, rng)
            connection.execute(_UPDATE_TOKEN, new)
            facts = [_token_fact(each, old if each == "token.reorged" else new) for each in types]
            self._add(transaction, *facts)

    def _next_state(self, old: DictRow, rng: random.Random) -> tuple[DictRow, list[str]]:
        """Return a token's columns after a random change, and its event types."""
        moved = old | {"block_hash": f"0x{rng.getrandbits(256):064x}", "img_url": self._marker()}
        if old["unindexed"]:
            is_final = rng.random() < 0.3
            types = ["token.indexed", *(["token.confirmed"] if is_final else [])]
            return moved | {"unindexed": False, "confirmed": is_final}, types
        kind = rng.choice(["reorg", "move", "tag", "tag", "confirm"])
        if kind == "reorg":
            return old | {"unindexed": True, "confirmed": False}, ["token.reorged"]
        if kind == "move":
            return moved | {"confirmed": False}, ["token.reorged", "token.indexed"]
        if kind == "confirm" and not old["confirmed"]:
            return old | {"confirmed": True}, ["token.confirmed"]
        return old | {"champagne": not old["champagne"], "img_url": self._marker()}, ["token.updated"]

    def _marker(self) -> str:
        """Return a URL that no other change has."""
        return f"https://chaos.example/{next(self._numbers)}"

    def _deploy(self, connection: psycopg.Connection[DictRow], rng: random.Random, transaction: _Transaction) -> None:
        """Insert a deployment, and take it through its states."""
        owner, request_key = rng.choice(self._owners), f"{rng.getrandbits(128):032x}"
        chain_id, tx_hash = rng.choice(CHAIN_IDS), f"0x{rng.getrandbits(256):064x}"
        values = [owner, request_key, chain_id, Jsonb({}), _UNIT]
        connection.execute(_INSERT_DEPLOYMENT, values)
        for status in ("submitted", "mined", rng.choice(["indexed", "failed"])):
            connection.execute(_UPDATE_DEPLOYMENT, [status, tx_hash, request_key])
            if status in _STATUS_EVENTS:
                fact = Fact(_STATUS_EVENTS[status], chain_id, request_key, owner or 0, (status, tx_hash))
                self._add(transaction, fact)


def _token_fact(event_type: str, token: DictRow) -> Fact:
    marks = (token["block_hash"], token["img_url"], token["champagne"])
    return Fact(event_type, token["chain_id"], token["address"], None, marks)

"""Check of an upgrade under load: the chain, the database, the clients, the streams and the receivers must agree."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from development.devchain.anvil import CHAIN_ID
from tests.chaos import deploy_check, event_check, follower_chaos
from tests.chaos.event_chaos import read_found
from tests.chaos.event_receivers import Inbox
from tests.chaos.harness import WALLETS
from tests.processes.stream_clients import ResumingReader
from tests.upgrade.upgrade_clients import Clients

if TYPE_CHECKING:
    from tests.upgrade.loaded_service import LoadedService

_STREAMED = "SELECT id, type FROM events_event WHERE starts_with(type, 'token.') ORDER BY id"
# Tokens of the development chain and how many events each launch has.
_LAUNCH_EVENTS = """
SELECT contract_address, count(event.id) FROM tokens_token
LEFT JOIN events_event event ON subject = contract_address AND event.chain_id = tokens_token.chain_id
AND event.type = 'token.indexed' WHERE NOT unindexed AND tokens_token.chain_id = %s GROUP BY 1
"""
# Errors but for an alarm: the chain's clock runs through a day, in which the reference pool has hours without a swap.
_ERROR = re.compile(r" (ERROR|CRITICAL)[ :/](?!.*no swap for an hour)|^Traceback|unregistered task")


def judge(
    ground: "LoadedService", streams: Sequence[ResumingReader], inbox: Inbox
) -> tuple[list[str], dict[str, Any], int]:
    """Return the errors, a line each, what the chain's check has counted, and the number of events.

    There is no error if nothing was lost or made twice.
    """
    errors, counts = follower_chaos.check(ground.node.rpc_url, ground.database_url)
    found = read_found(ground.database_url, inbox, ground.targets)
    with psycopg.connect(ground.database_url) as connection:
        errors += [
            *ground.clients.errors,
            *_judge_deployments(ground),
            *event_check.judge_deliveries(ground.targets, found, {}),
            *_judge_requests(ground.clients, connection),
            *_judge_streams(streams, connection),
        ]
    return errors, counts, len(found.rows)


def _judge_deployments(ground: "LoadedService") -> list[str]:
    factory = ground.launchpad.deployment.factory
    chain = deploy_check.read_chain(ground.node.rpc_url, factory=factory, wallets=tuple(WALLETS))
    sent = {transaction.tx_hash for transaction in chain.sent}
    # Others launch by the same factory.
    own = tuple(launch for launch in chain.launches if launch.tx_hash in sent)
    rows = deploy_check.read_rows(ground.database_url)
    return deploy_check.judge(ground.clients.partner.answers, replace(chain, launches=own), rows)


def _judge_requests(clients: Clients, connection: "psycopg.Connection[Any]") -> Iterator[str]:
    """Compare the successful calls with the rows."""
    statuses = connection.execute("SELECT tx_hash, status FROM tokens_indexrequest").fetchall()
    counts = Counter(tx_hash for tx_hash, status in statuses if status in ("indexed", "confirmed"))
    for tx_hash in clients.indexed:
        if counts[tx_hash] != 1:
            yield f"{tx_hash} was indexed, and has {counts[tx_hash]} requests"
    pretokens = {str(row[0]) for row in connection.execute("SELECT id FROM pretokens_pretoken")}
    for pretoken in set(clients.pretokens) ^ pretokens:
        yield f"pretoken {pretoken} is only in one of responses and database"
    for address, count in connection.execute(_LAUNCH_EVENTS, [CHAIN_ID]):
        if count != 1:
            yield f"token {address} has {count} events of its launch"


def _judge_streams(streams: Sequence[ResumingReader], connection: "psycopg.Connection[Any]") -> Iterator[str]:
    published = connection.execute(_STREAMED).fetchall()
    for number, stream in enumerate(streams):
        received = [(event.id, event.type) for event in stream.events]
        if received != published:
            missing, repeated = set(published) - set(received), len(received) - len(set(received))
            yield f"stream {number} has {len(received)} events of {len(published)}, repeated: {repeated}, {missing}"


def judge_log(log: Path) -> Iterator[str]:
    """Yield the errors in the log of the processes."""
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        if _ERROR.search(line):
            yield f"log: {line}"

"""Benchmark for a creator's ledger: a token with 1,000,000 collected fees against one with 100.

    python -m benchmarks.creator_ledger [--events 1000000] [--requests 200]

The events are stored as before fee sums existed, then added to these as after an upgrade. Then
`GET /api/creators/{creator}` with 90 days for either token's creator, by turns, by the production server's command line
without the public response cache. Recipients change every 20 days. Earned amounts must equal the sum over all events.

Exits with code 1 where the larger token takes more than 1.5 times as long at the median, or the 99th percentile of the
fill's transactions, for which the chain's writers wait, is over a second.
"""

import json
import os
import sys
import time
from importlib import import_module

import django
from psycopg import Connection

from benchmarks.harness import Limits, keep, parse_quantities, print_table
from benchmarks.http_load import fetch, open_connection, percentile
from benchmarks.lists import dataset
from benchmarks.processes import web_server

_DATABASE = "creator_ledger"
_CHAIN_ID = 8453
_FEW = 100
_WARM_UP = 20
_CREATORS = ["0x" + "1" * 40, "0x" + "2" * 40]
# The two tokens from `seed_tokens` become v4 tokens with one creator each, whose blocks are stored from the first on.
_TOKENS = """
UPDATE tokens_token SET chain_id = 8453, generation = 'v4', position_id = '', block_number = 1, msg_sender = creator,
    admin = creator, blocked = false, unindexed = false, contract_address = creator,
    paired_token = '0x' || repeat('9', 40),
    extensions = jsonb_set(extensions, '{fees}', '{"type": "static", "clankerFee": 100, "pairedFee": 100,
        "baseFee": null, "maxFee": null, "hook_address": null, "recipients": [
        {"admin": "0xb", "recipient": "0xb", "bps": 9000, "token": "Both"},
        {"admin": "0xa", "recipient": "0xa", "bps": 1000, "token": "Both"}]}')
FROM (SELECT id, '0x' || repeat(row_number() OVER (ORDER BY id)::text, 40) AS creator FROM tokens_token) AS numbered
WHERE tokens_token.id = numbered.id
"""
# The first recipient changes ten times.
_EVENTS = """
INSERT INTO tokens_tokenevent (chain_id, tx_hash, log_index, block_number, block_hash, at, kind, emitter, token_id,
    arguments)
SELECT 8453, '0x' || md5((%(first)s + n)::text || id::text), n %% 1000, %(first)s + n, '0x',
    now() - (%(ago)s - %(days)s::numeric * n / %(count)s)::float * interval '1 day', kind, '0x', id,
    CASE WHEN kind = 'fees_collected' THEN jsonb_build_object('amount0', '10', 'amount1', '10',
        'rewards0', jsonb_build_array('9', n::text), 'rewards1', jsonb_build_array('1', '0'))
    ELSE jsonb_build_object('rewardIndex', '0', 'oldRecipient', '0xa', 'newRecipient', '0xb') END
FROM (SELECT n, CASE WHEN n %% (%(count)s / 10) = 0 THEN 'reward_recipient_updated' ELSE 'fees_collected' END AS kind
    FROM generate_series(1, %(count)s) AS n) AS drawn, tokens_token WHERE contract_address = %(creator)s
"""
_COVERAGE = """
INSERT INTO tokens_coverage (chain_id, addresses, address_set, first_block, followed_to, verified_to, summed_to,
    created_at, updated_at)
VALUES (8453, %s, 'a', 0, 10000000, 10000000, 10000000, now(), now())
"""
_SUM = """
SELECT sum((arguments -> 'rewards0' ->> 0)::numeric + (arguments -> 'rewards0' ->> 1)::numeric
    + (arguments -> 'rewards1' ->> 0)::numeric)
FROM tokens_tokenevent JOIN tokens_token AS token ON token.id = token_id
WHERE kind = 'fees_collected' AND contract_address = %s
"""


def main() -> int:
    """Print all times; return 1 where one is beyond its limit."""
    options = parse_quantities(__doc__, events=1_000_000, requests=200)
    dataset.start_server()
    os.environ["DATABASE_URL"] = dataset.database_url(_DATABASE)
    dataset.make_migrated(_DATABASE)
    dataset.manage(_DATABASE, "seed_tokens", "--count", "2")
    django.setup()
    load = os.getloadavg()[0]
    with dataset.connect(_DATABASE) as connection:
        found = _store_events(connection, options.events)
        # As autovacuum does in time.
        connection.execute("ANALYZE tokens_tokenevent")
        found |= _fill(options.events)
        # As many statements with triggers that sum.
        found["summed_event_us"] = _write(connection, _CREATORS[1], 20_000_000, ago=1) * 1e6
        connection.execute("VACUUM (ANALYZE) tokens_tokenevent, tokens_collectionsum")
        expected = [connection.execute(_SUM, [creator]).fetchall()[0][0] for creator in _CREATORS]
    few, many = _fetch_ledgers(options.requests, list(map(str, expected)))
    found |= {"few_ms": percentile(few, 50) * 1000, "many_ms": percentile(many, 50) * 1000}
    found["ratio"] = found["many_ms"] / found["few_ms"]

    print_table((f"{options.events:,} events", ""), [(name, f"{value:,.3g}") for name, value in found.items()])
    limits = Limits()
    limits.at_most(f"ledger, that of {_FEW} events = 1", found["ratio"], 1.5)
    limits.at_most("transaction of the fill, 99th percentile", found["fill_p99_s"], 1, "s")
    rounded = {name: round(value, 4) for name, value in found.items()}
    keep("creator_ledger", {"load": round(load, 1), "events": options.events, "requests": options.requests, **rounded})
    return 0 if limits.are_kept else 1


def _store_events(connection: "Connection[tuple[object, ...]]", events: int) -> dict[str, float]:
    """Store both tokens and their events, which are in no sum; return the time per event in µs."""
    addresses = sorted(import_module("tokens.installation.installed_registry").registry().chains[_CHAIN_ID].emitters)
    connection.execute(_TOKENS)
    connection.execute(_COVERAGE, [addresses])
    _write(connection, _CREATORS[0], 1, count=_FEW, ago=200, days=198)
    _write(connection, _CREATORS[1], 1_000, count=events - 20_000, ago=200, days=198)
    return {"unsummed_event_us": _write(connection, _CREATORS[1], 10_000_000, ago=2) * 1e6}


def _write(
    connection: "Connection[tuple[object, ...]]",
    creator: str,
    first: int,
    *,
    ago: int,
    days: int = 1,
    count: int = 10_000,
) -> float:
    """Store events above this block, over so many days, which began so many ago. Return the seconds for each."""
    started = time.perf_counter()
    connection.execute(_EVENTS, {"creator": creator, "first": first, "count": count, "ago": ago, "days": days})
    return (time.perf_counter() - started) / count


def _fill(events: int) -> dict[str, float]:
    """Add the stored events to the sums; return the seconds for all transactions, and for long ones."""
    # It imports models, which need Django to be set up.
    fill_next_blocks = import_module("tokens.fees.fee_sums").fill_next_blocks
    times, is_complete = [], False
    while not is_complete:
        started = time.perf_counter()
        is_complete = fill_next_blocks(_CHAIN_ID)
        times.append(time.perf_counter() - started)
    times.sort()
    longest = {"fill_p99_s": percentile(times, 99), "fill_longest_s": times[-1]}
    return {"fill_s": sum(times), "fill_event_us": sum(times) / events * 1e6, **longest}


def _fetch_ledgers(requests: int, expected: list[str]) -> list[list[float]]:
    """Return each creator's request times, sorted. Raises RuntimeError for another sum."""
    times: list[list[float]] = [[], []]
    with web_server(dataset.environment(_DATABASE), EDGE_CACHE_SECONDS="0") as port:
        client = open_connection(port)
        for number in range(_WARM_UP + requests):
            for creator, total, spent in zip(_CREATORS, expected, times, strict=True):
                seconds, answer = fetch(f"/api/creators/{creator}?days=90", client)
                (entry,) = json.loads(answer.partition(b"\r\n\r\n")[2])["data"]["launches"]
                if sum(int(fees["earned"]["amount"]) for fees in entry["fees"]) != int(total):
                    raise RuntimeError(f"{creator} should have {total}: {answer[:2000]!r}")
                spent += [seconds] if number >= _WARM_UP else []
    return list(map(sorted, times))


if __name__ == "__main__":
    sys.exit(main())

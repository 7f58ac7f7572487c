"""Trade backfill with candles, sums and markets, beside COPY."""

import sys
import time
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import requests

from benchmarks.backfill.backfill_node import served_node
from benchmarks.backfill.copy_floor import time_copy
from benchmarks.harness import Limits, print_table
from benchmarks.lists import dataset
from benchmarks.process_costs import Costs, run_measured
from benchmarks.trades import traded_tokens
from config.environment.variables import BASE_DIR
from development.servers import bundled

EMPTY, OURS, UNFILLED = "trades_empty", "trades_ours", "trades_unfilled"
# What the command writes, in chain order. It also updates each token's market row.
WRITTEN = {
    "tokens_trade": "position",
    "tokens_minutecandle": "first_position",
    "tokens_candle": "first_position",
    "tokens_rollingsum": "token_id",
    "tokens_referenceprice": "position",
}
_TOTALS = """
SELECT jsonb_build_object(
    'swaps', count(*), 'buys', count(*) FILTER (WHERE is_buy)::text,
    'conversions', count(*) FILTER (WHERE is_conversion)::text,
    'amount_token', sum(amount_token)::text, 'amount_quote', sum(amount_quote)::text
) FROM tokens_trade WHERE quote_usd IS NOT NULL
"""
# Counts for trades that are no conversions, in all three candle sizes and in the last day's sums.
_COUNTED = """
SELECT (SELECT sum(buys + sells) FROM tokens_minutecandle),
    (SELECT sum(buys + sells) FROM tokens_candle WHERE seconds = 3600),
    (SELECT sum(buys + sells) FROM tokens_candle WHERE seconds = 86400)
"""


def measure_backfill(*, swaps: int, pools: int, blocks: int, limits: Limits) -> dict[str, Any]:
    """Print the rates for ours and COPY; return all figures."""
    traded_tokens.make_database(EMPTY, count=pools, launched_at=datetime.fromtimestamp(time.time() - 30 * 86_400, UTC))
    with served_node("benchmarks.trades.swap_node", swaps=swaps, pools=pools, blocks=blocks) as node:
        costs, requests_sent, right = _run_ours(node, last_block=blocks - 1)
    _empty_tables()
    copied = time_copy(OURS, empty=UNFILLED, tables=WRITTEN)
    rates = {"ours": swaps / costs.seconds, "COPY of the same rows": swaps / copied.seconds}
    ratio = rates["ours"] / rates["COPY of the same rows"]
    result = {
        "ours": asdict(costs) | {"rate": round(rates["ours"]), "requests": requests_sent, "right": right},
        "copy": asdict(copied) | {"rate": round(swaps / copied.seconds)},
    }
    print_table(
        ("backfill", "swaps/s", "s", "PostgreSQL CPU, s"),
        [
            (name, f"{rates[name]:,.0f}", f"{each.seconds:.1f}", f"{each.database_cpu_seconds:.1f}")
            for name, each in zip(rates, (costs, copied), strict=True)
        ],
    )
    print(f"own CPU {costs.cpu_seconds:.1f} s, peak {costs.peak_mb:.0f} MB, {requests_sent:,} requests")
    limits.at_least("ours to COPY", ratio, 0.12)
    limits.at_most("wrong runs", int(not right), 0, "runs")
    return result


def _run_ours(node: str, *, last_block: int) -> tuple[Costs, int, bool]:
    """Return the costs, the HTTP requests, and whether the database has what the chain does."""
    dataset.make_empty(OURS, template=EMPTY)
    command = [sys.executable, "manage.py", "backfill", "--chain", str(traded_tokens.CHAIN_ID), "--trades"]
    costs = run_measured(
        [*command, "--from", "0", "--to", str(last_block)],
        directory=BASE_DIR,
        environment=dataset.environment(OURS) | {f"RPC_URLS_{traded_tokens.CHAIN_ID}": f"{node}/stamped/0"},
        log=bundled.local_directory() / "log" / "trade_backfill.log",
    )
    with dataset.connect(OURS) as connection:
        totals = connection.execute(_TOTALS).fetchall()[0][0]
        counted = connection.execute(_COUNTED).fetchall()[0]
    truth: dict[str, Any] = requests.get(f"{node}/", timeout=30).json()
    right = all(truth[name] == value for name, value in totals.items())
    demand = truth["swaps"] - int(truth["conversions"])
    return costs, truth["requests"], right and counted == (demand,) * 3


def _empty_tables() -> None:
    """Make a database with the same partitions, and without the rows that were written."""
    dataset.make_empty(UNFILLED, template=OURS)
    with dataset.connect(UNFILLED) as connection:
        connection.execute(f"TRUNCATE {', '.join(WRITTEN)}")

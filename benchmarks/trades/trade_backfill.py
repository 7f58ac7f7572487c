"""Trade backfill with candles, sums and markets, beside Ponder with trades and hourly candles, and COPY."""

import sys
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import requests

from benchmarks.backfill import ponder_peer
from benchmarks.backfill.copy_floor import time_copy
from benchmarks.lists import dataset
from benchmarks.process_costs import Costs, run_measured
from benchmarks.tables import Limits, print_table
from benchmarks.trades import traded_tokens
from benchmarks.trades.swap_node import swap_node
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
_PONDER_TOTALS = """
SELECT jsonb_build_object(
    'swaps', count(*), 'buys', count(*) FILTER (WHERE is_buy)::text,
    'conversions', count(*) FILTER (WHERE is_conversion)::text,
    'amount_token', sum(amount_token)::text, 'amount_quote', sum(amount_quote)::text
) FROM ponder.trade
"""


@dataclass(frozen=True, kw_only=True)
class TradeRun:
    """One swap backfill: its costs and requests, and whether the database has what the chain does."""

    name: str
    swaps: int
    costs: Costs
    requests: int
    node_cpu_seconds: float
    right: bool

    @property
    def rate(self) -> float:
        """Swaps per second."""
        return self.swaps / self.costs.seconds


def measure_backfill(*, swaps: int, pools: int, blocks: int, ponder_share: float, limits: Limits) -> dict[str, Any]:
    """Print the rates for ours, COPY and Ponder, which gets a swap share; return all figures."""
    traded_tokens.make_database(EMPTY, count=pools, launched_at=datetime.fromtimestamp(time.time() - 30 * 86_400, UTC))
    with swap_node(swaps=swaps, pools=pools, blocks=blocks) as node:
        ours = _run_ours(node, last_block=blocks - 1)
    _empty_tables()
    copied = time_copy(OURS, empty=UNFILLED, tables=WRITTEN)
    copy_rate = swaps / copied.seconds
    rows = [_row(ours, ours), ("COPY of the same rows", f"{swaps:,}", f"{copy_rate:,.0f}", f"{copied.seconds:.1f}", "")]
    rows[1] += (f"{copied.database_cpu_seconds:.1f}", "", "", f"{copy_rate / ours.rate:.2f}")
    result: dict[str, Any] = {"ours": _described(ours), "copy": asdict(copied) | {"rate": round(copy_rate)}}
    if ponder_share:
        ponder_peer.install()
        part = {"swaps": int(swaps * ponder_share), "pools": pools, "blocks": int(blocks * ponder_share)}
        with swap_node(**part) as node:
            peer = _run_ponder(node, last_block=part["blocks"] - 1)
        rows.append(_row(peer, ours))
        result["ponder"] = _described(peer)
        limits.at_least("ours to Ponder", ours.rate / peer.rate, 10)
        limits.at_most("wrong runs of Ponder", int(not peer.right), 0, "runs")
    head = ("backfill", "swaps", "swaps/s", "s", "own CPU, s", "PostgreSQL CPU, s", "peak, MB", "requests", "ours = 1")
    print_table(head, rows)
    limits.at_least("ours to COPY", ours.rate / copy_rate, 0.4)
    limits.at_most("wrong runs of ours", int(not ours.right), 0, "runs")
    return result


def _run_ours(node: str, *, last_block: int) -> TradeRun:
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
    truth = _read_truth(node)
    right = all(truth[name] == value for name, value in totals.items())  # type: ignore[attr-defined]
    demand = truth["swaps"] - int(truth["conversions"])
    return _finish("ours", truth, costs, right=right and counted == (demand,) * 3)


def _run_ponder(node: str, *, last_block: int) -> TradeRun:
    # Under many URLs it is free from its own limit on requests a second.
    urls = [f"{node}/stamped/0/{number}" for number in range(40)]
    costs = ponder_peer.run_ponder(urls, last_block=last_block, project=ponder_peer.TRADES_PROJECT)
    with dataset.connect(ponder_peer.DATABASE) as connection:
        totals = connection.execute(_PONDER_TOTALS).fetchall()[0][0]
    truth = _read_truth(node)
    right = all(truth[name] == value for name, value in totals.items())  # type: ignore[attr-defined]
    return _finish("Ponder, hourly candles only", truth, costs, right=right)


def _finish(name: str, truth: dict[str, Any], costs: Costs, *, right: bool) -> TradeRun:
    run = TradeRun(
        name=name,
        swaps=truth["swaps"],
        costs=costs,
        requests=truth["requests"],
        node_cpu_seconds=truth["cpu"],
        right=right,
    )
    print(f"{name}: {run.rate:,.0f} swaps/s in {costs.seconds:.1f} s{'' if right else ', WRONG'}", flush=True)
    return run


def _read_truth(node: str) -> dict[str, Any]:
    truth: dict[str, Any] = requests.get(f"{node}/", timeout=30).json()
    return truth


def _empty_tables() -> None:
    """Make a database with the same partitions, and without the rows that were written."""
    dataset.make_empty(UNFILLED, template=OURS)
    with dataset.connect(UNFILLED) as connection:
        connection.execute(f"TRUNCATE {', '.join(WRITTEN)}")


def _row(run: TradeRun, ours: TradeRun) -> tuple[str, ...]:
    return (
        run.name,
        f"{run.swaps:,}",
        f"{run.rate:,.0f}",
        f"{run.costs.seconds:.1f}",
        f"{run.costs.cpu_seconds:.1f}",
        f"{run.costs.database_cpu_seconds:.1f}",
        f"{run.costs.peak_mb:.0f}",
        f"{run.requests:,}",
        f"{run.rate / ours.rate:.2f}",
    )


def _described(run: TradeRun) -> dict[str, Any]:
    return asdict(run) | {"rate": round(run.rate)}

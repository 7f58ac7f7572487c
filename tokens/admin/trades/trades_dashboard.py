"""Dashboard panel for trades: by chain, and partitions on disk."""

from collections.abc import Iterable
from datetime import datetime

from django.urls import reverse

from config.operators.dashboard import Figure, Panel, time_ago
from config.postgresql.partitions import PartitionState, read_partition_state
from tokens.following.chain_status import ChainState, read_chain_states
from tokens.installation.installed_registry import chain_name
from tokens.trades.recent_trades import RecentTrades, count_recent_trades


def trades(now: datetime) -> Iterable[Panel]:
    """Yield the panel with the chains that are followed for trades, and the partitions."""
    recent, partitions = count_recent_trades(), read_partition_state(now)
    states = {state.chain_id: state for state in read_chain_states(now)} if recent else {}
    figures = [_of_chain(chain_id, counts, states.get(chain_id), now) for chain_id, counts in recent.items()]
    if partitions.partitions:
        figures.append(_partitions(partitions))
    text = "No trade yet: set RPC_URLS_<chainId>, and run manage.py follow, which stores trades and launches."
    yield Panel(title="Trades", figures=tuple(figures), empty_text="" if figures else text)


def _of_chain(chain_id: int, recent: RecentTrades, state: ChainState | None, now: datetime) -> Figure:
    # A block's trades are stored with it, so the chain's lag is the trades' lag.
    lag = None if state is None else state.lag_seconds
    behind = "" if lag is None else f", {lag:,.0f} s behind the head"
    late = recent.is_late(now)
    stopped = f"; last counted {time_ago(recent.counted_to, now)}: does manage.py follow run for it?" if late else ""
    return Figure(
        label=chain_name(chain_id),
        value=f"{recent.per_minute:,.1f} a minute",
        note=f"{recent.last_hour:,} in an hour{behind}{stopped}",
        page=reverse("admin:tokens_chainhead_change", args=[chain_id]),
        is_alarming=late or (state is not None and state.is_late),
    )


def _partitions(state: PartitionState) -> Figure:
    size = sum(partition.size_bytes for partition in state.partitions)
    late = [f"missing: {name}" for name in state.missing] + [f"expired: {name}" for name in state.expired]
    return Figure(
        label="Partitions",
        value=f"{len(state.partitions):,}, {size / 2**20:,.0f} MiB",
        note=f"{', '.join(late)}; are a worker and beat running?" if late else "",
        page=reverse("admin:tokens_chainhead_partitions"),
        is_alarming=bool(late),
    )

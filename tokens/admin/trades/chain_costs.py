"""A chain's trade costs: node calls and disk."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Max, Min

from config.operators.local_times import local_time
from config.postgresql.partitions import list_partitions
from tokens.admin.trades.partition_page import format_bytes
from tokens.installation.installed_registry import registry
from tokens.installation.market_sources import has_own_trades
from tokens.models import FollowedBlock
from tokens.trades.recent_trades import RecentTrades, count_recent_trades
from tokens.trades.retention import TRADES

_HOUR = timedelta(hours=1)
_PROVIDER = "none: market data comes from the outside provider"


@dataclass(frozen=True, kw_only=True)
class ChainCosts:
    """Cost texts for a chain's page."""

    trades: str
    calls: str
    disk: str


def read_chain_costs(chain_id: int) -> ChainCosts:
    """Read a chain's trade costs: four queries, none for a chain with market data from the provider."""
    if not has_own_trades(chain_id):
        return ChainCosts(trades=_PROVIDER, calls=_PROVIDER, disk=_PROVIDER)
    recent = count_recent_trades().get(chain_id)
    return ChainCosts(trades=_trades(recent), calls=_calls(chain_id), disk=_disk(recent))


def _trades(recent: RecentTrades | None) -> str:
    if recent is None:
        return "none counted yet"
    return f"{recent.last_hour:,} in an hour, up to {local_time(recent.counted_to)}, without conversions"


def _calls(chain_id: int) -> str:
    """Return the calls at the head: a block's swaps need one more call in the request for its launches."""
    chain = registry().chains.get(chain_id)
    blocks = FollowedBlock.objects.filter(chain_id=chain_id)
    count, first_at, last_at = blocks.aggregate(n=Count("pk"), first=Min("at"), last=Max("at")).values()
    if (chain and chain.is_solana) or count < 2 or first_at == last_at:
        return "not known"
    calls = (count - 1) * (_HOUR / (last_at - first_at))
    return f"about {calls:,.0f} calls of eth_getLogs an hour, one for each block, in the same HTTP requests as launches"


def _disk(recent: RecentTrades | None) -> str:
    """Return the growth caused by the chain's trades, estimated from partitions, which all chains share."""
    stored = [partition for partition in list_partitions() if partition.table == TRADES.name]
    total = f"those of all chains take {format_bytes(sum(partition.size_bytes for partition in stored))}"
    counted = [partition for partition in stored if partition.rows]
    if recent is None or not counted:
        return f"not known; {total}"
    bytes_per_trade = sum(partition.size_bytes for partition in counted) / sum(
        partition.rows or 0 for partition in counted
    )
    growth = f"about {format_bytes(24 * recent.last_hour * bytes_per_trade)} a day at the rate of the last hour"
    return f"{growth}, {bytes_per_trade:,.0f} bytes a trade without candles; {total}"

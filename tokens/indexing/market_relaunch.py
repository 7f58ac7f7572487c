"""Market data through a reorg: kept for a token that returns in the same pool, reset for one in another pool."""

from collections.abc import Mapping, Sequence

from tokens.chains.types import Launch
from tokens.models import ProviderRefresh, Token
from tokens.trades.market_rows import reset_markets


def reset_relaunched_markets(before: Sequence[Token], *, launches: Mapping[str, Launch]) -> None:
    """Reset the market data of tokens that are launched in another pool now.

    `before` are the tokens before their launches were written; `launches` are by contract address. Call it in the
    database transaction that has locked the tokens.
    """
    moved = [token.pk for token in before if token.pool_address != _pool(launches[token.contract_address])]
    if not moved:
        return
    # Before the market: a worker that stores data of the former pool has locked the row, and any later one finds none.
    # It is queued anew by the task.
    refreshes = ProviderRefresh.objects.filter(pk__in=moved)
    list(refreshes.select_for_update().order_by("pk").values_list("pk"))
    refreshes.delete()
    reset_markets(moved)


def _pool(launch: Launch) -> str:
    return (launch.pool and launch.pool.address) or ""

"""Presales of a chain's presale contract, read from a node: their events are not stored."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from config.concurrency_limits import node_slot
from config.http.errors import PermanentError
from config.redis.single_flight import CacheTimes, fetch_shared
from tokens.chains.registry.chains import Contract
from tokens.chains.rpc.client import query_deadline
from tokens.chains.types import PresaleTermsOnChain
from tokens.deploying.sales.presale_search import PresaleFilter, presale_state, search_presales, searched_ids
from tokens.installation.installed_chains import installed_chain
from tokens.installation.installed_registry import registry

# All reads of one page.
_SECONDS = 10.0
# The number of presales, whose search takes some requests.
_COUNT_TIMES = CacheTimes(fresh=60.0, ttl=3_600.0, wait_timeout=_SECONDS, lock_ttl=30.0)


class NoPresalesError(PermanentError):
    """The chain has no presale contract in the registry."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownPresale:
    """A presale, and its state at the time of the request, one of STATES."""

    chain_id: int
    contract: str
    sale: PresaleTermsOnChain
    state: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PresalePage:
    """Presales, and how many there are: of the contract, or of those that a filter has found."""

    presales: list[ShownPresale]
    total: int
    # The oldest id that the filter covers; None without a filter, or without presales.
    oldest_searched: int | None


def listed_contract(chain_id: int) -> Contract:
    """Return the contract whose presales are listed: that of our own launches. Raises NoPresalesError."""
    chain = registry().chains.get(chain_id)
    contract = chain.deploying("presale") if chain else None
    if contract is None:
        raise NoPresalesError(f"chain {chain_id} has no presale contract")
    return contract


def fetch_presale_page(
    chain_id: int, *, offset: int, limit: int, newest_first: bool, only: PresaleFilter
) -> PresalePage:
    """Fetch a page of a chain's presales by id, as of the newest block; with a filter, of those that it finds.

    Ids are consecutive from 1; their number may be a minute old, as may be the finds of a filter. A find that no longer
    matches is left out of its page. Raises NoPresalesError, UnsupportedChainError, NodeUnavailableError, and as
    `fetch_shared`.
    """
    contract = listed_contract(chain_id)
    chain = installed_chain(chain_id)

    def count() -> int:
        with node_slot(), query_deadline(_SECONDS):
            return chain.count_presales(contract=contract.address)

    total = int(fetch_shared(f"presales:1:{chain_id}:{contract.address}", count, times=_COUNT_TIMES).value)
    ids: Sequence[int] = range(1, total + 1)
    if not only.is_empty:
        ids = search_presales(chain, contract=contract.address, total=total, only=only)
    wanted = (ids[::-1] if newest_first else ids)[offset : offset + limit]
    with node_slot(), query_deadline(_SECONDS):
        sales = chain.read_presales(wanted, contract=contract.address) if wanted else []
    now = int(time.time())
    shown = [
        ShownPresale(chain_id=chain_id, contract=contract.address, sale=sale, state=presale_state(sale.sale, at=now))
        for sale in sales
    ]
    return PresalePage(
        presales=[
            each for each in shown if only.matches(state=each.state, owner=each.sale.owner, admin=each.sale.admin)
        ],
        total=len(ids),
        oldest_searched=None if only.is_empty or not total else searched_ids(total)[0],
    )

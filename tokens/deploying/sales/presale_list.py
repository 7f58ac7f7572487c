"""Presales of a chain's presale contract, read from a node: their events are not stored."""

import time
from dataclasses import dataclass

from config.concurrency_limits import node_slot
from config.http.errors import PermanentError
from config.redis.single_flight import CacheTimes, fetch_shared
from tokens.chains.registry.chains import Contract
from tokens.chains.rpc.client import query_deadline
from tokens.chains.types import Presale, PresaleTermsOnChain
from tokens.installation.installed_chains import installed_chain
from tokens.installation.installed_registry import registry

# All reads of one page.
_SECONDS = 10.0
# The number of presales, whose search takes some requests.
_COUNT_TIMES = CacheTimes(fresh=60.0, ttl=3_600.0, wait_timeout=_SECONDS, lock_ttl=30.0)

STATES = ("active", "successful", "failed", "launched")
_LAUNCHED, _SUCCESSFUL = 5, (2, 3)


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
    """Presales, and how many the contract has."""

    presales: list[ShownPresale]
    total: int


def listed_contract(chain_id: int) -> Contract:
    """Return the contract whose presales are listed: that of our own launches. Raises NoPresalesError."""
    chain = registry().chains.get(chain_id)
    contract = chain.deploying("presale") if chain else None
    if contract is None:
        raise NoPresalesError(f"chain {chain_id} has no presale contract")
    return contract


def fetch_presale_page(chain_id: int, *, offset: int, limit: int, newest_first: bool) -> PresalePage:
    """Fetch a page of a chain's presales by id, as of the newest block.

    Ids are consecutive from 1; their number may be a minute old. Raises NoPresalesError, UnsupportedChainError,
    NodeUnavailableError, NodeSlotTimeoutError.
    """
    contract = listed_contract(chain_id)
    chain = installed_chain(chain_id)

    def count() -> int:
        with node_slot(), query_deadline(_SECONDS):
            return chain.count_presales(contract=contract.address)

    total = int(fetch_shared(f"presales:1:{chain_id}:{contract.address}", count, times=_COUNT_TIMES).value)
    ids = range(total, 0, -1) if newest_first else range(1, total + 1)
    with node_slot(), query_deadline(_SECONDS):
        sales = chain.read_presales(ids[offset : offset + limit], contract=contract.address)
    now = int(time.time())
    shown = [
        ShownPresale(chain_id=chain_id, contract=contract.address, sale=sale, state=presale_state(sale.sale, at=now))
        for sale in sales
    ]
    return PresalePage(presales=shown, total=total)


def presale_state(sale: Presale, *, at: int) -> str:
    """Return the state at a time in Unix seconds: the contract records the end of a sale only on its next call."""
    if sale.status == _LAUNCHED:
        return "launched"
    if sale.failure(at=at):
        return "failed"
    return "successful" if sale.status in _SUCCESSFUL or at >= sale.ends_at else "active"

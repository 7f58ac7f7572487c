"""Presales in a chain's presale contract, read from a node: their events are not stored.

Terms are cached by id range, not by page: for any number of pages and callers, a node is sent at most one request per
range in 15 seconds.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from config.http.errors import PermanentError
from config.processes.concurrency_limits import node_slot
from config.redis.single_flight import CacheTimes, fetch_shared
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.registry.chains import Contract
from tokens.chains.rpc.client import query_deadline
from tokens.chains.types import Presale, PresaleTermsOnChain
from tokens.deploying.sales.presale_search import PresaleFilter, presale_state, search_presales, searched_ids
from tokens.deploying.sales.responses import Presales, ShownPresale
from tokens.installation.installed_chains import installed_chain
from tokens.installation.installed_registry import registry

# All reads for one page.
_SECONDS = 10.0
# The presale count, which takes some requests.
_COUNT_TIMES = CacheTimes(fresh=60.0, ttl=3_600.0, wait_timeout=_SECONDS, lock_ttl=30.0)
_TERMS_TIMES = CacheTimes(fresh=15.0, ttl=60.0, wait_timeout=_SECONDS, lock_ttl=30.0)


class NoPresalesError(PermanentError):
    """The chain has no presale contract in the registry."""


def listed_contract(chain_id: int) -> Contract:
    """Return the contract whose presales are listed: our own launches use it. Raises NoPresalesError."""
    chain = registry().chains.get(chain_id)
    contract = chain.deploying("presale") if chain else None
    if contract is None:
        raise NoPresalesError(f"chain {chain_id} has no presale contract")
    return contract


def fetch_presale_page(chain_id: int, *, offset: int, limit: int, newest_first: bool, only: PresaleFilter) -> Presales:
    """Fetch a page of a chain's presales by id, up to 15 seconds old; with a filter, only matching presales.

    Ids are consecutive from 1. Their number and a filter's matches may be a minute old; all facts may be older while no
    node responds. A presale that no longer matches is left out of its page.

    Raises NoPresalesError, UnsupportedChainError, NodeUnavailableError, and as `fetch_shared`.
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
    page_ids = (ids[::-1] if newest_first else ids)[offset : offset + limit]
    sales = _fetch_terms(chain, page_ids, contract=contract.address, total=total)
    now = int(time.time())
    shown = [
        _describe(terms, chain_id, contract=contract.address, state=presale_state(terms.sale, unix_time=now))
        for terms in sales
    ]
    return {
        "presales": [
            presale
            for presale in shown
            if only.matches(state=presale["state"], owner=presale["owner"], admin=presale["tokenAdmin"])
        ],
        "totalCount": len(ids),
        "oldestSearched": None if only.is_empty or not total else searched_ids(total)[0],
    }


def _describe(terms: PresaleTermsOnChain, chain_id: int, *, contract: str, state: str) -> ShownPresale:
    sale = terms.sale
    return {
        "presaleId": sale.presale_id,
        "chainId": chain_id,
        "contract": contract,
        "status": sale.status,
        "state": state,
        "name": terms.name,
        "symbol": terms.symbol,
        "image": terms.image,
        "tokenAdmin": terms.admin,
        "owner": terms.owner,
        "allowlist": terms.allowlist,
        "minEthGoal": str(sale.min_goal),
        "maxEthGoal": str(terms.max_goal),
        "ethRaised": str(sale.raised),
        "endTime": sale.ends_at,
        "launchUntil": sale.launches_until,
        "lockupDuration": terms.lockup,
        "vestingDuration": terms.vesting,
        "tokenAddress": terms.token,
    }


def _fetch_terms(chain: Chain, ids: Sequence[int], *, contract: str, total: int) -> list[PresaleTermsOnChain]:
    """Return presales by id, without unknown ones, from cached id ranges: each is one request to a node."""
    # One call in each request reads the contract's launch deadline.
    size = max(1, chain.rpc.batch_size - 1)
    terms_by_id: dict[int, PresaleTermsOnChain] = {}
    with query_deadline(_SECONDS):
        for first in sorted({number - (number - 1) % size for number in ids}):
            id_range = range(first, min(first + size - 1, total) + 1)
            name = f"presale-terms:1:{chain.info.chain_id}:{contract}:{id_range[0]}-{id_range[-1]}"
            read = partial(_read_terms, chain, id_range, contract=contract)
            for row in json.loads(fetch_shared(name, read, times=_TERMS_TIMES).value):
                sale = Presale(**row.pop("sale"))
                terms_by_id[sale.presale_id] = PresaleTermsOnChain(sale=sale, **row)
    return [terms_by_id[number] for number in ids if number in terms_by_id]


def _read_terms(chain: Chain, ids: Sequence[int], *, contract: str) -> str:
    """Return the terms as JSON text, since wei exceed the numbers in the cache's own JSON."""
    with node_slot():
        return json.dumps([asdict(sale) for sale in chain.read_presales(ids, contract=contract)])

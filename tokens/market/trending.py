"""The trending pools of a network, as the market-data provider orders them, with our tokens beside them."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Q
from redis.exceptions import RedisError

from config.api.fields import parse_address, parse_pool_address
from config.redis.single_flight import Lifetimes, share
from tokens.catalogue.records import Record, read_records
from tokens.chains.addresses import address_key
from tokens.chains.registry.chains import ChainInfo
from tokens.market import provider_client, provider_rate_limit
from tokens.market.provider_responses import Pool
from tokens.models import Token

FRESH_SECONDS = 300
# What is older than fresh stands in for so long while the provider is down.
KEPT_SECONDS = 86_400
# How long nobody asks after a failure.
PAUSE_SECONDS = 30
# Counted up with every change of what is kept, which is market_answers.Pool.
SHAPE = 1
# How long a caller waits for a turn to ask.
_PATIENCE_SECONDS = 5.0
_LIFETIMES = Lifetimes(
    fresh=FRESH_SECONDS,
    kept=KEPT_SECONDS,
    pause=PAUSE_SECONDS,
    patience=15.0,
    # A turn, a connection, a head and a body, with some to spare.
    longest_call=45.0,
)


@dataclass(frozen=True, kw_only=True)
class Trending:
    """A page. `records` holds a record for each pool, by its `address_key`; `is_stale` says that it is old."""

    pools: Sequence[str]
    records: dict[str, Record]
    token_ids: Sequence[int]
    is_stale: bool


def read_trending(chain: ChainInfo, *, order: str, page: int) -> Trending:
    """A page, from 1 to 10, of a chain's trending pools, without those of blocked tokens.

    The provider is asked once in FRESH_SECONDS for each, whoever calls. Where no answer is kept, it raises Failed
    after a failure of the provider, and NotNow where the limit of our calls lets nobody ask.
    """
    network = chain.market_network or ""
    shared = share(
        f"trending:{SHAPE}:{chain.chain_id}:{order}:{page}",
        lambda: [asdict(pool) for pool in _ask(network, order=order, page=page)],
        lifetimes=_LIFETIMES,
        not_asked=provider_rate_limit.NotNow,
    )
    records = _records_of(chain.chain_id, shared.value)
    pools: dict[str, Record] = {}
    shown: list[int] = []
    for described in shared.value:
        record = records.get(described["address"]) or records.get(described["base_token"])
        if record and record["tags"]["blocked"]:
            continue
        shown += [record["id"]] if record else []
        pools[described["address"]] = {**(record or {}), "pool": _without_tokens(described)}
    return Trending(pools=list(pools), records=pools, token_ids=shown, is_stale=shared.is_stale)


def _ask(network: str, *, order: str, page: int) -> tuple[Pool, ...]:
    try:
        # Anybody may ask for any page; all of them together must leave the refresh its turns.
        with provider_rate_limit.turn(patience=_PATIENCE_SECONDS, of_half=True):
            return provider_client.fetch_trending(network, order=order, page=page)
    except RedisError:
        # Nobody hands out turns, and somebody waits: one call a page in five minutes is what each process may do alone.
        return provider_client.fetch_trending(network, order=order, page=page)


def _without_tokens(described: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in described.items() if name not in ("base_token", "quote_token")}


def _records_of(chain_id: int, described: Iterable[dict[str, Any]]) -> dict[str, Record]:
    """Records by the `address_key`s of their pools and tokens, from one query."""
    pools = [parse_pool_address(pool["address"]) for pool in described]
    bases = [parse_address(pool["base_token"], allow_mint=True) for pool in described if pool["base_token"]]
    tokens = Token.objects.on_chain().filter(chain_id=chain_id)
    records = read_records(tokens.filter(Q(pool_address__in=pools) | Q(contract_address__in=bases)).order_by("-id"))
    found: dict[str, Record] = {address_key(record["contract_address"]): record for record in records}
    return found | {address_key(record["pool_address"]): record for record in records if record["pool_address"]}

"""Invented tokens and markets as text for PostgreSQL's COPY. Pure: the same seed gives the same rows."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from random import Random
from typing import Any

from config.postgresql.copy_text import CopyText, copy_text
from development.sample_data.evm_launches import BEGIN, SPAN_SECONDS, draw_launch, popular_names, wallet
from development.sample_data.solana_launches import move_some
from development.sample_data.token_markets import draw_market
from tokens.chains.registry.chains import Registry
from tokens.indexing.launch_rows import token_columns

# So many tokens are made at a time, from random numbers of their own.
BATCH = 5_000
# Of all launches, those that were read from the chain long after they were made, and those that share their second with
# the one before.
_LATE, _SAME_SECOND = 0.1, 0.03
_BLOCKED, _UNINDEXED, _CHAMPAGNE, _VERIFIED = 0.003, 0.002, 0.0008, 0.002
# The first wallets are those of well-known interfaces.
_KNOWN_WALLETS = frozenset(map(wallet, range(5)))


def make_batch(
    number: int, *, seed: int, count: int, ids: Sequence[int], registry: Registry
) -> tuple[CopyText, CopyText]:
    """Markets and tokens: those tokens from `number * BATCH` on, of `count` in all, under these ids."""
    random = Random(f"{seed} batch {number}")
    tokens, markets = [], []
    time = 0
    for place, row_id in enumerate(ids, start=number * BATCH):
        if not time or random.random() > _SAME_SECOND:
            time = _draw_time(random, place / count)
        token = _draw_token(random, time=time, registry=registry, popular=_popular(seed))
        tokens.append({"id": row_id} | token)
        market = draw_market(random, supply=token["supply"], decimals=token["decimals"])
        if market:
            markets.append({"token_id": row_id} | market)
    return copy_text(markets), copy_text(tokens)


@cache
def _popular(seed: int) -> list[tuple[str, str]]:
    return popular_names(seed)


def _draw_time(random: Random, share: float) -> int:
    """When the token was launched that lies at this share of all. Rows are mostly in the order of their launches."""
    latest = BEGIN + int(SPAN_SECONDS * share)
    return random.randint(BEGIN, latest) if random.random() < _LATE else latest + random.randrange(600)


def _draw_token(random: Random, *, time: int, registry: Registry, popular: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Column -> value: what indexing would write, and an operator's tags."""
    drawn = draw_launch(random, registry=registry, time=time, popular=popular)
    launch = move_some(drawn, registry.solana)
    chain = registry.chain(launch.chain_id)
    columns = token_columns(launch, chain=chain, presets=registry.presets.values())
    read_at = datetime.fromtimestamp(time + random.randrange(1, 60), UTC)
    tags = {
        "blocked": random.random() < _BLOCKED,
        "unindexed": random.random() < _UNINDEXED,
        "champagne": random.random() < _CHAMPAGNE,
        "verified": random.random() < _VERIFIED,
        "known_interface_deployer": launch.msg_sender in _KNOWN_WALLETS,
    }
    return columns | {"created_at": read_at, "last_indexed": read_at} | tags

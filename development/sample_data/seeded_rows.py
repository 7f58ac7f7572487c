"""Invented tokens and markets as COPY text, in batches from several processes. Pure: deterministic by seed.

No Django: each process would have to set it up.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from datetime import UTC, datetime
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

from config.postgresql.bulk_load import CopyText, format_copy_rows
from development.sample_data.evm_launches import BEGIN, SPAN_SECONDS, draw_launch, popular_names, wallet
from development.sample_data.solana_launches import convert_some
from development.sample_data.token_markets import draw_market
from tokens.chains.registry.chains import Registry, load_registry
from tokens.indexing.launch_rows import token_columns

# Tokens per batch; each batch has its own random generator.
BATCH = 5_000
# Launch shares: indexed late, and in the same second as the previous launch.
_LATE, _SAME_SECOND = 0.1, 0.03
_BLOCKED, _UNINDEXED, _CHAMPAGNE, _VERIFIED = 0.003, 0.002, 0.0008, 0.002
# The first wallets belong to well-known interfaces.
_KNOWN_WALLETS = frozenset(map(wallet, range(5)))


def make_batch(
    number: int, *, seed: int, count: int, ids: Sequence[int], registry: Registry
) -> tuple[CopyText, CopyText]:
    """Return one batch's market and token rows: the tokens from `number * BATCH` on, with these ids."""
    random = Random(f"{seed} batch {number}")
    tokens, markets = [], []
    time = 0
    for token_number, row_id in enumerate(ids, start=number * BATCH):
        if not time or random.random() > _SAME_SECOND:
            time = _draw_time(random, token_number / count)
        token = _draw_token(random, time=time, registry=registry, popular=_popular(seed))
        tokens.append({"id": row_id} | token)
        market = draw_market(random, supply=token["supply"], decimals=token["decimals"])
        if market:
            markets.append({"token_id": row_id} | market)
    return format_copy_rows(markets), format_copy_rows(tokens)


@cache
def _popular(seed: int) -> list[tuple[str, str]]:
    return popular_names(seed)


def _draw_time(random: Random, share: float) -> int:
    """Return the launch time for the token at this share of all tokens. Rows are mostly sorted by launch time."""
    latest = BEGIN + int(SPAN_SECONDS * share)
    return random.randint(BEGIN, latest) if random.random() < _LATE else latest + random.randrange(600)


def _draw_token(random: Random, *, time: int, registry: Registry, popular: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return column -> value: values that indexing would write, and an operator's tags."""
    drawn = draw_launch(random, registry=registry, time=time, popular=popular)
    launch = convert_some(drawn, registry.solana)
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


def make_batches(
    count: int, *, seed: int, reserve_ids: Callable[[int], list[int]], chains_files: Sequence[str], solana_chain_id: int
) -> Iterator[tuple[CopyText, CopyText]]:
    """Yield market and token rows for `count` tokens, batch by batch. `reserve_ids` returns that many unused ids."""
    files = tuple(chains_files)
    if count <= BATCH:
        # Too few tokens to start a process.
        yield _make(0, seed, count, reserve_ids(count), files, solana_chain_id)
        return
    processes = os.cpu_count() or 1
    # A fork would share this process's database connection.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        coming: deque[Future[tuple[CopyText, CopyText]]] = deque()
        for number, start in enumerate(range(0, count, BATCH)):
            ids = reserve_ids(min(BATCH, count - start))
            coming.append(pool.submit(_make, number, seed, count, ids, files, solana_chain_id))
            # Only a few batches are computed in advance, because they fill the memory.
            if len(coming) > 2 * processes:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()


def _make(
    number: int, seed: int, count: int, ids: list[int], chains_files: tuple[str, ...], solana_chain_id: int
) -> tuple[CopyText, CopyText]:
    return make_batch(number, seed=seed, count=count, ids=ids, registry=_registry(chains_files, solana_chain_id))


@cache
def _registry(chains_files: tuple[str, ...], solana_chain_id: int) -> Registry:
    """Load the registry in each process, because it can't be pickled."""
    return load_registry(*map(Path, chains_files), solana_chain_id=solana_chain_id)

"""Batches of invented rows from several processes at once. No Django: each process would have to set it up."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from config.postgresql.copy_text import CopyText
from development.sample_data.token_rows import BATCH, make_batch
from tokens.chains.registry.chains import Registry, load


def make_batches(
    count: int, *, seed: int, reserve_ids: Callable[[int], list[int]], chains_files: Sequence[str], solana_chain_id: int
) -> Iterator[tuple[CopyText, CopyText]]:
    """Markets and tokens, batch by batch, of `count` tokens. `reserve_ids` returns so many ids that nobody has."""
    files = tuple(chains_files)
    if count <= BATCH:
        # Not worth starting a process for.
        yield _make(0, seed, count, reserve_ids(count), files, solana_chain_id)
        return
    processes = os.cpu_count() or 1
    # A fork would share this process's connection to the database.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        coming: deque[Future[tuple[CopyText, CopyText]]] = deque()
        for number, first in enumerate(range(0, count, BATCH)):
            ids = reserve_ids(min(BATCH, count - first))
            coming.append(pool.submit(_make, number, seed, count, ids, files, solana_chain_id))
            # A few are made ahead, and no more: they fill the memory.
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
    """Loaded in each process, because it can't be sent to one."""
    return load(*map(Path, chains_files), solana_chain_id=solana_chain_id)

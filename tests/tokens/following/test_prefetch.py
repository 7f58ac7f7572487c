"""Tests of tokens/following/prefetch.py: the ends of prefetching."""

from threading import Event

from config.http.errors import RetryableError
from tokens.following.prefetch import PrefetchJob, RetryControl, prefetching


def test_blocks_that_the_chain_may_never_have_are_given_up_when_the_target_went_back() -> None:
    targets = [20]
    failures = []

    def read(first: int, last: int) -> range:
        if last > 10:
            targets[:] = [10]
            raise RetryableError("no node has it")
        return range(first, last + 1)

    def record(error: Exception) -> float:
        failures.append(str(error))
        return 0.0

    control = RetryControl(stop=Event(), record=record, clear=lambda: None)
    job = PrefetchJob(read=read, count=len, longest=lambda: 20, target=lambda: targets[0], control=control)
    with prefetching(job, first=15) as prefetcher:
        assert prefetcher.next_batch(limit=1) == []
    assert failures == ["no node has it"]


def test_what_was_given_up_is_not_skipped_when_the_target_comes_back() -> None:
    targets = [20]
    requested = []

    def read(first: int, last: int) -> range:
        requested.append((first, last))
        if len(requested) == 1:
            raise RetryableError("no node has it")
        return range(first, last + 1)

    def record(error: Exception) -> float:
        targets[:] = [10]
        return 0.0

    control = RetryControl(stop=Event(), record=record, clear=lambda: None)
    job = PrefetchJob(read=read, count=len, longest=lambda: 20, target=lambda: targets[0], control=control)
    with prefetching(job, first=15) as prefetcher:
        assert prefetcher.next_batch(limit=1) == []
        targets[:] = [20]
        assert prefetcher.next_batch(limit=1) == [range(15, 21)]
    assert requested == [(15, 20), (15, 20)]

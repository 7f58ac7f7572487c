"""Tests of tokens/following/prefetch.py: the ends of prefetching, and the lock of its threads."""

from threading import Barrier, Event

from config.http import json_client
from config.http.compute_lock import waiting
from config.http.errors import RetryableError
from development.standins.http_server import StandIn, StandInResponse
from development.standins.loopback import ReceivedRequest
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


def test_a_result_that_is_refused_is_read_again_before_any_later_one_is_handed_out() -> None:
    requested, refused = [], set[int]()

    def read(first: int, last: int) -> range:
        requested.append(first)
        return range(first, last + 1)

    def accept(result: range) -> bool:
        is_first_time = result[0] == 5 and result[0] not in refused
        refused.add(result[0])
        return not is_first_time

    control = RetryControl(stop=Event(), record=lambda _: 0.0, clear=lambda: None)
    job = PrefetchJob(read=read, count=len, longest=lambda: 5, target=lambda: 14, control=control, accepts=accept)
    found = []
    with prefetching(job, first=0) as prefetcher:
        while batch := prefetcher.next_batch(limit=5):
            found += batch
    assert found == [range(5), range(5, 10), range(10, 15)]
    assert sorted(requested) == [0, 5, 5, 10]


class Gate(StandIn):
    """Stand-in that responds only when four requests wait together; the first request is an exception."""

    barrier = Barrier(4, timeout=60)
    first = True

    def answer(self, received: ReceivedRequest) -> StandInResponse | None:
        if not self.first:
            self.barrier.wait()
        self.first = False
        return StandInResponse({})


def test_ranges_wait_for_nodes_at_once_and_are_decoded_one_by_one(settings):
    settings.FOLLOW_CONCURRENCY = 4
    decoding, overlap = [], Event()

    def read(first: int, last: int) -> range:
        json_client.get_json(gate.url, timeout=60)
        decoding.append(first)
        if len(decoding) > 1:
            overlap.set()
        overlap.wait(0.05)
        decoding.remove(first)
        return range(first, last + 1)

    control = RetryControl(stop=Event(), record=lambda _: 0.0, clear=lambda: None)
    job = PrefetchJob(read=read, count=len, longest=lambda: 1, target=lambda: 5, control=control)
    with Gate() as gate, prefetching(job, first=1) as prefetcher:
        found = [prefetcher.next_batch(limit=1) for _ in range(5)]
    assert found == [[range(number, number + 1)] for number in range(1, 6)]
    assert not overlap.is_set()


def test_a_range_that_failed_behind_another_one_is_read_again_in_its_place(settings):
    settings.FOLLOW_CONCURRENCY = 2
    third_failed, failures = Event(), []

    def read(first: int, last: int) -> range:
        if first == 2:
            with waiting():
                third_failed.wait(60)
        elif first == 3 and not third_failed.is_set():
            raise RetryableError("no node has it")
        elif first == 4:
            # The same thread has read the third range, so that its failure is known.
            third_failed.set()
        return range(first, last + 1)

    def record(error: Exception) -> float:
        failures.append(str(error))
        return 0.0

    control = RetryControl(stop=Event(), record=record, clear=lambda: None)
    job = PrefetchJob(read=read, count=len, longest=lambda: 1, target=lambda: 4, control=control)
    with prefetching(job, first=1) as prefetcher:
        assert prefetcher.next_batch(limit=9) == [range(1, 2)]
        assert prefetcher.next_batch(limit=9) == [range(2, 3)]
        assert failures == []
        assert prefetcher.next_batch(limit=1) == [range(3, 4)]
    assert failures == ["no node has it"]

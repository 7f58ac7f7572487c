"""Reading ranges ahead of their writer: what ends it."""

from threading import Event

from config.http.json_client import Retryable
from tokens.following.prefetch import Watch, Work, reading_ahead


def test_blocks_that_the_chain_may_never_have_are_given_up_when_the_target_went_back() -> None:
    targets = [20]
    troubles = []

    def read(first: int, last: int) -> range:
        if last > 10:
            targets[:] = [10]
            raise Retryable("no node has it")
        return range(first, last + 1)

    def note(error: Exception) -> float:
        troubles.append(str(error))
        return 0.0

    watch = Watch(stop=Event(), note=note, clear=lambda: None)
    work = Work(read=read, count=len, longest=lambda: 20, target=lambda: targets[0], watch=watch)
    with reading_ahead(work, first=15) as ahead:
        assert ahead.take(most=1) == []
    assert troubles == ["no node has it"]


def test_what_was_given_up_is_not_skipped_when_the_target_comes_back() -> None:
    targets = [20]
    asked = []

    def read(first: int, last: int) -> range:
        asked.append((first, last))
        if len(asked) == 1:
            raise Retryable("no node has it")
        return range(first, last + 1)

    def note(error: Exception) -> float:
        targets[:] = [10]
        return 0.0

    watch = Watch(stop=Event(), note=note, clear=lambda: None)
    work = Work(read=read, count=len, longest=lambda: 20, target=lambda: targets[0], watch=watch)
    with reading_ahead(work, first=15) as ahead:
        assert ahead.take(most=1) == []
        targets[:] = [20]
        assert ahead.take(most=1) == [range(15, 21)]
    assert asked == [(15, 20), (15, 20)]

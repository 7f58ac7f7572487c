"""When to ask for the next block, where nobody tells of it: a little before it is due, then often, then less often."""

from collections import deque
from dataclasses import dataclass, field

from tokens.chains.block_types import BlockHeader

# Of so many of the newest blocks the time between two is taken.
_REMEMBERED = 64
# Block times are whole seconds and blocks come early: asking begins so much of the time between two before one is due.
_EARLY = 0.05
# The shortest pause; and each one as a share of how long the block is overdue, so that an idle chain is asked rarely.
_SHORTEST_SECONDS = 0.05
_SHARE_OF_DELAY = 0.25


@dataclass
class Pace:
    """What the headers that were seen tell of a chain's pace."""

    # The longest pause in seconds.
    longest: float
    # (number, block time in Unix seconds), oldest first.
    _blocks: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED), init=False)
    _seen_at: float | None = field(default=None, init=False)

    def note(self, header: BlockHeader, *, now: float) -> None:
        """A node has told of a block; `now` is in seconds of any clock that runs evenly, here and below.

        A block that is no higher than those before is of another branch, or the same: the pace stays.
        """
        if self._blocks and header.number <= self._blocks[-1][0]:
            return
        self._blocks.append((header.number, header.time))
        self._seen_at = now

    def interval(self) -> float:
        """The seconds between two blocks; 0 while too few were seen."""
        if len(self._blocks) < 2:
            return 0.0
        (first, begin), (last, end) = self._blocks[0], self._blocks[-1]
        return max(end - begin, 0) / (last - first)

    def pause(self, *, now: float) -> float:
        """How many seconds to wait until the next look."""
        due_at = now if self._seen_at is None else self._seen_at + (1 - _EARLY) * self.interval()
        delay = now - due_at
        wanted = -delay if delay < 0 else max(_SHORTEST_SECONDS, _SHARE_OF_DELAY * delay)
        return min(wanted, self.longest)

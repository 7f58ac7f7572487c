"""One turn at leading a chain: its loops run until it ends, and each is started again when it fails."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Thread

from django.db import close_old_connections, connections

from tokens.following.loop_failures import Troubles
from tokens.following.prefetch import Watch

# The longest pause after trouble, and before a loop that failed starts again, in seconds.
_LONGEST_PAUSE = 10.0


@dataclass
class Term:
    """A turn, whose loops look at `ended` at least every second."""

    chain_id: int
    ended: Event = field(default_factory=Event)
    # Set by whoever finds that most nodes have another newest block than the one that is followed, or that a node has
    # newer ones for long.
    outvoted: Event = field(default_factory=Event)
    troubles: Troubles = field(init=False)

    def __post_init__(self) -> None:
        self.troubles = Troubles(self.chain_id)

    def watch(self, part: str) -> Watch:
        """What a loop of this name gives to work that may take for ever."""
        return Watch(
            stop=self.ended,
            note=lambda error: self.troubles.note(part, error, longest_pause=_LONGEST_PAUSE),
            clear=lambda: self.troubles.clear(part),
        )

    def start(self, part: str, loop: "Callable[[Term], None]") -> Thread:
        """Run a loop in a thread of its own; `part` is what troubles call it."""
        thread = Thread(target=self._keep_running, args=(part, loop), name=f"chain-{self.chain_id}-{part}", daemon=True)
        thread.start()
        return thread

    def _keep_running(self, part: str, loop: "Callable[[Term], None]") -> None:
        while not self.ended.is_set():
            close_old_connections()
            try:
                loop(self)
            except Exception as error:
                self.ended.wait(self.troubles.note(part, error, longest_pause=_LONGEST_PAUSE))
        connections.close_all()

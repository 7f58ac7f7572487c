"""How long to wait after a failure: for ever, in pauses that double."""

import logging

logger = logging.getLogger(__name__)

# In seconds.
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 30.0


class Patience:
    """The pause that comes next, of work that is nobody else's to watch over."""

    def __init__(self) -> None:
        self._pause = FIRST_PAUSE

    def note(self, error: Exception) -> float:
        """Log a failure; returns how many seconds to wait."""
        pause, self._pause = self._pause, min(2 * self._pause, LONGEST_PAUSE)
        logger.warning("%s; tried again in %s s", error, pause)
        return pause

    def clear(self) -> None:
        """It goes well again."""
        self._pause = FIRST_PAUSE

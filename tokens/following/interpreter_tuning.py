"""How Python itself works while blocks are read by the thousand, beside a thread that writes them.

An answer of a node becomes a hundred thousand objects at once, none of which is in a circle. By default all of them
are looked through for circles again and again, which takes a fifth of the time that reading them takes. And a thread
that waits for its turn beside others that compute waits for so long that PostgreSQL would stand still meanwhile.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# So many objects more than there were start a search, where Python's default is 700; and after so many searches
# among the young ones the older are looked through.
_YOUNG, _MIDDLE, _OLD = 50_000, 20, 100
# How long a thread may go on while another one waits, where Python's default is ten times as long: the writer waits
# for its turn after each of its statements, of which a batch has a score.
_TURN_SECONDS = 0.0005


@contextmanager
def set_for_reading() -> Iterator[None]:
    """Search for circles seldom, and not among what was there before, such as all modules; let threads take turns."""
    searches, turn = gc.get_threshold(), sys.getswitchinterval()
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
    sys.setswitchinterval(_TURN_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(turn)
        gc.set_threshold(*searches)
        gc.unfreeze()

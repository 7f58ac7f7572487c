"""Python's search for circles of objects that nobody needs, held back while blocks are read by the thousand.

An answer of a node becomes a hundred thousand objects at once, none of which is in a circle. By default all of them
are looked through again and again, which takes a fifth of the time that reading them takes.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# So many objects more than there were start a search, where Python's default is 700; and after so many searches
# among the young ones the older are looked through.
_YOUNG, _MIDDLE, _OLD = 50_000, 20, 100


@contextmanager
def searched_seldom() -> Iterator[None]:
    """Search seldom while the block runs, and not among what was there before it, such as all modules."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()

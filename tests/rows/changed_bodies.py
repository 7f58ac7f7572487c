"""Bodies with one value changed, for refusal tables."""

import copy
from typing import Any

# Instead of a value: its key is taken out.
ABSENT = object()


def with_value(body: Any, path: str, value: Any) -> Any:
    """Return a body copy with another value at a dotted path.

    Numbers are indexes; ABSENT removes the key.
    """
    changed = copy.deepcopy(body)
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place = changed
    for step in way:
        place = place[step]
    if value is ABSENT:
        del place[last]
    else:
        place[last] = value
    return changed

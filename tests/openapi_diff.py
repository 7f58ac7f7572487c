"""Differences between two OpenAPI descriptions that callers would notice.

    python -m tests.openapi_diff BEFORE.json AFTER.json

Prints each difference with its place, besides those in summaries, descriptions and tags, and exits with 1 if there is
any. `manage.py spectacular --format openapi-json --file FILE` writes a description.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# What readers see and no client depends on.
PROSE = {"summary", "description", "tags", "title"}
# Under these keys, names are the API's own, such as a field that is called `description`.
NAMED = {
    "properties",
    "schemas",
    "parameters",
    "responses",
    "headers",
    "securitySchemes",
    "paths",
    "examples",
    "example",
}


def differences(before: Any, after: Any, place: str = "", *, names: bool = False) -> Iterator[str]:
    """Yield a line for each value that was removed, added or changed; `names` where keys are names of the API."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            if key in PROSE and not names:
                continue
            here = f"{place}/{key}"
            if key not in before or key not in after:
                yield f"{here}: {'added' if key in after else 'removed'}"
            else:
                yield from differences(before[key], after[key], here, names=key in NAMED and not names)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from differences(old, new, f"{place}/{index}")
    elif before != after:
        yield f"{place}: {json.dumps(before)[:100]} -> {json.dumps(after)[:100]}"


def main() -> int:
    if len(sys.argv) != 3:
        sys.exit("usage: python -m tests.openapi_diff BEFORE.json AFTER.json")
    before, after = (json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:])
    found = list(differences(before, after))
    print("\n".join(found) or f"no difference besides {', '.join(sorted(PROSE))}")
    print(f"{len(before['paths'])} paths before, {len(after['paths'])} after")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())

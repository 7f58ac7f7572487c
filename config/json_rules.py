"""Rules for JSON values, and how rules for objects and lists are made of them.

A rule is a function: it returns what it makes of a value, or raises ValueError with the rule in words ("must be ...").
Those for objects and lists raise Refused, which holds all that is wrong within them, each with its path.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Rule = Callable[[Any], Any]
# A path below the value in question, as `recipients[1].share`, empty for the value itself; and the rule it breaks.
Problem = tuple[str, str]

# A field of a deployment's body -> what another body calls it; what is not in it has the same name there.
FieldNames = Mapping[str, str]

# So many of a kind are told one by one; nobody reads more, and a body can hold a hundred thousand.
MAX_TOLD = 20
# A key of the caller's is named up to here.
_MAX_KEY = 60

REQUIRED = object()


class Refused(ValueError):
    """What is wrong within an object or a list."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(*problems)
        self.problems = problems


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """A key of an object: the rule for its value, and what it is where it is absent or null."""

    rule: Rule
    default: Any = REQUIRED
    # Another name under which it is taken.
    alias: str = ""


def below(path: str, error: ValueError) -> list[Problem]:
    """What is wrong with the value at a path, as its rule raised it."""
    if not isinstance(error, Refused):
        return [(path, str(error))]
    return [(join(path, inner), words) for inner, words in error.problems]


def join(path: str, inner: str) -> str:
    """The path of what is at `inner` below `path`."""
    return f"{path}.{inner}" if path and inner and not inner.startswith("[") else path + inner


def read_object(value: Any, keys: Mapping[str, Key]) -> tuple[dict[str, Any], list[Problem]]:
    """What the keys' rules make of an object's values, as far as they take them, and all that is wrong with it.

    A key that is null counts as absent. An unknown one is refused: it would be a wish that nobody fulfils.
    """
    if not isinstance(value, dict):
        return {}, [("", "must be a JSON object")]
    given = {name: item for name, item in value.items() if item is not None}
    taken: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, key in keys.items():
        at = key.alias if key.alias and key.alias in given else name
        if at != name and name in given:
            problems.append((at, f"is another name for {name}, and only one of them may be given"))
        if at not in given:
            if key.default is REQUIRED:
                problems.append((name, "is required"))
            else:
                taken[name] = key.default
            continue
        try:
            taken[name] = key.rule(given[at])
        except ValueError as error:
            problems += below(at, error)
    return taken, problems + _unknown(value, keys)


def object_of(keys: Mapping[str, Key]) -> Rule:
    """The rule for an object with these keys: a dictionary of all of them."""

    def rule(value: Any) -> dict[str, Any]:
        taken, problems = read_object(value, keys)
        if problems:
            raise Refused(problems)
        return taken

    return rule


def list_of(item: Rule, *, least: int = 0, most: int) -> Rule:
    """The rule for a list of so many entries: a tuple of what `item` makes of each."""
    size = f"must be a list of {least} to {most} entries" if least else f"must be a list of at most {most} entries"

    def rule(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or not least <= len(value) <= most:
            raise ValueError(size)
        taken, problems = [], list[Problem]()
        for index, entry in enumerate(value):
            try:
                taken.append(item(entry))
            except ValueError as error:
                problems += below(f"[{index}]", error)
        if problems:
            raise Refused(cut(problems))
        return tuple(taken)

    return rule


def cut(problems: list[Problem]) -> list[Problem]:
    """The first of them, and how many more there are."""
    more = len(problems) - MAX_TOLD
    return [*problems[:MAX_TOLD], ("", f"breaks rules in {more} more places")] if more > 0 else problems


def _unknown(value: dict[str, Any], keys: Mapping[str, Key]) -> list[Problem]:
    known = set(keys) | {key.alias for key in keys.values() if key.alias}
    names = ", ".join(keys)
    return cut([(name[:_MAX_KEY] or '""', f"is not known; known are {names}") for name in value if name not in known])

"""Wrapper that keeps secrets out of logs, tracebacks and pickles."""

from typing import NoReturn


class Secret:
    """Text that no repr, traceback, format string or pickle contains; only `reveal` returns it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text."""
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "Secret(...)" if self else "Secret()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret can't be pickled")

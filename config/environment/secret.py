"""Secrets that show themselves to nobody who does not ask."""

from typing import NoReturn


class Secret:
    """A text that no repr, traceback, format string or pickle shows: `reveal` alone does."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "Secret(...)" if self else "Secret()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not written anywhere")

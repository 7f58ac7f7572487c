"""What refused calls have in common."""

from typing import Any


def assert_refused(answer: Any, status: int, text: str) -> None:
    """The answer is this error and nothing else, and no cache keeps it."""
    assert (answer.status_code, answer.json()) == (status, {"error": text})
    assert answer.headers["Cache-Control"] == "no-store"

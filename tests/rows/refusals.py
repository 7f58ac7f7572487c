"""Assertions that refused calls share."""

from typing import Any


def assert_refused(answer: Any, status: int, text: str) -> None:
    """Assert that the response is this error and nothing else, and not cacheable."""
    assert (answer.status_code, answer.json()) == (status, {"error": text})
    assert answer.headers["Cache-Control"] == "no-store"

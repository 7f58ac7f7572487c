"""Social profiles of users; none are kept yet."""

from collections.abc import Iterable
from typing import Any


def users_by_fid(fids: Iterable[int]) -> dict[int, dict[str, Any]]:
    """FID -> the API's user object."""
    return {}

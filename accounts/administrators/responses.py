"""Responses of the administrator session endpoint."""

from datetime import datetime
from typing import Annotated, TypedDict


class SessionAnswer(TypedDict):
    """Response to a session that was created; its cookie is set."""

    success: bool
    expiresAt: Annotated[datetime, "End of the session, unless revoked earlier."]


class EndAnswer(TypedDict):
    """Response to a session that was ended; its cookie is cleared."""

    success: bool

"""Responses of the sign-in endpoints."""

from datetime import datetime
from typing import Annotated, TypedDict


class NonceAnswer(TypedDict):
    """Nonce for one sign-in."""

    nonce: Annotated[str, "For the message's `Nonce`."]
    expiresAt: Annotated[datetime, "Time from which the nonce is refused."]


class SignInAnswer(TypedDict):
    """User token of a wallet."""

    success: bool
    token: Annotated[str, "For the header `Authorization: Bearer`."]
    expiresAt: Annotated[datetime, "Time from which the token is invalid."]

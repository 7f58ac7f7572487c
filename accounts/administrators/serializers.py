"""Bodies and answers of the administrators' endpoint."""

from typing import Any

from rest_framework import serializers


class PasswordBody(serializers.Serializer[Any]):
    """The words of a staff account; none where the call has an administrator's Authorization."""

    username = serializers.CharField(max_length=150, trim_whitespace=False)
    password = serializers.CharField(max_length=1000, trim_whitespace=False)
    code = serializers.CharField(
        max_length=20,
        required=False,
        allow_blank=True,
        help_text="What the account's authenticator app shows, where it has a second factor.",
    )


class SessionAnswer(serializers.Serializer[Any]):
    """A session has begun, and its cookie is set."""

    success = serializers.BooleanField(default=True)
    expiresAt = serializers.DateTimeField(source="expires_at", help_text="Until then, if it is not revoked before.")


class EndAnswer(serializers.Serializer[Any]):
    """The session is over, and its cookie is cleared."""

    success = serializers.BooleanField(default=True)

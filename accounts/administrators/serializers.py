"""Bodies of the administrator session endpoint."""

from typing import Any

from rest_framework import serializers


class PasswordBody(serializers.Serializer[Any]):
    """Credentials of a staff account; not read if the request has an administrator's Authorization header."""

    username = serializers.CharField(min_length=1, max_length=150, trim_whitespace=False)
    password = serializers.CharField(min_length=1, max_length=1000, trim_whitespace=False)
    code = serializers.CharField(
        max_length=20,
        required=False,
        allow_blank=True,
        help_text="Code of the account's authenticator app, if it has a second factor.",
    )

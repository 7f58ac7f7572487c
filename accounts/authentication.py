"""Partner keys in requests: the header `x-api-key`, and how the OpenAPI description names it."""

from dataclasses import dataclass
from typing import Any, ClassVar

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.request import Request

from accounts import keys
from accounts.models import PartnerKey
from config.api.throttling import PartnerLimit

HEADER = "x-api-key"
KEY_REQUIRED = "API key is required"


@dataclass(frozen=True)
class PartnerUser:
    """Stands in `request.user` for a partner: a partner is no account of the admin site and has none of its rights."""

    key: PartnerKey
    is_authenticated: ClassVar[bool] = True
    is_anonymous: ClassVar[bool] = False
    is_active: ClassVar[bool] = True
    is_staff: ClassVar[bool] = False
    is_superuser: ClassVar[bool] = False


class PartnerKeyAuthentication(BaseAuthentication):
    """Demands a valid partner key: `request.auth` is then the PartnerKey. Anything else is 401."""

    # Holds where a view names no limit of its own.
    limit = PartnerLimit

    def authenticate(self, request: Request) -> tuple[PartnerUser, PartnerKey]:
        text = request.headers.get(HEADER, "")
        if not text:
            raise NotAuthenticated(KEY_REQUIRED)
        key = keys.verify(text)
        if key is None:
            # One text for unknown, revoked and expired keys: a stranger learns nothing about keys that exist.
            raise AuthenticationFailed("Unauthorized")
        keys.note_use(key)
        return PartnerUser(key), key

    def authenticate_header(self, request: Request) -> str:
        """The challenge in WWW-Authenticate, without which the framework would answer 403 instead of 401."""
        return f'ApiKey realm="partners", header="{HEADER}"'


class PartnerKeyScheme(OpenApiAuthenticationExtension):
    """Describes the header in the OpenAPI document; drf-spectacular finds this class by its base."""

    target_class = PartnerKeyAuthentication
    name = "partnerKey"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": HEADER,
            "description": "A partner key; the operator of this installation issues it, with the scopes it may use.",
        }

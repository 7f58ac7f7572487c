"""Credentials in requests, partner keys and users' tokens, and how the OpenAPI description names them."""

from dataclasses import dataclass
from typing import Any, ClassVar

from drf_spectacular.drainage import set_override
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.request import Request

from accounts.keys import credentials
from accounts.models import PartnerKey
from accounts.users import calling_users, identity
from accounts.users.calling_users import CallingUser
from accounts.users.identity import BadToken, VerifiedIdentity
from accounts.users.jwks import KeysUnavailable
from config.api.errors import UpstreamUnavailable
from config.api.throttling import PartnerLimit

HEADER = "x-api-key"
KEY_REQUIRED = "API key is required"
# One text for all that is wrong with a token, and for none: a stranger learns nothing about how they are checked.
UNAUTHORIZED = "Unauthorized"


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
        key = credentials.verify(text)
        if key is None:
            # One text for unknown, revoked and expired keys: a stranger learns nothing about keys that exist.
            raise AuthenticationFailed(UNAUTHORIZED)
        credentials.note_use(key)
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

    def get_security_requirement(self, auto_schema: AutoSchema) -> dict[str, list[str]]:
        """The scope that the key must have stands where OpenAPI has names of roles."""
        scope = getattr(auto_schema.view, "required_scope", None)
        return {self.name: [] if scope is None else [str(scope)]}


def read_bearer(request: Request) -> VerifiedIdentity | None:
    """What the token in the header `Authorization: Bearer` proves; None without the header.

    Raises AuthenticationFailed for whatever else the header has, and UpstreamUnavailable where nobody can tell whether
    the token is good, since its issuer has given us no keys yet.
    """
    header = request.headers.get("Authorization")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer":
        raise AuthenticationFailed(UNAUTHORIZED)
    try:
        return identity.verify(token.strip(" "))
    except BadToken as error:
        raise AuthenticationFailed(UNAUTHORIZED) from error
    except KeysUnavailable as error:
        raise UpstreamUnavailable from error


class UserIfAny(BaseAuthentication):
    """Takes a user's token: `request.user` is then a CallingUser and `request.auth` the VerifiedIdentity.

    Without one the caller is nobody, and both are None; a bad one is 401.
    """

    def authenticate(self, request: Request) -> tuple[CallingUser, VerifiedIdentity] | None:
        verified = read_bearer(request)
        return None if verified is None else (calling_users.recognise(verified), verified)

    def authenticate_header(self, request: Request) -> str:
        """The challenge in WWW-Authenticate, without which the framework would answer 403 instead of 401."""
        return 'Bearer realm="users"'


class UserAuthentication(UserIfAny):
    """Demands a user's token. Anything else is 401."""

    def authenticate(self, request: Request) -> tuple[CallingUser, VerifiedIdentity]:
        found = super().authenticate(request)
        if found is None:
            raise NotAuthenticated(UNAUTHORIZED)
        return found


# Both ask for the same token, so that one description is that of either.
set_override(UserIfAny, "suppress_collision_warning", True)


class UserTokenScheme(OpenApiAuthenticationExtension):
    """Describes the header in the OpenAPI document; drf-spectacular finds this class by its base."""

    target_class = UserIfAny
    match_subclasses = True
    name = "userToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "A user's token, of an issuer that this installation believes: Farcaster Quick Auth, Privy "
            "or another one that the operator has set.",
        }

"""Authentication by partner keys and users' tokens, and its OpenAPI security schemes."""

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
from accounts.users.identity import InvalidTokenError, VerifiedIdentity
from accounts.users.jwks import KeysUnavailableError
from config.api.errors import UpstreamUnavailableError
from config.api.throttling import PartnerLimit

HEADER = "x-api-key"
KEY_REQUIRED = "API key is required"
# One text for a missing token and for every reason to reject one: it reveals nothing about the verification.
UNAUTHORIZED = "Unauthorized"


@dataclass(frozen=True)
class PartnerUser:
    """Value of `request.user` for a partner. It is no admin account and has no admin rights."""

    key: PartnerKey
    is_authenticated: ClassVar[bool] = True
    is_anonymous: ClassVar[bool] = False
    is_active: ClassVar[bool] = True
    is_staff: ClassVar[bool] = False
    is_superuser: ClassVar[bool] = False


class OptionalPartnerKeyAuthentication(BaseAuthentication):
    """Authentication by an optional partner key, in `request.auth` as PartnerKey. An invalid one is 401."""

    # Applies if a view declares no own limit.
    limit = PartnerLimit

    def authenticate(self, request: Request) -> tuple[PartnerUser, PartnerKey] | None:
        text = request.headers.get(HEADER, "")
        if not text:
            return None
        key = credentials.verify_key(text)
        if key is None:
            # One text for unknown, revoked and expired keys: it does not reveal which keys exist.
            raise AuthenticationFailed(UNAUTHORIZED)
        credentials.record_key_use(key)
        return PartnerUser(key), key

    def authenticate_header(self, request: Request) -> str:
        """Return the WWW-Authenticate challenge, without which the framework would respond 403 instead of 401."""
        return f'ApiKey realm="partners", header="{HEADER}"'


class PartnerKeyAuthentication(OptionalPartnerKeyAuthentication):
    """Authentication that requires a partner key. Anything else is 401."""

    def authenticate(self, request: Request) -> tuple[PartnerUser, PartnerKey]:
        caller = super().authenticate(request)
        if caller is None:
            raise NotAuthenticated(KEY_REQUIRED)
        return caller


class PartnerKeyScheme(OpenApiAuthenticationExtension):
    """OpenAPI security scheme for partner keys; drf-spectacular finds this class by its base."""

    target_class = PartnerKeyAuthentication
    name = "partnerKey"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": HEADER,
            "description": "A partner key, issued with its scopes by the operator of this installation.",
        }


def verify_bearer(request: Request) -> VerifiedIdentity | None:
    """Return the identity proven by the header `Authorization: Bearer`; None without the header.

    Raises AuthenticationFailed for any other value, and UpstreamUnavailable while none of the issuer's keys have been
    fetched.
    """
    header = request.headers.get("Authorization")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer":
        raise AuthenticationFailed(UNAUTHORIZED)
    try:
        return identity.verify_token(token.strip(" "))
    except InvalidTokenError as error:
        raise AuthenticationFailed(UNAUTHORIZED) from error
    except KeysUnavailableError as error:
        raise UpstreamUnavailableError from error


class OptionalUserAuthentication(BaseAuthentication):
    """Authentication by an optional user token: `request.user` is a CallingUser, `request.auth` a VerifiedIdentity.

    Without a token both are None; an invalid one is 401.
    """

    def authenticate(self, request: Request) -> tuple[CallingUser, VerifiedIdentity] | None:
        verified = verify_bearer(request)
        return None if verified is None else (calling_users.resolve_user(verified), verified)

    def authenticate_header(self, request: Request) -> str:
        """Return the WWW-Authenticate challenge, without which the framework would respond 403 instead of 401."""
        return 'Bearer realm="users"'


class UserAuthentication(OptionalUserAuthentication):
    """Authentication that requires a user token. Anything else is 401."""

    def authenticate(self, request: Request) -> tuple[CallingUser, VerifiedIdentity]:
        caller = super().authenticate(request)
        if caller is None:
            raise NotAuthenticated(UNAUTHORIZED)
        return caller


# Both classes read the same header, so that one security scheme describes both.
set_override(OptionalUserAuthentication, "suppress_collision_warning", True)


class UserTokenScheme(OpenApiAuthenticationExtension):
    """OpenAPI security scheme for user tokens; drf-spectacular finds this class by its base."""

    target_class = OptionalUserAuthentication
    match_subclasses = True
    name = "userToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "A user's token of an issuer trusted by this installation: Farcaster Quick Auth, Privy or "
            "another one that the operator has set; or this service's own of POST /api/sign-in.",
        }

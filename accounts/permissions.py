"""Permissions for partner keys and users, and base classes for views that need them."""

from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.administrators import sessions
from accounts.authentication import KEY_REQUIRED, UNAUTHORIZED, PartnerKeyAuthentication, UserAuthentication
from accounts.models import PartnerKey, Scope
from accounts.users.calling_users import CallingUser
from accounts.users.identity import VerifiedIdentity


def missing_scope_text(scope: Scope) -> str:
    """Return the error text for a partner key without the scope."""
    return f"This key lacks the scope {scope}"


class HasScope(BasePermission):
    """Permission for partner keys with the view's `required_scope` (a Scope)."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.auth, PartnerKey):
            raise NotAuthenticated(KEY_REQUIRED)
        if view.required_scope not in request.auth.scopes:
            raise PermissionDenied(missing_scope_text(view.required_scope))
        return True


class PartnerAccess(APIView):
    """First base class for partner views; the key must have `required_scope`."""

    authentication_classes = [PartnerKeyAuthentication]
    permission_classes = [HasScope]
    required_scope = Scope.READ


class PartnerWrites(APIView):
    """First base class for views with public reads, whose POST needs a partner key with `required_scope`.

    The POST names its security in `extend_schema`: the description is made without a request.
    """

    required_scope = Scope.READ

    def get_authenticators(self) -> list[BaseAuthentication]:
        """Return partner authentication for a POST, and none for reads."""
        return [PartnerKeyAuthentication()] if self._is_write() else super().get_authenticators()

    def get_permissions(self) -> list[Any]:
        """Return the partner permission for a POST."""
        return [HasScope()] if self._is_write() else list(super().get_permissions())

    def _is_write(self) -> bool:
        return self.request is not None and self.request.method == "POST"


class IsUser(BasePermission):
    """Permission for authenticated users."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.user, CallingUser):
            raise NotAuthenticated(UNAUTHORIZED)
        return True


class UserAccess(APIView):
    """First base class for user views.

    `request.user` is a CallingUser. Views that also accept requests without a token set `authentication_classes =
    [OptionalUserAuthentication]` and `permission_classes = [AllowAny]` instead.
    """

    authentication_classes = [UserAuthentication]
    permission_classes = [IsUser]


def is_administrator_request(request: Request) -> bool:
    """Return whether a request has an administrator's verified token or session cookie."""
    if isinstance(request.auth, VerifiedIdentity) and sessions.find_administrator(request.auth) is not None:
        return True
    return sessions.find_session(request._request) is not None

"""What a partner key may be used for, and what asks for a user."""

from typing import Any

from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.authentication import KEY_REQUIRED, UNAUTHORIZED, PartnerKeyAuthentication, UserAuthentication
from accounts.models import PartnerKey, Scope
from accounts.users.calling_users import CallingUser


def lacking(scope: Scope) -> str:
    """What a partner key without the scope is answered."""
    return f"This key lacks the scope {scope}"


class HasScope(BasePermission):
    """Lets partner keys pass that have the scope which the view names in `required_scope` (a Scope)."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.auth, PartnerKey):
            raise NotAuthenticated(KEY_REQUIRED)
        if view.required_scope not in request.auth.scopes:
            raise PermissionDenied(lacking(view.required_scope))
        return True


class PartnerAccess(APIView):
    """What views that are called with a partner key have first among their bases; the key must have the scope."""

    authentication_classes = [PartnerKeyAuthentication]
    permission_classes = [HasScope]
    required_scope = Scope.READ


class IsUser(BasePermission):
    """Lets users pass."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.user, CallingUser):
            raise NotAuthenticated(UNAUTHORIZED)
        return True


class UserAccess(APIView):
    """What views that are called with a user's token have first among their bases.

    `request.user` is a CallingUser. Views that also take callers without a token have `authentication_classes =
    [UserIfAny]` instead, and `permission_classes = [AllowAny]`.
    """

    authentication_classes = [UserAuthentication]
    permission_classes = [IsUser]

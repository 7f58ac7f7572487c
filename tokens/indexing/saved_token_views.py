"""Tokens that pages say have been launched."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from accounts.authentication import UserIfAny
from accounts.users.calling_users import CallingUser
from config.api.errors import Conflict
from config.api.throttling import AnonymousSaveLimit, SaveLimit
from config.api.views import LimitedView
from tokens.indexing import saved_tokens
from tokens.indexing.serializers import SaveAnswer, SaveBody


class SaveDeployedTokenView(LimitedView):
    """Whoever calls is believed nothing: the chain is asked."""

    authentication_classes = [UserIfAny]
    permission_classes = [AllowAny]

    def get_throttles(self) -> list[BaseThrottle]:
        """Users have a limit of their own; whose token is refused counts as everybody without a key."""
        if self.throttle_classes:
            return super().get_throttles()
        return [AnonymousSaveLimit() if _user(self.request) is None else SaveLimit()]

    @extend_schema(operation_id="saveDeployedToken", request=SaveBody, responses={200: SaveAnswer, 409: None})
    def post(self, request: Request) -> Response:
        """Say that a transaction has launched a token: it is looked at in five seconds, and listed if that is true.

        With a user's token it is saved as his at once, unindexed until the chain confirms it. The same again answers
        the same. 409 where you have saved 1,000 tokens.
        """
        body = SaveBody(data=request.data)
        body.is_valid(raise_exception=True)
        try:
            saved_tokens.save(**body.validated_data, user=_user(request))
        except saved_tokens.NoRoom as error:
            raise Conflict(str(error)) from error
        return Response(SaveAnswer(body.validated_data).data)


def _user(request: Request) -> CallingUser | None:
    user: Any = request.user
    return user if isinstance(user, CallingUser) else None

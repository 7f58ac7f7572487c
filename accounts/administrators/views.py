"""Who may see what administrators see, in a browser: a session that begins and ends."""

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from accounts.administrators import sessions
from accounts.administrators.serializers import EndAnswer, PasswordBody, SessionAnswer
from accounts.authentication import UNAUTHORIZED, UserIfAny
from accounts.users.identity import VerifiedIdentity
from config.api.response_headers import NEVER_STORED
from config.api.throttling import AdminVerifyLimit
from config.api.views import LimitedView

# The endpoints; pages and the admin site never get the cookie.
_COOKIE_PATH = "/api/"
# When a cookie that a browser is to forget ends.
_PAST = datetime(1970, 1, 1, tzinfo=UTC)


class AdminVerifyView(LimitedView):
    """A wrong name, password or code, a locked out or unknown account and a token of somebody else are one 401."""

    authentication_classes = [UserIfAny]
    permission_classes = [AllowAny]

    def get_throttles(self) -> list[BaseThrottle]:
        """Guesses have a limit of their own, with bad tokens among them."""
        return [AdminVerifyLimit()] if self.request.method == "POST" else super().get_throttles()

    @extend_schema(operation_id="beginAdminSession", request=PasswordBody, responses={200: SessionAnswer, 401: None})
    def post(self, request: Request) -> Response:
        """Begin an administrator's session: its cookie `admin_session` shows what administrators see, and no more.

        With the name and password of a staff account (and `code`, where it has a second factor), or with an
        administrator's token in the header Authorization, for which no body is read.
        """
        session = sessions.begin(_holder(request))
        response = Response(SessionAnswer(session).data)
        _set_cookie(response, session.cookie, expires=session.expires_at)
        return response

    @extend_schema(
        operation_id="endAdminSession",
        request=None,
        responses={200: EndAnswer, 401: None},
        auth=[{"adminSession": []}],  # type: ignore[list-item]
    )
    def delete(self, request: Request) -> Response:
        """End the session of the cookie, which is refused from then on. Without a live one this is 401."""
        session = sessions.of_request(request._request)
        if session is None or not sessions.revoke(session):
            raise NotAuthenticated(UNAUTHORIZED)
        return Response(EndAnswer({}).data)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Nobody keeps an answer; the browser forgets the cookie of a session that is over, and of none.

        That of a live one stays where the call was refused for a bad token: its session is not over.
        """
        response = super().finalize_response(request, response, *args, **kwargs)
        response["Cache-Control"] = NEVER_STORED
        is_answered = request.method == "DELETE" and response.status_code in (200, 401)
        if is_answered and sessions.of_request(request._request) is None:
            _set_cookie(response, "", expires=_PAST)
        return response


def _set_cookie(response: Response, value: str, *, expires: datetime) -> None:
    response.set_cookie(
        sessions.COOKIE,
        value,
        expires=expires,
        path=_COOKIE_PATH,
        secure=not settings.DEBUG,
        httponly=True,
        samesite="Lax",
    )


def _holder(request: Request) -> Any:
    """The account or the administrator that the call proves. Raises AuthenticationFailed, and ValidationError."""
    if isinstance(request.auth, VerifiedIdentity):
        holder: Any = sessions.find(request.auth)
    else:
        body = PasswordBody(data=request.data)
        body.is_valid(raise_exception=True)
        holder = sessions.check_password(request._request, **body.validated_data)
    if holder is None:
        raise AuthenticationFailed(UNAUTHORIZED)
    return holder

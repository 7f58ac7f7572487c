"""What users do with their pretokens."""

import uuid
from typing import Any, cast

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import UserAccess
from accounts.users.calling_users import CallingUser
from config.api.errors import Conflict
from config.api.response_headers import PRIVATE_NEVER_STORED
from config.api.throttling import PretokenLimit
from config.api.views import LimitedView, QueryView
from pretokens import body as bodies
from pretokens import lifecycle, serializers, storage_quota
from pretokens.models import Pretoken
from tokens.deploying import api_errors

_ID = OpenApiParameter(
    "id", OpenApiTypes.UUID, OpenApiParameter.PATH, description="As it was answered when it was made."
)


class PretokenCreationView(UserAccess, LimitedView):
    """Keeping configurations that wait."""

    throttle_classes = [PretokenLimit]
    max_body_bytes = api_errors.MAX_AIRDROP_BYTES

    @extend_schema(
        operation_id="createPretoken",
        request=serializers.PretokenShape,
        responses={200: serializers.CREATED, 409: None, 502: None, 503: None},
    )
    def post(self, request: Request) -> Response:
        """Keep the configuration of a token for seven days, under a keyword.

        It is checked as a deployment is, and its transaction simulated as sent by the token's admin, whose wallet needs
        no funds. 409 where one of your pending pretokens has the keyword, where you have 25 of them, or more than
        16 MiB in them, and where all that you have made has too many bytes: what is deleted or past its time lies there
        for a while.
        """
        api_errors.refuse_large(request)
        try:
            with api_errors.told(bodies.NAMES):
                pretoken = lifecycle.create(request.data, person_id=_user(request).person_id, fid=_user(request).fid)
        except storage_quota.KeywordTaken as error:
            raise Conflict("A pretoken with this keyword is pending") from error
        except storage_quota.NoRoom as error:
            raise Conflict(str(error)) from error
        return Response({"success": True, "id": pretoken.pk})


class PendingPretokensView(UserAccess, QueryView):
    """A user's own pretokens."""

    cache_control = PRIVATE_NEVER_STORED

    @extend_schema(operation_id="listPendingPretokens", responses={200: serializers.PENDING})
    def get(self, request: Request) -> Response:
        """List your pretokens that are neither past their time, deleted nor deployed, newest first."""
        pending = Pretoken.objects.owned_by(_user(request).person_ids).pending().newest_first()
        return Response({"pendingPretokens": [_pending(pretoken) for pretoken in pending]})


class PretokenView(UserAccess, LimitedView):
    """One pretoken."""

    @extend_schema(operation_id="deletePretoken", parameters=[_ID], responses={200: serializers.DELETED})
    def delete(self, request: Request, id: str) -> Response:
        """Delete a pending pretoken of yours. What is no such one is not found, whatever else it may be."""
        pretoken_id = _read_id(id)
        if pretoken_id is None or not lifecycle.delete(pretoken_id, person_ids=_user(request).person_ids):
            raise NotFound("Pretoken not found")
        return Response({"success": True})


def _user(request: Request) -> CallingUser:
    return cast(CallingUser, request.user)


def _pending(pretoken: Pretoken) -> dict[str, Any]:
    return {
        **pretoken.body,
        "id": pretoken.pk,
        "created_at": pretoken.created_at,
        "expires_at": pretoken.expires_at,
        "status": pretoken.state,
    }


def _read_id(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None

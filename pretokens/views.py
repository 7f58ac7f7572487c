"""Endpoints for users' pretokens."""

import uuid
from typing import Any, cast

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import UserAccess
from accounts.users.calling_users import CallingUser
from config.api.errors import ConflictError
from config.api.throttling import PretokenLimit
from config.api.views import LimitedView, QueryView
from config.web.response_headers import PRIVATE_NO_STORE
from pretokens import lifecycle, responses, storage_quota
from pretokens.body import FIELD_NAMES, PRETOKEN_BODY
from pretokens.models import Pretoken
from tokens.deploying import api_errors

_ID = OpenApiParameter("id", OpenApiTypes.UUID, OpenApiParameter.PATH, description="The id returned by its creation.")


class PretokenCreationView(UserAccess, LimitedView):
    """Pretoken creation."""

    throttle_classes = [PretokenLimit]
    max_body_bytes = api_errors.MAX_AIRDROP_BYTES

    @extend_schema(
        operation_id="createPretoken",
        request=PRETOKEN_BODY.schema,
        responses={200: responses.PretokenCreated, 409: None, 502: None, 503: None},
    )
    def post(self, request: Request) -> Response:
        """Store a token configuration for seven days, under a keyword.

        It is validated like a deployment. Its transaction is simulated with the token's admin as sender; that
        wallet needs no funds. 409 if one of your pending pretokens has the keyword, if 25 are pending, if they
        exceed 16 MiB, or if all your stored pretokens exceed the storage quota. Deleted and expired ones count
        until they are pruned.
        """
        api_errors.reject_oversized(request)
        try:
            with api_errors.as_api_errors(FIELD_NAMES):
                pretoken = lifecycle.create_pretoken(
                    request.data, person_id=_user(request).person_id, fid=_user(request).fid
                )
        except storage_quota.KeywordTakenError as error:
            raise ConflictError("A pretoken with this keyword is pending") from error
        except storage_quota.PretokenQuotaError as error:
            raise ConflictError(str(error)) from error
        return Response(responses.PretokenCreated(success=True, id=pretoken.pk))


class PendingPretokensView(UserAccess, QueryView):
    """The user's pending pretokens."""

    cache_control = PRIVATE_NO_STORE

    @extend_schema(operation_id="listPendingPretokens", responses={200: responses.PENDING})
    def get(self, request: Request) -> Response:
        """List your pending pretokens, newest first: those that are not expired, deleted or deployed."""
        pending = Pretoken.objects.owned_by(_user(request).person_ids).pending().newest_first()
        return Response({"pendingPretokens": [_pending(pretoken) for pretoken in pending]})


class PretokenView(UserAccess, LimitedView):
    """One pretoken."""

    @extend_schema(operation_id="deletePretoken", parameters=[_ID], responses={200: responses.PretokenDeleted})
    def delete(self, request: Request, id: str) -> Response:
        """Delete a pending pretoken of yours. Any other id is 404."""
        pretoken_id = _read_id(id)
        if pretoken_id is None or not lifecycle.delete_pretoken(pretoken_id, person_ids=_user(request).person_ids):
            raise NotFound("Pretoken not found")
        return Response(responses.PretokenDeleted(success=True))


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

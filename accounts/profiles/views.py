"""Endpoints for users' profiles."""

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.profiles import public_users
from accounts.profiles.responses import PublicUser, PublicUsers
from accounts.profiles.serializers import UserByAddressQuery, UserByFidQuery, UserByNameQuery, UsersByFidsQuery
from config.api.replica_reads import from_replica
from config.api.views import QueryView
from config.web.response_headers import public_cache_control

# Profiles are fetched anew after hours.
_CACHE_CONTROL = public_cache_control(300)


class UserByFidView(QueryView):
    """User lookup by FID."""

    query_serializer = UserByFidQuery
    cache_control = _CACHE_CONTROL

    @extend_schema(operation_id="getUserByFid", responses={200: PublicUser, 404: None})
    @from_replica
    def get(self, request: Request) -> Response:
        """Look up a user by FID. 404 for a user that this service does not know from a launch or an agent."""
        return _user_response(public_users.find_user_by_fid(self.query["fid"]))


class UserByAddressView(QueryView):
    """User lookup by verified address."""

    query_serializer = UserByAddressQuery
    cache_control = _CACHE_CONTROL

    @extend_schema(operation_id="getUserByAddress", responses={200: PublicUser, 404: None})
    @from_replica
    def get(self, request: Request) -> Response:
        """Look up a user by an address that the user has verified. If several users have it, the lowest FID wins."""
        return _user_response(public_users.find_user_by_address(self.query["address"]))


class UserByNameView(QueryView):
    """User lookup by name."""

    query_serializer = UserByNameQuery
    cache_control = _CACHE_CONTROL

    @extend_schema(operation_id="getUserByName", responses={200: PublicUser, 404: None})
    @from_replica
    def get(self, request: Request) -> Response:
        """Look up a user by user name. If a name has passed to another user, the profile fetched last wins."""
        name = self.query["name"].removeprefix("@")
        # Users without a name have an empty one.
        return _user_response(public_users.find_user_by_name(name) if name else None)


class UsersByFidsView(QueryView):
    """Lookup of several users."""

    query_serializer = UsersByFidsQuery
    cache_control = _CACHE_CONTROL

    @extend_schema(operation_id="getUsersByFids", responses={200: PublicUsers})
    @from_replica
    def get(self, request: Request) -> Response:
        """Look up users by up to 100 FIDs, in the sequence of the request. Unknown users are absent."""
        return Response(PublicUsers(users=public_users.find_users(self.query["fids"])))


def _user_response(user: PublicUser | None) -> Response:
    if user is None:
        raise NotFound("User not found")
    return Response(user)

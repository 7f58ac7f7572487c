"""The GET endpoints' base view: parameters, headers and addresses."""

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework import serializers
from rest_framework.exceptions import NotAuthenticated, NotFound
from rest_framework.permissions import BasePermission
from rest_framework.response import Response

from config.api.fields import FlagField, WholeNumberField
from config.api.views import QueryView
from config.web.response_headers import private_cache_control, public_cache_control
from config.web.routing import endpoint
from tokens.installation.chain_fields import AddressField

pytestmark = pytest.mark.urls(__name__)


class ListingQuery(serializers.Serializer):
    q = serializers.CharField(required=False, max_length=100)
    limit = WholeNumberField(min_value=0, max_value=20, default=10)
    champagne = FlagField(default=False)
    msgSender = AddressField(required=False)
    sortBy = serializers.ChoiceField(choices=["deployed-at", "market-cap"], default="deployed-at")


class Listing(QueryView):
    query_serializer = ListingQuery
    cache_control = public_cache_control(2)

    def get(self, request):
        if self.query["limit"] == 4:
            raise NotFound("Token not found")
        if self.query["limit"] == 6:
            return Response({"error": "Search timed out"}, status=503)
        return Response(self.query)

    def post(self, request):
        return Response({"posted": request.data})


class Private(QueryView):
    cache_control = private_cache_control(120)

    def get(self, request):
        return Response({}, headers={"Cache-Control": "private, no-store"} if "own" in request.query_params else None)


class Item(QueryView):
    def get(self, request, number, word):
        return Response([number, word])


class Old(Listing):
    successor = "/api/listing"


class DenyAll(BasePermission):
    def has_permission(self, request, view):
        raise NotAuthenticated("API key is required")


class Guarded(Listing):
    permission_classes = [DenyAll]


urlpatterns = [
    endpoint("api/listing", Listing.as_view(), name="listing"),
    endpoint("api/listing/<int:number>/<str:word>", Item.as_view(), name="item"),
    endpoint("api/private", Private.as_view()),
    endpoint("api/old", Old.as_view()),
    endpoint("api/guarded", Guarded.as_view()),
]

handler404 = "config.api.error_handling.page_not_found"


@pytest.fixture
def api():
    return Client()


def test_it_lists_every_bad_parameter(api):
    details = api.get("/api/listing?limit=99&champagne=maybe&q=a&q=b").json()["details"]
    assert {detail["field"] for detail in details} == {"limit", "champagne", "q"}


def test_it_takes_empty_values_for_absent_ones(api):
    assert api.get("/api/listing?limit=&q=&champagne=&msgSender=&sortBy=").json() == api.get("/api/listing").json()


def test_it_hands_validated_values_to_the_view(api):
    address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
    assert api.get(f"/api/listing?limit=0&champagne=TRUE&msgSender={address.lower()}").json() == {
        "limit": 0,
        "champagne": True,
        "msgSender": address,
        "sortBy": "deployed-at",
    }


def test_it_leaves_bodies_to_the_view(api):
    assert api.post("/api/listing?limit=99", {"a": 1}, content_type="application/json").json() == {"posted": {"a": 1}}


def test_it_answers_head_like_get_without_a_body(api):
    response = api.head("/api/listing?limit=3")
    assert (response.status_code, response.content, response["Cache-Control"]) == (200, b"", "public, s-maxage=2")
    assert api.head("/api/listing?limit=99").status_code == 400


def test_it_names_ignored_parameters(api):
    assert api.get("/api/listing?pageSize=3&page=2&limit=1")["X-Ignored-Params"] == "page,pageSize"


def test_it_names_no_ignored_parameters_where_there_are_none(api):
    assert "X-Ignored-Params" not in api.get("/api/listing?limit=1")


def test_it_names_ignored_parameters_on_errors_too(api):
    assert api.get("/api/listing?partner=x&limit=99")["X-Ignored-Params"] == "partner"


def test_it_names_ignored_parameters_of_a_call_with_a_body(api):
    answer = api.post("/api/listing?page=2&limit=1", {"a": 1}, content_type="application/json")
    assert answer["X-Ignored-Params"] == "page"


def test_a_refused_caller_gets_nothing_about_parameters(api):
    answer = api.get("/api/guarded?page=2")
    assert answer.status_code == 401
    assert "X-Ignored-Params" not in answer


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a%0d%0aSet-Cookie:x", "a??Set-Cookie:x"),
        ("a,b", "a?b"),
        ("a%20b", "a?b"),
        ("%00", "?"),
        ("%C3%A4", "?"),
        ("%7F%1B", "??"),
        ("a" * 80, "a" * 50),
    ],
)
def test_it_lets_no_caller_write_a_header(api, name, shown):
    response = api.get(f"/api/listing?{name}=1")
    assert response["X-Ignored-Params"] == shown
    assert "Set-Cookie" not in response


def test_it_names_at_most_twenty_ignored_parameters(api):
    query = "&".join(f"p{number:03}=1" for number in range(200))
    assert api.get(f"/api/listing?{query}")["X-Ignored-Params"].split(",") == [f"p{number:03}" for number in range(20)]


@pytest.mark.parametrize(
    ("address", "header"),
    [
        ("/api/listing", "public, s-maxage=2"),
        ("/api/private", "private, max-age=120"),
        ("/api/private?own=1", "private, no-store"),
        ("/api/listing?limit=99", "no-store"),
        ("/api/listing?limit=4", "no-store"),
        ("/api/listing?limit=6", "no-store"),
        ("/api/guarded", "no-store"),
    ],
)
def test_it_has_cache_headers_for_responses_and_none_for_errors(api, address, header):
    assert api.get(address)["Cache-Control"] == header


def test_it_writes_stale_seconds_for_shared_caches():
    assert public_cache_control(30, stale_seconds=60) == "public, s-maxage=30, stale-while-revalidate=60"


@pytest.mark.parametrize(
    ("address", "status"), [("/api/old", 200), ("/api/old?limit=99", 400), ("/api/old?limit=4", 404)]
)
def test_a_deprecated_endpoint_names_its_successor_in_every_answer(api, address, status):
    response = api.get(address)
    assert response.status_code == status
    assert response["Link"] == '</api/listing>; rel="successor-version"'
    # RFC 9745: a date, in Unix seconds behind an at sign.
    assert response["Deprecation"] == "@1767225600"


def test_other_endpoints_are_not_deprecated(api):
    assert not {"Deprecation", "Link"} & set(api.get("/api/listing").headers)


@pytest.mark.parametrize("method", ["get", "post"])
def test_it_takes_a_trailing_slash_without_redirecting(api, method):
    with_slash = getattr(api, method)("/api/listing/", content_type="application/json")
    without = getattr(api, method)("/api/listing", content_type="application/json")
    assert with_slash.status_code == without.status_code == 200
    assert with_slash.content == without.content


@pytest.mark.parametrize("address", ["/api/listing//", "/api/listing/7", "/api/listing/7/a/b", "/api/listingx"])
def test_it_takes_no_other_address(api, address):
    assert api.get(address).status_code == 404


def test_it_reads_path_parameters_with_and_without_a_slash(api):
    assert api.get("/api/listing/7/word").json() == api.get("/api/listing/7/word/").json() == [7, "word"]


def test_it_reverses_to_the_address_without_a_slash():
    assert reverse("item", kwargs={"number": 7, "word": "x"}) == "/api/listing/7/x"

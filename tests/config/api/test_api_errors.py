"""config/api: the error body, which is the same for every error wherever it occurs."""

import json
import logging

import pytest
from django.core import exceptions as django_exceptions
from django.db import OperationalError
from django.http import Http404
from django.test import Client
from django.urls import path
from rest_framework import exceptions, serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.response import Response
from rest_framework.views import APIView

from config.api.errors import (
    BadRequestError,
    ConflictError,
    PayloadTooLargeError,
    UpstreamFailedError,
    UpstreamUnavailableError,
)
from config.api.views import QueryView
from config.http.errors import PermanentError, RetryableError
from config.urls import urlpatterns as all_patterns
from config.web.routing import endpoint

pytestmark = pytest.mark.urls(__name__)

CAUSED = UpstreamUnavailableError("The chain is not available", wait=7)
CAUSED.__cause__ = RetryableError("HTTP status 503 of the node")

RAISED = {
    "caused": CAUSED,
    "missing": exceptions.NotFound("Token not found"),
    "missing-page": Http404({"tried": ["a", "b"]}),
    "missing-plain": exceptions.NotFound(),
    "conflict": ConflictError("requestKey was used with another body"),
    "too-large": PayloadTooLargeError(),
    "named": BadRequestError("Unsupported chain", field="chainId"),
    "ruled": BadRequestError("chainId must be a chain of this service", field="chainId"),
    "twice": exceptions.ValidationError({"limit": ["limit must be less"], "limits": ["limit must be less"]}),
    "plain-text": exceptions.ValidationError("Failed to index transaction"),
    "model": django_exceptions.ValidationError({"keyword": ["is taken"]}),
    "empty": exceptions.ValidationError({}),
    "throttled": exceptions.Throttled(wait=12.3),
    "throttled-plain": exceptions.Throttled(),
    "failed": UpstreamFailedError("Market data failed", wait=30),
    "unavailable": UpstreamUnavailableError(),
    "retryable": RetryableError("HTTP status 503 of http://secret.example/key"),
    "permanent": PermanentError("HTTP status 400 of http://secret.example/key"),
    "database": OperationalError("connection to server at 10.0.0.7 failed"),
    "denied": django_exceptions.PermissionDenied("internal reason"),
    "suspicious": django_exceptions.SuspiciousOperation("internal reason"),
    "django-too-large": django_exceptions.RequestDataTooBig("internal reason"),
    "unauthenticated": exceptions.AuthenticationFailed(),
    "unforeseen": ZeroDivisionError("secret of the house"),
}


class Raising(APIView):
    def get(self, request, name):
        raise RAISED[name]


class RewardSerializer(serializers.Serializer):
    allocation = serializers.IntegerField(min_value=1)


class BodySerializer(serializers.Serializer):
    limit = serializers.IntegerField(required=False, max_value=20)
    rewards = RewardSerializer(many=True, required=False)
    words = serializers.ListField(child=serializers.CharField(max_length=3), required=False)
    shade = serializers.ChoiceField(choices=["red"], required=False)

    def validate(self, attrs):
        if attrs.get("limit") == 13:
            raise serializers.ValidationError("limit and luck exclude each other")
        return attrs


class Validating(APIView):
    def post(self, request):
        BodySerializer(data=request.data).is_valid(raise_exception=True)
        return Response({})


class Extending(APIView):
    def extend_error(self, body):
        return {"success": False, **body, "message": body["error"]}

    def get(self, request):
        raise exceptions.ValidationError({"token": ["is required"]})


class Querying(QueryView):
    def get(self, request):
        return Response({})


class KeyAuthentication(BaseAuthentication):
    def authenticate(self, request):
        if request.headers.get("x-api-key"):
            raise exceptions.AuthenticationFailed("Unauthorized")

    def authenticate_header(self, request):
        return 'ApiKey realm="api"'


class KeyRequired(BasePermission):
    def has_permission(self, request, view):
        raise exceptions.NotAuthenticated("API key is required")


class Keyed(APIView):
    authentication_classes = [KeyAuthentication]
    permission_classes = [KeyRequired]

    def get(self, request):
        return Response({})


def failing_page(request):
    raise ZeroDivisionError("secret of the house")


def page_without_database(request):
    raise OperationalError("connection to server at 10.0.0.7 failed")


urlpatterns = [
    endpoint("api/raise/<str:name>", Raising.as_view()),
    endpoint("api/validate", Validating.as_view()),
    endpoint("api/extend", Extending.as_view()),
    endpoint("api/query", Querying.as_view()),
    endpoint("api/keyed", Keyed.as_view()),
    path("api/failing-page", failing_page),
    path("api/page-without-database", page_without_database),
    path("failing-page", failing_page),
    path("page-without-database", page_without_database),
    # Patterns with a language are allowed in the root URLconf only.
    *all_patterns,
]
handler400 = "config.api.error_handling.bad_request"
handler403 = "config.api.error_handling.forbidden"
handler404 = "config.api.error_handling.page_not_found"
handler500 = "config.api.error_handling.server_error"


@pytest.fixture
def api():
    return Client(raise_request_exception=False, headers={"accept": "text/html"})


def refused(response, status):
    """Check what holds for every error, and return the error body."""
    assert response.status_code == status
    assert response["Content-Type"] == "application/json"
    assert response["Cache-Control"] == "no-store"
    body = response.json()
    assert isinstance(body["error"], str) and body["error"]
    assert "detail" not in body
    return body


@pytest.mark.parametrize(
    ("name", "status", "text"),
    [
        ("missing", 404, "Token not found"),
        ("missing-page", 404, "Not found"),
        ("missing-plain", 404, "Not found"),
        ("conflict", 409, "requestKey was used with another body"),
        ("too-large", 413, "Request body is too large"),
        ("failed", 502, "Market data failed"),
        ("unavailable", 503, "Upstream is not available"),
        ("denied", 403, "You do not have permission to perform this action."),
        ("suspicious", 400, "Bad request"),
        ("django-too-large", 413, "Request body is too large"),
        ("unauthenticated", 401, "Unauthorized"),
        ("unforeseen", 500, "Internal server error"),
    ],
)
def test_it_answers_an_exception_with_its_status_and_one_sentence(api, name, status, text):
    response = api.get(f"/api/raise/{name}")
    assert refused(response, status) == {"error": text}
    assert response.get("Retry-After") == {"failed": "30", "unavailable": "5"}.get(name)


@pytest.mark.parametrize(("name", "status"), [("retryable", 503), ("permanent", 502), ("database", 503)])
def test_it_hides_the_response_of_an_upstream_or_the_database(api, name, status):
    response = api.get(f"/api/raise/{name}")
    refused(response, status)
    assert response["Retry-After"] == "5"
    assert b"secret" not in response.content and b"10.0.0.7" not in response.content


def test_it_logs_an_unforeseen_error_with_its_traceback_and_hides_it_from_the_caller(api, caplog):
    with caplog.at_level(logging.ERROR, logger="config.api"):
        response = api.get("/api/raise/unforeseen")
    assert b"secret" not in response.content and b"ZeroDivisionError" not in response.content
    assert "secret of the house" in caplog.text and "Traceback" in caplog.text


def test_it_logs_why_an_upstream_is_not_available(api, caplog):
    with caplog.at_level(logging.WARNING, logger="config.api"):
        response = api.get("/api/raise/caused")
    assert refused(response, 503) == {"error": "The chain is not available"}
    assert "HTTP status 503 of the node" in caplog.text


def test_it_lets_error_trackers_see_an_unforeseen_error():
    with pytest.raises(ZeroDivisionError):
        Client().get("/api/raise/unforeseen")


@pytest.mark.parametrize(("name", "wait"), [("throttled", "13"), ("throttled-plain", "1")])
def test_it_has_retry_after_at_a_limit(api, name, wait):
    response = api.get(f"/api/raise/{name}")
    assert refused(response, 429) == {"error": "Too many requests. Please try again later."}
    assert response["Retry-After"] == wait


@pytest.mark.parametrize(
    ("name", "field", "text"),
    [("named", "chainId", "Unsupported chain"), ("plain-text", "query", "Failed to index transaction")],
)
def test_it_keeps_the_sentence_of_a_bad_request_and_names_its_field(api, name, field, text):
    expected = {"error": text, "details": [{"field": field, "message": text}]}
    assert refused(api.get(f"/api/raise/{name}"), 400) == expected


def test_details_do_not_repeat_the_field_in_the_message(api):
    assert refused(api.get("/api/raise/ruled"), 400) == {
        "error": "chainId must be a chain of this service",
        "details": [{"field": "chainId", "message": "must be a chain of this service"}],
    }
    assert refused(api.get("/api/raise/twice"), 400) == {
        "error": "limit must be less",
        "details": [
            {"field": "limit", "message": "must be less"},
            # A longer name is another field.
            {"field": "limits", "message": "limit must be less"},
        ],
    }


@pytest.mark.parametrize(("name", "text"), [("model", "keyword is taken"), ("empty", "is not valid")])
def test_it_reads_refusals_of_models_and_those_without_any_text(api, name, text):
    assert refused(api.get(f"/api/raise/{name}"), 400)["error"] == text


@pytest.mark.parametrize(
    ("body", "error", "details"),
    [
        (
            {"limit": 21},
            "limit: Ensure this value is less than or equal to 20",
            [("limit", "Ensure this value is less than or equal to 20.")],
        ),
        (
            {"rewards": [{"allocation": 1}, {"allocation": 0}, {}]},
            "rewards[1].allocation: Ensure this value is greater than or equal to 1",
            [
                ("rewards[1].allocation", "Ensure this value is greater than or equal to 1."),
                ("rewards[2].allocation", "This field is required."),
            ],
        ),
        (
            {"rewards": [{}]},
            "rewards[0].allocation is required",
            [("rewards[0].allocation", "This field is required.")],
        ),
        (
            {"rewards": 5},
            'rewards: Expected a list of items but got type "int"',
            [("rewards", 'Expected a list of items but got type "int".')],
        ),
        (
            {"rewards": [5]},
            "rewards[0]: Invalid data. Expected a dictionary, but got int",
            [("rewards[0]", "Invalid data. Expected a dictionary, but got int.")],
        ),
        (
            {"words": ["abc", "abcd"]},
            "words[1]: Ensure this field has no more than 3 characters",
            [("words[1]", "Ensure this field has no more than 3 characters.")],
        ),
        ({"limit": 13}, "limit and luck exclude each other", [("body", "limit and luck exclude each other")]),
        (
            [1],
            "Invalid data. Expected a dictionary, but got list.",
            [("body", "Invalid data. Expected a dictionary, but got list.")],
        ),
        (
            "text",
            "Invalid data. Expected a dictionary, but got str.",
            [("body", "Invalid data. Expected a dictionary, but got str.")],
        ),
        (None, "No data provided", [("body", "No data provided")]),
    ],
)
def test_it_names_the_first_refused_parameter_and_lists_all(api, body, error, details):
    refusal = refused(api.post("/api/validate", json.dumps(body), content_type="application/json"), 400)
    assert refusal["error"] == error
    assert refusal["details"] == [{"field": field, "message": message} for field, message in details]


def test_it_lets_a_view_add_keys_to_its_errors(api):
    assert refused(api.get("/api/extend"), 400) == {
        "success": False,
        "error": "token is required",
        "details": [{"field": "token", "message": "is required"}],
        "message": "token is required",
    }


@pytest.mark.parametrize(("headers", "text"), [({}, "API key is required"), ({"x-api-key": "wrong"}, "Unauthorized")])
def test_it_challenges_a_caller_without_good_credentials(api, headers, text):
    response = api.get("/api/keyed", headers=headers)
    assert refused(response, 401) == {"error": text}
    assert response["WWW-Authenticate"] == 'ApiKey realm="api"'


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete", "head", "options"])
@pytest.mark.parametrize("debug", [True, False])
def test_it_answers_an_unknown_address_below_api_with_json(api, settings, method, debug):
    settings.DEBUG = debug
    for address in ("/api", "/api/", "/api/nothing", "/api/nothing/", "/api/nothing/x%00y", "/api//"):
        response = getattr(api, method)(address)
        assert (response.status_code, response["Content-Type"]) == (404, "application/json")
        assert method == "head" or response.json() == {"error": "Not found"}


def test_it_names_the_methods_that_an_address_has(api):
    response = api.delete("/api/validate")
    assert refused(response, 405) == {"error": 'Method "DELETE" not allowed.'}
    assert response["Allow"] == "POST, OPTIONS"


def test_it_answers_options_with_only_the_methods(api):
    response = api.options("/api/validate")
    assert (response.status_code, response.json(), response["Allow"]) == (200, {}, "POST, OPTIONS")


def test_it_answers_a_foreign_host_with_json(api):
    assert refused(api.get("/api/nothing", headers={"host": "evil.example"}), 400) == {"error": "Bad request"}


def test_it_answers_too_many_parameters_with_json(api):
    query = "&".join(f"p{number}=1" for number in range(1500))
    assert refused(api.get(f"/api/query?{query}"), 400) == {"error": "Bad request"}


def test_half_a_million_parameters_are_refused_before_they_are_split(api):
    assert refused(api.get("/api/query?" + "&" * 500_000), 400) == {"error": "Bad request"}


def test_it_reports_at_most_twenty_problems_and_counts_the_others(api):
    body = {"rewards": [{"allocation": 0}] * 500, "words": ["abcd"] * 500}
    refusal = refused(api.post("/api/validate", json.dumps(body), content_type="application/json"), 400)
    assert len(refusal["details"]) == 20
    assert refusal["details"][-1] == {"field": "body", "message": "breaks rules in 981 more places"}


def test_a_message_repeats_no_long_value(api):
    body = {"shade": "x" * 100_000}
    refusal = refused(api.post("/api/validate", json.dumps(body), content_type="application/json"), 400)
    assert len(json.dumps(refusal)) < 3_000


def test_it_answers_a_failure_outside_of_the_framework_with_json(api):
    assert refused(api.get("/api/failing-page"), 500) == {"error": "Internal server error"}


def test_it_answers_an_outage_outside_of_the_framework_with_503(api):
    response = api.get("/api/page-without-database")
    assert refused(response, 503) == {"error": "Service is temporarily unavailable"}
    assert (response["Retry-After"], response["Cache-Control"]) == ("5", "no-store")


def test_a_page_without_the_database_is_an_outage_and_no_bug(api):
    response = api.get("/page-without-database")
    assert (response.status_code, response["Retry-After"], response["Cache-Control"]) == (503, "5", "no-store")
    assert response["Content-Type"] == "text/html; charset=utf-8"
    assert "Try again in a minute" in response.content.decode() and "10.0.0.7" not in response.content.decode()
    response = api.get("/failing-page")
    assert (response.status_code, "Retry-After" in response.headers) == (500, False)


def test_it_leaves_pages_to_people(api):
    response = api.get("/nothing")
    assert (response.status_code, response["Content-Type"]) == (404, "text/html; charset=utf-8")

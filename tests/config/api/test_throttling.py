"""config/api/throttling.py: identities that are counted, response headers, and behaviour without Redis."""

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls import path as url
from redis import Redis
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from accounts.authentication import PartnerKeyAuthentication
from accounts.keys import credentials
from accounts.models import PartnerKey, Scope
from accounts.permissions import HasScope
from config.api.openapi_views import DocsView, OpenAPIView
from config.api.throttling import AdminVerifyLimit, IndexLimit, PartnerLimit, PublicLimit, rate_limit_headers
from config.api.views import LimitedView, QueryView
from config.redis.rate_limits import RateLimitResult
from config.urls import urlpatterns as service_urls
from tests.nodes.devchain_launches import UNKNOWN_HASH
from tests.processes.waiting import wait_for

TOO_MANY = {"error": "Too many requests. Please try again later."}
PUBLIC, KEYED, INDEX = "/api/open", "/api/partners", "/api/strict"


class OpenView(QueryView):
    def get(self, request):
        if "fail" in request.query_params:
            raise ZeroDivisionError
        return Response({})


class PartnersView(LimitedView):
    authentication_classes = [PartnerKeyAuthentication]
    permission_classes = [HasScope]
    required_scope = Scope.READ

    def get(self, request):
        return Response({})

    def post(self, request):
        raise ValidationError({"name": ["is bad"]} if request.data else {})


class StrictView(PartnersView):
    throttle_classes = [IndexLimit]


class NamedView(PartnersView):
    throttle_classes = [IndexLimit, PartnerLimit]


class CarefulView(LimitedView):
    throttle_classes = [AdminVerifyLimit]

    def get(self, request):
        return Response({})


urlpatterns = [
    url("api/open", OpenView.as_view()),
    url("api/partners", PartnersView.as_view()),
    url("api/strict", StrictView.as_view()),
    url("api/named", NamedView.as_view()),
    url("api/careful", CarefulView.as_view()),
    *service_urls,
]
handler404 = "config.api.error_handling.page_not_found"

pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]


@pytest.fixture(autouse=True)
def limits(settings: Any, no_calls: None) -> Any:
    """Set limits that tests can reach."""
    settings.RATE_LIMIT_PUBLIC, settings.RATE_LIMIT_KEYED, settings.RATE_LIMIT_INDEX = 3, 4, 2
    settings.RATE_LIMIT_ADMIN_VERIFY = 3
    return settings


@pytest.fixture
def api() -> Client:
    return Client(raise_request_exception=False)


@pytest.fixture
def other_key() -> dict[str, str]:
    return {"x-api-key": credentials.issue_key("Other", scopes=[Scope.READ])}


def rate_limit_of(answer: HttpResponse) -> tuple[int, str | None, str | None]:
    """Return status, limit and what remains."""
    return answer.status_code, answer.headers.get("RateLimit-Limit"), answer.headers.get("RateLimit-Remaining")


def statuses(call: Callable[[], HttpResponse], number: int) -> list[int]:
    return [call().status_code for _ in range(number)]


def test_it_refuses_one_call_too_many_with_retry_after(api):
    answers = [api.get(PUBLIC) for _ in range(5)]

    assert [rate_limit_of(answer) for answer in answers] == [
        (200, "3", "2"),
        (200, "3", "1"),
        (200, "3", "0"),
        (429, "3", "0"),
        (429, "3", "0"),
    ]
    for answer in answers:
        assert answer["RateLimit-Reset"].isdecimal() and 1 <= int(answer["RateLimit-Reset"]) <= 60
    refused = answers[-1]
    assert (refused.json(), refused["Content-Type"], refused["Cache-Control"]) == (
        TOO_MANY,
        "application/json",
        "no-store",
    )
    assert refused["Retry-After"] == refused["RateLimit-Reset"]
    assert "Retry-After" not in answers[0]


def test_it_rounds_the_rest_of_a_window_up():
    verdict = RateLimitResult(allowed=True, limit=9, remaining=5, reset_seconds=1.001)
    assert rate_limit_headers((verdict,))["RateLimit-Reset"] == "2"


def test_it_has_a_window_of_a_minute(api, read_key, index_key):
    for address, headers in ((PUBLIC, {}), (KEYED, read_key), ("/api/tokens/index", index_key)):
        method = api.post if headers == index_key else api.get
        assert method(address, headers=headers, content_type="application/json")["RateLimit-Reset"] == "60"


@pytest.mark.parametrize(
    ("address", "method", "status"),
    [
        ("/api/open?fail=1", "get", 500),
        ("/api/open", "post", 405),
        ("/api/open", "head", 200),
        ("/api/open", "options", 200),
        ("/api/tokens?limit=21", "get", 400),
        ("/api/tokens?cursor=nonsense", "get", 400),
        ("/api/nothing", "get", 404),
        ("/api/nothing", "delete", 404),
        ("/api", "get", 404),
        ("/api/tokens/fetch-by-pool-addresses", "post", 400),
    ],
)
def test_it_counts_a_public_call_however_it_ends(api, address, method, status):
    options = {"content_type": "application/json"} if method == "post" else {}
    answers = [getattr(api, method)(address, **options) for _ in range(4)]
    assert [rate_limit_of(answer) for answer in answers] == [
        (status, "3", "2"),
        (status, "3", "1"),
        (status, "3", "0"),
        (429, "3", "0"),
    ]


def test_it_counts_all_public_addresses_together(api):
    assert [api.get(address).status_code for address in (PUBLIC, "/api/nothing", "/api/tokens", PUBLIC)] == [
        200,
        404,
        200,
        429,
    ]


def test_it_refuses_before_anything_is_looked_up(api, django_assert_num_queries):
    assert statuses(lambda: api.get("/api/tokens"), 4)[-1] == 429
    with django_assert_num_queries(0):
        api.get("/api/tokens")


def test_it_counts_addresses_apart(api):
    assert statuses(lambda: api.get(PUBLIC, REMOTE_ADDR="192.0.2.1"), 4) == [200, 200, 200, 429]
    assert api.get(PUBLIC, REMOTE_ADDR="192.0.2.2").status_code == 200


def test_it_counts_keys_apart_from_addresses_and_from_each_other(api, read_key, other_key):
    assert statuses(lambda: api.get(PUBLIC), 4)[-1] == 429
    assert [rate_limit_of(api.get(KEYED, headers=read_key)) for _ in range(5)] == [
        (200, "4", "3"),
        (200, "4", "2"),
        (200, "4", "1"),
        (200, "4", "0"),
        (429, "4", "0"),
    ]
    assert rate_limit_of(api.get(KEYED, headers=other_key)) == (200, "4", "3")


def test_it_counts_a_key_wherever_it_calls_from_and_with_any_of_its_secrets(api, read_key):
    second = {"x-api-key": credentials.rotate_key(PartnerKey.objects.get(name="Reader"))}
    for number, headers in enumerate([read_key, second, read_key, second], start=1):
        answer = api.get(KEYED, headers=headers, REMOTE_ADDR=f"192.0.2.{number}")
        assert rate_limit_of(answer) == (200, "4", str(4 - number))
    assert api.get(KEYED, headers=second).status_code == 429


def test_a_key_where_none_is_required_changes_nothing(api, read_key):
    assert rate_limit_of(api.get(PUBLIC, headers=read_key)) == (200, "3", "2")


def test_it_counts_calls_that_the_key_does_not_allow_or_whose_body_is_refused(api, index_key, read_key):
    assert rate_limit_of(api.get(KEYED, headers=index_key)) == (403, "4", "3")
    assert rate_limit_of(api.post(KEYED, "{}", content_type="application/json", headers=read_key)) == (400, "4", "3")
    assert rate_limit_of(api.post(KEYED, "{", content_type="application/json", headers=read_key)) == (400, "4", "2")
    assert rate_limit_of(api.post(KEYED, "x", content_type="text/plain", headers=read_key)) == (415, "4", "1")


def test_indexing_has_a_limit_of_its_own(api, limits, index_key):
    body = json.dumps({"txHash": UNKNOWN_HASH, "chainId": 999_999})

    def call() -> HttpResponse:
        return api.post("/api/tokens/index", body, content_type="application/json", headers=index_key)

    assert [rate_limit_of(call()) for _ in range(3)] == [(400, "2", "1"), (400, "2", "0"), (429, "2", "0")]
    # Its calls are among the key's others, too.
    assert rate_limit_of(api.get(KEYED, headers=index_key)) == (403, "4", "0")


def test_the_limit_of_a_view_adds_to_the_general_limit_of_its_caller(api, limits, read_key):
    limits.RATE_LIMIT_KEYED, limits.RATE_LIMIT_INDEX = 2, 3
    assert [rate_limit_of(api.get(INDEX, headers=read_key)) for _ in range(3)] == [
        (200, "2", "1"),
        (200, "2", "0"),
        (429, "2", "0"),
    ]
    assert api.get(KEYED, headers=read_key).status_code == 429


def test_a_general_limit_that_a_view_names_counts_once(api, read_key):
    assert rate_limit_of(api.get("/api/named", headers=read_key)) == (200, "2", "1")
    assert rate_limit_of(api.get(KEYED, headers=read_key)) == (200, "4", "2")


# A process keeps the first description that it makes, which has to be the service's.
@pytest.mark.urls("config.urls")
def test_every_endpoint_of_the_service_counts_for_the_general_limit_of_its_caller(api, read_key):
    for pattern in endpoints(get_resolver("config.urls")):
        view_class = pattern.callback.view_class
        if not issubclass(view_class, LimitedView):
            continue
        for method in ("GET", "POST", "DELETE"):
            made = view_class()
            made.setup(RequestFactory().generic(method, "/"))
            for authenticator in made.get_authenticators() or [None]:
                view = view_class()
                view.setup(RequestFactory().generic(method, "/"))
                view.request = view.initialize_request(view.request)
                view.request._authenticator = authenticator
                usual = getattr(authenticator, "limit", PublicLimit)
                assert type(view.get_throttles()[0]) is usual, (view_class, method)


@pytest.mark.parametrize("headers", [{}, {"x-api-key": "x"}, {"x-api-key": credentials.PREFIX + "A" * 46}])
@pytest.mark.parametrize("address", [KEYED, INDEX])
def test_it_counts_refused_keys_by_address_with_the_public_calls(api, address, headers):
    assert rate_limit_of(api.get(PUBLIC)) == (200, "3", "2")
    assert [rate_limit_of(api.get(address, headers=headers)) for _ in range(3)] == [
        (401, "3", "1"),
        (401, "3", "0"),
        (429, "3", "0"),
    ]
    assert api.get(address, headers=headers).json() == TOO_MANY
    assert api.get(address, headers=headers, REMOTE_ADDR="192.0.2.9").status_code == 401


def test_a_good_key_is_never_shut_out_by_bad_ones_from_its_address(api, read_key):
    assert statuses(lambda: api.get(KEYED, headers={"x-api-key": "x"}), 5)[-1] == 429
    assert rate_limit_of(api.get(KEYED, headers=read_key)) == (200, "4", "3")


def test_of_two_limits_it_returns_the_nearer_one_and_refuses_by_either(api, read_key):
    assert [rate_limit_of(api.get(INDEX, headers=read_key)) for _ in range(3)] == [
        (200, "2", "1"),
        (200, "2", "0"),
        (429, "2", "0"),
    ]


def test_it_returns_the_limit_that_refuses():
    passes = RateLimitResult(allowed=True, limit=9, remaining=0, reset_seconds=50)
    refuses = RateLimitResult(allowed=False, limit=5, remaining=0, reset_seconds=2)
    assert rate_limit_headers((passes, refuses))["RateLimit-Limit"] == "5"
    assert rate_limit_headers((refuses, passes))["RateLimit-Limit"] == "5"


@pytest.mark.parametrize("name", ["RATE_LIMIT_PUBLIC", "RATE_LIMIT_KEYED", "RATE_LIMIT_INDEX"])
def test_nought_is_no_limit(api, limits, read_key, name):
    setattr(limits, name, 0)
    address = {"RATE_LIMIT_PUBLIC": PUBLIC, "RATE_LIMIT_KEYED": KEYED, "RATE_LIMIT_INDEX": INDEX}[name]
    limits.RATE_LIMIT_KEYED = 0
    assert {rate_limit_of(api.get(address, headers=read_key)) for _ in range(6)} == {(200, None, None)}


# A process keeps the first description that it makes, which has to be the service's.
@pytest.mark.urls("config.urls")
@pytest.mark.parametrize("address", ["/healthz", "/readyz", "/api/openapi.json", "/api/docs", "/", "/admin/login/"])
def test_probes_descriptions_and_pages_are_not_limited(api, address):
    assert {rate_limit_of(api.get(address)) for _ in range(5)} == {(200, None, None)}
    assert rate_limit_of(api.get("/api/tokens")) == (200, "3", "2")


def test_every_endpoint_of_the_service_is_limited_but_the_descriptions():
    views = {pattern.callback.view_class for pattern in endpoints(get_resolver("config.urls"))}
    assert len(views) > 9
    assert {view for view in views if not issubclass(view, LimitedView)} == {OpenAPIView, DocsView}


def endpoints(resolver: URLResolver, before: str = "") -> Iterator[URLPattern]:
    """Yield the addresses below /api."""
    for pattern in resolver.url_patterns:
        address = before + str(pattern.pattern).removeprefix("^")
        if isinstance(pattern, URLResolver):
            yield from endpoints(pattern, address)
        elif address.startswith("api"):
            yield pattern


def test_reads_pass_without_headers_while_redis_is_down(api, limits, unused_port, read_key, caplog):
    limits.REDIS_URL = f"redis://127.0.0.1:{unused_port}/0"
    with caplog.at_level(logging.WARNING, logger="config"):
        assert {rate_limit_of(api.get(PUBLIC)) for _ in range(5)} == {(200, None, None)}
        assert rate_limit_of(api.get(KEYED, headers=read_key)) == (200, None, None)
        assert rate_limit_of(api.get(KEYED, headers={"x-api-key": "x"})) == (401, None, None)
    [warning] = [record for record in caplog.records if record.name == "config.redis.connection"]
    assert "Redis failed" in warning.getMessage()


def test_what_must_be_counted_is_refused_while_redis_is_down(api, limits, unused_port):
    assert rate_limit_of(api.get("/api/careful")) == (200, "3", "2")
    limits.REDIS_URL = f"redis://127.0.0.1:{unused_port}/0"
    answer = api.get("/api/careful")
    assert (answer.status_code, answer.json()) == (503, {"error": "Service is temporarily unavailable"})
    assert answer["Retry-After"] == "5"


def test_a_window_that_ends_lets_calls_pass_again(api, limits):
    assert statuses(lambda: api.get(PUBLIC), 4)[-1] == 429
    with Redis.from_url(limits.REDIS_URL) as client:
        assert client.pexpire("launchboard:limit:RATE_LIMIT_PUBLIC:127.0.0.1", 300)

    first = wait_for(lambda: passed(api.get(PUBLIC)))
    assert (first["RateLimit-Remaining"], first["RateLimit-Reset"]) == ("2", "60")


def passed(answer: HttpResponse) -> HttpResponse | None:
    return answer if answer.status_code == 200 else None

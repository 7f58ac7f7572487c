"""Limits of request headers: refusals before any parser, and the work of each parser of a header."""

import pytest
from django.core.handlers.wsgi import WSGIHandler

from config.edge import representation
from config.edge.cache import cache_public_responses
from config.edge.representation import MAX_ACCEPT_ENCODING, MAX_ETAGS, accepts_gzip, matches_etag
from config.edge.request_bounds import MAX_CONTENT_TYPE_BYTES, MAX_HEADER_BYTES
from tests.processes.edge_clients import Origin, fetch


@pytest.fixture(params=[0.0, 60.0], ids=["uncached", "cached"])
def service(request, settings):
    settings.EDGE_CACHE_SECONDS = request.param
    origin = Origin()
    return origin, cache_public_responses(origin)


@pytest.mark.parametrize(
    "header",
    ["HTTP_IF_NONE_MATCH", "HTTP_ACCEPT_ENCODING", "HTTP_COOKIE", "HTTP_X_FORWARDED_FOR", "HTTP_RANGE", "QUERY_STRING"],
)
@pytest.mark.parametrize("path", ["/healthz", "/api/tokens", "/static/x.css"])
def test_headers_beyond_the_limit_reach_no_parser(service, header, path):
    origin, application = service
    refused = fetch(application, path, **{header: "," * MAX_HEADER_BYTES})
    assert refused.status == 431
    assert refused.body == b'{"error":"Request headers are too large"}'
    assert refused.headers["cache-control"] == "no-store"
    assert origin.runs == 0


def test_the_limit_is_that_of_all_headers_together(service):
    origin, application = service
    many = {f"HTTP_X_{number}": "x" * 1000 for number in range(40)}
    assert fetch(application, **many).status == 431
    assert origin.runs == 0
    assert fetch(application, **dict(list(many.items())[:20])).status == 200


def test_a_content_type_that_costs_quadratic_time_reaches_no_parser(service):
    origin, application = service
    assert fetch(application, CONTENT_TYPE="a/b" + ";" * MAX_CONTENT_TYPE_BYTES).status == 431
    assert origin.runs == 0
    longest = 'multipart/form-data; boundary="' + "b" * 70 + '"'
    assert fetch(application, CONTENT_TYPE=longest).status == 200


def test_django_itself_sees_no_such_request():
    refused = fetch(cache_public_responses(WSGIHandler()), "/healthz", CONTENT_TYPE="a/b" + ";" * 250_000)
    assert refused.status == 431


def test_a_long_accept_encoding_is_neither_parsed_nor_kept_in_memory():
    representation._accepts_gzip.cache_clear()
    assert not accepts_gzip("gzip," + "x," * MAX_ACCEPT_ENCODING)
    assert representation._accepts_gzip.cache_info().currsize == 0
    assert accepts_gzip("gzip")


def test_a_bounded_number_of_etags_is_compared():
    others = ",".join(f'"{number}"' for number in range(MAX_ETAGS - 1))
    assert matches_etag(f'{others},"e"', '"e"')
    assert not matches_etag(f'{others},"x","e"', '"e"')

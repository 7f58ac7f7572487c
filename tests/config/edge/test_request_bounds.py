"""Limits of request headers: refusals before any parser, and the work of each parser of a header."""

import pytest

from config.edge import representation
from config.edge.representation import MAX_ACCEPT_ENCODING, MAX_ETAGS, accepts_gzip, matches_etag
from config.edge.wsgi_environ import (
    MAX_CONTENT_TYPE_BYTES,
    MAX_HEADER_BYTES,
    find_refusal,
)

PATHS = {"PATH_INFO": "/api/tokens", "QUERY_STRING": ""}


def is_refused(status: int = 431, **headers: str) -> bool:
    """Return whether a request with these headers is refused, with this status."""
    refusal = find_refusal(PATHS | headers)
    assert refusal is None or refusal.status == status
    return refusal is not None


@pytest.mark.parametrize(
    "header",
    ["HTTP_IF_NONE_MATCH", "HTTP_ACCEPT_ENCODING", "HTTP_COOKIE", "HTTP_X_FORWARDED_FOR", "PATH_INFO", "QUERY_STRING"],
)
def test_headers_beyond_the_limit_are_refused(header):
    assert is_refused(**{header: "," * (MAX_HEADER_BYTES + 1)})


def test_the_limit_is_that_of_all_headers_together():
    many = {f"HTTP_X_{number}": "x" * 1000 for number in range(40)}
    assert is_refused(**many)
    assert not is_refused(**dict(list(many.items())[:20]))


def test_a_content_type_that_costs_quadratic_time_is_refused():
    assert is_refused(CONTENT_TYPE="a/b" + ";" * MAX_CONTENT_TYPE_BYTES)
    assert not is_refused(CONTENT_TYPE='multipart/form-data; boundary="' + "b" * 70 + '"')


@pytest.mark.parametrize("form", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=b"])
def test_a_form_is_utf_8(form):
    for charset in ("utf-16", "utf-7", "hex", "punycode", "unheard-of", ""):
        assert is_refused(415, CONTENT_TYPE=f"{form}; Charset={charset}")
    assert not is_refused(CONTENT_TYPE=form)
    assert not is_refused(CONTENT_TYPE=f'{form}; charset="UTF-8"')
    assert not is_refused(CONTENT_TYPE="application/json; charset=utf-16")


def test_a_long_accept_encoding_is_neither_parsed_nor_kept_in_memory():
    representation._accepts_gzip.cache_clear()
    assert not accepts_gzip("gzip," + "x," * MAX_ACCEPT_ENCODING)
    assert representation._accepts_gzip.cache_info().currsize == 0
    assert accepts_gzip("gzip")


def test_a_bounded_number_of_etags_is_compared():
    others = ",".join(f'"{number}"' for number in range(MAX_ETAGS - 1))
    assert matches_etag(f'{others},"e"', '"e"')
    assert not matches_etag(f'{others},"x","e"', '"e"')

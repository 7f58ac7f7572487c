"""Limits under the production server: shared by its processes, and per client address in the proxy header."""

import http.client
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPMessage

import orjson
import pytest

from tests.processes.service_processes import HOST, web_service
from tokens.catalogue.serializers import MAX_POOLS_BYTES

_LIMIT = 25
# An address without view and cache: nothing else is counted.
_ADDRESS = "/api/nothing"
_MEBIBYTE = 1024 * 1024


@pytest.fixture
def served(service_environment: dict[str, str], unused_port: int) -> Iterator[int]:
    """Run the service behind one proxy, with two four-thread processes, and return its port."""
    with web_service(service_environment | {"RATE_LIMIT_PUBLIC": str(_LIMIT), "TRUSTED_PROXIES": "1"}, unused_port):
        yield unused_port


def fetch(port: int, address: str, *forwarded: str) -> tuple[int, HTTPMessage]:
    """Return status and headers; each `forwarded` text is sent in its own X-Forwarded-For."""
    connection = http.client.HTTPConnection(HOST, port, timeout=60)
    connection.putrequest("GET", address)
    for text in forwarded:
        connection.putheader("X-Forwarded-For", text)
    connection.endheaders()
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.headers


def test_no_spelling_of_a_header_replaces_the_proxys_own(service_environment: dict[str, str], unused_port: int) -> None:
    changes = {"RATE_LIMIT_PUBLIC": str(_LIMIT), "TRUSTED_PROXIES": "1"}

    def remaining(**headers: str) -> int:
        connection = http.client.HTTPConnection(HOST, unused_port, timeout=60)
        connection.request("GET", _ADDRESS, headers={"X-Forwarded-For": "198.51.100.7", **headers})
        response = connection.getresponse()
        response.read()
        connection.close()
        return int(response.headers["RateLimit-Remaining"])

    with web_service(service_environment | changes, unused_port):
        spellings = ("X_Forwarded_For", "X-Forwarded_For", "X_Forwarded-For", "Forwarded")
        counted = [remaining(**{name: "203.0.113.9"}) for name in spellings]
    assert counted == [_LIMIT - 1, _LIMIT - 2, _LIMIT - 3, _LIMIT - 4]


def test_all_processes_count_together_and_each_caller_separately_and_bodies_are_limited(served: int) -> None:
    with ThreadPoolExecutor(8) as pool:
        # The value written by the proxy's caller comes first, and differs each time.
        calls = [pool.submit(fetch, served, _ADDRESS, f"203.0.113.{number}", "198.51.100.7") for number in range(60)]
    assert Counter(call.result()[0] for call in calls) == {404: _LIMIT, 429: 60 - _LIMIT}

    def remaining(*forwarded: str) -> int:
        return int(fetch(served, _ADDRESS, *forwarded)[1]["RateLimit-Remaining"])

    assert remaining("198.51.100.8") == _LIMIT - 1
    # Without a usable header the connection's address counts, without its port.
    assert remaining() == _LIMIT - 1
    assert remaining("unknown") == _LIMIT - 2
    assert remaining("127.0.0.1") == _LIMIT - 3

    # A body without a declared length.
    body = b'{"poolAddresses": []}'
    most = MAX_POOLS_BYTES
    for length, status in ((len(body), 200), (most, 200), (most + 1, 413), (_MEBIBYTE, 413)):
        chunks = (body.ljust(length)[start : start + 4_096] for start in range(0, length, 4_096))
        connection = http.client.HTTPConnection(HOST, served, timeout=60)
        path, headers = "/api/tokens/fetch-by-pool-addresses", {"Content-Type": "application/json"}
        connection.request("POST", path, body=chunks, headers=headers, encode_chunked=True)
        response = connection.getresponse()
        assert response.status == status
        assert ("data" if status == 200 else "error") in orjson.loads(response.read())
        connection.close()

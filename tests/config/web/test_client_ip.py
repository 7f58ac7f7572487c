"""A request's client address: from the connection, or from the header that trusted proxies write."""

from typing import Any

import pytest
from django.core.checks import run_checks
from django.test import RequestFactory

from config.web.client_ip import client_address, is_on_loopback


def address_of(remote: str, *, forwarded: str | None = None) -> str:
    headers = {} if forwarded is None else {"x-forwarded-for": forwarded}
    return client_address(RequestFactory().get("/api/tokens", headers=headers, REMOTE_ADDR=remote))


@pytest.mark.parametrize("remote", ["", "unix", "unix:", "localhost", "1.2.3", "1.2.3.4.5", "01.2.3.4", "[::1", "é"])
def test_it_counts_callers_without_an_address_together(remote: str) -> None:
    assert address_of(remote) == "unknown"


def test_it_trusts_no_header_where_no_proxy_is_trusted(settings: Any) -> None:
    settings.TRUSTED_PROXIES = 0
    assert address_of("192.0.2.1", forwarded="198.51.100.7") == "192.0.2.1"
    assert address_of("", forwarded="198.51.100.7") == "unknown"


@pytest.mark.parametrize(
    ("proxies", "header"),
    [
        # The client wrote everything before the trusted part.
        (1, "198.51.100.7"),
        (1, "203.0.113.9, 198.51.100.7"),
        (1, "not an address,198.51.100.7"),
        (1, ",,,198.51.100.7"),
        (2, "198.51.100.7, 10.0.0.1"),
        (2, "203.0.113.9,\t198.51.100.7 ,10.0.0.1"),
        (2, "203.0.113.9, 203.0.113.8, 198.51.100.7, not an address"),
        (3, "203.0.113.9, 198.51.100.7, 10.0.0.1, 10.0.0.2"),
    ],
)
def test_it_takes_what_the_outermost_trusted_proxy_wrote(settings: Any, proxies: int, header: str) -> None:
    settings.TRUSTED_PROXIES = proxies
    assert address_of("192.0.2.1", forwarded=header) == "198.51.100.7"


@pytest.mark.parametrize(
    ("proxies", "header"),
    [
        (1, None),
        (1, ""),
        (1, " "),
        (1, "unknown"),
        (1, "198.51.100.7,"),
        (1, "198.51.100.7, _hidden"),
        (1, "198.51.100.7; 10.0.0.1"),
        (1, "198.51.100.7, 1.2.3.4, 256.1.1.1"),
        (2, "198.51.100.7"),
        (2, "not an address, 198.51.100.7"),
        (3, "198.51.100.7, 10.0.0.1"),
    ],
)
def test_it_takes_the_connection_where_the_header_is_too_short_or_malformed(
    settings: Any, proxies: int, header: str | None
) -> None:
    settings.TRUSTED_PROXIES = proxies
    assert address_of("192.0.2.1", forwarded=header) == "192.0.2.1"


@pytest.mark.parametrize(
    ("written", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:DB8:1:2::", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("::1", "::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("::ffff:c000:201", "192.0.2.1"),
        ("192.0.2.1:61234", "192.0.2.1"),
        ("[2001:db8:1:2::9]:443", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2::9]", "2001:db8:1:2::/64"),
    ],
)
def test_it_counts_ipv6_by_its_network_and_ipv4_however_it_is_written(
    settings: Any, written: str, counted: str
) -> None:
    assert address_of(written) == counted
    settings.TRUSTED_PROXIES = 1
    assert address_of("203.0.113.1", forwarded=written) == counted


def test_it_takes_the_header_that_the_operator_names(settings: Any) -> None:
    settings.TRUSTED_PROXIES, settings.CLIENT_ADDRESS_HEADER = 1, "ClientAddress"
    forged = {"x-forwarded-for": "203.0.113.9", "x_forwarded_for": "203.0.113.8"}
    request = RequestFactory().get("/", headers={"clientaddress": "198.51.100.7", **forged}, REMOTE_ADDR="127.0.0.1")
    assert client_address(request) == "198.51.100.7"
    assert not is_on_loopback(request.META)
    # Without the named header, the connection counts, and a header that was forwarded makes it remote.
    request = RequestFactory().get("/", headers=forged, REMOTE_ADDR="127.0.0.1")
    assert client_address(request) == "127.0.0.1"
    assert not is_on_loopback(request.META)


@pytest.mark.parametrize(
    ("proxies", "scheme", "warned"), [(0, "http", False), (0, "https", True), (1, "http", False), (1, "https", False)]
)
def test_the_check_warns_where_all_clients_behind_a_proxy_count_as_one(
    settings: Any, proxies: int, scheme: str, warned: bool
) -> None:
    settings.TRUSTED_PROXIES, settings.SITE_URL = proxies, f"{scheme}://launchboard.example"
    found = {message.id for message in run_checks(include_deployment_checks=True)}
    assert ("config.W001" in found) == warned


def test_a_text_far_longer_than_any_address_is_none(settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1
    assert address_of("192.0.2.1", forwarded="fe80::1%" + "z" * 20_000) == "192.0.2.1"

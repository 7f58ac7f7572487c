"""config/http/public_client.py: GET requests to untrusted URLs, against hosts with arbitrary behaviour."""

import gzip
import itertools
import json
import socket
import ssl
import threading
import traceback
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from config.http.errors import (
    HTTPStatusError,
    NoResponseError,
    PermanentError,
    RateLimitedError,
    ResponseTimeoutError,
    ResponseTooLargeError,
    RetryableError,
)
from config.http.public_addresses import is_in_networks, is_public_address
from config.http.public_client import AddressForbiddenError, fetch_public_url, resolve_host
from development.standins.loopback import HOST
from tests.nodes.document_host import DocumentHost, Page, document_host, json_page, redirect

LOOPBACK = (ip_network("127.0.0.0/8"),)
NOT_PUBLIC = "a host without a public address, or another port than 80 and 443"


@pytest.fixture
def host() -> Iterator[DocumentHost]:
    with document_host() as running:
        yield running


def fetch(url: str, **more: Any) -> bytes:
    return fetch_public_url(url, **({"timeout": 5, "max_bytes": 10_000, "allowed": LOOPBACK} | more))


NOT_PUBLIC_ADDRESSES = """
    0.0.0.0 0.1.2.3 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254 168.63.129.16 169.254.169.254
    172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1
    224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:169.254.169.254
    ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::a9fe:a9fe 100::1 2001::1 2001:0:7f00:1::
    2001:db8::1 2001:10::1 2002:7f00:1:: 2002:a9fe:a9fe::1 3fff::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%lo fec0::1
    ff02::1 5f00::1 4000::1 localhost 127.1
"""


@pytest.mark.parametrize("address", ["", *NOT_PUBLIC_ADDRESSES.split()])
def test_it_refuses_every_address_that_is_not_public(address):
    assert not is_public_address(address)


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "8.8.8.8", "::ffff:8.8.8.8", "64:ff9b::808:808", "2606:4700::1111", "2a00:1450:4001:81b::200e"],
)
def test_it_takes_public_addresses(address):
    assert is_public_address(address)


def test_an_allowed_network_holds_what_is_written_as_ipv6():
    assert is_in_networks("::ffff:127.0.0.1", LOOPBACK)
    assert is_in_networks("fd00::1", [ip_network("fd00::/64")])
    assert not is_in_networks("128.0.0.1", LOOPBACK)


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("file:///etc/passwd", "a URL that is not http:// or https:// with a host"),
        ("ftp://host.example/", "a URL that is not http:// or https:// with a host"),
        ("gopher://host.example/", "a URL that is not http:// or https:// with a host"),
        ("//host.example/", "a URL that is not http:// or https:// with a host"),
        ("http:///path", "a URL that is not http:// or https:// with a host"),
        ("http://user@host.example/", "a URL with credentials or a zone"),
        ("http://user:word@host.example/", "a URL with credentials or a zone"),
        ("http://[fe80::1%25lo]/", "a URL with credentials or a zone"),
        ("http://host.example:99999/", "a URL that can't be read"),
        ("http://host name/", "a URL that can't be read"),
        ("http://\0.example/", "a URL that can't be read"),
        (f"http://host.example/{'a' * 5000}", "a URL of more than 4096 characters"),
    ],
)
def test_it_refuses_a_url_that_is_none_of_a_public_host(url, text):
    with pytest.raises(AddressForbiddenError) as caught:
        fetch(url)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    "name",
    ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "0", "[::1]", "[::ffff:127.0.0.1]"],
)
def test_it_connects_to_no_name_of_this_machine(host, name):
    with pytest.raises(AddressForbiddenError) as caught:
        fetch(f"http://{name}:{host.port}/", allowed=())
    assert str(caught.value) == NOT_PUBLIC
    assert not host.received


def test_it_calls_public_addresses_only_under_the_usual_ports():
    with pytest.raises(AddressForbiddenError, match="another port"):
        fetch("http://host.example:8080/", resolve=lambda *_: ["1.1.1.1"])


def test_it_fetches_without_cookies_and_with_its_user_agent(host, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    url = host.put("/a%20b?c=d", json_page({"name": "Qahwa"}, headers={"set-cookie": "a=b"}))
    assert json.loads(fetch(url)) == json.loads(fetch(url)) == {"name": "Qahwa"}
    assert host.received == ["/a%20b?c=d"] * 2
    assert host.headers[1] == {
        "host": f"{HOST}:{host.port}",
        "user-agent": "Launchboard",
        "accept": "application/json, */*;q=0.5",
        "accept-encoding": "gzip",
        "connection": "close",
    }


def test_it_looks_a_name_up_once_and_connects_to_that_answer(host):
    """A second lookup could return another address than the checked one."""
    host.put("/", json_page({}))
    answers = iter([["127.0.0.1"], ["10.0.0.1"]])
    assert fetch(f"http://rebound.example:{host.port}/", resolve=lambda *_: next(answers)) == b"{}"
    assert next(answers) == ["10.0.0.1"]
    assert host.headers[0]["host"] == f"rebound.example:{host.port}"


def test_it_passes_over_addresses_that_are_not_public(host):
    host.put("/", json_page({}))
    both = ["10.255.255.1", "::1", "127.0.0.1"]
    assert fetch(f"http://both.example:{host.port}/", resolve=lambda *_: both) == b"{}"


def test_it_checks_each_redirect_as_the_first(host):
    with document_host() as private:
        url = host.put("/", redirect(f"http://127.0.0.2:{private.port}/latest/meta-data"))
        with pytest.raises(AddressForbiddenError) as caught:
            fetch(url, allowed=[ip_network("127.0.0.1")])
        assert str(caught.value) == NOT_PUBLIC
        assert host.received == ["/"]
        assert not private.received


@pytest.mark.parametrize(
    "location",
    ["file:///etc/passwd", "ftp://127.0.0.1/", "http://a@127.0.0.1/", "http://[", "//[x/", f"/{'a' * 5000}"],
)
def test_it_follows_no_redirect_to_what_is_no_url_of_a_host(host, location):
    with pytest.raises(AddressForbiddenError):
        fetch(host.put("/", redirect(location)))
    assert host.received == ["/"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_it_follows_three_redirects(host, status):
    host.put("/c", redirect("/d", status))
    host.put("/d", json_page([1]))
    assert fetch(host.put("/a", redirect("b/../c", status))) == b"[1]"
    host.put("/d", redirect("e", status))
    host.put("/e", json_page([2]))
    assert fetch(f"{host.url}/a") == b"[2]"
    with pytest.raises(AddressForbiddenError, match="more than 3 redirects"):
        fetch(host.put("/0", redirect(f"{host.url}/a")))


@pytest.mark.parametrize(
    ("status", "family"),
    [
        *((status, HTTPStatusError) for status in (404, 403, 204, 302)),
        *((status, RateLimitedError) for status in (429, 503)),
        *((status, RetryableError) for status in (500, 502)),
    ],
)
def test_it_distinguishes_retryable_statuses_from_permanent_ones(host, status, family):
    with pytest.raises(family, match=f"HTTP status {status}"):
        fetch(host.put("/", Page(status=status)))


@pytest.mark.parametrize("page", [Page(endless_head=True, pause=0.02), Page(body=itertools.repeat(b" "), pause=0.02)])
def test_it_waits_for_no_head_and_no_body_that_drips(host, page):
    with pytest.raises(ResponseTimeoutError):
        fetch(host.put("/", page), timeout=0.3)


def test_its_time_is_for_all_redirects_together(host):
    host.put("/slow", Page(pause=30))
    with pytest.raises(ResponseTimeoutError):
        fetch(host.put("/", redirect("/slow")), timeout=0.3)
    assert host.received == ["/", "/slow"]


def test_it_waits_for_no_name_server(host):
    answered = threading.Event()

    def stall(name: str, port: int) -> list[str]:
        answered.wait()
        return [HOST]

    with pytest.raises(ResponseTimeoutError, match="whose name takes too long"):
        fetch(host.url, timeout=0.1, resolve=stall)
    answered.set()


def test_it_waits_for_no_encryption_that_never_begins():
    with socket.create_server((HOST, 0)) as silent, pytest.raises(ResponseTimeoutError):
        fetch(f"https://{HOST}:{silent.getsockname()[1]}/", timeout=0.2)


def test_an_unknown_name_is_retryable():
    with pytest.raises(NoResponseError, match="whose name is not known"):
        fetch("http://nowhere.invalid/")
    with pytest.raises(NoResponseError, match="whose name is not known"):
        fetch(f"http://{'a' * 64}.example/")


def test_it_reads_no_more_than_the_limit(host):
    assert len(fetch(host.put("/", Page(body=b" " * 10_000)))) == 10_000
    with pytest.raises(ResponseTooLargeError):
        fetch(host.put("/", Page(body=b" " * 10_001)))
    with pytest.raises(ResponseTooLargeError):
        fetch(host.put("/", Page(body=itertools.repeat(b" " * 1000))))


def test_it_unpacks_no_more_than_the_limit(host):
    headers = {"content-encoding": "gzip"}
    assert fetch(host.put("/", Page(body=gzip.compress(b"[1]"), headers=headers))) == b"[1]"
    bomb = gzip.compress(b" " * 100_000_000)
    with pytest.raises(ResponseTooLargeError):
        fetch(host.put("/", Page(body=bomb, headers=headers)))
    with pytest.raises(ResponseTooLargeError):
        fetch(host.put("/", Page(body=zlib.compress(b" " * 100_000), headers={"content-encoding": "deflate"})))


@pytest.mark.parametrize("coding", ["br", "gzip, gzip", "zstd", "deflate,gzip"])
def test_it_reads_no_other_codings_and_none_that_are_stacked(host, coding):
    with pytest.raises(PermanentError, match="an unsupported content coding"):
        fetch(host.put("/", Page(body=b"", headers={"content-encoding": coding})))


@pytest.mark.parametrize(
    "page",
    [
        Page(body=b"[", headers={"content-length": "100"}),
        Page(body=b"no gzip", headers={"content-encoding": "gzip"}),
        Page(body=b"zz", headers={"transfer-encoding": "chunked"}),
        Page(headers={"x-long": "a" * 70_000}),
        Page(headers={f"x-{n}": "a" for n in range(200)}),
    ],
)
def test_an_answer_that_breaks_off_or_makes_no_sense_may_be_better_later(host, page):
    with pytest.raises(NoResponseError, match="no response"):
        fetch(host.put("/", page))


def test_a_connection_that_is_refused_may_be_taken_later(unused_port):
    with pytest.raises(NoResponseError, match="no connection"):
        fetch(f"http://{HOST}:{unused_port}/")


def test_its_errors_hold_no_url_and_no_address(host, unused_port):
    pages = [Page(status=500), Page(status=404), Page(body=b"[", headers={"content-length": "9"}), redirect("ftp://x")]
    urls = [host.put(f"/{n}?s3cret", page) for n, page in enumerate(pages)]
    for url in [*urls, f"http://{HOST}:{unused_port}/s3cret", f"https://{HOST}:{host.port}/s3cret", "http://s3cret@x"]:
        with pytest.raises((RetryableError, PermanentError)) as caught:
            fetch(url)
        traceback_text = "".join(traceback.format_exception(caught.value))
        assert "s3cret" not in traceback_text.replace('"http://s3cret@x"', "")
        assert str(host.port) not in traceback_text and str(unused_port) not in traceback_text


def certificate(place: Path, name: str) -> Path:
    """Write a key and a self-signed certificate for the name into one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(subject, subject, key.public_key(), 1, now, now + timedelta(days=1))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    file = place / "own.pem"
    file.write_bytes(private + builder.sign(key, hashes.SHA256()).public_bytes(pem))
    return file


@contextmanager
def encrypted_host(file: Path, head: str = "200 OK") -> Iterator[tuple[int, list[bytes]]]:
    """Listen for one encrypted request; return the port and a list of what is received."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    got: list[bytes] = []
    with socket.create_server((HOST, 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            # A client that doesn't trust the certificate closes the connection.
            with connection, suppress(OSError), context.wrap_socket(connection, server_side=True) as encrypted:
                got.append(encrypted.recv(10_000))
                encrypted.sendall(f"HTTP/1.1 {head}\r\ncontent-length: 2\r\n\r\n{{}}".encode())

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1], got
        thread.join()


def test_it_sends_the_host_of_the_url_by_https(tmp_path):
    file = certificate(tmp_path, "host.example")
    with encrypted_host(file) as (port, got):
        url = f"https://host.example:{port}/a"
        assert fetch(url, resolve=lambda *_: [HOST], authorities=str(file)) == b"{}"
    assert got[0].startswith(f"GET /a HTTP/1.1\r\nHost: host.example:{port}\r\n".encode())


def test_it_follows_no_redirect_out_of_https(host, tmp_path):
    file = certificate(tmp_path, "host.example")
    refused = pytest.raises(AddressForbiddenError, match="from https:// to http://")
    with encrypted_host(file, f"302 Found\r\nlocation: {host.url}/") as (port, _), refused:
        fetch(f"https://host.example:{port}/", resolve=lambda *_: [HOST], authorities=str(file))
    assert not host.received


@pytest.mark.parametrize(("name", "is_trusted"), [("other.example", True), ("host.example", False)])
def test_it_trusts_no_certificate_of_another_host_and_none_that_is_self_signed(tmp_path, name, is_trusted):
    file = certificate(tmp_path, "host.example")
    trusted = {"authorities": str(file)} if is_trusted else {}
    refused = pytest.raises(NoResponseError, match="SSLCertVerificationError")
    with encrypted_host(file) as (port, got), refused:
        fetch(f"https://{name}:{port}/a", resolve=lambda *_: [HOST], **trusted)
    assert got in ([], [b""])


def test_names_are_looked_up_as_this_machine_does():
    assert "127.0.0.1" in resolve_host("localhost", 80)
    with pytest.raises(OSError):
        resolve_host("nowhere.invalid", 80)

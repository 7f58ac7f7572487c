"""HTTP client for URLs from untrusted sources (SSRF-safe): it reaches only the public internet.

A host name is resolved once, and the connection uses a checked address from that result, so that no later DNS response
leads elsewhere. A GET follows redirects, each checked like the first URL; a POST does not. No cookies, proxies or
credentials.
"""

import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from http.client import HTTPException
from queue import Empty, SimpleQueue
from urllib.parse import urljoin

import urllib3.exceptions
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3.connection import HTTPConnection
from urllib3.response import HTTPResponse
from urllib3.util import Url, parse_url

from config.http.errors import NoResponseError, PermanentError, ResponseTimeoutError
from config.http.json_client import raise_for_status, read_response_body
from config.http.public_addresses import Network, is_address, is_in_networks, is_public_address

USER_AGENT = "Launchboard"
MAX_REDIRECTS = 3
# Accept header for documents.
JSON_FIRST = "application/json, */*;q=0.5"
MAX_URL = 4_096

# Names in the public DNS. A last label with only digits, or with 0x at its start, makes it an IPv4 address in an old
# form.
_LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_PUBLIC_NAME = re.compile(rf"(?:{_LABEL}\.)+(?![0-9]+\.?$|0x){_LABEL}\.?", re.ASCII | re.IGNORECASE)
_PORTS = {"http": 80, "https": 443}
_REDIRECTS = (301, 302, 303, 307, 308)
# Each coding may expand a thousandfold, and several may be stacked.
_CODINGS = ("", "identity", "gzip", "deflate")
# Errors raised by OpenSSL, sockets, http.client and urllib3.
_BROKEN = (OSError, HTTPException, urllib3.exceptions.HTTPError)

# Host and port -> the host's addresses as text. Raises OSError.
HostResolver = Callable[[str, int], Sequence[str]]


class AddressForbiddenError(PermanentError):
    """The URL, or a redirect target, is not allowed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PublicResponse:
    """A response with any status."""

    status: int
    # Headers Location and Retry-After; empty if absent.
    location: str
    retry_after: str
    # The body's beginning.
    content: bytes


def resolve_host(host: str, port: int) -> list[str]:
    """Resolve a host name with the system's resolver. Raises OSError."""
    return [str(socket_address[0]) for *_, socket_address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def fetch_public_url(
    url: str,
    *,
    timeout: float,
    max_bytes: int,
    allowed: Sequence[Network] = (),
    resolve: HostResolver = resolve_host,
    authorities: str = DEFAULT_CA_BUNDLE_PATH,
    accept: str = JSON_FIRST,
) -> bytes:
    """GET an http:// or https:// URL and return the decoded body of a 200.

    `timeout` is in seconds and covers everything; `max_bytes` bounds the decoded body. Allowed are any port in the
    `allowed` networks, and ports 80 and 443 on public addresses. `authorities` is the path to the trusted CA
    certificates, by default requests' own, and `accept` is the Accept header. Raises RetryableError, and
    PermanentError: AddressForbiddenError, ResponseTooLargeError, HTTPStatusError. No error text contains the URL or an
    address.
    """
    deadline, target = time.monotonic() + timeout, parse_public_url(url)
    for _ in range(MAX_REDIRECTS + 1):
        checked = _allowed_addresses(target, allowed=allowed, resolve=resolve, deadline=deadline)
        with _connection(target, checked, authorities=authorities, deadline=deadline) as connection:
            response = _get(connection, target, accept=accept, deadline=deadline, max_bytes=max_bytes)
        if response.status not in _REDIRECTS or not response.location:
            raise_for_status(response.status, retry_after=response.retry_after, content=b"")
            return response.content
        target = _follow(target, response.location)
    raise AddressForbiddenError(f"more than {MAX_REDIRECTS} redirects")


def post_public_url(
    url: str,
    body: bytes,
    *,
    headers: Mapping[str, str],
    timeout: float,
    max_bytes: int,
    allowed: Sequence[Network] = (),
    resolve: HostResolver = resolve_host,
    authorities: str = DEFAULT_CA_BUNDLE_PATH,
) -> PublicResponse:
    """POST a body to an http:// or https:// URL once, and return the response, whatever its status.

    `timeout` and the allowed addresses are as in `fetch_public_url`. Only the first `max_bytes` of the response body
    are read. Raises RetryableError for no complete response, and AddressForbiddenError. No error text contains the URL
    or an address.
    """
    deadline, target = time.monotonic() + timeout, parse_public_url(url)
    checked = _allowed_addresses(target, allowed=allowed, resolve=resolve, deadline=deadline)
    with _connection(target, checked, authorities=authorities, deadline=deadline) as connection:
        request_headers = _headers(target) | dict(headers)
        connection.request("POST", target.request_uri, body=body, headers=request_headers, preload_content=False)
        response = connection.getresponse()
        with closing(response):
            return _response(response, content=_read_beginning(response, max_bytes))


def parse_public_url(url: str) -> Url:
    """Parse a URL and check its syntax, scheme and credentials. Raises AddressForbiddenError."""
    if len(url) > MAX_URL:
        raise AddressForbiddenError(f"a URL of more than {MAX_URL} characters")
    try:
        parsed = parse_url(url)
    except urllib3.exceptions.LocationParseError:
        raise AddressForbiddenError("a URL that can't be read") from None
    if parsed.scheme not in _PORTS or not parsed.host:
        raise AddressForbiddenError("a URL that is not http:// or https:// with a host")
    if parsed.auth is not None or "%" in parsed.host:
        raise AddressForbiddenError("a URL with credentials or a zone")
    return parsed


def may_be_allowed(target: Url, allowed: Sequence[Network]) -> bool:
    """Return whether a URL may lead to an allowed address, as far as its text shows before the name is resolved."""
    host, port = _host(target), _port(target)
    if is_address(host):
        return _is_allowed(host, port, allowed)
    return bool(allowed) or _is_default_port(port) and _PUBLIC_NAME.fullmatch(host) is not None


def _follow(source: Url, location: str) -> Url:
    """Return the redirect target. Raises AddressForbiddenError."""
    try:
        target = parse_public_url(urljoin(source.url, location))
    except ValueError:
        raise AddressForbiddenError("a redirect that can't be read") from None
    if source.scheme == "https" and target.scheme != "https":
        raise AddressForbiddenError("a redirect from https:// to http://")
    return target


def _allowed_addresses(
    target: Url, *, allowed: Sequence[Network], resolve: HostResolver, deadline: float
) -> Sequence[str]:
    """Resolve the URL's host and return its allowed addresses. Raises AddressForbiddenError if there are none."""
    port = _port(target)
    addresses = _look_up(_host(target), port, resolve=resolve, deadline=deadline)
    allowed_addresses = [address for address in addresses if _is_allowed(address, port, allowed)]
    if not allowed_addresses:
        raise AddressForbiddenError("a host without a public address, or another port than 80 and 443")
    return allowed_addresses


@contextmanager
def _connection(
    target: Url, addresses: Sequence[str], *, authorities: str, deadline: float
) -> Iterator[HTTPConnection]:
    """Connect to one of the addresses; the connection is closed at the deadline, whatever it blocks on."""
    host, port = _host(target), _port(target)
    with closing(_connect(addresses, port, deadline=deadline)) as plain, _closed_at(deadline, plain):
        connection = HTTPConnection(host, port, timeout=_seconds_left(deadline))
        encrypted = target.scheme == "https"
        connection.sock = _tls_context(authorities).wrap_socket(plain, server_hostname=host) if encrypted else plain
        with closing(connection):
            yield connection


def _host(target: Url) -> str:
    """Return the host, an IPv6 address without its brackets."""
    return (target.host or "").strip("[]")


def _port(target: Url) -> int:
    return target.port if target.port is not None else _PORTS[target.scheme or ""]


def _is_allowed(address: str, port: int, allowed: Sequence[Network]) -> bool:
    return is_in_networks(address, allowed) or is_public_address(address) and _is_default_port(port)


def _is_default_port(port: int) -> bool:
    return port in _PORTS.values()


def _look_up(host: str, port: int, *, resolve: HostResolver, deadline: float) -> Sequence[str]:
    """Resolve the host in a thread; a lookup can't be cancelled, so at the deadline its thread is abandoned."""
    answers: SimpleQueue[Sequence[str] | None] = SimpleQueue()

    def resolve_host() -> None:
        try:
            answers.put(resolve(host, port))
        except (OSError, UnicodeError):
            answers.put(None)

    threading.Thread(target=resolve_host, name="lookup", daemon=True).start()
    try:
        addresses = answers.get(timeout=_seconds_left(deadline))
    except Empty:
        raise ResponseTimeoutError("a host whose name takes too long to look up") from None
    if addresses is None:
        raise NoResponseError("a host whose name is not known")
    return addresses


def _connect(addresses: Sequence[str], port: int, *, deadline: float) -> socket.socket:
    """Connect to the first address that accepts. Raises NoResponseError."""
    for address in addresses:
        # An address is not resolved again: it is the one that was checked.
        with suppress(OSError):
            return socket.create_connection((address, port), timeout=_seconds_left(deadline))
    raise NoResponseError("no response (no connection)")


@cache
def _tls_context(authorities: str) -> ssl.SSLContext:
    """Return a TLS context that trusts only these authorities and verifies the host name."""
    return ssl.create_default_context(cafile=authorities)


@contextmanager
def _closed_at(deadline: float, connection: socket.socket) -> Iterator[None]:
    """Shut a connection down at the deadline.

    Socket timeouts cover one read each, and a server may send slowly for hours.

    Connection errors in the block are raised as errors of `config.http`.
    """
    ended = threading.Event()
    # TLS takes over the socket; this duplicate handle has the same connection.
    with connection.dup() as handle:

        def end() -> None:
            ended.set()
            with suppress(OSError):
                handle.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(_seconds_left(deadline), end)
        timer.daemon = True
        timer.start()
        failure: Exception | None = None
        try:
            yield
        except _BROKEN as error:
            failure = error
        finally:
            timer.cancel()
            timer.join()
    # A shutdown here looks like a complete body to the reader. `from None`: causes may contain the address.
    if ended.is_set() or isinstance(failure, TimeoutError | urllib3.exceptions.TimeoutError):
        raise ResponseTimeoutError("a response that takes too long") from None
    if failure is not None:
        raise NoResponseError(f"no response ({type(failure).__name__})") from None


def _headers(target: Url) -> dict[str, str]:
    return {"Host": target.netloc or "", "User-Agent": USER_AGENT, "Connection": "close"}


def _read_beginning(response: HTTPResponse, max_bytes: int) -> bytes:
    content = bytearray()
    # Not `read`: for a negative chunk size it reads all that arrives into memory.
    while len(content) < max_bytes and (block := response.read1(max_bytes - len(content), decode_content=False)):
        content += block
    return bytes(content)


def _response(response: HTTPResponse, *, content: bytes) -> PublicResponse:
    return PublicResponse(
        status=response.status,
        location=response.headers.get("location", ""),
        retry_after=response.headers.get("retry-after", ""),
        content=content,
    )


def _get(connection: HTTPConnection, target: Url, *, accept: str, deadline: float, max_bytes: int) -> PublicResponse:
    """Send the GET and read the response; its body only for status 200.

    Raises ResponseTooLargeError, ResponseTimeoutError, PermanentError for an unsupported content coding, and connection
    errors.
    """
    headers = _headers(target) | {"Accept": accept, "Accept-Encoding": "gzip"}
    connection.request("GET", target.request_uri, headers=headers, preload_content=False)
    response = connection.getresponse()
    content = b""
    with closing(response):
        if response.status == 200:
            if response.headers.get("content-encoding", "").strip().lower() not in _CODINGS:
                raise PermanentError("a response in an unsupported content coding")
            content = read_response_body(response, deadline=deadline, max_bytes=max_bytes)
    return _response(response, content=content)


def _seconds_left(deadline: float) -> float:
    """Return the seconds until the deadline. Raises ResponseTimeoutError if it has passed."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise ResponseTimeoutError("a response that takes too long")
    return seconds

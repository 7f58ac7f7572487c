"""GET of URLs that others name: it reaches the public internet, and nothing that is only reached from here.

A host's name is looked up once, and the connection goes to an address of that answer which was checked, so that no
later answer leads elsewhere. Redirects are followed by hand, each checked as the first. No cookies, no proxies, no
credentials.
"""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from http.client import HTTPException
from queue import Empty, SimpleQueue
from urllib.parse import urljoin

import urllib3.exceptions
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3.connection import HTTPConnection
from urllib3.util import Url, parse_url

from config.http.json_client import NoAnswer, Permanent, TimedOut, check_status, read_body
from config.http.public_addresses import Network, is_public, is_within

USER_AGENT = "Launchboard"
MAX_REDIRECTS = 3
MAX_URL = 4_096

_PORTS = {"http": 80, "https": 443}
_REDIRECTS = (301, 302, 303, 307, 308)
# Each coding may unpack a thousandfold, and several may be stacked.
_CODINGS = ("", "identity", "gzip", "deflate")
# What the ways of OpenSSL, of sockets, of http.client and of urllib3 end with.
_BROKEN = (OSError, HTTPException, urllib3.exceptions.HTTPError)

# Host and port -> the addresses of the host, as text. Raises OSError.
Resolve = Callable[[str, int], Sequence[str]]


class AddressRefused(Permanent):
    """The URL, or one that it leads to, is not one that is asked."""


@dataclass(frozen=True, kw_only=True)
class _Answer:
    status: int
    # The header fields Location and Retry-After; empty where there are none.
    location: str
    pause: str
    # Of a status 200 alone.
    content: bytes


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, as this machine finds them. Raises OSError."""
    return [str(place[0]) for *_, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def get(
    url: str,
    *,
    timeout: float,
    max_bytes: int,
    allowed: Sequence[Network] = (),
    resolve: Resolve = resolve,
    authorities: str = DEFAULT_CA_BUNDLE_PATH,
) -> bytes:
    """GET the body of a status 200 under an http:// or https:// URL, decoded.

    `timeout` is in seconds and for everything together, `max_bytes` is for the decoded body. Any port of the allowed
    networks may be asked, and 80 and 443 of public addresses. `authorities` is the path of the certificates of those
    who vouch for hosts, by default requests'. Raises Retryable, and Permanent: AddressRefused, AnswerTooLarge,
    StatusRefused. No text holds the URL or an address.
    """
    deadline, place = time.monotonic() + timeout, read_url(url)
    for _ in range(MAX_REDIRECTS + 1):
        checked = _checked(place, allowed=allowed, resolve=resolve, deadline=deadline)
        with _connected(place, checked, authorities=authorities, deadline=deadline) as connection:
            answer = _ask(connection, place, deadline=deadline, max_bytes=max_bytes)
        if answer.status not in _REDIRECTS or not answer.location:
            check_status(answer.status, pause=answer.pause, content=b"")
            return answer.content
        place = _follow(place, answer.location)
    raise AddressRefused(f"more than {MAX_REDIRECTS} redirects")


def read_url(url: str) -> Url:
    """The parts of a URL that may be asked, as far as it says itself. Raises AddressRefused."""
    if len(url) > MAX_URL:
        raise AddressRefused(f"a URL of more than {MAX_URL} characters")
    try:
        place = parse_url(url)
    except urllib3.exceptions.LocationParseError:
        raise AddressRefused("a URL that can't be read") from None
    if place.scheme not in _PORTS or not place.host:
        raise AddressRefused("a URL that is not http:// or https:// with a host")
    if place.auth is not None or "%" in place.host:
        raise AddressRefused("a URL with credentials or a zone")
    return place


def _follow(place: Url, location: str) -> Url:
    """Where a redirect leads. Raises AddressRefused."""
    try:
        target = read_url(urljoin(place.url, location))
    except ValueError:
        raise AddressRefused("a redirect that can't be read") from None
    if place.scheme == "https" and target.scheme != "https":
        raise AddressRefused("a redirect from https:// to http://")
    return target


def _checked(place: Url, *, allowed: Sequence[Network], resolve: Resolve, deadline: float) -> Sequence[str]:
    """The addresses of the URL's host that may be asked under its port. Raises AddressRefused where there are none."""
    port = _port(place)
    found = _look_up(_host(place), port, resolve=resolve, deadline=deadline)
    checked = [address for address in found if is_within(address, allowed) or is_public(address) and _is_usual(port)]
    if not checked:
        raise AddressRefused("a host without a public address, or another port than 80 and 443")
    return checked


@contextmanager
def _connected(place: Url, addresses: Sequence[str], *, authorities: str, deadline: float) -> Iterator[HTTPConnection]:
    """A connection to one of the host's addresses, which ends at the deadline, whatever is waited for."""
    host, port = _host(place), _port(place)
    with closing(_open(addresses, port, deadline=deadline)) as plain, _ended_at(deadline, plain):
        connection = HTTPConnection(host, port, timeout=_left(deadline))
        encrypted = place.scheme == "https"
        connection.sock = _encryption(authorities).wrap_socket(plain, server_hostname=host) if encrypted else plain
        with closing(connection):
            yield connection


def _host(place: Url) -> str:
    """Without the brackets of an IPv6 address."""
    return (place.host or "").strip("[]")


def _port(place: Url) -> int:
    return place.port if place.port is not None else _PORTS[place.scheme or ""]


def _is_usual(port: int) -> bool:
    return port in _PORTS.values()


def _look_up(host: str, port: int, *, resolve: Resolve, deadline: float) -> Sequence[str]:
    """The host's addresses. A lookup takes as long as name servers like, and can't be ended: it is left behind."""
    answers: SimpleQueue[Sequence[str] | None] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put(resolve(host, port))
        except (OSError, UnicodeError):
            answers.put(None)

    threading.Thread(target=ask, name="lookup", daemon=True).start()
    try:
        found = answers.get(timeout=_left(deadline))
    except Empty:
        raise TimedOut("a host whose name takes too long to look up") from None
    if found is None:
        raise NoAnswer("a host whose name is not known")
    return found


def _open(addresses: Sequence[str], port: int, *, deadline: float) -> socket.socket:
    """A connection to the first of the addresses that takes one. Raises NoAnswer."""
    for address in addresses:
        # An address is not looked up, so that it is the one that was checked.
        with suppress(OSError):
            return socket.create_connection((address, port), timeout=_left(deadline))
    raise NoAnswer("no answer (no connection)")


@cache
def _encryption(authorities: str) -> ssl.SSLContext:
    """It takes certificates of these authorities alone, and for the host that the URL names."""
    return ssl.create_default_context(cafile=authorities)


@contextmanager
def _ended_at(deadline: float, plain: socket.socket) -> Iterator[None]:
    """End a connection at the deadline: time-outs are for one read each, and a server may drip bytes for hours.

    What breaks within is raised as an error of `config.http.json_client`.
    """
    ended = threading.Event()
    # Encryption takes the socket over; the other handle is of the same connection.
    with plain.dup() as handle:

        def end() -> None:
            ended.set()
            with suppress(OSError):
                handle.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(_left(deadline), end)
        timer.daemon = True
        timer.start()
        broken: Exception | None = None
        try:
            yield
        except _BROKEN as error:
            broken = error
        finally:
            timer.cancel()
            timer.join()
    # To who reads, an end by us looks as if the answer were complete. `from None`: causes may hold the address.
    if ended.is_set() or isinstance(broken, TimeoutError | urllib3.exceptions.TimeoutError):
        raise TimedOut("an answer that takes too long") from None
    if broken is not None:
        raise NoAnswer(f"no answer ({type(broken).__name__})") from None


def _ask(connection: HTTPConnection, place: Url, *, deadline: float, max_bytes: int) -> _Answer:
    """Raises AnswerTooLarge, TimedOut, Permanent for codings that are not read, and what connections raise."""
    headers = {
        "Host": place.netloc or "",
        "User-Agent": USER_AGENT,
        "Accept": "application/json, */*;q=0.5",
        "Accept-Encoding": "gzip",
        "Connection": "close",
    }
    connection.request("GET", place.request_uri, headers=headers, preload_content=False)
    response = connection.getresponse()
    content = b""
    with closing(response):
        if response.status == 200:
            if response.headers.get("content-encoding", "").strip().lower() not in _CODINGS:
                raise Permanent("an answer in a coding that is not read")
            content = read_body(response, deadline=deadline, max_bytes=max_bytes)
    return _Answer(
        status=response.status,
        location=response.headers.get("location", ""),
        pause=response.headers.get("retry-after", ""),
        content=content,
    )


def _left(deadline: float) -> float:
    """The seconds until the deadline. Raises TimedOut where there are none."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimedOut("an answer that takes too long")
    return left

"""HTTP application for the stream: `GET /api/tokens/stream`, `/healthz` and `/metrics`, one request per connection."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from wsgiref.types import WSGIEnvironment

import orjson
from aiohttp import web
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from config.events.stream.event_hub import EventHub
from config.events.stream.event_reading import EventReader
from config.events.stream.stream_client import StreamClient, StreamCounts
from config.events.stream.stream_query import PARSERS, StreamQueryError, parse_stream_query
from config.http.request_ids import HEADER, begin_request, current_request_id
from config.web.client_ip import address_key
from config.web.metrics_access import metrics_refusal
from config.web.response_headers import NO_STORE, ignored_params

PATH = "/api/tokens/stream"
_READS = ("GET", "HEAD")
# Seconds after which a refused client may try again.
_RETRY_SECONDS = "5"
_STREAM_HEADERS = {
    "Content-Type": "text/event-stream",
    "Cache-Control": NO_STORE,
    # nginx sends each event at once.
    "X-Accel-Buffering": "no",
}
# As `config.api.cors` for public reads. EventSource sends Last-Event-ID by itself, clients with `fetch` as a header.
_CORS_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": f"Retry-After, X-Ignored-Params, {HEADER}",
}
_PREFLIGHT_HEADERS = {
    "Access-Control-Allow-Methods": ", ".join(_READS),
    # The site listens with htmx, which sends the last five.
    "Access-Control-Allow-Headers": "cache-control, content-type, last-event-id, "
    "hx-current-url, hx-request, hx-request-type, hx-source, hx-target",
    "Access-Control-Max-Age": "600",
}


class RefusedStreamError(Exception):
    """Raised for a client beyond a limit, with the response status and the limit's name in metrics."""

    def __init__(self, status: int, text: str, *, reason: str) -> None:
        super().__init__(text)
        self.status, self.reason = status, reason


class ClientLimits:
    """Limits on concurrent clients: in total, and by client address."""

    def __init__(self, *, clients: int, clients_per_address: int) -> None:
        self._most, self._most_per_address = clients, clients_per_address
        self._by_address: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()

    @property
    def clients(self) -> int:
        """Return the number of clients."""
        return self._by_address.total()

    def refuse(self, status: int, text: str, *, reason: str) -> RefusedStreamError:
        """Count a refusal, and return its error."""
        self.refused[reason] += 1
        return RefusedStreamError(status, text, reason=reason)

    @contextmanager
    def client(self, address: str) -> Iterator[None]:
        """Count a client while the block runs. Raises RefusedStreamError beyond a limit: 503 or 429."""
        if self.clients >= self._most:
            raise self.refuse(503, "Too many open streams", reason="clients")
        if self._by_address[address] >= self._most_per_address:
            raise self.refuse(429, "Too many open streams from this address", reason="address")
        self._by_address[address] += 1
        try:
            yield
        finally:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]


class StreamApp:
    """Request handler for `aiohttp.web.Server`."""

    def __init__(
        self,
        hub: EventHub,
        reader: EventReader,
        *,
        counts: StreamCounts,
        limits: ClientLimits,
        metrics: CollectorRegistry,
    ) -> None:
        """Serve the hub's events, and those that are only in the database."""
        self._hub, self._reader, self._counts, self._limits, self._metrics = hub, reader, counts, limits, metrics

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        """Respond to one request, after which the connection is closed."""
        request_id = begin_request(request.headers.get(HEADER, ""))
        response = await self._respond(request)
        if not response.prepared:
            response.headers[HEADER] = request_id
        response.force_close()
        return response

    async def _respond(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.path.removesuffix("/")
        if path == "/healthz":
            return json_response({"status": "ok"}, status=200)
        host, _ = split_domain_port(request.headers.get("Host", ""))
        if not host or not validate_host(host, settings.ALLOWED_HOSTS):
            return json_response({"error": "Bad request"}, status=400)
        if path == "/metrics":
            return self._respond_with_metrics(request)
        if path != PATH:
            return json_response({"error": "Not found"}, status=404)
        if request.method == "OPTIONS":
            return web.Response(status=204, headers=_CORS_HEADERS | _PREFLIGHT_HEADERS)
        if request.method not in _READS:
            allowed = ", ".join((*_READS, "OPTIONS"))
            return json_response({"error": f"{request.method} is not allowed"}, status=405, headers={"Allow": allowed})
        return await self._respond_with_events(request)

    async def _respond_with_events(self, request: web.BaseRequest) -> web.StreamResponse:
        ignored = ignored_params(request.query.keys() - PARSERS.keys())
        headers = _CORS_HEADERS | ({"X-Ignored-Params": ignored} if ignored else {})
        try:
            query = parse_stream_query(request.query.items(), last_event_id=request.headers.get("Last-Event-ID", ""))
        except StreamQueryError as error:
            return json_response(_invalid(error.details), status=400, headers=headers)
        response = web.StreamResponse(headers=_STREAM_HEADERS | headers | {HEADER: current_request_id()})
        if request.method == "HEAD":
            return response
        response.force_close()
        try:
            with self._limits.client(address_key(wsgi_environ(request))):
                if not self._hub.is_ready:
                    raise self._limits.refuse(503, "Service is temporarily unavailable", reason="database")
                client = StreamClient(
                    query,
                    hub=self._hub,
                    reader=self._reader,
                    counts=self._counts,
                    drain_seconds=2 * settings.STREAM_HEARTBEAT_SECONDS,
                )
                await client.serve(request, response)
        except RefusedStreamError as error:
            return json_response(
                {"error": str(error)}, status=error.status, headers=headers | {"Retry-After": _RETRY_SECONDS}
            )
        return response

    def _respond_with_metrics(self, request: web.BaseRequest) -> web.Response:
        status = metrics_refusal(wsgi_environ(request))
        if status == 401:
            return json_response({"error": "Unauthorized"}, status=401, headers={"WWW-Authenticate": "Bearer"})
        if status is not None:
            return json_response({"error": "Not found"}, status=status)
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        headers = {"Content-Type": content_type, "Cache-Control": NO_STORE}
        return web.Response(body=encode(self._metrics), headers=headers)


def wsgi_environ(request: web.BaseRequest) -> WSGIEnvironment:
    """Return the client's address and the headers as in a WSGI environment.

    As in `config.edge.wsgi_environ`, a header with an underscore in its name is left out: it can't forge another one.
    """
    environ: WSGIEnvironment = {"REMOTE_ADDR": request.remote or ""}
    for name, value in request.headers.items():
        if "_" not in name:
            key = f"HTTP_{name.upper().replace('-', '_')}"
            environ[key] = f"{environ[key]},{value}" if key in environ else value
    return environ


def _invalid(details: Mapping[str, str]) -> dict[str, object]:
    """Return the API's error body for invalid parameters."""
    problems = [{"field": name, "message": message} for name, message in details.items()]
    return {"error": f"{problems[0]['field']} {problems[0]['message']}", "details": problems}


def json_response(body: object, *, status: int, headers: Mapping[str, str] = {}) -> web.Response:
    """Return a response with a JSON body, which no cache keeps."""
    own = {"Content-Type": "application/json", "Cache-Control": NO_STORE}
    return web.Response(body=orjson.dumps(body), status=status, headers=own | dict(headers))

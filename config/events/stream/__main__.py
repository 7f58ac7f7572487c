"""`python -m config.events.stream`: the process that serves the stream, until SIGINT or SIGTERM."""

import asyncio
import gc
import logging
import logging.config
import os
import signal
import socket
import sys
from collections import Counter
from contextlib import suppress
from typing import cast

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from prometheus_client import CollectorRegistry

from config.events.stream.event_hub import EventHub
from config.events.stream.event_reading import EventReader, connection_options
from config.events.stream.log_poller import LogPoller, send_heartbeats, serve_turns
from config.events.stream.stream_app import ClientLimits, StreamApp, json_response
from config.events.stream.stream_client import StreamCounts
from config.events.stream.stream_metrics import StreamMetrics
from config.events.stream.stream_query import streamed_types
from config.processes.open_files import raise_open_files
from config.web.client_ip import address_key

# Connections besides the clients': refused ones, scrapes and the database.
_OTHER_FILES = 1024
_BACKLOG = 4096
# Bytes that the system buffers for a client; Linux doubles it.
_SEND_BUFFER_BYTES = 64 * 1024
# Milliseconds without an acknowledgement after which a connection counts as lost.
_ACKNOWLEDGE_MS = 45_000
# Connections per address whose request is not complete. An address at its limit of clients sends fewer.
MAX_UNFINISHED = 64
# Deadline for a request's headers, and for open requests when the process ends, in seconds.
_HEADER_SECONDS = 5.0
_STOP_SECONDS = 2.0
# Status of an error that aiohttp finds -> the API's text.
_ERRORS = {400: "Bad request", 500: "Internal server error"}
# Of the apps only this one, if it is installed: the others load models and pages.
_ERROR_REPORTS = "config.watching.error_reports.ErrorReportsConfig"
# At this level aiohttp writes no line for a request.
_NO_ACCESS_LOG = logging.Logger("stream.access", logging.WARNING)


class JsonErrorProtocol(web.RequestHandler):
    """Connection whose errors that aiohttp itself finds, such as headers that are too long, have the API's form."""

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Return the response to a request that can't be parsed, or whose handler has failed."""
        super().handle_error(request, status, exc, message)
        response = json_response({"error": _ERRORS[status]}, status=status)
        response.force_close()
        return response


class StreamServer:
    """Server for one request per connection. It limits connections without a complete request, which aiohttp does not.

    Each has a deadline, and an address may have MAX_UNFINISHED of them. With trusted proxies all connections are the
    proxy's, which bounds its clients' connections.
    """

    def __init__(self, app: StreamApp, limits: ClientLimits) -> None:
        self._app, self._limits = app, limits
        self._server = web.Server(self._respond, handler_cancellation=True)
        # Protocols of connections without a complete request: their deadlines and client addresses.
        self._unfinished: dict[asyncio.BaseProtocol, tuple[asyncio.TimerHandle, str]] = {}
        self._count_by_address: Counter[str] = Counter()

    def admit(self, transport: asyncio.Transport) -> None:
        """Give a new connection to aiohttp, or close it beyond its address's limit."""
        address = address_key({"REMOTE_ADDR": transport.get_extra_info("peername")[0]})
        if self._count_by_address[address] >= MAX_UNFINISHED and not settings.TRUSTED_PROXIES:
            self._limits.refused["unfinished"] += 1
            transport.abort()
            return
        loop = asyncio.get_running_loop()
        protocol = JsonErrorProtocol(self._server, loop=loop, access_log=_NO_ACCESS_LOG)
        deadline = loop.call_later(_HEADER_SECONDS, self._close_unfinished, protocol)
        self._unfinished[protocol] = deadline, address
        self._count_by_address[address] += 1
        transport.set_protocol(protocol)
        protocol.connection_made(transport)

    async def stop(self) -> None:
        """Close all connections."""
        await self._server.shutdown(_STOP_SECONDS)

    async def _respond(self, request: web.BaseRequest) -> web.StreamResponse:
        self._finish(request.protocol)
        return await self._app.respond(request)

    def _close_unfinished(self, protocol: web.RequestHandler) -> None:
        self._finish(protocol)
        if protocol.transport is not None:
            protocol.transport.abort()

    def _finish(self, protocol: asyncio.BaseProtocol) -> None:
        if protocol not in self._unfinished:
            return
        deadline, address = self._unfinished.pop(protocol)
        deadline.cancel()
        self._count_by_address[address] -= 1
        if not self._count_by_address[address]:
            del self._count_by_address[address]


class NewConnection(asyncio.Protocol):
    """Connection until the server has admitted it: aiohttp's own protocols know no address before."""

    def __init__(self, server: StreamServer) -> None:
        self._server = server

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Have the connection admitted or closed."""
        self._server.admit(cast(asyncio.Transport, transport))


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        logging.config.dictConfig(settings.LOGGING)
        logging.getLogger("aiohttp.server").addFilter(_shorten_refusal)
        apps.populate(app for app in settings.INSTALLED_APPS if app == _ERROR_REPORTS)
        asyncio.run(_serve())
    except (ImproperlyConfigured, OSError) as error:
        sys.exit(f"stream: {error}")


async def _serve() -> None:
    raise_open_files(settings.STREAM_CLIENTS + _OTHER_FILES)
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    # One session for all clients: past a pooler it has its timeout and prepared statements.
    options = connection_options(settings.DATABASES.get("direct", settings.DATABASES["default"]))
    hub, counts = EventHub(), StreamCounts()
    limits = ClientLimits(clients=settings.STREAM_CLIENTS, clients_per_address=settings.STREAM_CLIENTS_PER_ADDRESS)
    # Clients that read on from the database, one statement after another, never delay a poll.
    streamed = streamed_types()
    async with EventReader(options, streamed=streamed) as polled, EventReader(options, streamed=streamed) as read:
        poller = LogPoller(hub, polled)
        registry = CollectorRegistry()
        registry.register(StreamMetrics(hub, poller=poller, limits=limits, counts=counts))
        server = StreamServer(StreamApp(hub, read, counts=counts, limits=limits, metrics=registry), limits)
        listener = await loop.create_server(lambda: NewConnection(server), sock=_listening_socket(), backlog=_BACKLOG)
        # Loaded objects stay for good.
        gc.freeze()
        heartbeats = send_heartbeats(hub, seconds=settings.STREAM_HEARTBEAT_SECONDS)
        work = [poller.run(), serve_turns(hub), heartbeats, stop.wait()]
        tasks = [asyncio.create_task(coroutine) for coroutine in work]
        try:
            # The first task ends at the stop signal, or with a fault, which it raises here.
            ended_tasks, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in ended_tasks:
                task.result()
        finally:
            listener.close()
            hub.close()
            await server.stop()
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task


def _shorten_refusal(record: logging.LogRecord) -> bool:
    """Shorten a malformed request's traceback, which any client can cause, to a one-line warning."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, HttpProcessingError):
        record.levelno, record.levelname, record.exc_info = logging.WARNING, "WARNING", None
        record.msg, record.args = "Refused a malformed request: %s", (" ".join(str(error).split()),)
    return True


def _listening_socket() -> socket.socket:
    """Return the bound socket; its connections inherit its options. Raises OSError."""
    host = settings.STREAM_HOST
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Otherwise the system buffers megabytes for a client that reads nothing.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
    if sys.platform == "linux":
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _ACKNOWLEDGE_MS)
    listening.bind((host, settings.STREAM_PORT))
    return listening


if __name__ == "__main__":
    main()

"""Request and task traces for an OpenTelemetry collector, without personal data.

A task belongs to the trace of the request that sent it. Both contain spans for PostgreSQL statements, Redis commands,
and calls by `config.http.json_client`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import orjson
from django.apps import AppConfig
from django.conf import settings
from django.db import connections
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.instrumentation.django import DjangoInstrumentor
from opentelemetry.instrumentation.redis import RedisInstrumentor
from opentelemetry.instrumentation.requests import RequestsInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import Decision, ParentBased, SamplingResult, TraceIdRatioBased
from opentelemetry.trace import Span as AnySpan
from opentelemetry.trace import SpanKind, Status
from requests import PreparedRequest

from config.http.json_client import json_member
from config.http.request_ids import current_request_id
from config.postgresql.base import DatabaseWrapper
from config.watching.log_lines import MAX_LINE

_REQUEST_ID = "launchboard.request_id"
# All others are dropped: addresses, paths, queries, headers, host names, arguments of tasks and commands.
ATTRIBUTES = frozenset(
    {
        _REQUEST_ID,
        "celery.action",
        "celery.state",
        "celery.task_name",
        "db.query.text",
        "db.system",
        "db.system.name",
        "http.method",
        "http.request.method",
        "http.response.status_code",
        "http.route",
        "http.status_code",
        "messaging.destination",
        "messaging.destination.name",
        "rpc.method",
    }
)
# Seconds for one export. A process that ends waits for one or two exports, which is less than its grace period.
_EXPORT_SECONDS = 2.0
_UNTRACED = "healthz,readyz,metrics,static"


class TracesConfig(AppConfig):
    """App that starts a process's traces."""

    name = "config.watching.traces"
    label = "traces"

    def ready(self) -> None:
        """Start them, with TRACES_SHARE as the sampling ratio."""
        share = TraceIdRatioBased(settings.TRACES_SHARE)
        provider = TracerProvider(
            # By the trace's id, so that a trace keeps all spans or none; a client's sampling request does not count.
            sampler=ParentBased(
                WorkSampler(settings.TRACES_SHARE), remote_parent_sampled=share, remote_parent_not_sampled=share
            ),
            resource=Resource.create({"service.name": "launchboard"}),
        )
        provider.add_span_processor(RequestIdProcessor())
        exporter = ScrubbingExporter(OTLPSpanExporter(settings.TRACES_URL, timeout=_EXPORT_SECONDS))
        # Processors end in this sequence.
        provider.add_span_processor(EndProcessor(exporter))
        provider.add_span_processor(BatchSpanProcessor(exporter))
        DjangoInstrumentor().instrument(tracer_provider=provider, excluded_urls=_UNTRACED)
        # Its own constructor has no types.
        create_instrumentor: Callable[[], Any] = CeleryInstrumentor
        create_instrumentor().instrument(tracer_provider=provider)
        RedisInstrumentor().instrument(tracer_provider=provider)
        RequestsInstrumentor().instrument(tracer_provider=provider, request_hook=describe_call)
        tracer = StatementTracer(provider)
        DatabaseWrapper.statement_wrappers.append(tracer)
        # Models have used these connections while they were loaded.
        for existing in connections.all(initialized_only=True):
            existing.execute_wrappers.append(tracer)


class WorkSampler(TraceIdRatioBased):
    """Sampler for first spans that drops statements, commands and calls outside a request or task.

    Workers poll Redis each second, and followers and the publisher poll nodes and PostgreSQL.
    """

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        *rest: Any,
        **more: Any,
    ) -> SamplingResult:
        """Return the decision about a span without a parent."""
        if kind is SpanKind.CLIENT:
            return SamplingResult(Decision.DROP)
        return super().should_sample(parent_context, trace_id, name, kind, *rest, **more)


class StatementTracer:
    """Wrapper around Django's statements that makes a span for each, with its text and without its parameters."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer(__name__)

    def __call__(self, execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
        """Execute the statement within its span. A statement that psycopg composed may hold values in its text."""
        text = sql[:MAX_LINE] if isinstance(sql, str) else ""
        verb = text.lstrip("( \n").split(None, 1)[:1]
        attributes = {"db.system.name": "postgresql", "db.query.text": text}
        with self._tracer.start_as_current_span(
            verb[0].upper() if verb else "SQL", kind=SpanKind.CLIENT, attributes=attributes
        ):
            return execute(sql, params, many, context)


def describe_call(span: AnySpan, request: PreparedRequest) -> None:
    """Add a JSON-RPC request's methods to its span, and keep the trace's header from others' hosts."""
    # The instrumentation writes the header into the mapping that the request had before.
    request.headers = request.headers.copy()
    if span.is_recording() and request.headers.get("content-type") == "application/json":
        calls = orjson.loads(request.body or b"null")
        methods = {
            str(json_member(call, "method"))
            for call in (calls if isinstance(calls, list) else [calls])
            if json_member(call, "jsonrpc")
        }
        span.set_attribute("rpc.method", ",".join(sorted(methods)))


class RequestIdProcessor(SpanProcessor):
    """Processor that adds the request id to a request's span; its tasks are in the same trace."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Add it."""
        if span.kind is SpanKind.SERVER:
            span.set_attribute(_REQUEST_ID, current_request_id())


class ScrubbingExporter(SpanExporter):
    """Exporter that passes only the listed attributes on to another one, without events, which hold tracebacks."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._last, self._ending = SpanExportResult.SUCCESS, False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export the spans. A process that ends drops them once an export has failed."""
        if not self._ending or self._last is SpanExportResult.SUCCESS:
            self._last = self._exporter.export([_scrubbed(span) for span in spans])
        return self._last

    def begin_end(self) -> None:
        """Note that the process ends."""
        self._ending = True

    def shutdown(self) -> None:
        """End the other exporter."""
        self._exporter.shutdown()


class EndProcessor(SpanProcessor):
    """Processor that announces the end to an exporter; add it before the exporter's batch processor.

    A batch processor's shutdown waits up to 30 seconds for all its exports, and no parameter changes that.
    """

    def __init__(self, exporter: ScrubbingExporter) -> None:
        self._exporter = exporter

    def shutdown(self) -> None:
        """Announce the end, after which the exporter drops spans once an export has failed."""
        self._exporter.begin_end()


def _scrubbed(span: ReadableSpan) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=span.get_span_context(),
        parent=span.parent,
        resource=span.resource,
        attributes={name: value for name, value in (span.attributes or {}).items() if name in ATTRIBUTES},
        kind=span.kind,
        instrumentation_scope=span.instrumentation_scope,
        # Its description is an exception's text.
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
    )

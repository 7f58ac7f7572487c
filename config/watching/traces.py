"""Traces of requests and tasks for an OpenTelemetry collector, without personal data.

A task belongs to the trace of the request that sent it. Outgoing calls are not instrumented: the instrumentations of
HTTP clients write their headers into calls to hosts of others, and record URLs, which may hold keys.
"""

from collections.abc import Sequence

from django.apps import AppConfig
from django.conf import settings
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.instrumentation.django import DjangoInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import SpanKind, Status

from config.http.request_ids import current_request_id

_REQUEST_ID = "launchboard.request_id"
# All others are dropped: addresses, paths, queries, headers, names of hosts, arguments of tasks.
ATTRIBUTES = frozenset(
    {
        _REQUEST_ID,
        "celery.action",
        "celery.state",
        "celery.task_name",
        "http.method",
        "http.request.method",
        "http.response.status_code",
        "http.route",
        "http.status_code",
        "messaging.destination",
        "messaging.destination.name",
    }
)
_UNTRACED = "healthz,readyz,metrics,static"


class TracesConfig(AppConfig):
    """App that starts the traces of a process."""

    name = "config.watching.traces"
    label = "traces"

    def ready(self) -> None:
        """Start them, with the share of traces that TRACES_SHARE names."""
        share = TraceIdRatioBased(settings.TRACES_SHARE)
        provider = TracerProvider(
            # By the trace's id, so that all spans of a trace are kept or none; a client's wish for one does not count.
            sampler=ParentBased(share, remote_parent_sampled=share, remote_parent_not_sampled=share),
            resource=Resource.create({"service.name": "launchboard"}),
        )
        provider.add_span_processor(RequestIdProcessor())
        provider.add_span_processor(BatchSpanProcessor(ScrubbingExporter(OTLPSpanExporter(settings.TRACES_URL))))
        DjangoInstrumentor().instrument(tracer_provider=provider, excluded_urls=_UNTRACED)
        CeleryInstrumentor().instrument(tracer_provider=provider)  # type: ignore[no-untyped-call]


class RequestIdProcessor(SpanProcessor):
    """Processor that adds the request id to the span of a request; its tasks are in the same trace."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Add it."""
        if span.kind is SpanKind.SERVER:
            span.set_attribute(_REQUEST_ID, current_request_id())


class ScrubbingExporter(SpanExporter):
    """Exporter that passes only the listed attributes on to another one, without events, which hold tracebacks."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export the spans."""
        return self._exporter.export([_scrubbed(span) for span in spans])

    def shutdown(self) -> None:
        """End the other exporter."""
        self._exporter.shutdown()


def _scrubbed(span: ReadableSpan) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=span.get_span_context(),
        parent=span.parent,
        resource=span.resource,
        attributes={name: value for name, value in (span.attributes or {}).items() if name in ATTRIBUTES},
        kind=span.kind,
        instrumentation_scope=span.instrumentation_scope,
        # Its description is the text of an exception.
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
    )

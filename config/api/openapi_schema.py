"""OpenAPI schema generation: parameters from the view's serializer, errors from one component."""

import re
from collections.abc import Mapping
from typing import Any, cast, get_origin, is_typeddict

from django.conf import settings
from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema

from config.api.parsing import PICTURE_PARSERS
from config.api.views import LimitedView
from config.events.event_types import EventType, event_schema, webhook_types
from config.parsing.json_rules import MAX_REPORTED, Component
from config.parsing.response_types import type_schema
from config.web.response_headers import NO_STORE

_ERROR = {
    "type": "object",
    "description": "The one body of every error.",
    "required": ["error"],
    "properties": {
        "error": {"type": "string", "description": "A sentence for people."},
        "success": {
            "type": "boolean",
            "const": False,
            "description": "Only on deployments; true in their successful responses.",
        },
        "message": {"type": "string", "description": "Only on deployments and DEXTools' feed: the same sentence."},
        "code": {"type": "string", "description": "Only on DEXTools' feed: the status."},
        "issues": {
            "type": "array",
            "description": "Only on DEXTools' feed: `details` in its format.",
            "items": {
                "type": "object",
                "required": ["param", "message"],
                "properties": {"param": {"type": "string"}, "message": {"type": "string"}},
            },
        },
        "s": {"type": "string", "const": "error", "description": "Only on the feed of charts."},
        "errmsg": {"type": "string", "description": "Only on the feed of charts: the same sentence."},
        "oldestId": {"type": "integer", "description": "Only on 410: id of the oldest event that is stored."},
        "newestId": {"type": "integer", "description": "Only on 410: id of the newest one."},
        "details": {
            "type": "array",
            "description": "On 400 the invalid fields; on 403 the fields that the caller is not allowed to set. At most"
            f" {MAX_REPORTED}: of more the first, and a last entry with the number of further ones.",
            "maxItems": MAX_REPORTED,
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {
                    "field": {"type": "string", "examples": ["rewards[1].allocation"]},
                    "message": {"type": "string"},
                },
            },
        },
    },
}

_TEXTS = {
    "304": "The ETag in If-None-Match is current; there is no body.",
    "400": "A parameter, the cursor or the body is invalid; the text names it and the rule.",
    "401": "The credential is missing or not valid.",
    "403": "The caller is authenticated but not allowed to do this.",
    "404": "There is no such record.",
    "409": "A record with the same key exists, with other content.",
    "408": "The body did not arrive in time.",
    "410": "Events after this id are past their retention, or it is larger than any id.",
    "413": "The body is too large.",
    "415": "The media type of the body is not accepted.",
    "429": "A rate limit is exceeded. Retry after the number of seconds in `Retry-After`.",
    "500": "Internal server error.",
    "502": "An upstream returned an error or is down, and there is no cached response.",
    "503": "Upstream or dependency unavailable, or busy server. Retry after the number of seconds in `Retry-After`.",
}


def _number_header(text: str) -> dict[str, Any]:
    return {"description": text, "schema": {"type": "integer", "minimum": 0}}


def _text_header(text: str, **bounds: Any) -> dict[str, Any]:
    return {"description": text, "schema": {"type": "string", **bounds}}


def _own_header(of_view: str | Mapping[str, Any]) -> dict[str, Any]:
    return _text_header(of_view) if isinstance(of_view, str) else dict(of_view)


_RATE_LIMIT_HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
_HEADERS = {
    "RateLimit-Limit": _number_header("Number of calls allowed per window."),
    "RateLimit-Remaining": _number_header("Number of calls left in the window."),
    "RateLimit-Reset": _number_header("Seconds until the window ends."),
    "Retry-After": _number_header("Seconds to wait before the next call."),
    "X-Request-ID": _text_header("Id of the request in the service's log: the client's own if it is well formed."),
    "X-Ignored-Params": _text_header("Unknown query parameters, separated by commas; absent if there are none."),
    "ETag": _text_header("Identifies the body, for If-None-Match."),
    "Deprecation": _text_header("Date of the deprecation, in Unix seconds after an @ (RFC 9745).", pattern="^@[0-9]+$"),
    "Link": _text_header('Path of the successor, as rel="successor-version" (RFC 8288).'),
    "WWW-Authenticate": _text_header("Scheme of the expected credential."),
}
_CONDITION = {
    "in": "header",
    "name": "If-None-Match",
    "schema": {"type": "string"},
    "description": "ETags of cached responses; 304 if one of them is current.",
}
_WEBHOOK_HEADERS = {
    "webhook-id": "Identifies the event: a repeated delivery has the same id.",
    "webhook-timestamp": "Time of the attempt in Unix seconds. Reject it if it is more than five minutes off.",
    "webhook-signature": "Signatures separated by blanks, each `v1,` and base64 of HMAC-SHA256 over"
    " `id.timestamp.body` with the endpoint's secret. During a rotation there are two.",
}
# Extension with the scope that a partner key needs: `security` lists OAuth scopes only.
SCOPE = "x-required-scope"
# Returned before the query is validated.
_BEFORE_QUERY = ("401", "403", "429")
# Temporary errors.
_FOR_NOW = ("429", "502", "503")


class ShapedFieldExtension(OpenApiSerializerFieldExtension):
    """Schema extension that describes a serializer field by its `shape`."""

    target_class = "config.api.fields.ShapedField"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        """Return the JSON Schema, to which the field's own description is added."""
        return dict(self.target.shape)


class ComponentExtension(OpenApiSerializerExtension):
    """Schema extension for rules' components, which views name as bodies and responses."""

    target_class = "config.parsing.json_rules.Component"

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        """Return the component's name."""
        return str(self.target.name)

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        """Return the JSON Schema, which refers to its own components."""
        schema: dict[str, Any] = resolve_components(self.target.schema, auto_schema)
        return schema


def resolve_components(schema: Any, auto_schema: Any) -> Any:
    """Return a copy of a schema with references to its components, and register these."""
    if isinstance(schema, Component):
        return auto_schema.resolve_serializer(schema, "request").ref
    if isinstance(schema, dict):
        return {name: resolve_components(value, auto_schema) for name, value in schema.items()}
    return [resolve_components(value, auto_schema) for value in schema] if isinstance(schema, list) else schema


class EndpointSchema(AutoSchema):
    """Schema inspector that reads a view's `query_serializer` and `successor`.

    All views are rate-limited: they may also return 429, and 503 while the database is down. Cacheable responses have
    an ETag, so they may be 304.
    """

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        """Return the operation with the usual statuses for such a view, and the view's own headers."""
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        view = cast(LimitedView, self.view)
        operation |= _summarised(operation.get("description", ""))
        # An absent list would mean that the document's own one applies.
        operation.setdefault("security", [])
        scope = getattr(view, "required_scope", None)
        if scope is not None and any(operation["security"]):
            operation[SCOPE] = str(scope)
        for parameter in operation.get("parameters", ()):
            if parameter["schema"].get("type") == "array":
                # One text with comma-separated items.
                parameter |= {"style": "form", "explode": False}
            # Without a value, a parameter counts as absent.
            parameter["schema"].pop("minLength", None)
        responses = operation["responses"]
        if view.parser_classes == PICTURE_PARSERS:
            operation["requestBody"]["required"] = True
        for status in ("429", "503"):
            responses.setdefault(status, {})
        if self.method == "GET" and NO_STORE not in getattr(view, "cache_control", NO_STORE):
            responses["304"] = {"description": _TEXTS["304"]}
        own = {name: _own_header(of_view) for name, of_view in view.extra_headers.items()}
        for status in {"200", "304"} & set(responses) if own else ():
            responses[status].setdefault("headers", {}).update(own)
        return operation

    def resolve_serializer(self, serializer: Any, direction: Any, bypass_extensions: bool = False) -> Any:
        """Return the registered component. Raises ValueError if another rule's component has its name."""
        component = super().resolve_serializer(serializer, direction, bypass_extensions)
        if isinstance(serializer, Component) and component.object is not serializer:
            raise ValueError(f"two components have the name {serializer.name}")
        return component

    def _get_request_for_media_type(self, serializer: Any, direction: str = "request") -> Any:
        """Return the reference to a component, whatever the method, and that the body is required."""
        if isinstance(serializer, Component):
            return resolve_components(serializer, self), True
        # Without types in drf-spectacular.
        inspector: Any = super()
        return inspector._get_request_for_media_type(serializer, direction)

    def _get_response_for_code(self, serializer: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the response for a serializer, or for a type of `config.parsing.response_types`."""
        if is_typeddict(serializer) or get_origin(serializer) in (list, dict):
            serializer = resolve_components(type_schema(serializer), self)
        # Without types in drf-spectacular.
        inspector: Any = super()
        return inspector._get_response_for_code(serializer, *args, **kwargs)

    def get_auth(self) -> list[Any]:
        """Return the security requirements for the view's method, and register its authentication schemes."""
        schemes: list[Any] = super().get_auth()
        return cast(LimitedView, self.view).security_by_method.get(self.method, schemes)

    def get_tags(self) -> list[str]:
        """Return the tag of the view's package, whatever the path begins with."""
        module = type(self.view).__module__
        return [tag for package, tag in settings.OPERATION_TAGS.items() if f"{module}.".startswith(f"{package}.")]

    def is_deprecated(self) -> bool:
        """Return whether the view has a successor."""
        return bool(getattr(self.view, "successor", None))

    def get_override_parameters(self) -> list[Any]:
        """Return the query serializer: its parameters join the ones in `extend_schema`."""
        serializer = getattr(self.view, "query_serializer", None)
        return [serializer] if serializer is not None and self.method == "GET" else []


def _summarised(text: str) -> dict[str, str]:
    """Return a docstring as description, and its first sentence without the period as summary."""
    summary = re.split(r"\.(?:\s|$)", text, maxsplit=1)[0]
    return {"summary": " ".join(summary.split()), "description": text}


def describe_errors(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Add each operation's usual errors, all with the same body, and the response headers.

    A view declares further errors without a body, as in `extend_schema(responses={200: ..., 404: None})`.
    """
    components = result.setdefault("components", {})
    components.setdefault("schemas", {})["Error"] = _ERROR
    components["headers"] = _HEADERS
    for path, operations in result.get("paths", {}).items():
        for operation in operations.values():
            responses = operation["responses"]
            for status in _usual_errors(path, operation):
                responses.setdefault(status, {})
            for status in [status for status in responses if status[0] in "45"]:
                if "content" not in responses[status]:
                    responses[status] = _error_response(status)
            if "304" in responses:
                operation.setdefault("parameters", []).append(_CONDITION)
            for status, response in responses.items():
                names = _header_names(operation, status)
                references = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
                response["headers"] = response.get("headers", {}) | references
            operation["responses"] = dict(sorted(responses.items()))
    return result


def _header_names(operation: dict[str, Any], status: str) -> list[str]:
    """Return the headers that a response may have."""
    names = [*_RATE_LIMIT_HEADERS, "X-Request-ID"]
    if status not in _BEFORE_QUERY:
        names.append("X-Ignored-Params")
    if "304" in operation["responses"] and status in ("200", "304"):
        names.append("ETag")
    if operation.get("deprecated"):
        names += ["Deprecation", "Link"]
    if status == "401":
        names.append("WWW-Authenticate")
    if status in _FOR_NOW:
        names.append("Retry-After")
    return names


def _usual_errors(path: str, operation: dict[str, Any]) -> list[str]:
    statuses: list[str] = []
    if operation.get("parameters") or operation.get("requestBody"):
        statuses.append("400")
    if operation.get("requestBody"):
        statuses += ["408", "413", "415"]
    if any(operation.get("security", [])):
        statuses += ["401", "403"]
    if "{" in path:
        statuses.append("404")
    return statuses


def _error_response(status: str) -> dict[str, Any]:
    return {
        "description": _TEXTS.get(status, "An error."),
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }


def describe_webhooks(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Add `webhooks`, by event type name."""
    result["webhooks"] = {each.name: {"post": _webhook(each)} for each in webhook_types().values()}
    return result


def _webhook(event_type: EventType) -> dict[str, Any]:
    return {
        "security": [],
        "operationId": f"on{''.join(word.title() for word in event_type.name.split('.'))}",
        "tags": ["events"],
        "summary": event_type.summary.partition(". ")[0].removesuffix("."),
        "description": event_type.summary,
        "parameters": [
            {"in": "header", "name": name, "required": True, "schema": {"type": "string"}, "description": text}
            for name, text in _WEBHOOK_HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": event_schema(event_type)}}},
        "responses": {
            "2XX": {"description": "The event is accepted. Any other status, a redirect too, is a failure."},
            "410": {"description": "The endpoint is disabled."},
        },
    }

"""How endpoints are described in OpenAPI: parameters from the view's serializer, errors from one component."""

from typing import Any

from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.extensions import OpenApiFilterExtension, OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import build_parameter_type

from config.api.response_headers import NEVER_STORED
from config.api.views import LimitedView

_ERROR = {
    "type": "object",
    "description": "The one body of every error.",
    "required": ["error"],
    "properties": {
        "error": {"type": "string", "description": "A sentence for people."},
        "success": {"const": False, "description": "Of orders alone, whose other answers say true."},
        "message": {"type": "string", "description": "Of orders alone: the same sentence."},
        "details": {
            "type": "array",
            "description": "What was refused, on 400; on 403 what of the body is not the caller's to send.",
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
    "304": "What If-None-Match names is current; the body is left out.",
    "400": "A parameter, the cursor or the body is refused; the text names it and the rule.",
    "401": "The credential is missing or not valid.",
    "403": "The caller is known, and not allowed to do this.",
    "404": "There is no such record.",
    "409": "The same thing is already there with another content.",
    "413": "The body is too large.",
    "415": "The body is not JSON.",
    "429": "Over a limit; Retry-After says when to come back.",
    "500": "Internal server error.",
    "502": "An upstream answered wrongly or is down, and there is no saved answer.",
    "503": "An upstream can't be asked or does not answer, or a part of this service doesn't.",
}


def _number_header(text: str) -> dict[str, Any]:
    return {"description": text, "schema": {"type": "integer", "minimum": 0}}


def _text_header(text: str, **bounds: Any) -> dict[str, Any]:
    return {"description": text, "schema": {"type": "string", **bounds}}


_RATE_LIMIT_HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
_HEADERS = {
    "RateLimit-Limit": _number_header("How many calls pass within a window."),
    "RateLimit-Remaining": _number_header("How many of them are left."),
    "RateLimit-Reset": _number_header("How many seconds the window lasts from here."),
    "Retry-After": _number_header("How many seconds to wait before the next call."),
    "X-Ignored-Params": _text_header(
        "Query parameters that are not known here, by commas; absent where there are none."
    ),
    "ETag": _text_header("Names the body, for If-None-Match."),
    "Deprecation": _text_header("Since when, in Unix seconds after an @ (RFC 9745).", pattern="^@[0-9]+$"),
    "Link": _text_header('What to use instead, as rel="successor-version" (RFC 8288).'),
    "WWW-Authenticate": _text_header("Which credential is expected."),
}
_CONDITION = {
    "in": "header",
    "name": "If-None-Match",
    "schema": {"type": "string"},
    "description": "ETags of answers that the caller has; 304 where one of them is current.",
}
# Answered before the query is looked at.
_BEFORE_QUERY = ("401", "403", "429")
# What is worth another try.
_FOR_NOW = ("429", "502", "503")


class ShapedFieldExtension(OpenApiSerializerFieldExtension):
    """Describes a serializer's field by its `shape`, as filters are."""

    target_class = "config.api.fields.ShapedField"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        """The JSON Schema, to which the field's own description is added."""
        return dict(self.target.shape)


class EndpointSchema(AutoSchema):
    """Takes a view's `query_serializer` and `filterset_class` as its parameters, its `successor` as a deprecation.

    What counts its calls answers with 429, too, and with 503 while the database doesn't answer; what may be stored has
    an ETag, and so 304.
    """

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        """The operation, with the statuses of its kind of view, and the headers that are the view's own."""
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation is None or not isinstance(self.view, LimitedView):
            return operation
        responses = operation["responses"]
        for status in ("429", "503"):
            responses.setdefault(status, {})
        if self.method == "GET" and NEVER_STORED not in getattr(self.view, "cache_control", NEVER_STORED):
            responses["304"] = {"description": _TEXTS["304"]}
        own = {name: _text_header(text) for name, text in self.view.own_headers.items()}
        for status in {"200", "304"} & set(responses) if own else ():
            responses[status].setdefault("headers", {}).update(own)
        return operation

    def get_tags(self) -> list[str]:
        """One group per app, whatever the address begins with."""
        return [type(self.view).__module__.split(".")[0]]

    def is_deprecated(self) -> bool:
        """Whether something else is to be used instead."""
        return bool(getattr(self.view, "successor", None))

    def get_override_parameters(self) -> list[Any]:
        """The query parameters, beside those of `extend_schema`."""
        serializer = getattr(self.view, "query_serializer", None)
        return [serializer] if serializer is not None and self.method == "GET" else []

    def _get_filter_parameters(self) -> list[Any]:
        filterset_class = getattr(self.view, "filterset_class", None)
        if filterset_class is None or self.method != "GET":
            return []
        parameters: list[Any] = []
        for name, filter_ in filterset_class.base_filters.items():
            parameters += self._describe_filter(filterset_class, name, filter_)
        return parameters

    def _describe_filter(self, filterset_class: Any, name: str, filter_: Any) -> list[Any]:
        """By the `shape` of its form field, which says what that takes; by its kind where the field has none."""
        shape = getattr(filter_.field, "shape", None)
        if shape is None:
            extension: Any = OpenApiFilterExtension.get_match(DjangoFilterBackend())
            found: list[Any] = extension.resolve_filter_field(
                self, filterset_class._meta.model, filterset_class, name, filter_
            )
            return found
        # An array is one text, its items separated by commas.
        listed = {"style": "form", "explode": False} if shape["type"] == "array" else {}
        required = filter_.extra["required"]
        return [build_parameter_type(name, shape, "query", required=required, description=filter_.label, **listed)]


def describe_errors(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Give each operation the errors of every endpoint of its kind, all with the one body, and answers their headers.

    A view declares further ones without a body, as in `extend_schema(responses={200: ..., 404: None})`.
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
                if names:
                    references = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
                    response["headers"] = response.get("headers", {}) | references
            operation["responses"] = dict(sorted(responses.items()))
    return result


def _header_names(operation: dict[str, Any], status: str) -> list[str]:
    """What an answer tells in its headers; some of them only where there is something to tell."""
    names: list[str] = []
    if "429" in operation["responses"]:
        names += _RATE_LIMIT_HEADERS
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
        statuses += ["413", "415"]
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

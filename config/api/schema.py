"""How endpoints are described in OpenAPI: parameters from the view's serializer, errors from one component."""

from collections.abc import Iterable
from typing import Any

from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.extensions import OpenApiFilterExtension
from drf_spectacular.openapi import AutoSchema

from config.api.views import LimitedView

_ERROR = {
    "type": "object",
    "description": "The one body of every error.",
    "required": ["error"],
    "properties": {
        "error": {"type": "string", "description": "A sentence for people."},
        "details": {
            "type": "array",
            "description": "What was refused, on 400.",
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

_RATE_LIMIT_HEADERS = {
    "RateLimit-Limit": "How many calls pass within a window.",
    "RateLimit-Remaining": "How many of them are left.",
    "RateLimit-Reset": "How many seconds the window lasts from here.",
}
_RETRY_AFTER = "How many seconds to wait before the next call."


class EndpointSchema(AutoSchema):
    """Takes a view's `query_serializer` and `filterset_class` as its parameters, its `successor` as a deprecation.

    What counts its calls answers with 429, too.
    """

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        """The operation, with 429 where its calls are counted."""
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation is not None and isinstance(self.view, LimitedView):
            operation["responses"].setdefault("429", {})
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
        extension: Any = OpenApiFilterExtension.get_match(DjangoFilterBackend())
        parameters: list[Any] = []
        for name, filter_ in filterset_class.base_filters.items():
            model = filterset_class._meta.model
            parameters += extension.resolve_filter_field(self, model, filterset_class, name, filter_)
        return parameters


def describe_errors(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Give each operation the errors that every endpoint of its kind may answer with, all with the one body.

    A view declares further ones without a body, as in `extend_schema(responses={200: ..., 404: None})`.
    """
    components = result.setdefault("components", {})
    components.setdefault("schemas", {})["Error"] = _ERROR
    components["headers"] = {name: _number_header(text) for name, text in _RATE_LIMIT_HEADERS.items()}
    components["headers"]["Retry-After"] = _number_header(_RETRY_AFTER)
    for path, operations in result.get("paths", {}).items():
        for operation in operations.values():
            responses = operation["responses"]
            for status in _usual_errors(path, operation):
                responses.setdefault(status, {})
            for status in [status for status in responses if status[0] in "45"]:
                if "content" not in responses[status]:
                    responses[status] = _error_response(status)
            if "429" in responses:
                _add_headers(responses.values(), *_RATE_LIMIT_HEADERS)
                _add_headers([responses["429"]], "Retry-After")
            operation["responses"] = dict(sorted(responses.items()))
    return result


def _number_header(text: str) -> dict[str, Any]:
    return {"description": text, "schema": {"type": "integer", "minimum": 0}}


def _add_headers(responses: Iterable[dict[str, Any]], *names: str) -> None:
    for response in responses:
        references = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
        response["headers"] = response.get("headers", {}) | references


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

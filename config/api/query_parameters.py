"""Query parameters: described by a serializer, validated before a view runs."""

import functools
from typing import Any

from django.http import QueryDict
from rest_framework.exceptions import ValidationError
from rest_framework.serializers import Serializer

from config.web.response_headers import ignored_params

SerializerClass = type[Serializer[Any]]

# The only parameter that differs on each page; the view parses it.
_CURSOR = "cursor"


def parse_query(query: QueryDict, serializer: SerializerClass | None) -> dict[str, Any]:
    """Validate the query and return the serializer's values.

    A parameter without a value counts as absent. Raises ValidationError (400) with all invalid parameters.
    """
    values, problems = {}, {}
    for name in _known_names(serializer) & set(query):
        texts = query.getlist(name)
        if len(texts) > 1:
            problems[name] = ["must be given once"]
        elif texts[0]:
            values[name] = texts[0]
    cursor = {_CURSOR: values.pop(_CURSOR)} if _CURSOR in values else {}
    try:
        parameters = _check(serializer, tuple(sorted(values.items())))
    except ValidationError as error:
        # A dictionary, as `_check` raises it; the framework's type allows others.
        rejected: Any = error.detail
        problems = {**rejected, **problems}
    if problems:
        raise ValidationError(problems)
    return {**parameters, **cursor}


def ignored_parameters(query: QueryDict, serializer: SerializerClass | None) -> str:
    """Return the X-Ignored-Params header, which is empty if all parameters are known."""
    return ignored_params(set(query) - _known_names(serializer))


@functools.lru_cache(maxsize=2048)
def _check(serializer: SerializerClass | None, values: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """Validate the parameters.

    Cached, because validation costs more than a page's database query, and most requests repeat earlier ones.
    """
    if serializer is None:
        return {}
    instance = serializer(data=dict(values))
    instance.is_valid(raise_exception=True)
    return dict(instance.validated_data)


@functools.cache
def _known_names(serializer: SerializerClass | None) -> frozenset[str]:
    return frozenset(serializer().fields if serializer else ())

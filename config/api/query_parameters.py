"""Query parameters: described by a serializer and a FilterSet, validated before a view runs."""

import functools
import re
from typing import Any

from django.http import QueryDict
from django_filters.utils import translate_validation
from rest_framework.exceptions import ValidationError
from rest_framework.serializers import Serializer

SerializerClass = type[Serializer[Any]]

# The only parameter that differs on each page of a walk; the view parses it.
_CURSOR = "cursor"

# Bounds of X-Ignored-Params; callers control its content.
_MAX_IGNORED_NAMES = 20
_MAX_IGNORED_NAME_LENGTH = 50
_NOT_IN_HEADER = re.compile(r"[^!-+\--~]")


def parse_query(
    given: QueryDict, serializer: SerializerClass | None, filter_set: Any
) -> tuple[dict[str, Any], dict[str, str]]:
    """Validate the query; return the serializer's values, and the FilterSet's parameters as raw text.

    A parameter without a value counts as absent. Raises ValidationError (400) with all invalid parameters.
    """
    values, repeated = {}, {}
    for name in _known_names(serializer, filter_set) & set(given):
        texts = given.getlist(name)
        if len(texts) > 1:
            repeated[name] = ["must be given once"]
        elif texts[0]:
            values[name] = texts[0]
    cursor = {_CURSOR: values.pop(_CURSOR)} if _CURSOR in values else {}
    try:
        checked, filters = _check((serializer, filter_set), tuple(sorted(values.items())))
    except ValidationError as error:
        # A dictionary, as `_check` raises it; the framework's type allows others.
        refused: Any = error.detail
        repeated = {**refused, **repeated}
    if repeated:
        raise ValidationError(repeated)
    return {**checked, **cursor}, dict(filters)


def ignored_parameters(given: QueryDict, serializer: SerializerClass | None, filter_set: Any) -> tuple[str, ...]:
    """Return the unknown parameters, in visible ASCII without commas, so that none can inject a header."""
    unknown = set(given) - _known_names(serializer, filter_set)
    cleaned = {_NOT_IN_HEADER.sub("?", name)[:_MAX_IGNORED_NAME_LENGTH] for name in unknown}
    return tuple(sorted(cleaned - {""})[:_MAX_IGNORED_NAMES])


@functools.lru_cache(maxsize=2048)
def _check(classes: Any, values: tuple[tuple[str, str], ...]) -> tuple[dict[str, Any], dict[str, str]]:
    """Validate the parameters.

    Cached, because validation costs more than the query of a page, and most requests repeat earlier ones.
    """
    serializer, filter_set = classes
    given, checked, filters, refused = dict(values), {}, {}, {}
    if serializer:
        instance = serializer(data=given)
        refused = {} if instance.is_valid() else dict(instance.errors)
        checked = {} if refused else dict(instance.validated_data)
    if filter_set:
        form = filter_set(data=given)
        refused = refused if form.is_valid() else {**translate_validation(form.errors).detail, **refused}
        filters = {name: given[name] for name in filter_set.base_filters if name in given}
    if refused:
        raise ValidationError(refused)
    return checked, filters


@functools.cache
def _known_names(serializer: SerializerClass | None, filter_set: Any) -> frozenset[str]:
    names = set(serializer().fields) if serializer else set()
    return frozenset(names | set(filter_set.base_filters if filter_set else ()))

"""Decorator for public reads, which use the read replica if there is one."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.db import DatabaseError
from django.http import Http404
from rest_framework.exceptions import NotFound

from config.postgresql.replica import ReplicaBehindError, monitor, reading_replica

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def from_replica(read: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Decorate a read that any caller may make, writes nothing, and may be a few seconds old.

    The primary repeats it if the replica fails, and if the replica may lack a row that the caller has seen.
    """

    @functools.wraps(read)
    def read_somewhere(*args: Parameters.args, **options: Parameters.kwargs) -> Result:
        if monitor.is_usable():
            try:
                with reading_replica():
                    return read(*args, **options)
            except DatabaseError as error:
                monitor.record_failed_read(error)
            except (Http404, NotFound, ReplicaBehindError):
                pass
        return read(*args, **options)

    return read_somewhere

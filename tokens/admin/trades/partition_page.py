"""Page that lists weekly table partitions and lets an operator maintain them."""

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone
from unfold.admin import ModelAdmin
from unfold.decorators import action

from config.operators.admin_pages import operator_id
from config.postgresql.advisory_locks import LockHeldError
from config.postgresql.partitions import Partition, maintain_partitions, partitioned_tables, read_partition_state
from tokens.models import PoolTrade

# Operators have this permission, support has not.
MAINTAINER = "tokens.change_token"
# Dropping a partition waits for all queries on it, and blocks a web server thread meanwhile.
_TIMEOUT_MS = 10_000


class PartitionPage(ModelAdmin):
    """Admin mixin with a partition page, which a button on the list opens."""

    actions_list = ("partitions",)

    @action(description="Partitions", permissions=["view"], url_path="partitions", icon="database")
    def partitions(self, request: HttpRequest) -> HttpResponse:
        """Show the partitions; maintain them on POST."""
        may_maintain = request.user.has_perm(MAINTAINER)
        if request.method == "POST":
            if not may_maintain:
                raise PermissionDenied
            level, text = _maintain(request, timezone.now())
            self.message_user(request, text, level)
            return redirect(request.path)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Partitions",
            "may_maintain": may_maintain,
            **_describe(timezone.now()),
        }
        return TemplateResponse(request, "operators/partitions.html", context)


def format_bytes(size: float) -> str:
    """Return a size in MiB."""
    return f"{size / 2**20:,.1f} MiB"


def _describe(now: datetime) -> dict[str, Any]:
    """Return the page's context, in one query."""
    state = read_partition_state(now)
    keeps = {table.title: table.days() for table in partitioned_tables()}
    return {
        "rows": [_row(partition, state.expired) for partition in reversed(state.partitions)],
        "missing": state.missing,
        "total": format_bytes(sum(partition.size_bytes for partition in state.partitions)),
        "retention": "; ".join(f"{name}: {f'{days} days' if days else 'for good'}" for name, days in keeps.items()),
    }


def _row(partition: Partition, expired: tuple[str, ...]) -> list[str]:
    """Return a partition's cells: name, first day, rows, size, state."""
    remark = "being removed" if partition.is_detaching or not partition.is_attached else ""
    return [
        partition.name,
        f"{partition.first_at:%Y-%m-%d}",
        "not counted" if partition.rows is None else f"{partition.rows:,}",
        format_bytes(partition.size_bytes),
        remark or ("after its retention" if partition.name in expired else ""),
    ]


def _maintain(request: HttpRequest, now: datetime) -> tuple[int, str]:
    """Maintain partitions as a worker does, log it, and return the message's level and text."""
    try:
        created, dropped = maintain_partitions(now, timeout_ms=_TIMEOUT_MS)
    except LockHeldError:
        return messages.WARNING, "A worker is maintaining the partitions now."
    except OperationalError as error:
        reason = " ".join(str(error).split())
        _log(request, f"not finished: {reason}")
        return messages.ERROR, f"Not finished, a worker tries again: {reason}"
    summary = "; ".join(
        f"{verb} {', '.join(names)}" for verb, names in (("created", created), ("dropped", dropped)) if names
    )
    _log(request, summary or "nothing to do")
    return messages.SUCCESS, f"Partitions: {summary or 'nothing to do'}."


def _log(request: HttpRequest, message: str) -> None:
    """Write an audit log line that belongs to no row."""
    LogEntry.objects.create(
        user_id=operator_id(request),
        content_type=ContentType.objects.get_for_model(PoolTrade),
        object_repr="partitions",
        action_flag=CHANGE,
        change_message=message,
    )

"""The dashboard's panel of documents that describe tokens outside of the chain."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Min
from django.urls import reverse

from config.operators.dashboard import Figure, Panel, ago
from tokens.indexing.documents.fetching import LEASE_SECONDS
from tokens.models import TokenDocument

# From then on nobody seems to fetch.
_PATIENCE = timedelta(seconds=5 * LEASE_SECONDS)


def documents(now: datetime) -> Iterable[Panel]:
    """How many documents wait, were fetched and were given up; nothing where no token has one."""
    groups = TokenDocument.objects.order_by().values("status").annotate(count=Count("pk"), due=Min("due_at"))
    rows: dict[str, Any] = {row["status"]: row for row in groups}
    if rows:
        figures = tuple(_figure(status, rows.get(status), now) for status in TokenDocument.Status)
        yield Panel(title="Documents of tokens", figures=figures)


def _figure(status: TokenDocument.Status, row: Any, now: datetime) -> Figure:
    is_pending = status == TokenDocument.Status.PENDING
    overdue = bool(is_pending and row and settings.FETCH_DOCUMENTS and row["due"] < now - _PATIENCE)
    note = ""
    if overdue:
        note = f"the first due {ago(row['due'], now)}: are a worker and beat running?"
    elif is_pending and row and not settings.FETCH_DOCUMENTS:
        note = "FETCH_DOCUMENTS is false"
    elif row and status == TokenDocument.Status.FAILED:
        note = "an operator can have them fetched again"
    return Figure(
        label=status.label,
        value=f"{row['count'] if row else 0:,}",
        note=note,
        page=f"{reverse('admin:tokens_tokendocument_changelist')}?status__exact={status}",
        is_alarming=overdue,
    )

"""The documents that describe tokens outside of the chain: fetched behind the scenes, and folded into their tokens.

The truth is in the rows: each says when it is due. A round takes rows for one lease, asks their hosts outside of any
transaction, all at the same time, and stores what each said in a transaction of its own; what a killed worker had comes
again. One round runs at a time, so that hosts that hang keep one worker's process busy at the most.
"""

import logging
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.db.models import Case, F, Func, QuerySet, Value, When, Window
from django.db.models.functions import Lower, RowNumber
from django.utils import timezone

from config.http.json_client import Permanent, RateLimited, Retryable, StatusRefused
from config.http.public_client import get
from config.postgresql.advisory_locks import held, lock_number
from tokens.indexing.documents.document_content import read_document
from tokens.indexing.documents.document_locations import inline_document, is_inline, locate
from tokens.indexing.event_rows import bring_up_to_date
from tokens.indexing.metadata import Json
from tokens.models import Token, TokenDocument

logger = logging.getLogger(__name__)

Status = TokenDocument.Status

# So many are asked for at the same time, and so many of one host.
BATCH = 16
OF_ONE_HOST = 4
# Out of so many that are due.
LOOKED_AT = 2_000
# A round goes on for so long while something is due; its last documents may take their time-out more.
ROUND_SECONDS = 20.0
# Longer than any document may take.
LEASE_SECONDS = 90
# Pauses triple from the first up to the longest: twelve attempts take four days.
FIRST_PAUSE_SECONDS = 15
LONGEST_PAUSE_SECONDS = 86_400

# Who launches often publishes the document a moment later, and gateways find new content with delay.
_NOT_THERE_YET = (404, 408, 425)
_ROUND = lock_number("documents")


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """A document that is ours until its lease ends at `due_at`; `attempts` counts this one."""

    token_id: int
    uri: str
    attempts: int
    due_at: datetime


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a document says, or why there is nothing."""

    content: Json | None = None
    error: Retryable | Permanent | None = None


def fetch_due() -> int:
    """Fetch what is due, for one round; how many documents were asked for. Raises HeldElsewhere while a round runs."""
    if not settings.FETCH_DOCUMENTS or not _due(timezone.now()).exists():
        return 0
    asked, deadline = 0, time.monotonic() + ROUND_SECONDS
    with held(_ROUND), ThreadPoolExecutor(BATCH, thread_name_prefix="documents") as threads:
        while time.monotonic() < deadline and (claimed := claim(timezone.now())):
            asked += len(claimed)
            waiting = {threads.submit(fetch, document.uri): document for document in claimed}
            for done in as_completed(waiting):
                _finish(waiting[done], done)
    return asked


def claim(now: datetime) -> list[Claimed]:
    """Documents that are due and that nobody asks for, taken for one lease; this counts as an attempt of each.

    Those that were never asked for come first, and one host has a few places among them. What was asked for often
    enough and never came to an end is given up.
    """
    turn = Window(RowNumber(), partition_by=_host(), order_by=[F("attempts").asc(), F("due_at").asc()])
    due = _due(now)
    # However many wait, hosts are told apart among the next of them alone.
    coming = due.order_by("attempts", "due_at").values("pk")[:LOOKED_AT]
    fair = due.filter(pk__in=coming).annotate(turn=turn).filter(turn__lte=OF_ONE_HOST).order_by("attempts", "due_at")
    chosen = list(fair.values_list("pk", flat=True)[:BATCH])
    lease_end = now + timedelta(seconds=LEASE_SECONDS)
    with transaction.atomic():
        locked = list(due.filter(pk__in=chosen).order_by("pk").select_for_update(skip_locked=True))
        rows = [row for row in locked if row.attempts < settings.DOCUMENT_ATTEMPTS]
        # They may be what ends workers.
        unfinished = TokenDocument.objects.filter(pk__in=[row.pk for row in locked if row not in rows])
        unfinished.update(status=Status.FAILED, last_error="its worker ended without a result; the log says why")
        taken = TokenDocument.objects.filter(pk__in=[row.pk for row in rows])
        taken.update(due_at=lease_end, attempts=F("attempts") + 1)
    return [Claimed(token_id=row.pk, uri=row.uri, attempts=row.attempts + 1, due_at=lease_end) for row in rows]


def fetch(uri: str) -> Outcome:
    """Ask for the document. It needs no database."""
    try:
        return Outcome(content=read_document(_read(uri.strip())))
    except StatusRefused as error:
        return Outcome(error=Retryable(str(error)) if error.status in _NOT_THERE_YET else error)
    except (Retryable, Permanent) as error:
        return Outcome(error=error)


def store(claimed: Claimed, outcome: Outcome) -> None:
    """Keep what came of a document, and fold it into its token; nothing where somebody moved its row meanwhile."""
    row = TokenDocument.objects.filter(
        pk=claimed.token_id, status=Status.PENDING, uri=claimed.uri, attempts=claimed.attempts, due_at=claimed.due_at
    )
    if outcome.content is None:
        row.update(**_after(claimed, outcome.error))
        return
    with transaction.atomic():
        # Before its document, as whoever writes launches locks them.
        list(Token.objects.filter(pk=claimed.token_id).select_for_update(no_key=True).only("pk"))
        now = timezone.now()
        if row.update(status=Status.FETCHED, content=outcome.content, fetched_at=now, last_error=""):
            bring_up_to_date([claimed.token_id])


def reopen(documents: Sequence[TokenDocument]) -> int:
    """Have documents fetched again from the start; what they said holds until then. Returns how many."""
    chosen = TokenDocument.objects.filter(pk__in=[document.pk for document in documents])
    return chosen.update(status=Status.PENDING, attempts=0, last_error="", due_at=timezone.now())


def _finish(claimed: Claimed, done: Future[Outcome]) -> None:
    """Store what came of a document. What nobody foresaw ends no round: its lease does, and its attempts."""
    unforeseen = done.exception()
    if unforeseen is None:
        store(claimed, done.result())
    else:
        logger.error("the document of token %s can't be fetched", claimed.token_id, exc_info=unforeseen)


def _read(uri: str) -> bytes:
    if is_inline(uri):
        return inline_document(uri)
    url = locate(uri, ipfs=settings.IPFS_GATEWAY_URL, arweave=settings.ARWEAVE_GATEWAY_URL)
    return get(
        url,
        timeout=settings.DOCUMENT_TIMEOUT_SECONDS,
        max_bytes=settings.DOCUMENT_MAX_BYTES,
        allowed=settings.OUTBOUND_ALLOWED_NETWORKS,
    )


def _after(claimed: Claimed, error: Retryable | Permanent | None) -> dict[str, Any]:
    """The row's values after a document was not there."""
    if isinstance(error, Permanent) or claimed.attempts >= settings.DOCUMENT_ATTEMPTS:
        logger.info("gave up on the document of token %s: %s", claimed.token_id, error)
        return {"status": Status.FAILED, "last_error": str(error)}
    pause: float = min(FIRST_PAUSE_SECONDS * 3 ** (claimed.attempts - 1), LONGEST_PAUSE_SECONDS)
    if isinstance(error, RateLimited):
        pause = max(pause, error.retry_after or 0)
    return {"due_at": timezone.now() + timedelta(seconds=pause), "last_error": str(error)}


def _due(now: datetime) -> QuerySet[TokenDocument]:
    return TokenDocument.objects.filter(status=Status.PENDING, due_at__lte=now)


def _host() -> Case:
    """The host of a URI, whatever its port; its scheme where that stands for a host, as for a gateway's."""
    place = Func(F("uri"), Value("/"), Value(3), function="split_part")
    host = Func(place, Value(r"\.?(:[0-9]*)?$"), Value(""), function="regexp_replace")
    scheme = Func(F("uri"), Value(":"), Value(1), function="split_part")
    return Case(When(uri__istartswith="http", then=Lower(host)), default=Lower(scheme), output_field=models.TextField())

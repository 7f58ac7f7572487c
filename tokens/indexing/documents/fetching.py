"""Off-chain token document fetching; a document's content is folded into its token.

The rows are a leased queue (`config.postgresql.leased_queue`). A round claims rows, fetches them concurrently outside
any transaction, and stores each outcome in its own transaction. Only one round runs at a time, so that hosts that hang
block at most one worker process.
"""

import logging
import time
from collections.abc import Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models, transaction
from django.db.models import Case, F, Func, Value, When, Window
from django.db.models.functions import Lower, RowNumber
from django.utils import timezone

from config.http.backoff import Backoff
from config.http.errors import HTTPStatusError, PermanentError, RateLimitedError, RetryableError
from config.http.public_client import JSON_FIRST, fetch_public_url
from config.http.request_ids import RequestThreadPool
from config.postgresql.advisory_locks import advisory_lock_key, session_lock
from config.postgresql.leased_queue import LeasedQuerySet
from tokens.indexing.documents.document_content import parse_document
from tokens.indexing.documents.document_locations import document_urls, inline_document, is_inline
from tokens.indexing.event_rows import refresh_token_state
from tokens.indexing.metadata import Json
from tokens.models import DocumentStatus, Token, TokenDocument

logger = logging.getLogger(__name__)


# Concurrent requests, in all and per host.
BATCH_SIZE = 16
MAX_PER_HOST = 4
# Limit against hostile hosts, after decompression.
_MAX_BYTES = 256 * 1024
# Due documents among which hosts take turns.
CANDIDATES = 2_000
# Seconds for which a round claims documents; the last ones may take their timeout longer.
ROUND_SECONDS = 20.0
# Longer than a document's timeout.
LEASE = timedelta(seconds=90)
# Seconds for all gateways of a document, well within the lease.
_GATEWAYS_SECONDS = 60.0
# Twelve attempts take four days.
BACKOFF = Backoff(first=15, longest=86_400, factor=3)

# Launchers often publish the document a moment later, and gateways find new content with a delay.
_NOT_THERE_YET = (404, 408, 425)
_ROUND = advisory_lock_key("documents")


@dataclass(frozen=True, kw_only=True)
class FetchOutcome:
    """A document's content, or the reason why there is none."""

    content: Json | None = None
    error: RetryableError | PermanentError | None = None


def fetch_due_documents() -> int:
    """Fetch due documents for one round and return how many. Raises LockHeldError while a round runs."""
    if not settings.FETCH_DOCUMENTS or not TokenDocument.objects.due(timezone.now()).exists():
        return 0
    fetched, deadline = 0, time.monotonic() + ROUND_SECONDS
    with session_lock(_ROUND), RequestThreadPool(BATCH_SIZE, thread_name_prefix="documents") as threads:
        while time.monotonic() < deadline and (claimed := claim_documents(timezone.now())):
            fetched += len(claimed)
            waiting = {threads.submit(fetch_document, document.uri): document for document in claimed}
            for future in as_completed(waiting):
                _finish(waiting[future], future)
    return fetched


def claim_documents(now: datetime) -> list[TokenDocument]:
    """Claim due documents for one lease. Documents without an attempt come first, and each host has a limit."""
    turn = Window(RowNumber(), partition_by=_host(), order_by=[F("attempts").asc(), F("due_at").asc()])
    due = TokenDocument.objects.due(now)
    # Hosts take turns only among the next documents, however many are due.
    coming = due.order_by("attempts", "due_at").values("pk")[:CANDIDATES]
    fair = due.filter(pk__in=coming).annotate(turn=turn).filter(turn__lte=MAX_PER_HOST).order_by("attempts", "due_at")
    ids = list(fair.values_list("pk", flat=True)[:BATCH_SIZE])
    return TokenDocument.objects.filter(pk__in=ids).claim(now, lease=LEASE)


def fetch_document(uri: str) -> FetchOutcome:
    """Fetch and parse a document. Uses no database."""
    try:
        return FetchOutcome(content=parse_document(_read(uri.strip())))
    except HTTPStatusError as error:
        return FetchOutcome(error=RetryableError(str(error)) if _may_change(error) else error)
    except (RetryableError, PermanentError) as error:
        return FetchOutcome(error=error)


def store_outcome(claimed: TokenDocument, outcome: FetchOutcome) -> None:
    """Store a document's outcome and fold it into its token; no effect if its row changed meanwhile."""
    row = TokenDocument.objects.held([claimed]).filter(uri=claimed.uri)
    if outcome.content is None:
        _store_failure(row, claimed, outcome.error)
        return
    with transaction.atomic():
        # Locked before its document: launch writers lock in the same order.
        list(Token.objects.filter(pk=claimed.token_id).select_for_update(no_key=True).only("pk"))
        if row.finish(status=DocumentStatus.FETCHED, content=outcome.content, fetched_at=timezone.now()):
            refresh_token_state([claimed.token_id])


def reopen_documents(documents: Sequence[TokenDocument]) -> int:
    """Reset documents to be fetched again. Their content stays until then. Return how many."""
    rows = TokenDocument.objects.filter(pk__in=[document.pk for document in documents])
    return rows.requeue(due_at=timezone.now(), status=DocumentStatus.PENDING)


def _finish(claimed: TokenDocument, future: Future[FetchOutcome]) -> None:
    """Store a document's outcome. An unexpected error ends no round: the lease and the attempts limit it."""
    unforeseen = future.exception()
    if unforeseen is None:
        store_outcome(claimed, future.result())
    else:
        logger.error("the document of token %s can't be fetched", claimed.token_id, exc_info=unforeseen)


def _read(uri: str) -> bytes:
    if is_inline(uri):
        return inline_document(uri)
    return fetch_first(installed_urls(uri), max_bytes=_MAX_BYTES)


def installed_urls(uri: str) -> list[str]:
    """Return a document's URLs at the installation's gateways, as `document_urls`. Raises PermanentError."""
    return document_urls(uri, ipfs=settings.IPFS_GATEWAY_URL, arweave=settings.ARWEAVE_GATEWAY_URL)


def fetch_first(urls: Sequence[str], *, max_bytes: int, accept: str = JSON_FIRST) -> bytes:
    """Return the first body that a URL returns: if a gateway fails or lacks the file, the next one is used.

    Raises the last failure that a retry may mend, else the first one. `accept` as for `fetch_public_url`.
    """
    timeout = min(settings.DOCUMENT_TIMEOUT_SECONDS, _GATEWAYS_SECONDS / len(urls))
    failure: RetryableError | PermanentError | None = None
    for url in urls:
        try:
            return fetch_public_url(
                url, timeout=timeout, max_bytes=max_bytes, allowed=settings.OUTBOUND_ALLOWED_NETWORKS, accept=accept
            )
        except (RetryableError, PermanentError) as error:
            if failure is None or _may_change(error):
                failure = error
    raise failure or ValueError("no URL")


def _may_change(error: Exception) -> bool:
    """Return whether the same URL may return the file later."""
    return isinstance(error, RetryableError) or (isinstance(error, HTTPStatusError) and error.status in _NOT_THERE_YET)


def _store_failure(
    row: LeasedQuerySet[TokenDocument], claimed: TokenDocument, error: RetryableError | PermanentError | None
) -> None:
    if isinstance(error, PermanentError) or claimed.attempts + 1 >= settings.DOCUMENT_ATTEMPTS:
        logger.info("gave up on the document of token %s: %s", claimed.token_id, error)
        row.finish(status=DocumentStatus.FAILED, last_error=str(error))
        return
    delay = BACKOFF.delay(claimed.attempts + 1)
    if isinstance(error, RateLimitedError):
        delay = max(delay, error.retry_after or 0)
    row.fail(error, due_at=timezone.now() + timedelta(seconds=delay))


def _host() -> Case:
    """Return an expression for a URI's host without its port, or for its scheme if a gateway serves it."""
    authority = Func(F("uri"), Value("/"), Value(3), function="split_part")
    host = Func(authority, Value(r"\.?(:[0-9]*)?$"), Value(""), function="regexp_replace")
    return Case(
        When(uri__istartswith="http", then=Lower(host)),
        When(uri__istartswith="ar:", then=Value("ar")),
        When(uri__istartswith="data:", then=Value("data")),
        default=Value("ipfs"),
        output_field=models.TextField(),
    )

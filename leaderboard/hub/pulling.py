"""Polling of a Farcaster hub: agents' casts, the likes, recasts and replies to them, and reported quotes.

Agents, casts and quotes are leased queues (`config.postgresql.leased_queue`). Repeated facts are stored once. Casts are
read from the newest stored one on. Reactions to a cast are polled at growing intervals, since most arrive in its first
hours.
"""

import logging
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Manager
from django.utils import timezone

from accounts.models import SocialProfile
from config.http.backoff import Backoff
from config.http.errors import NoResponseError, PermanentError, RateLimitedError, RetryableError
from config.postgresql.advisory_locks import advisory_lock_key
from config.postgresql.leased_queue import LeasedQuerySet
from config.redis.connection import PREFIX
from config.redis.shared_circuit_breaker import SharedCircuitBreaker
from leaderboard.events.recording import lock_fact_writes
from leaderboard.facts.short_keys import cast_key, event_key, text_key
from leaderboard.hub import farcaster_api, fid_proofs
from leaderboard.hub.cast_messages import CastMessage, ReactionMessage, farcaster_timestamp
from leaderboard.models import Action, ActionKind, HubCast, HubCursor, HubQuote, Interaction, InteractionKind

logger = logging.getLogger(__name__)

# Rows per claim, and the lease, which is longer than a task may run.
AGENT_BATCH, CAST_BATCH, QUOTE_BATCH = 10, 20, 20
LEASE = timedelta(seconds=300)
# Time between two pulls for an agent's casts.
AGENT_PULL_INTERVAL = timedelta(seconds=120)
# Hubs synchronise with each other: messages that are this much older than the newest may still arrive.
OVERLAP_SECONDS = 600
# New pages per agent and pull, so that a very active agent does not hold up the others.
MAX_NEW_PAGES = 20
# The pull interval for a cast's interactions is half its age, within these bounds; older casts are not polled.
MIN_PULL_INTERVAL, MAX_PULL_INTERVAL, MAX_CAST_AGE = timedelta(minutes=5), timedelta(days=1), timedelta(days=31)
# Back-off for an agent or cast without a usable hub response. A rejection may be permanent; a failure often affects
# all requests, and is temporary.
REJECTION_BACKOFF, FAILURE_BACKOFF = Backoff(first=60, longest=86_400), Backoff(first=60, longest=3600)

# After this many rejections by the hub, over an hour, a quote stays unconfirmed.
MAX_QUOTE_REJECTIONS = 7
# After this many failures in a row the hub counts as down, and the circuit breaker opens.
MAX_CONSECUTIVE_FAILURES = 5
HUB_CIRCUIT_BREAKER = SharedCircuitBreaker(service="the hub", key=f"{PREFIX}hub:paused")
SOURCE = "farcaster"
# Advisory lock for the process that pulls.
HUB_LOCK = advisory_lock_key("hub")

# Starts a cursor for each new agent, and restarts it after the agent's FID has changed.
_START_CURSORS = """
INSERT INTO leaderboard_hubcursor (agent_id, fid, casts_until, due_at)
SELECT agent.id, agent.fid, 0, %s FROM leaderboard_agent agent
LEFT JOIN leaderboard_hubcursor known ON known.agent_id = agent.id
WHERE agent.fid IS NOT NULL AND agent.fid IS DISTINCT FROM known.fid
ORDER BY agent.id
ON CONFLICT (agent_id) DO UPDATE
SET fid = excluded.fid, casts_until = 0, due_at = excluded.due_at, leased_until = NULL,
    failures = 0, unfinished = 0, trouble = ''
"""

_Row = TypeVar("_Row", HubCursor, HubCast, HubQuote)
_Fact = TypeVar("_Fact", Action, Interaction)
_Message = CastMessage | ReactionMessage


def pull_casts(*, until: float) -> int:
    """Pull new casts for some due agents and return how many agents were processed.

    `until` is a deadline in `time.monotonic`: later rows are released and stay due. During an outage the circuit
    breaker stops all calls, and unprocessed agents are due when it closes.
    """
    with connection.cursor() as cursor:
        cursor.execute(_START_CURSORS, [timezone.now()])
    due = HubCursor.objects.filter(agent__fid=F("fid")).select_related("agent")
    return _pull_each(due.claim(timezone.now(), lease=LEASE, count=AGENT_BATCH), _pull_agent, until=until)


def pull_interactions(*, until: float) -> int:
    """Pull interactions with some due casts and return how many casts were processed. Deadline as in `pull_casts`."""
    due = HubCast.objects.select_related("action__agent")
    return _pull_each(due.claim(timezone.now(), lease=LEASE, count=CAST_BATCH), _pull_cast, until=until)


def pull_quotes(*, until: float) -> int:
    """Look up some reported quotes and return how many were processed. Deadline as in `pull_casts`."""
    due = HubQuote.objects.select_related("agent")
    return _pull_each(due.claim(timezone.now(), lease=LEASE, count=QUOTE_BATCH), _pull_quote, until=until)


def _pull_each(rows: Sequence[_Row], pull: Callable[[_Row], None], *, until: float) -> int:
    """Pull row after row. An outage defers the remaining rows to its end; at the deadline they stay due."""
    consecutive_failures = 0
    for number, row in enumerate(rows):
        if time.monotonic() >= until:
            _release(rows[number:], timezone.now())
            return number
        try:
            pull(row)
        except (NoResponseError, RateLimitedError) as error:
            _release(rows[number:], timezone.now() + HUB_CIRCUIT_BREAKER.record_failure(error))
            return number
        except (RetryableError, PermanentError) as error:
            _record_failure(row, error)
            consecutive_failures = consecutive_failures + 1 if isinstance(error, RetryableError) else 0
            if consecutive_failures == MAX_CONSECUTIVE_FAILURES:
                _release(rows[number + 1 :], timezone.now() + HUB_CIRCUIT_BREAKER.record_failure(error))
                return number + 1
        else:
            consecutive_failures = 0
    return len(rows)


def _release(rows: Sequence[_Row], due_at: datetime) -> None:
    for row in rows:
        _held(row).release(due_at=due_at)


def _record_failure(row: _Row, error: RetryableError | PermanentError) -> None:
    """Record one row's failure and defer it with exponential back-off, so that it delays no other row."""
    backoff = FAILURE_BACKOFF if isinstance(error, RetryableError) else REJECTION_BACKOFF
    _held(row).fail(error, due_at=timezone.now() + timedelta(seconds=backoff.delay(row.attempts + 1)))
    logger.warning("no usable response from the hub about %s: %s", row, error)


def _held(row: _Row) -> LeasedQuerySet[_Row]:
    rows: LeasedQuerySet[_Row] = type(row).objects.held([row])
    return rows


def _pull_agent(cursor: HubCursor) -> None:
    now = timezone.now()
    due_at = now + AGENT_PULL_INTERVAL
    # Older casts would be pruned at once.
    oldest = farcaster_timestamp(now - timedelta(days=settings.LEADERBOARD_FACT_DAYS))
    since = max(cursor.casts_until - OVERLAP_SECONDS, oldest)
    pages = 0
    for page in farcaster_api.iterate_casts(cursor.fid, since=since):
        before = cursor.casts_until
        _save_casts(cursor, page, now=now)
        # Pages in the overlap may have only known casts; they do not count.
        pages += cursor.casts_until > before
        if pages == MAX_NEW_PAGES:
            due_at = now
            break
    _held(cursor).filter(fid=cursor.fid).requeue(due_at=due_at)


def _save_casts(cursor: HubCursor, page: Sequence[CastMessage], *, now: datetime) -> None:
    """Save a page's casts and advance the cursor in one transaction."""
    # A timestamp in the future would move the cursor past casts that arrive before then.
    page = [cast for cast in page if cast.at <= now + MIN_PULL_INTERVAL]
    if not page:
        return
    rows = [
        Action(
            key=_fact_key(cursor.pk, cast.hash),
            agent_id=cursor.pk,
            at=cast.at,
            kind=cast.action_kind,
            cast_hash=cast.hash,
            cast_key=cast_key(cast.hash),
            text_key=text_key(cast.text),
        )
        for cast in sorted(page, key=lambda cast: cast.hash)
    ]
    until = max(cursor.casts_until, *(cast.timestamp for cast in page))
    with transaction.atomic():
        lock_fact_writes()
        if not _held(cursor).filter(fid=cursor.fid, agent__fid=cursor.fid).update(casts_until=until):
            # Meanwhile the FID and its casts have moved to another agent, or the lease was lost.
            return
        # Overrides the hash as well: a partner may have reported one that shares only the key.
        _upsert(rows, unique=("cast_key", "agent"), also_update=("cast_hash",))
        # Includes casts that a partner reported earlier.
        stored = Action.objects.filter(
            agent_id=cursor.pk, cast_key__in=[row.cast_key for row in rows], at__gt=now - MAX_CAST_AGE
        )
        polled = [HubCast(action=action, fid=cursor.fid) for action in stored]
        HubCast.objects.bulk_create(polled, ignore_conflicts=True)
        fid_proofs.prove_by_posts(cursor.agent, (cast.text for cast in page if cast.action_kind is ActionKind.POST))
    cursor.casts_until = until


def _upsert(rows: Sequence[_Fact], *, unique: Sequence[str], also_update: Sequence[str] = ()) -> None:
    """Upsert facts. The hub's time, kind and text override a partner's report."""
    if rows:
        changes = ["at", "kind", "text_key", *also_update]
        facts: Manager[_Fact] = type(rows[0])._default_manager
        facts.bulk_create(rows, update_conflicts=True, unique_fields=unique, update_fields=changes, batch_size=1_000)


def _pull_cast(cast: HubCast) -> None:
    action, now = cast.action, timezone.now()
    until = cast.read_until
    for pages in (
        farcaster_api.iterate_reactions(cast.fid, action.cast_hash, InteractionKind.LIKE),
        farcaster_api.iterate_reactions(cast.fid, action.cast_hash, InteractionKind.RECAST),
        farcaster_api.iterate_replies(cast.fid, action.cast_hash),
    ):
        for page in _new_messages(pages, cast):
            # Messages dated further ahead are ignored until then.
            messages = [message for message in page if message.at <= now + MIN_PULL_INTERVAL]
            if not _save_interactions(cast, messages):
                return
            until = max([until, *(message.timestamp for message in messages if message.at <= now)])
    # Advance only after the last page: pages come newest first, so an interrupted pagination would leave a gap.
    age = now - action.at
    if age > MAX_CAST_AGE:
        _held(cast).delete()
    else:
        next_at = now + min(max(age / 2, MIN_PULL_INTERVAL), MAX_PULL_INTERVAL)
        _held(cast).requeue(due_at=next_at, read_until=until)


def _save_interactions(cast: HubCast, messages: Sequence[_Message]) -> bool:
    """Save a page of interactions; return False if the cast was deleted meanwhile, possibly with its agent."""
    is_proven = cast.action.agent.has_proven(cast.fid)
    rows = [
        _interaction(cast.action, message, is_confirmed=is_proven)
        for message in sorted(messages, key=lambda message: message.hash)
    ]
    with transaction.atomic():
        lock_fact_writes()
        if not HubCast.objects.select_for_update().filter(pk=cast.pk).exists():
            return False
        unique = ("cast_key", "actor_fid", "kind", "message_key", "agent")
        _upsert(_deduplicate(rows), unique=unique, also_update=("is_confirmed",) if is_proven else ())
        if settings.LEADERBOARD_ACTOR_SCORES:
            SocialProfile.objects.enqueue(message.fid for message in messages)
    return True


def _fact_key(agent_id: int, message_hash: str) -> uuid.UUID:
    """Return a fact's key.

    A FID may move to another agent with all its casts: the same message is another fact then.
    """
    return event_key(f"{SOURCE} {agent_id}", message_hash)


def _deduplicate(rows: Sequence[Interaction]) -> list[Interaction]:
    """Drop duplicates: like, unlike and like again are two messages, and one statement can't upsert a row twice."""
    return list({(row.actor_fid, row.kind, row.message_key): row for row in rows}.values())


def _new_messages(pages: Iterable[Sequence[_Message]], cast: HubCast) -> Iterator[list[_Message]]:
    """Yield messages since the last pull, and messages that may have arrived late, by page, newest first."""
    since = cast.read_until - OVERLAP_SECONDS
    for page in pages:
        yield [message for message in page if message.timestamp >= since]
        if page and page[-1].timestamp < since:
            return


def _pull_quote(quote: HubQuote) -> None:
    """Confirm the quote if the hub has it and it quotes the agent's cast; else it stays unconfirmed."""
    if not quote.agent.has_proven(quote.agent.fid):
        # A proof makes the quote due. Anyone can report quotes for unproven agents: retries would delay other agents.
        is_old = timezone.now() - quote.at >= MAX_CAST_AGE
        _held(quote).delete() if is_old else _held(quote).requeue(due_at=quote.at + MAX_CAST_AGE)
        return
    try:
        cast = farcaster_api.fetch_cast(quote.fid, quote.message_hash)
    except PermanentError:
        # The hub may get it later.
        if quote.attempts + 1 < MAX_QUOTE_REJECTIONS:
            raise
        cast = None
    with transaction.atomic():
        lock_fact_writes()
        if _held(quote).delete()[0] and cast is not None:
            casts = {cast_key(quoted) for fid, quoted in cast.quoted if fid == quote.agent.fid}
            Interaction.objects.filter(
                cast_key__in=casts,
                actor_fid=cast.fid,
                kind=InteractionKind.QUOTE,
                message_key=cast_key(cast.hash),
                agent=quote.agent,
            ).update(at=cast.at, text_key=text_key(cast.text), is_confirmed=True)


def _interaction(action: Action, message: _Message, *, is_confirmed: bool) -> Interaction:
    is_reply = isinstance(message, CastMessage)
    return Interaction(
        key=_fact_key(action.agent_id, message.hash),
        agent_id=action.agent_id,
        at=message.at,
        kind=InteractionKind.REPLY if isinstance(message, CastMessage) else message.kind,
        actor_fid=message.fid,
        cast_key=action.cast_key,
        message_key=cast_key(message.hash) if is_reply else 0,
        text_key=text_key(message.text) if isinstance(message, CastMessage) else 0,
        is_confirmed=is_confirmed,
    )

"""Facts pulled from a Farcaster hub: agents' casts, and the likes, recasts and replies that these get.

The truth is in rows that say what is due: whoever pulls takes them for one lease, so that a killed worker loses none,
and facts that come twice are one. Casts are read from the newest that was taken in. What they got is read anew ever
more seldom: a cast's reactions come in its first hours.
"""

import logging
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Manager, QuerySet
from django.utils import timezone

from accounts.profiles import social_refresh
from config.http.json_client import NoAnswer, Permanent, RateLimited, Retryable
from config.postgresql.advisory_locks import lock_number
from config.redis.circuit_breaker import Pause
from leaderboard.events.recording import write_alone
from leaderboard.facts.short_keys import cast_key, event_key, text_key
from leaderboard.hub import farcaster_api
from leaderboard.hub.cast_messages import CastMessage, ReactionMessage, timestamp_of
from leaderboard.models import Action, HubCast, HubCursor, Interaction, InteractionKind

logger = logging.getLogger(__name__)

# How many are taken at a time, and for how long: longer than a task may take.
AGENTS, CASTS = 10, 20
LEASE_SECONDS = 300
# Hubs get messages from each other: what is this much older than the newest may still arrive.
OVERLAP_SECONDS = 600
# An agent that casts without end does not hold the others up: its turn ends after so many pages that lead on.
PAGES = 20
# What a cast got is read anew when half its age has passed again, within these; and no more when it is old.
SOONEST, LATEST, OLD = timedelta(minutes=5), timedelta(days=1), timedelta(days=31)
# How long an agent or cast is left alone for which the hub has no usable answer: the first time, and at the most. What
# it refuses it may refuse for ever; where it fails, it often fails at all that it is asked for, and is repaired.
ROW_PAUSE, LONGEST_AFTER_REFUSAL, LONGEST_AFTER_FAILURE = timedelta(minutes=1), timedelta(days=1), timedelta(hours=1)

# A hub that fails at so many in a row is out of order, and all are spared a try.
FAILING = 5
# In which nothing is asked for.
PAUSE = Pause.of("the hub", "hub")
SOURCE = "farcaster"
# Of the lock that one who pulls has.
LOCK = lock_number("hub")

# Whose FID has become another one begins anew.
_BEGIN = """
INSERT INTO leaderboard_hubcursor (agent_id, fid, casts_until, due_at, failures, trouble)
SELECT agent.id, agent.fid, 0, %s, 0, '' FROM leaderboard_agent agent
LEFT JOIN leaderboard_hubcursor known ON known.agent_id = agent.id
WHERE agent.fid IS NOT NULL AND agent.fid IS DISTINCT FROM known.fid
ORDER BY agent.id
ON CONFLICT (agent_id) DO UPDATE
SET fid = excluded.fid, casts_until = 0, due_at = excluded.due_at, failures = 0, trouble = ''
"""

_Row = TypeVar("_Row", HubCursor, HubCast)
_Fact = TypeVar("_Fact", Action, Interaction)
_Message = CastMessage | ReactionMessage


def pull_casts(*, until: float) -> int:
    """Pull what some due agents have cast since the last time; how many agents were looked at.

    `until` is a time of `time.monotonic`: from then on no further one is begun, and the rest stays due. After an outage
    the hub is left alone for a while, and whoever got no answer is due again then.
    """
    with connection.cursor() as cursor:
        cursor.execute(_BEGIN, [timezone.now()])
    due = HubCursor.objects.filter(agent__fid=F("fid")).select_related("agent")
    return _each(_claim(due, AGENTS), _pull_agent, until=until)


def pull_interactions(*, until: float) -> int:
    """Pull what some due casts have got; how many casts were looked at. Time and errors are as in `pull_casts`."""
    return _each(_claim(HubCast.objects.select_related("action"), CASTS), _pull_cast, until=until)


def _claim(due: QuerySet[_Row], count: int) -> list[_Row]:
    now = timezone.now()
    with transaction.atomic():
        rows = list(
            due.filter(due_at__lte=now).order_by("due_at").select_for_update(skip_locked=True, of=("self",))[:count]
        )
        due.model._default_manager.filter(pk__in=[row.pk for row in rows]).update(
            due_at=now + timedelta(seconds=LEASE_SECONDS)
        )
    return rows


def _each(rows: Sequence[_Row], pull: Callable[[_Row], None], *, until: float) -> int:
    """Pull for one after another. An outage leaves the rest due when the pause is over, lack of time leaves it due."""
    failed = 0
    for number, row in enumerate(rows):
        if time.monotonic() >= until:
            _give_back(rows[number:], timezone.now())
            return number
        try:
            pull(row)
        except (NoAnswer, RateLimited) as error:
            _give_back(rows[number:], timezone.now() + timedelta(seconds=PAUSE.begin(error)))
            return number
        except (Retryable, Permanent) as error:
            _note_failure(row, error)
            failed = failed + 1 if isinstance(error, Retryable) else 0
            if failed == FAILING:
                _give_back(rows[number + 1 :], timezone.now() + timedelta(seconds=PAUSE.begin(error)))
                return number + 1
        else:
            failed = 0
    return len(rows)


def _give_back(rows: Sequence[_Row], due_at: datetime) -> None:
    if not rows:
        return
    type(rows[0])._default_manager.filter(pk__in=[row.pk for row in rows]).update(due_at=due_at)


def _note_failure(row: HubCursor | HubCast, error: Retryable | Permanent) -> None:
    """An answer about this one that is of no use holds up no other; it is asked for ever more seldom."""
    longest = LONGEST_AFTER_FAILURE if isinstance(error, Retryable) else LONGEST_AFTER_REFUSAL
    pause = min(ROW_PAUSE * 2 ** min(row.failures, 12), longest)
    told: dict[str, object] = {"due_at": timezone.now() + pause, "failures": F("failures") + 1}
    if isinstance(row, HubCursor):
        told["trouble"] = str(error)
    type(row)._default_manager.filter(pk=row.pk).update(**told)
    logger.warning("the hub has no usable answer about %s: %s", row, error)


def _pull_agent(cursor: HubCursor) -> None:
    now = timezone.now()
    due_at = now + timedelta(seconds=settings.HUB_PULL_SECONDS)
    # What is older would be pruned at once.
    oldest = timestamp_of(now - timedelta(days=settings.LEADERBOARD_FACT_DAYS))
    since = max(cursor.casts_until - OVERLAP_SECONDS, oldest)
    pages = 0
    for page in farcaster_api.walk_casts(cursor.fid, since=since):
        before = cursor.casts_until
        _keep_casts(cursor, page, now=now)
        # The first ones may hold what was read the last time, however many they are.
        pages += cursor.casts_until > before
        if pages == PAGES:
            due_at = now
            break
    HubCursor.objects.filter(pk=cursor.pk, fid=cursor.fid).update(due_at=due_at, failures=0, trouble="")


def _keep_casts(cursor: HubCursor, page: Sequence[CastMessage], *, now: datetime) -> None:
    """Add a page's casts, and go on from there the next time, both or neither."""
    # A clock that runs ahead must not make us miss what comes meanwhile.
    page = [cast for cast in page if cast.at <= now + SOONEST]
    if not page:
        return
    rows = [
        Action(
            key=_key(cursor.pk, cast.hash),
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
        write_alone()
        moved = HubCursor.objects.filter(pk=cursor.pk, fid=cursor.fid, agent__fid=cursor.fid).update(casts_until=until)
        if not moved:
            # The FID has become another agent's meanwhile, and with it what was cast.
            return
        # The rest of the hash as well: by what a partner made of it nothing would be found.
        _add(rows, unique=("cast_key", "agent"), also=("cast_hash",))
        # Also for those that a partner has told of before.
        kept = Action.objects.filter(agent_id=cursor.pk, cast_key__in=[row.cast_key for row in rows], at__gt=now - OLD)
        watched = [HubCast(action=action, fid=cursor.fid) for action in kept]
        HubCast.objects.bulk_create(watched, ignore_conflicts=True)
    cursor.casts_until = until


def _add(rows: Sequence[_Fact], *, unique: Sequence[str], also: Sequence[str] = ()) -> None:
    """Add facts. Where a partner has told of one before, the hub knows better when it was and what it said."""
    if rows:
        told = ["at", "kind", "text_key", *also]
        facts: Manager[_Fact] = type(rows[0])._default_manager
        facts.bulk_create(rows, update_conflicts=True, unique_fields=unique, update_fields=told, batch_size=1_000)


def _pull_cast(cast: HubCast) -> None:
    action, now = cast.action, timezone.now()
    until = cast.read_until
    for pages in (
        farcaster_api.walk_reactions(cast.fid, action.cast_hash, InteractionKind.LIKE),
        farcaster_api.walk_reactions(cast.fid, action.cast_hash, InteractionKind.RECAST),
        farcaster_api.walk_replies(cast.fid, action.cast_hash),
    ):
        for page in _new(pages, cast):
            # What claims to come later counts for nothing until then.
            found = [message for message in page if message.at <= now + SOONEST]
            if not _keep_interactions(cast, found):
                return
            until = max([until, *(message.timestamp for message in found if message.at <= now)])
    # Not before all is read, the newest of which came first: a walk that breaks off leaves no gap behind it.
    age = now - action.at
    row = HubCast.objects.filter(pk=cast.pk)
    if age > OLD:
        row.delete()
    else:
        row.update(read_until=until, due_at=now + min(max(age / 2, SOONEST), LATEST), failures=0)


def _keep_interactions(cast: HubCast, found: Sequence[_Message]) -> bool:
    """Add what a page tells; False where the cast has been deleted meanwhile, and maybe its agent."""
    rows = [_interaction(cast.action, message) for message in sorted(found, key=lambda message: message.hash)]
    with transaction.atomic():
        write_alone()
        if not HubCast.objects.select_for_update().filter(pk=cast.pk).exists():
            return False
        _add(_one_each(rows), unique=("cast_key", "actor_fid", "kind", "message_key", "agent"))
        if settings.LEADERBOARD_ACTOR_SCORES:
            social_refresh.want(message.fid for message in found)
    return True


def _key(agent_id: int, message_hash: str) -> uuid.UUID:
    """A FID, and with it all that was cast, may become another agent's: the same message is another fact then."""
    return event_key(f"{SOURCE} {agent_id}", message_hash)


def _one_each(rows: Sequence[Interaction]) -> list[Interaction]:
    """Who likes, takes it back and likes again has told of it by two messages: one statement can't write both."""
    return list({(row.actor_fid, row.kind, row.message_key): row for row in rows}.values())


def _new(pages: Iterable[Sequence[_Message]], cast: HubCast) -> Iterator[list[_Message]]:
    """What came since the last time, newest first, and what may have arrived late; page by page."""
    since = cast.read_until - OVERLAP_SECONDS
    for page in pages:
        yield [message for message in page if message.timestamp >= since]
        if page and page[-1].timestamp < since:
            return


def _interaction(action: Action, message: _Message) -> Interaction:
    is_reply = isinstance(message, CastMessage)
    return Interaction(
        key=_key(action.agent_id, message.hash),
        agent_id=action.agent_id,
        at=message.at,
        kind=InteractionKind.REPLY if isinstance(message, CastMessage) else message.kind,
        actor_fid=message.fid,
        cast_key=action.cast_key,
        message_key=cast_key(message.hash) if is_reply else 0,
        text_key=text_key(message.text) if isinstance(message, CastMessage) else 0,
    )

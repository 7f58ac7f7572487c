"""Facts pulled from a Farcaster hub: agents' casts, and the likes, recasts and replies that these get.

The truth is in rows that say what is due: whoever pulls takes them for one lease, so that a killed worker loses none,
and facts that come twice are one. Casts are read from the newest that was taken in. What they got is read anew ever
more seldom: a cast's reactions come in its first hours.
"""

import itertools
import logging
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts import profiles
from config.http import Permanent, RateLimited, Retryable
from config.redis_connection import PREFIX, redis
from leaderboard import hub
from leaderboard.hub_shapes import CastMessage, ReactionMessage
from leaderboard.keys import cast_key, event_key, text_key
from leaderboard.models import Action, Agent, HubCast, HubCursor, Interaction, InteractionKind
from leaderboard.recording import write_alone

logger = logging.getLogger(__name__)

# How many are taken at a time, and for how long: longer than a task may take.
AGENTS, CASTS = 10, 20
LEASE_SECONDS = 300
# Hubs get messages from each other: what is this much older than the newest may still arrive.
OVERLAP_SECONDS = 600
# An agent that casts without end does not hold the others up: its turn ends after so many pages.
PAGES = 20
# Of what one cast has got since the last time, the newest so many pages are read.
LIKE_PAGES = 200
# What a cast got is read anew when half its age has passed again, within these; and no more when it is old.
SOONEST, LATEST, OLD = timedelta(minutes=5), timedelta(days=1), timedelta(days=31)
# How long the hub is left alone after an error, where it does not say itself.
OUTAGE_PAUSE_SECONDS = 60
# How long an agent is left alone for which the hub refuses an answer.
REFUSAL_PAUSE = timedelta(hours=1)

# Holds for all workers. Redis may lose it: that costs one more call.
PAUSED_KEY = f"{PREFIX}hub:paused"
SOURCE = "farcaster"

_BEGIN = """
INSERT INTO leaderboard_hubcursor (agent_id, casts_until, due_at, trouble)
SELECT id, 0, %s, '' FROM leaderboard_agent WHERE fid IS NOT NULL
ON CONFLICT DO NOTHING
"""

_Row = TypeVar("_Row", HubCursor, HubCast)
_Message = TypeVar("_Message", CastMessage, ReactionMessage)


def is_paused() -> bool:
    """Whether the hub is left alone after an error. Raises RedisError."""
    return bool(redis().exists(PAUSED_KEY))


def pull_casts() -> int:
    """Pull what some due agents have cast since the last time; how many agents were looked at.

    After an error the hub is left alone for a while, and whoever got no answer is due again then.
    """
    with connection.cursor() as cursor:
        cursor.execute(_BEGIN, [timezone.now()])
    cursors = _claim(HubCursor.objects.filter(agent__fid__isnull=False).select_related("agent"), AGENTS)
    return _each(cursors, _pull_agent)


def pull_interactions() -> int:
    """Pull what some due casts have got; how many casts were looked at. Errors are as in `pull_casts`."""
    casts = _claim(HubCast.objects.filter(action__agent__fid__isnull=False).select_related("action__agent"), CASTS)
    return _each(casts, _pull_cast)


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


def _each(rows: Sequence[_Row], pull: Callable[[_Row], None]) -> int:
    """Pull for one after another; the first outage leaves the rest due when the pause is over."""
    for number, row in enumerate(rows):
        try:
            pull(row)
        except Retryable as error:
            until = timezone.now() + timedelta(seconds=_pause_after(error))
            left = [row.pk for row in rows[number:]]
            type(row)._default_manager.filter(pk__in=left).update(due_at=until)
            return number
    return len(rows)


def _pull_agent(cursor: HubCursor) -> None:
    now = timezone.now()
    due_at, trouble = now + timedelta(seconds=settings.HUB_PULL_SECONDS), ""
    try:
        for number, page in enumerate(
            hub.walk_casts(_fid(cursor.agent), since=max(cursor.casts_until - OVERLAP_SECONDS, 0)), 1
        ):
            _keep_casts(cursor, page, now=now)
            if number == PAGES:
                due_at = now
                break
    except Permanent as error:
        due_at, trouble = now + REFUSAL_PAUSE, str(error)
        logger.warning("the hub refuses the casts of agent %s: %s", cursor.agent.agent_id, error)
    HubCursor.objects.filter(pk=cursor.pk).update(due_at=due_at, trouble=trouble)


def _keep_casts(cursor: HubCursor, page: Sequence[CastMessage], *, now: datetime) -> None:
    """Add a page's casts, and go on from there the next time, both or neither."""
    # A clock that runs ahead must not make us miss what comes meanwhile.
    page = [cast for cast in page if cast.at <= now + SOONEST]
    if not page:
        return
    rows = [
        Action(
            key=event_key(SOURCE, cast.hash),
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
        Action.objects.bulk_create(rows, ignore_conflicts=True)
        # Also for those that a partner has told of before.
        kept = Action.objects.filter(cast_key__in=[row.cast_key for row in rows], at__gt=now - OLD)
        HubCast.objects.bulk_create([HubCast(action=action) for action in kept], ignore_conflicts=True)
        HubCursor.objects.filter(pk=cursor.pk).update(casts_until=until)
    cursor.casts_until = until


def _pull_cast(cast: HubCast) -> None:
    action, now = cast.action, timezone.now()
    fid = _fid(action.agent)
    try:
        found: list[CastMessage | ReactionMessage] = [
            *_new(hub.walk_reactions(fid, action.cast_hash, InteractionKind.LIKE), cast),
            *_new(hub.walk_reactions(fid, action.cast_hash, InteractionKind.RECAST), cast),
            *_new(hub.walk_replies(fid, action.cast_hash), cast),
        ]
    except Permanent as error:
        HubCast.objects.filter(pk=cast.pk).update(due_at=now + REFUSAL_PAUSE)
        logger.warning("the hub refuses what cast %s got: %s", action.cast_hash, error)
        return
    rows = [_interaction(action, message) for message in sorted(found, key=lambda message: message.hash)]
    until = max([cast.read_until, *(message.timestamp for message in found if message.at <= now)])
    with transaction.atomic():
        write_alone()
        # All that the cast has got since the last time or nothing: a walk that breaks off leaves no gap behind it.
        Interaction.objects.bulk_create(rows, ignore_conflicts=True, batch_size=1_000)
        age = now - action.at
        row = HubCast.objects.filter(pk=cast.pk)
        if age > OLD:
            row.delete()
        else:
            row.update(read_until=until, due_at=now + min(max(age / 2, SOONEST), LATEST))
        if settings.LEADERBOARD_ACTOR_SCORES:
            profiles.want(message.fid for message in found)


def _new(pages: Iterable[list[_Message]], cast: HubCast) -> Iterator[_Message]:
    """What came since the last time, newest first, and what may have arrived late."""
    since = cast.read_until - OVERLAP_SECONDS
    for page in itertools.islice(pages, LIKE_PAGES):
        yield from (message for message in page if message.timestamp >= since)
        if page and page[-1].timestamp < since:
            return


def _interaction(action: Action, message: CastMessage | ReactionMessage) -> Interaction:
    is_reply = isinstance(message, CastMessage)
    return Interaction(
        key=event_key(SOURCE, message.hash),
        agent_id=action.agent_id,
        at=message.at,
        kind=InteractionKind.REPLY if isinstance(message, CastMessage) else message.kind,
        actor_fid=message.fid,
        cast_key=action.cast_key,
        message_key=cast_key(message.hash) if is_reply else 0,
        text_key=text_key(message.text) if isinstance(message, CastMessage) else 0,
    )


def _fid(agent: Agent) -> int:
    """Those without one are not claimed; 0 is nobody's."""
    return agent.fid or 0


def _pause_after(error: Retryable) -> int:
    """Leave the hub alone, and return for how many seconds."""
    said = error.retry_after if isinstance(error, RateLimited) else None
    pause = OUTAGE_PAUSE_SECONDS if said is None else max(math.ceil(said), 1)
    redis().set(PAUSED_KEY, 1, ex=pause)
    logger.warning("the hub gave no answer, and is left alone for %s s: %s", pause, error)
    return pause

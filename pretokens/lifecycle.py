"""Pretokens from their creation to their end: made, listed, deleted, expired, restored."""

import logging
import uuid
from collections.abc import Collection
from datetime import timedelta
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from config.http.json_client import Permanent
from pretokens import body as bodies
from pretokens import storage_quota
from pretokens.models import Pretoken, State
from tokens.deploying import accept

logger = logging.getLogger(__name__)

LASTS = timedelta(days=7)
# A body has up to 8 MiB.
_PRUNED_AT_ONCE = 100


class NotRestorable(Permanent):
    """The pretoken can't be pending again; the text says why."""


def create(body: Any, *, person_id: int, fid: int | None = None) -> Pretoken:
    """Keep the configuration of a request's body for a user, who may have a FID, once the chain would take its launch.

    It is tried as sent by the owner's wallet, the token's admin: with nothing to pay for, an empty one does.
    Raises ValidationError by the rules; KeywordTaken and NoRoom (pretokens.storage_quota); what `accepting.rehearse` does.
    Nothing is asked of the chain for what has no place.
    """
    pretoken_id = uuid.uuid4()
    read = bodies.read(body, request_key=pretoken_id.hex)
    bodies.refuse_foreign_requestor(read, fid=fid)
    now, kept = timezone.now(), bodies.without_nulls(body)
    pretoken = Pretoken(
        pk=pretoken_id,
        owner_id=person_id,
        keyword=read.keyword,
        keyword_key=bodies.keyword_key(read.keyword),
        chain_id=read.order.chain_id,
        body=kept,
        size=len(orjson.dumps(kept)),
        created_at=now,
        expires_at=now + LASTS,
    )
    # What would have no place is not worth the chain's time; what came in meanwhile counts, too.
    _check_place(pretoken)
    accept.rehearse(read.order, body=body, partner=None, sender=read.order.admin)
    with transaction.atomic():
        _check_place(pretoken)
        pretoken.save(force_insert=True)
    return pretoken


def delete(pretoken_id: uuid.UUID, *, person_ids: Collection[int]) -> bool:
    """Mark a user's pending pretoken as deleted; False, whatever the reason, where there is no such one."""
    found = Pretoken.objects.owned_by(person_ids).pending().filter(pk=pretoken_id)
    return found.update(state=State.DELETED, deleted_at=timezone.now()) == 1


def expire_overdue() -> int:
    """Mark all whose time is past, but those that somebody is at; how many they are."""
    with transaction.atomic():
        return storage_quota.expire(Pretoken.objects.overdue().select_for_update(no_key=True, skip_locked=True))


def prune(*, at_once: int = _PRUNED_AT_ONCE) -> int:
    """Delete what ended PRETOKEN_KEPT_DAYS ago or earlier, some at a time; returns how many it were.

    A deployed pretoken loses its body alone: its row tells whose wish a deployment was, and only operators make those.
    """
    cutoff = timezone.now() - timedelta(days=settings.PRETOKEN_KEPT_DAYS)
    pruned = 0
    while True:
        with transaction.atomic():
            locked = Pretoken.objects.past_keeping(cutoff).select_for_update(skip_locked=True)
            found = dict(locked.order_by("expires_at").values_list("pk", "state")[:at_once])
            deployed = [pk for pk, state in found.items() if state == State.DEPLOYED]
            Pretoken.objects.filter(pk__in=deployed).update(body={}, size=0)
            Pretoken.objects.filter(pk__in=found.keys() - set(deployed)).delete()
        pruned += len(found)
        if len(found) < at_once:
            return pruned


def restore(pretoken_id: uuid.UUID) -> None:
    """Make a deleted pretoken pending again, for as long as it had left, where that keeps the rules.

    Raises NotRestorable.
    """
    found = Pretoken.objects.defer("body").filter(pk=pretoken_id).first()
    if found is None:
        raise NotRestorable("there is no such pretoken")
    if found.state != State.DELETED:
        raise NotRestorable("only a pretoken that was deleted can be restored")
    if found.expires_at <= timezone.now():
        raise NotRestorable(f"its {LASTS.days} days are over")
    try:
        with transaction.atomic():
            storage_quota.check(found, person_ids=storage_quota.hold(found.owner_id))
            deleted = Pretoken.objects.filter(pk=found.pk, state=State.DELETED)
            if not deleted.update(state=State.PENDING, deleted_at=None):
                raise NotRestorable("somebody else was sooner")
    except (storage_quota.KeywordTaken, storage_quota.NoRoom) as error:
        raise NotRestorable(str(error)) from error
    logger.info("pretoken %s is restored", found.pk)


def _check_place(pretoken: Pretoken) -> None:
    """Raise KeywordTaken or NoRoom; within a transaction nobody else of its user makes one pending before that ends."""
    with transaction.atomic():
        person_ids = storage_quota.hold(pretoken.owner_id)
        storage_quota.check(pretoken, person_ids=person_ids)
        storage_quota.check_bytes(pretoken, person_ids=person_ids)

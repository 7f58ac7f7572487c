"""Pretoken lifecycle: creation, deletion, expiry, restoration and pruning."""

import logging
import uuid
from collections.abc import Collection
from datetime import timedelta
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from config.http.errors import PermanentError
from pretokens import storage_quota
from pretokens.body import check_requestor, normalize_keyword, parse_pretoken, without_nulls
from pretokens.models import Pretoken, PretokenState
from tokens.deploying.simulation import simulate_deployment

logger = logging.getLogger(__name__)

PENDING_FOR = timedelta(days=7)
# A body has up to 8 MiB.
_PRUNE_BATCH = 100


class NotRestorableError(PermanentError):
    """Raised when the pretoken can't be pending again; the text has the reason."""


def create_pretoken(body: Any, *, person_id: int, fid: int | None = None) -> Pretoken:
    """Simulate the launch, and store the body's configuration for a user with an optional FID if it succeeds.

    The simulated sender is the token's admin; its wallet needs no funds. Raises LaunchRequestError for a broken
    rule, KeywordTakenError, PretokenQuotaError, and as `simulate_deployment`. A body over quota causes no
    node call.
    """
    pretoken_id = uuid.uuid4()
    parsed = parse_pretoken(body, request_key=pretoken_id.hex)
    check_requestor(parsed, fid=fid)
    now, stored_body = timezone.now(), without_nulls(body)
    pretoken = Pretoken(
        pk=pretoken_id,
        owner_id=person_id,
        keyword=parsed.keyword,
        keyword_key=normalize_keyword(parsed.keyword),
        chain_id=parsed.launch_request.config.chain_id,
        body=stored_body,
        size=len(orjson.dumps(stored_body)),
        created_at=now,
        expires_at=now + PENDING_FOR,
    )
    # Checked before the node call to save it, and again after it for rows that were inserted meanwhile.
    _check_quotas(pretoken)
    launch_request = parsed.launch_request
    simulate_deployment(launch_request, body=body, partner=None, sender=launch_request.config.admin)
    with transaction.atomic():
        _check_quotas(pretoken)
        pretoken.save(force_insert=True)
    return pretoken


def delete_pretoken(pretoken_id: uuid.UUID, *, person_ids: Collection[int]) -> bool:
    """Mark a user's pending pretoken as deleted. Return False if there is none with this id."""
    pretokens = Pretoken.objects.owned_by(person_ids).pending().filter(pk=pretoken_id)
    return pretokens.update(state=PretokenState.DELETED, deleted_at=timezone.now()) == 1


def expire_overdue() -> int:
    """Mark all overdue pretokens as expired, except locked ones; return their number."""
    with transaction.atomic():
        return storage_quota.mark_expired(Pretoken.objects.overdue().select_for_update(no_key=True, skip_locked=True))


def prune_ended(*, at_once: int = _PRUNE_BATCH) -> int:
    """Delete pretokens that ended at least PRETOKEN_KEPT_DAYS ago, in batches; return their number.

    A deployed pretoken only loses its body: its row records the deployment's owner, and only operators create
    deployments.
    """
    cutoff = timezone.now() - timedelta(days=settings.PRETOKEN_KEPT_DAYS)
    pruned = 0
    while True:
        with transaction.atomic():
            locked = Pretoken.objects.past_keeping(cutoff).select_for_update(skip_locked=True)
            state_by_id = dict(locked.order_by("expires_at").values_list("pk", "state")[:at_once])
            deployed = [pk for pk, state in state_by_id.items() if state == PretokenState.DEPLOYED]
            Pretoken.objects.filter(pk__in=deployed).update(body={}, size=0)
            Pretoken.objects.filter(pk__in=state_by_id.keys() - set(deployed)).delete()
        pruned += len(state_by_id)
        if len(state_by_id) < at_once:
            return pruned


def restore_pretoken(pretoken_id: uuid.UUID) -> None:
    """Make a deleted pretoken pending again until its original expiry, if the quotas allow it.

    Raises NotRestorableError.
    """
    pretoken = Pretoken.objects.defer("body").filter(pk=pretoken_id).first()
    if pretoken is None:
        raise NotRestorableError("the pretoken does not exist")
    if pretoken.state != PretokenState.DELETED:
        raise NotRestorableError("only a deleted pretoken can be restored")
    if pretoken.expires_at <= timezone.now():
        raise NotRestorableError(f"it expired {PENDING_FOR.days} days after its creation")
    try:
        with transaction.atomic():
            storage_quota.check_pending_quota(pretoken, person_ids=storage_quota.lock_owner(pretoken.owner_id))
            deleted = Pretoken.objects.filter(pk=pretoken.pk, state=PretokenState.DELETED)
            if not deleted.update(state=PretokenState.PENDING, deleted_at=None):
                raise NotRestorableError("a concurrent request has changed it")
    except (storage_quota.KeywordTakenError, storage_quota.PretokenQuotaError) as error:
        raise NotRestorableError(str(error)) from error
    logger.info("pretoken %s restored", pretoken.pk)


def _check_quotas(pretoken: Pretoken) -> None:
    """Raise KeywordTakenError or PretokenQuotaError. The owner stays locked until the surrounding transaction ends."""
    with transaction.atomic():
        person_ids = storage_quota.lock_owner(pretoken.owner_id)
        storage_quota.check_pending_quota(pretoken, person_ids=person_ids)
        storage_quota.check_storage_quota(pretoken, person_ids=person_ids)

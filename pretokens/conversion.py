"""Turning pretokens into deployments, each into one."""

import logging
import uuid
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from rest_framework.exceptions import APIException

from config.api.error_handling import error_body
from config.http.json_client import Permanent, Retryable
from pretokens import body as bodies
from pretokens.models import Pretoken, State
from tokens.deploying import accept
from tokens.deploying.accept import Rehearsed
from tokens.models import Deployment

logger = logging.getLogger(__name__)


class NotPending(Permanent):
    """The pretoken can't be launched: it is unknown, past its time, deleted or deployed already."""


class Refused(Permanent):
    """The pretoken doesn't keep a deployment's rules any more, or too many wait for the chain; the text says it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A pretoken whose launch the chain would take from a wallet of ours at this moment."""

    pretoken_id: uuid.UUID
    rehearsed: Rehearsed


def prepare(pretoken_id: uuid.UUID) -> Prepared:
    """Have the chain try the launch of a pretoken; nothing is written.

    Its rules are read anew: limits and chains may have changed. Raises NotPending, Refused, and the Permanent and
    Retryable errors of `accepting.rehearse`.
    """
    pending = Pretoken.objects.pending().filter(pk=pretoken_id)
    pretoken = pending.first()
    if pretoken is None:
        raise NotPending("only a pending pretoken can be deployed")
    try:
        read = bodies.read(pretoken.body, request_key=pretoken.pk.hex)
        rehearsed = accept.rehearse(read.order, body=pretoken.body, partner=None)
    except APIException as error:
        raise Refused(error_body(error)["error"]) from error
    except (Permanent, Retryable) as error:
        # Somebody may have been so much sooner that its token is there.
        if not pending.exists():
            raise NotPending("the pretoken is no longer pending") from error
        raise
    return Prepared(pretoken_id=pretoken.pk, rehearsed=rehearsed)


def launch(prepared: Prepared) -> Deployment:
    """Store the deployment, under the pretoken's id as its key, and mark the pretoken, or do neither.

    Whoever calls enqueues it after the commit. Raises NotPending where somebody was sooner, and `accepting.Paused`.
    """
    deployment = prepared.rehearsed.deployment
    try:
        with transaction.atomic():
            accept.store(prepared.rehearsed)
            pending = Pretoken.objects.pending().filter(pk=prepared.pretoken_id)
            if not pending.update(state=State.DEPLOYED, deployment=deployment):
                raise NotPending("the pretoken is no longer pending")
    except IntegrityError as error:
        # Of the other's deployment, with which the pretoken was marked.
        raise NotPending("the pretoken was deployed already") from error
    logger.info("chain %s: pretoken %s is deployed", deployment.chain_id, prepared.pretoken_id)
    return deployment

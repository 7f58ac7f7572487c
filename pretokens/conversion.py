"""Pretoken conversion: each pretoken becomes one deployment."""

import logging
import uuid
from dataclasses import dataclass

from django.db import IntegrityError, transaction

from config.http.errors import PermanentError, RetryableError
from config.processes.concurrency_limits import BusyError
from pretokens.body import parse_pretoken
from pretokens.models import Pretoken, PretokenState
from tokens.deploying.accept import store_deployment
from tokens.deploying.launch_request import LaunchRequestError
from tokens.deploying.simulation import SimulatedDeployment, simulate_deployment
from tokens.models import Deployment

logger = logging.getLogger(__name__)


class NotPendingError(PermanentError):
    """Raised when the pretoken can't be launched: unknown, expired, deleted or already deployed."""


class LaunchRejectedError(PermanentError):
    """Raised when the pretoken no longer passes the launch rules, or too many requests wait for the node."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedLaunch:
    """A pretoken whose simulated launch by one of the service's wallets succeeded."""

    pretoken_id: uuid.UUID
    simulated: SimulatedDeployment


def prepare_launch(pretoken_id: uuid.UUID) -> PreparedLaunch:
    """Simulate a pretoken's launch. Writes nothing.

    Its body is validated again, since limits and chains may have changed. Raises NotPendingError,
    LaunchRejectedError, and PermanentError and RetryableError as `simulate_deployment` does.
    """
    pending = Pretoken.objects.pending().filter(pk=pretoken_id)
    pretoken = pending.first()
    if pretoken is None:
        raise NotPendingError("only a pending pretoken can be deployed")
    try:
        parsed = parse_pretoken(pretoken.body, request_key=pretoken.pk.hex)
        simulated = simulate_deployment(parsed.launch_request, body=pretoken.body, partner=None)
    except (LaunchRequestError, BusyError) as error:
        raise LaunchRejectedError(str(error)) from error
    except (PermanentError, RetryableError) as error:
        # A concurrent request may already have launched its token.
        if not pending.exists():
            raise NotPendingError("the pretoken is no longer pending") from error
        raise
    return PreparedLaunch(pretoken_id=pretoken.pk, simulated=simulated)


def create_deployment(prepared: PreparedLaunch) -> Deployment:
    """Store the deployment and mark the pretoken, in one transaction. The request key is the pretoken's id.

    The caller enqueues the deployment after the commit. Raises NotPendingError if another request was first, and
    DeploymentsPausedError.
    """
    deployment = prepared.simulated.deployment
    try:
        with transaction.atomic():
            store_deployment(prepared.simulated)
            pending = Pretoken.objects.pending().filter(pk=prepared.pretoken_id)
            if not pending.update(state=PretokenState.DEPLOYED, deployment=deployment):
                raise NotPendingError("the pretoken is no longer pending")
    except IntegrityError as error:
        # A concurrent request has stored a deployment with this request key.
        raise NotPendingError("the pretoken was deployed already") from error
    logger.info("chain %s: pretoken %s converted into a deployment", deployment.chain_id, prepared.pretoken_id)
    return deployment

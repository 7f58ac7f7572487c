"""Launch request acceptance: validated, simulated, and stored once per request key, before anything is sent.

Steps: look up the request key; validate; build the call; simulate it from one of the service's wallets; store the row.
Nothing is signed here. A request that is rejected or can't be simulated does not use up its key.
"""

from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction

from accounts.models import PartnerKey
from config.http.errors import PermanentError, RetryableError
from config.parsing.json_rules import parse_flag
from tokens.deploying import airdrop_proofs, quotas, request_keys
from tokens.deploying.launch_request import parse_launch_request
from tokens.deploying.sending import pause_flags
from tokens.deploying.simulation import SimulatedDeployment, simulate_deployment
from tokens.models.deployment import Deployment


class RequestKeyConflictError(PermanentError):
    """Raised when the request key belongs to a deployment with another body."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AcceptedDeployment:
    """An accepted request. A dry run's deployment is not stored, unless its key already has one."""

    deployment: Deployment
    dry_run: bool
    # Whether the deployment was stored before this request.
    replayed: bool


def accept_deployment(body: Any, *, partner: PartnerKey | None) -> AcceptedDeployment:
    """Store a deployment for the request body, or return the one that its key has; partner None is an operator.

    The caller enqueues it after the commit, if it is neither replayed nor a dry run. Raises RequestKeyConflictError,
    LaunchRequestError, LaunchOptionUnavailableError if the chain lacks a contract, WouldRevertError,
    UnsupportedChainError, NodeUnavailableError, InvalidSimulationError, NoSenderAvailableError, DeploymentsPausedError,
    QuotaExceededError, SpendingNotAllowedError, BusyError.
    """
    dry_run = _read_dry_run(body)
    stored = _find_stored(body, partner=partner)
    # An invalid flag is rejected with all other problems.
    if stored is not None and dry_run is not None:
        return AcceptedDeployment(deployment=stored, dry_run=dry_run, replayed=True)
    launch_request = parse_launch_request(body)
    own_buy = launch_request.config.own_buy
    try:
        if own_buy is not None and partner is not None:
            quotas.check_dev_buy(own_buy.wei, chain_id=launch_request.config.chain_id, partner=partner)
        simulated = simulate_deployment(launch_request, body=body, partner=partner)
        if not launch_request.dry_run:
            store_deployment(simulated)
    except (IntegrityError, PermanentError, RetryableError):
        # A concurrent request with this key may have been first: its row exists, or even its token, which makes the
        # second simulation revert.
        stored = _find_stored(body, partner=partner)
        if stored is None:
            raise
        return AcceptedDeployment(deployment=stored, dry_run=launch_request.dry_run, replayed=True)
    return AcceptedDeployment(deployment=simulated.deployment, dry_run=launch_request.dry_run, replayed=False)


def store_deployment(simulated: SimulatedDeployment) -> None:
    """Store the deployment; the caller enqueues it after the commit.

    Raises IntegrityError if its key has one, DeploymentsPausedError, QuotaExceededError.
    """
    deployment, airdrop = simulated.deployment, simulated.launch_request.config.airdrop
    with transaction.atomic():
        pause_flags.check_not_paused(deployment.chain_id)
        deployment.save(force_insert=True)
        if airdrop is not None:
            airdrop_proofs.store_tree(deployment, tree=airdrop.tree, entries=airdrop.entries)
        if deployment.partner_key is not None:
            quotas.check_quota(deployment, partner=deployment.partner_key)


def _find_stored(body: Any, *, partner: PartnerKey | None) -> Deployment | None:
    """Return the deployment with the body's key, if any. Raises RequestKeyConflictError if its body differs."""
    request_key = request_keys.find_request_key(body)
    if request_key is None:
        return None
    # No response contains the calldata.
    deployments = Deployment.objects.defer("calldata")
    stored = deployments.filter(partner_key=partner, request_key=request_key).first()
    if stored is not None and stored.body_digest != request_keys.body_digest(body):
        raise RequestKeyConflictError("this requestKey was used with another body")
    return stored


def _read_dry_run(body: Any) -> bool | None:
    """Return an unvalidated body's flag; None if it is invalid."""
    flag = body.get("dryRun") if isinstance(body, dict) else None
    try:
        return flag is not None and parse_flag(str(flag))
    except ValueError:
        return None

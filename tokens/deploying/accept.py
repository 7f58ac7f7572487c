"""Taking an order: checked, simulated, and stored once under its request key, before anything is sent.

The order of work: what is stored under the key already; the rules; the exact call; its simulation by one of our
wallets; the row. Nothing is signed here, and what is refused or can't be simulated uses no key up.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction

from accounts.models import PartnerKey
from config.api.concurrency_limits import seat
from config.api.fields import checksum, parse_flag
from config.http.json_client import Permanent, Retryable
from tokens.chains.launching import launch_calls
from tokens.chains.launching.launch_config import ContractCall, LaunchConfig
from tokens.chains.launching.merkle import MerkleTree, build_tree
from tokens.chains.protocols import Chain
from tokens.chains.types import SenderTooPoor
from tokens.deploying import airdrop_proofs, launch_request, quotas, request_keys
from tokens.deploying.sending import gas, presales, wallets
from tokens.installation.installed_chains import installed_chain
from tokens.models.deployment import Deployment

# How long a call may wait for those before it to have their answers of the chain.
_SEAT_SECONDS = 3.0
# What `deployToken` gives back: an address in a word.
_ADDRESS_WORD = re.compile(r"0x0{24}([0-9a-fA-F]{40})")


class KeyTaken(Permanent):
    """The request key is that of an order with another body."""


class Paused(Retryable):
    """Operators have paused deployments on the chain."""


class NobodySends(Retryable):
    """No wallet of ours can send the order: there is none, or it has too little. The text is for operators alone."""


class StrangeAnswer(Permanent):
    """The node's simulation gave back what is no token's address."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Accepted:
    """What a call came to. A dry run's deployment is no row, unless its key is an order's already."""

    deployment: Deployment
    dry_run: bool
    # Whether the order was there before this call.
    replayed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Rehearsed:
    """An order that would be carried out at this moment; its deployment is no row yet."""

    deployment: Deployment
    order: launch_request.DeployOrder
    tree: MerkleTree | None


def accept(body: Any, *, partner: PartnerKey | None) -> Accepted:
    """Take the order of a request's body, or find the one that its key has; without a partner it is an operator's.

    It does not enqueue: that is the caller's once this has come back, where the order is neither replayed nor a dry
    run. Raises KeyTaken; ValidationError or BadRequest (config.api.errors) by the rules; NotOffered where the chain
    lacks a contract; WouldRevert; UnsupportedChain; NodeUnavailable and StrangeAnswer; NobodySends; Paused;
    QuotaExceeded; UpstreamUnavailable while too many calls wait for the chain.
    """
    stored = _find_order(body, partner=partner)
    dry_run = _read_dry_run(body)
    # A flag that is no flag is refused with everything else that is wrong.
    if stored is not None and dry_run is not None:
        return Accepted(deployment=stored, dry_run=dry_run, replayed=True)
    order = launch_request.read(body)
    try:
        rehearsed = rehearse(order, body=body, partner=partner)
        if not order.dry_run:
            store(rehearsed)
    except (IntegrityError, Permanent, Retryable):
        # Another call with this key may have been sooner, whose order counts: its row is there, or even its token, so
        # that the simulation of a second one is reverted.
        stored = _find_order(body, partner=partner)
        if stored is None:
            raise
        return Accepted(deployment=stored, dry_run=order.dry_run, replayed=True)
    return Accepted(deployment=rehearsed.deployment, dry_run=order.dry_run, replayed=False)


def rehearse(
    order: launch_request.DeployOrder, *, body: dict[str, Any], partner: PartnerKey | None, sender: str | None = None
) -> Rehearsed:
    """Have the chain try the order of a body, sent by this wallet (EIP-55), or by one of ours where none is given.

    Raises what `accept` does for an order that keeps the rules, up to its being stored.
    """
    with seat(patience=_SEAT_SECONDS):
        # A large one takes seconds of the processor's.
        tree = build_tree(order.airdrop.entries) if order.airdrop else None
        deployment = _simulate(order, tree=tree, partner=partner, sender=sender)
    deployment.body_digest = request_keys.digest(body)
    return Rehearsed(deployment=deployment, order=order, tree=tree)


def store(rehearsed: Rehearsed) -> None:
    """Make the row; whoever calls enqueues it after the commit.

    Raises IntegrityError where its key has an order, Paused, QuotaExceeded.
    """
    deployment, order, tree = rehearsed.deployment, rehearsed.order, rehearsed.tree
    with transaction.atomic():
        if wallets.is_paused(deployment.chain_id):
            raise Paused(f"deployments on chain {deployment.chain_id} are paused")
        deployment.save(force_insert=True)
        if order.airdrop is not None and tree is not None:
            airdrop_proofs.store_tree(deployment, tree=tree, entries=order.airdrop.entries)
        if deployment.partner_key is not None:
            quotas.check(deployment, partner=deployment.partner_key)


def _find_order(body: Any, *, partner: PartnerKey | None) -> Deployment | None:
    """The order with the body's key, where it has one. Raises KeyTaken where that was of another body."""
    request_key = request_keys.read_key(body)
    if request_key is None:
        return None
    # No answer shows the call.
    orders = Deployment.objects.defer("calldata")
    stored = orders.filter(partner_key=partner, request_key=request_key).first()
    if stored is not None and stored.body_digest != request_keys.digest(body):
        raise KeyTaken("this requestKey was used with another body")
    return stored


def _read_dry_run(body: Any) -> bool | None:
    """The flag of a body that was not checked; None where it is no flag."""
    given = body.get("dryRun") if isinstance(body, dict) else None
    try:
        return given is not None and parse_flag(str(given))
    except ValueError:
        return None


def _simulate(
    order: launch_request.DeployOrder, *, tree: MerkleTree | None, partner: PartnerKey | None, sender: str | None
) -> Deployment:
    """The order as a row that is not stored: with the call that the sender could send at this moment."""
    chain = installed_chain(order.chain_id)
    config = launch_request.build(order, chain=chain, tree=tree)
    salt = request_keys.salt(order.request_key, partner=partner)
    try:
        senders = [sender] if sender else wallets.senders_for(order.chain_id)
        call, estimate, address = _try(chain, config, salt=salt, senders=senders)
    except (wallets.NoWallet, SenderTooPoor) as error:
        raise NobodySends(f"no wallet of chain {order.chain_id} can send a deployment: {error}") from error
    return Deployment(
        partner_key=partner,
        request_key=order.request_key,
        chain_id=order.chain_id,
        config=launch_request.normalised(order, tree=tree),
        salt=salt,
        to_address=call.to,
        calldata=bytes.fromhex(call.data.removeprefix("0x")),
        value=call.value,
        gas=gas.with_reserve(estimate),
        expected_address=address,
    )


def _try(chain: Chain, config: LaunchConfig, *, salt: str, senders: Sequence[str]) -> tuple[ContractCall, int, str]:
    """The call that carries the order out, its gas, and the token's address; of a presale that is not known yet."""
    if config.presale is not None:
        call, estimate = presales.rehearse(chain, config, salt=salt, senders=senders)
        return call, estimate, ""
    call = launch_calls.deploy_call(chain.info, config, salt=salt)
    simulation = chain.simulate(call, sender=senders[0])
    found = _ADDRESS_WORD.fullmatch(simulation.output)
    if found is None or int(found[1], 16) == 0:
        raise StrangeAnswer(f"chain {chain.info.chain_id} simulates a launch whose token has no address")
    return call, simulation.gas, checksum(f"0x{found[1]}")

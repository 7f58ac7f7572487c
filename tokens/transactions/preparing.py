"""Unsigned transactions: a parsed action, built and simulated. Nothing is stored or sent."""

import re
import time
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from typing import Any

from accounts.models import PartnerKey
from config.parsing.json_rules import InvalidFieldsError, parse_object
from config.processes.concurrency_limits import node_slot, public_node_slot, transaction_slot
from tokens.chains.addresses import checksum_address
from tokens.chains.evm.swapping.swap_offers import SwapOffer
from tokens.chains.evm.transactions.call_simulation import SimulatedCalls
from tokens.chains.evm.unsigned_calls import UnsignedCall
from tokens.chains.rpc.client import query_deadline
from tokens.deploying.launch_request import LaunchRequest
from tokens.installation.installed_chains import installed_chain
from tokens.transactions.action_fields import SENDER
from tokens.transactions.call_building import WalletAction
from tokens.transactions.token_swaps import SWAP
from tokens.transactions.unsigned_launches import LAUNCH, parse_launch

# Seconds: prices, unlocked amounts and admins may have changed after that.
_VALID_SECONDS = 600
# Timeout for all node calls together, which block a thread.
_SECONDS = 15.0
# Timeout for a slot among this process's node calls, for partners.
_SLOT_TIMEOUT_SECONDS = 3.0
# Actions whose calls depend on simulations.
_BUILT_IN_SLOT = frozenset({LAUNCH, SWAP})
# A created token's address in a 32-byte word.
_ADDRESS_WORD = re.compile(r"0x0{24}([0-9a-fA-F]{40})")


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedTransaction:
    """Calls for the sender's wallet, in sequence, with their simulation."""

    chain_id: int
    sender: str
    calls: Sequence[UnsignedCall]
    simulation: SimulatedCalls
    predicted_address: str | None
    # Unix seconds.
    valid_until: int
    offer: SwapOffer | None = None


def prepare(action: WalletAction, body: Any, *, partner: PartnerKey | None) -> PreparedTransaction:
    """Parse a body, build the action's calls, and simulate them at the newest block.

    Raises InvalidFieldsError, UnknownTokenError, UnsupportedChainError, LaunchOptionUnavailableError, NoPresalesError,
    WouldRevertError, SwapUnavailableError, UnknownContractError, SenderBalanceTooLowError, NodeUnavailableError,
    BusyError.
    """
    values = parse_body(action, body)
    chain, sender = installed_chain(values["chain_id"]), values["sender"]
    with query_deadline(_SECONDS), ExitStack() as slots:
        # First, so that a refused request has built nothing.
        if partner is None:
            slots.enter_context(public_node_slot())
        slots.enter_context(transaction_slot())
        slot = nullcontext() if partner is None else node_slot(timeout=_SLOT_TIMEOUT_SECONDS)
        # Presale roots are cached, and read in a slot that they take themselves.
        if action.name in _BUILT_IN_SLOT:
            slots.enter_context(slot)
        built = action.build(action, {**values, "partner": partner})
        if action.name not in _BUILT_IN_SLOT:
            slots.enter_context(slot)
        # An offer is simulated with its quote.
        offer = built if isinstance(built, SwapOffer) else None
        calls = built.calls if isinstance(built, SwapOffer) else built
        simulation = offer.simulation if offer else chain.simulate_calls(calls, sender=sender)
    request: LaunchRequest | None = values.get("request")
    # A presale's start returns its id.
    creates_token = action.creates_token and (request is None or request.config.presale is None)
    return PreparedTransaction(
        chain_id=values["chain_id"],
        sender=sender,
        calls=calls,
        simulation=simulation,
        predicted_address=_created_address(simulation.calls[-1].output) if creates_token else None,
        valid_until=offer.terms.deadline if offer else int(time.time()) + _VALID_SECONDS,
        offer=offer,
    )


def parse_body(action: WalletAction, body: Any) -> dict[str, Any]:
    """Parse an action's body to values by attribute. Raises InvalidFieldsError with all broken rules."""
    if action.name == LAUNCH:
        return parse_launch(body)
    values, problems = parse_object(body, {**SENDER, **action.fields})
    if problems:
        raise InvalidFieldsError(problems)
    return values


def _created_address(output: str) -> str | None:
    """Return the address in a call's output; None for zero, which a presale's end without a launch returns."""
    match = _ADDRESS_WORD.fullmatch(output)
    return checksum_address(f"0x{match[1]}") if match and int(match[1], 16) else None

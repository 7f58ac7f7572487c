"""Launch request simulation: the call for a launch, from one of the service's wallets. Nothing is stored or sent."""

import re
from dataclasses import dataclass, replace
from typing import Any

from accounts.models import PartnerKey
from config.http.errors import PermanentError, RetryableError
from config.processes.concurrency_limits import node_slot
from tokens.chains.addresses import checksum_address
from tokens.chains.errors import SenderBalanceTooLowError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.launching import launch_calls
from tokens.chains.launching.launch_config import LaunchConfig
from tokens.chains.launching.launch_ticks import TickOutOfRangeError, place_liquidity
from tokens.chains.transaction_types import Simulation
from tokens.deploying import request_keys
from tokens.deploying.launch_request import LaunchRequest, LaunchRequestError, to_json
from tokens.deploying.rules import cross_field
from tokens.deploying.sending import gas, presales, wallets
from tokens.installation.installed_chains import installed_chain
from tokens.models.deployment import Deployment

# Timeout for a slot among this process's node calls.
_SLOT_TIMEOUT_SECONDS = 3.0
# `deployToken` returns an address in a 32-byte word.
_ADDRESS_WORD = re.compile(r"0x0{24}([0-9a-fA-F]{40})")


class NoSenderAvailableError(RetryableError):
    """Raised when no wallet can send the deployment: none exists or has the funds. The text is for operators only."""


class InvalidSimulationError(PermanentError):
    """Raised when the node's simulation does not return a token's address."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulatedDeployment:
    """Deployment that was simulated successfully; it is not stored yet."""

    deployment: Deployment
    launch_request: LaunchRequest


def simulate_deployment(
    launch_request: LaunchRequest, *, body: dict[str, Any], partner: PartnerKey | None, sender: str | None = None
) -> SimulatedDeployment:
    """Simulate a request, sent by this wallet (EIP-55), or, without `sender`, by one of the service's wallets.

    Raises LaunchRequestError, LaunchOptionUnavailableError if the chain lacks a contract, WouldRevertError,
    UnsupportedChainError, NodeUnavailableError, InvalidSimulationError, NoSenderAvailableError, BusyError.
    """
    chain_id = launch_request.config.chain_id
    # A large airdrop's tree takes seconds of CPU time.
    with node_slot(timeout=_SLOT_TIMEOUT_SECONDS):
        chain, config = resolve_launch(launch_request)
        salt = request_keys.create2_salt(launch_request.request_key, partner=partner)
        try:
            senders = [sender] if sender else wallets.simulation_senders(chain)
            calls = launch_calls.encode_launch(chain.info, config, salt=salt)
            if calls.presale_start is None:
                call, simulation = calls.launch, chain.simulate(calls.launch, sender=senders[0])
                address = _launched_address(simulation, chain_id=chain_id)
            else:
                call, address = calls.presale_start, ""
                simulation = presales.simulate_presale(chain, calls.launch, call, senders=senders)
        except (wallets.NoWalletError, SenderBalanceTooLowError) as error:
            raise NoSenderAvailableError(f"no wallet of chain {chain_id} can send a deployment: {error}") from error
        stored_config = to_json(launch_request)
    deployment = Deployment(
        partner_key=partner,
        request_key=launch_request.request_key,
        body_digest=request_keys.body_digest(body),
        chain_id=chain_id,
        config=stored_config,
        salt=salt,
        to_address=call.to,
        calldata=bytes.fromhex(call.data.removeprefix("0x")),
        value=call.value,
        gas=gas.add_gas_reserve(simulation.gas),
        expected_address=address,
    )
    return SimulatedDeployment(deployment=deployment, launch_request=launch_request)


def resolve_launch(launch_request: LaunchRequest) -> tuple[Chain, LaunchConfig]:
    """Return the launch's chain and configuration; an unlisted paired token's decimals are read from the chain.

    Raises LaunchRequestError if the token has none or the market cap is outside the price range,
    UnsupportedChainError, NodeUnavailableError.
    """
    config, names = launch_request.config, launch_request.names
    chain = installed_chain(config.chain_id)
    if config.liquidity is not None:
        return chain, config
    decimals = chain.read_decimals(config.paired_token)
    if decimals is None:
        field, rule = "pool.pairedToken", f"must be an ERC-20 token on {chain.info.name} with a `decimals()` function"
        raise LaunchRequestError([(names.get(field, field), rule)])
    try:
        liquidity = place_liquidity(config.market_cap, decimals=decimals, preset=config.preset)
    except TickOutOfRangeError as error:
        field, rule = cross_field.price_problem(error)
        raise LaunchRequestError([(names.get(field, field), rule)]) from error
    return chain, replace(config, liquidity=liquidity)


def _launched_address(simulation: Simulation, *, chain_id: int) -> str:
    match = _ADDRESS_WORD.fullmatch(simulation.output)
    if match is None or int(match[1], 16) == 0:
        raise InvalidSimulationError(f"chain {chain_id} simulates a launch whose token has no address")
    return checksum_address(f"0x{match[1]}")

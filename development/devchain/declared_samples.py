"""Launches by the development chain's declared launchpads, and creators' later changes to their curves."""

from collections.abc import Sequence
from random import Random
from typing import Any

from web3.contract import Contract
from web3.logs import DISCARD

from development.devchain import node_client
from development.devchain.deploy_contracts import DevelopmentContracts
from development.devchain.samples import random_terms

# A creator's own purchase on the curve, in wei: smallest and largest.
_OWN_PURCHASE = (10**15, 2 * 10**17)
# Plain launches' starting tick, about 10 ether for the whole supply.
_PLAIN_TICK = -184_200


def launch_on_curve(at: DevelopmentContracts, *, sender: str, random: Random) -> str:
    """Launch a random sample on the bonding curve, at times with a purchase by its creator; return its text."""
    name, symbol, uri = random_terms()
    launchpad = _curves(at)
    value = random.randint(*_OWN_PURCHASE) if random.random() < 0.5 else 0
    receipt = node_client.transact(
        at.rpc_url, launchpad.functions.launch(name, symbol, uri), sender=sender, value=value
    )
    return _describe(launchpad, receipt, symbol)


def launch_plain(at: DevelopmentContracts, *, sender: str) -> str:
    """Launch a random sample into a pool without a hook; return its text."""
    terms = random_terms()
    launchpad = node_client.bind_contract(at.rpc_url, "PlainLaunchpad", at.plain_launchpad)
    call = launchpad.functions.launch(terms, at.wrapped_native, _PLAIN_TICK)
    return _describe(launchpad, node_client.transact(at.rpc_url, call, sender=sender), terms[1])


def change_curve(at: DevelopmentContracts, *, accounts: Sequence[str], random: Random) -> None:
    """Claim a random curve token's fees, hand the token to another creator, or change its URI.

    `accounts` are the creators. If they have no token, nothing is sent.
    """
    launchpad = _curves(at)
    tokens = [log["args"]["token"] for log in launchpad.events.Launched().get_logs(from_block=0)]
    if not tokens:
        return
    token = random.choice(tokens)
    creator = launchpad.functions.curves(token).call()[0]
    call: Any = random.choice(
        (
            launchpad.functions.claimFees(token),
            launchpad.functions.updateCreator(token, random.choice(accounts)),
            launchpad.functions.updateUri(token, random_terms()[2]),
        )
    )
    if creator in accounts:
        node_client.transact(at.rpc_url, call, sender=creator)


def _curves(at: DevelopmentContracts) -> Contract:
    return node_client.bind_contract(at.rpc_url, "CurveLaunchpad", at.curve_launchpad)


def _describe(launchpad: Contract, receipt: Any, symbol: str) -> str:
    [event] = launchpad.events.Launched().process_receipt(receipt, errors=DISCARD)
    return f"launched {symbol} {event['args']['token']}"

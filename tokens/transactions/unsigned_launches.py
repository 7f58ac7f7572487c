"""Launches that the caller's own wallet signs: same rules and bytes as deployments, without quotas or our wallets."""

from collections.abc import Sequence
from typing import Any

from accounts.models import PartnerKey
from config.parsing.json_rules import InvalidFieldsError, parse_object
from tokens.chains.evm.unsigned_calls import UnsignedCall, quote
from tokens.chains.launching import launch_calls as encoding
from tokens.deploying import request_keys
from tokens.deploying.launch_request import LaunchRequest, LaunchRequestError, parse_launch_request
from tokens.deploying.sending import presales
from tokens.deploying.simulation import resolve_launch
from tokens.transactions.action_fields import SENDER
from tokens.transactions.call_building import Values, WalletAction

LAUNCH = "launch"
_FROM = "from"


def parse_launch(body: Any) -> dict[str, Any]:
    """Parse a launch body: a deployment's, and the wallet that signs. Raises InvalidFieldsError."""
    fields = body if isinstance(body, dict) else {}
    own, problems = parse_object({_FROM: fields.get(_FROM)}, {_FROM: SENDER[_FROM]})
    request: LaunchRequest | None = None
    try:
        rest = {name: value for name, value in fields.items() if name != _FROM}
        request = parse_launch_request(rest if isinstance(body, dict) else body, unsigned=True)
    except LaunchRequestError as error:
        problems = [*(problems if isinstance(body, dict) else []), *error.problems]
    if request is None or problems:
        raise InvalidFieldsError(problems)
    return {**own, "chain_id": request.config.chain_id, "request": request}


def launch_calls(action: WalletAction, values: Values) -> Sequence[UnsignedCall]:
    """Return the call that launches the token, or that starts its presale.

    The partner's deployment with the same request key has the same salt; without a partner, each wallet has its own.
    Raises LaunchRequestError, LaunchOptionUnavailableError, WouldRevertError, UnsupportedChainError,
    NodeUnavailableError.
    """
    request: LaunchRequest = values["request"]
    partner: PartnerKey | None = values["partner"]
    chain, config = resolve_launch(request)
    salt = request_keys.create2_salt(request.request_key, partner=partner, wallet=values["sender"])
    calls = encoding.encode_launch(chain.info, config, salt=salt)
    call, text = calls.launch, "Launch the token"
    if calls.presale_start is not None:
        presales.check_launch(chain, calls.launch, sender=values["sender"])
        call, text = calls.presale_start, "Start the presale of the token"
    name = f"{quote(config.name)} ({quote(config.symbol)})"
    purchase = f", and buy of it for {call.value} wei" if call.value else ""
    return [UnsignedCall(to=call.to, data=call.data, value=call.value, text=f"{text} {name}{purchase}.")]

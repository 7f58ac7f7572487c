"""Orders with a presale: how one is tried, and what becomes of it after its sale was started.

Starting the sale is all that we send. Whoever may ends it weeks later, and the presale contract launches the token with
a salt of his choice; so such an order stays mined until its launch is listed, or the sale has failed.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.utils import timezone
from eth_utils.crypto import keccak

from tokens.chains.launching import launch_calls
from tokens.chains.launching.launch_config import ContractCall, LaunchConfig
from tokens.chains.protocols import Chain
from tokens.chains.types import NotOffered, WouldRevert
from tokens.models.deployment import Deployment
from tokens.models.token import Token

_Status = Deployment.Status

# Errors of the presale contract: what a launch runs into that it did not ask for, and what a caller who is no admin of
# it does.
_UNEXPECTED = "0x" + keccak(b"NotExpectingTokenDeployment()")[:4].hex()
_NO_ADMIN = tuple(
    "0x" + keccak(error)[:4].hex() for error in (b"Unauthorized()", b"OwnableUnauthorizedAccount(address)")
)


def rehearse(chain: Chain, config: LaunchConfig, *, salt: str, senders: Sequence[str]) -> tuple[ContractCall, int]:
    """The call that starts the presale, and the gas that the first of these who may start one needs; without reserve.

    The launch itself is tried first, up to where the presale contract objects, because nobody will when the sale is
    over. Raises NotOffered where the chain has no presales or none of `senders` may start one, WouldRevert,
    SenderTooPoor, NodeUnavailable.
    """
    _probe(chain, config, salt=salt, sender=senders[0])
    call = launch_calls.start_presale_call(chain.info, config, salt=salt)
    for sender in senders:
        try:
            return call, chain.simulate(call, sender=sender).gas
        except WouldRevert as error:
            if not is_not_ours_to_start(error):
                raise
    raise NotOffered("presale", f"the presale contract of chain {chain.info.chain_id} does not let us start presales")


def _probe(chain: Chain, config: LaunchConfig, *, salt: str, sender: str) -> None:
    try:
        chain.simulate(launch_calls.presale_probe_call(chain.info, config, salt=salt), sender=sender)
    except WouldRevert as error:
        if not error.data.startswith(_UNEXPECTED):
            raise
    else:
        raise NotOffered("presale", f"the presale contract of chain {chain.info.chain_id} takes launches from anybody")


def is_not_ours_to_start(error: WouldRevert) -> bool:
    """Whether the presale contract objects to nothing but who calls it."""
    return error.data.startswith(_NO_ADMIN)


def is_presale(deployment: Deployment) -> bool:
    """Whether the order's transaction starts a presale, and no token comes of it at once."""
    return bool(deployment.config.get("presale"))


def note_started(chain: Chain, deployment: Deployment, *, tx_hash: str) -> int | None:
    """The id of the presale that the order's mined transaction started; None while the node knows no such receipt.

    It writes nothing. Raises NodeUnavailable.
    """
    return chain.read_started_presale(tx_hash, contract=deployment.to_address)


def find_started(chain: Chain, deployment: Deployment) -> int | None:
    """The id of the presale that the order started, by its salt; None where no transaction of it did.

    Two transactions of one order would start two presales, other than two launches, of which the second reverts.
    Raises NodeUnavailable.
    """
    return chain.find_presale(deployment.salt, contract=deployment.to_address)


def settle(chain: Chain) -> int:
    """Bring the orders whose presales are on the chain up to date with the tokens that are listed, and the contract.

    Listed launch: indexed. Launch dropped by a reorganisation: mined again. Sale failed: failed, with the reason.
    Returns how many orders moved. Safe to repeat, and by several at once. Raises NodeUnavailable.
    """
    started = Deployment.objects.filter(
        chain_id=chain.info.chain_id,
        presale_id__isnull=False,
        final_at__isnull=True,
        status__in=(_Status.MINED, _Status.INDEXED, _Status.FAILED),
    )
    deployments = list(started.defer("calldata"))
    if not deployments:
        return 0
    newest = chain.read_newest()
    tokens = _launched(chain.info.chain_id, deployments)
    moved = 0
    for deployment in deployments:
        token = tokens.get(_key(deployment.to_address, str(deployment.presale_id)))
        if token is not None:
            moved += _index(deployment, token, final=newest.number - token.block_number >= chain.info.finality_depth)
        elif deployment.status == _Status.INDEXED:
            moved += _move(deployment, status=_Status.MINED, token=None, expected_address="")
        elif newest.time >= _earliest_end(deployment):
            moved += _judge(chain, deployment, now=newest.time)
    return moved


def _launched(chain_id: int, deployments: Iterable[Deployment]) -> dict[tuple[str, str], Token]:
    """(presale contract, presale's id) -> the token that it launched, where that is listed.

    By the index token_by_sender_newest: a presale contract is the sender of its launches.
    """
    wanted: dict[str, set[str]] = {}
    for deployment in deployments:
        wanted.setdefault(deployment.to_address, set()).add(str(deployment.presale_id))
    found = {}
    for contract, ids in wanted.items():
        for token in _of_presales(chain_id, contract, ids):
            found[_key(contract, token.presale_id)] = token
    return found


def _of_presales(chain_id: int, contract: str, ids: Collection[str]) -> Iterable[Token]:
    tokens = Token.objects.on_chain().filter(chain_id=chain_id, msg_sender=contract, presale_id__in=ids)
    return tokens.only("contract_address", "presale_id", "block_number")


def _key(contract: str, presale_id: str) -> tuple[str, str]:
    return contract, presale_id


def _earliest_end(deployment: Deployment) -> float:
    """A time (Unix seconds) before which the sale can't have ended: it was started after the order was stored."""
    seconds: int = deployment.config["presale"]["presaleDuration"]
    return deployment.created_at.timestamp() + seconds


def _index(deployment: Deployment, token: Token, *, final: bool) -> int:
    changes: dict[str, Any] = {}
    if deployment.status != _Status.INDEXED or deployment.token_id != token.pk:
        changes = {
            "status": _Status.INDEXED,
            "token": token,
            "expected_address": token.contract_address,
            "error": "",
        }
    if final:
        changes["final_at"] = timezone.now()
    return _move(deployment, **changes) if changes else 0


def _judge(chain: Chain, deployment: Deployment, *, now: int) -> int:
    """Let an order fail whose sale has, by the time of the newest block; take that back where a reorg undid it."""
    presale = chain.read_presale(int(deployment.presale_id or 0), contract=deployment.to_address)
    if presale is None:
        # Its start is in no block that this node knows: whoever watches our transactions sees to that.
        return 0
    failure = presale.failure(at=now)
    if not failure:
        return _move(deployment, status=_Status.MINED, error="") if deployment.status == _Status.FAILED else 0
    changes: dict[str, Any] = {}
    if deployment.status != _Status.FAILED:
        changes = {"status": _Status.FAILED, "error": failure}
    if presale.is_over(at=now):
        changes["final_at"] = timezone.now()
    return _move(deployment, **changes) if changes else 0


def _move(deployment: Deployment, **changes: Any) -> int:
    """Change the order unless somebody else has meanwhile."""
    unchanged = Deployment.objects.filter(
        pk=deployment.pk, status=deployment.status, presale_id=deployment.presale_id, final_at__isnull=True
    )
    return unchanged.move(**changes)

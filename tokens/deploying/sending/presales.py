"""Deployments with a presale: simulation, and settlement after the sale was started.

The service sends only the start. Weeks later any account may end the sale, and the presale contract launches the token
with a salt that this account chooses. Such a deployment stays mined until its launch is listed, or the sale has failed.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.utils import timezone
from sha3 import keccak_256

from tokens.chains.errors import LaunchOptionUnavailableError, WouldRevertError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.transaction_types import ContractCall, Simulation
from tokens.models import DeploymentStatus
from tokens.models.deployment import Deployment
from tokens.models.token import Token

# The presale contract's errors: for a launch it does not expect, and for a caller without admin rights.
_UNEXPECTED = "0x" + keccak_256(b"NotExpectingTokenDeployment()").hexdigest()[:8]
_NO_ADMIN = tuple(
    "0x" + keccak_256(error).hexdigest()[:8] for error in (b"Unauthorized()", b"OwnableUnauthorizedAccount(address)")
)


def simulate_presale(chain: Chain, launch: ContractCall, start: ContractCall, *, senders: Sequence[str]) -> Simulation:
    """Simulate the start of a presale by the first sender allowed to start one.

    The launch itself is simulated first, up to the presale contract's rejection: nothing else checks it before the sale
    is over. Raises LaunchOptionUnavailableError if no sender may start a presale, WouldRevertError,
    SenderBalanceTooLowError, NodeUnavailableError.
    """
    contract = check_launch(chain, launch, sender=senders[0])
    for sender in senders:
        try:
            return chain.simulate(start, sender=sender)
        except WouldRevertError as error:
            if not is_unauthorized(error):
                raise
    raise LaunchOptionUnavailableError("presale", f"{contract} does not allow this service to start presales")


def check_launch(chain: Chain, launch: ContractCall, *, sender: str) -> str:
    """Simulate a presale's launch up to the presale contract's rejection; return the contract in words.

    Raises WouldRevertError if another contract rejects it first, LaunchOptionUnavailableError if none does,
    SenderBalanceTooLowError, NodeUnavailableError.
    """
    contract = f"the presale contract of chain {chain.info.chain_id}"
    try:
        chain.simulate(launch, sender=sender)
    except WouldRevertError as error:
        if not error.data.startswith(_UNEXPECTED):
            raise
        return contract
    raise LaunchOptionUnavailableError("presale", f"{contract} accepts launches from any account")


def is_unauthorized(error: WouldRevertError) -> bool:
    """Return whether the presale contract rejected only the caller."""
    return error.data.startswith(_NO_ADMIN)


def is_presale(deployment: Deployment) -> bool:
    """Return whether the deployment's transaction starts a presale, and launches no token by itself."""
    return bool(deployment.config.get("presale"))


def read_started_presale(chain: Chain, deployment: Deployment, *, tx_hash: str) -> int | None:
    """Return the id of the presale that a mined transaction started; None if the node has no such receipt.

    It writes nothing. Raises NodeUnavailableError.
    """
    return chain.read_started_presale(tx_hash, contract=deployment.to_address)


def find_started_presale(chain: Chain, deployment: Deployment) -> int | None:
    """Return the id of the presale that a deployment started, found by its salt; None if there is none.

    Two transactions for one deployment would start two presales, while a second launch reverts. Raises
    NodeUnavailableError.
    """
    return chain.find_presale(deployment.salt, contract=deployment.to_address)


def settle_presales(chain: Chain) -> int:
    """Update deployments with a started presale from the listed tokens and the presale contract.

    Listed launch: indexed. Launch orphaned by a reorg: mined again. Failed sale: failed, with the reason. Return how
    many deployments changed. Safe to repeat and to run concurrently. Raises NodeUnavailableError.
    """
    started = Deployment.objects.filter(
        chain_id=chain.info.chain_id,
        presale_id__isnull=False,
        final_at__isnull=True,
        status__in=(DeploymentStatus.MINED, DeploymentStatus.INDEXED, DeploymentStatus.FAILED),
    )
    deployments = list(started.defer("calldata"))
    if not deployments:
        return 0
    newest = chain.read_newest_header()
    tokens = _launched(chain.info.chain_id, deployments)
    updated = 0
    for deployment in deployments:
        token = tokens.get(_key(deployment.to_address, str(deployment.presale_id)))
        if token is not None:
            updated += _index(deployment, token, final=newest.number - token.block_number >= chain.info.finality_depth)
        elif deployment.status == DeploymentStatus.INDEXED:
            updated += _update_unchanged(deployment, status=DeploymentStatus.MINED, token=None, expected_address="")
        elif newest.time >= _earliest_end(deployment):
            updated += _check_sale(chain, deployment, now=newest.time)
    return updated


def _launched(chain_id: int, deployments: Iterable[Deployment]) -> dict[tuple[str, str], Token]:
    """Return (presale contract, presale id) -> listed token that it launched.

    Uses the index token_by_sender_newest: a presale contract sends its launches.
    """
    ids_by_contract: dict[str, set[str]] = {}
    for deployment in deployments:
        ids_by_contract.setdefault(deployment.to_address, set()).add(str(deployment.presale_id))
    token_by_presale = {}
    for contract, ids in ids_by_contract.items():
        for token in _of_presales(chain_id, contract, ids):
            token_by_presale[_key(contract, token.presale_id)] = token
    return token_by_presale


def _of_presales(chain_id: int, contract: str, ids: Collection[str]) -> Iterable[Token]:
    tokens = Token.objects.on_chain().filter(chain_id=chain_id, msg_sender=contract, presale_id__in=ids)
    return tokens.only("contract_address", "presale_id", "block_number")


def _key(contract: str, presale_id: str) -> tuple[str, str]:
    return contract, presale_id


def _earliest_end(deployment: Deployment) -> float:
    """Return the sale's earliest end (Unix seconds): it started after the deployment was stored."""
    seconds: int = deployment.config["presale"]["presaleDuration"]
    return deployment.created_at.timestamp() + seconds


def _index(deployment: Deployment, token: Token, *, final: bool) -> int:
    changes: dict[str, Any] = {}
    if deployment.status != DeploymentStatus.INDEXED or deployment.token_id != token.pk:
        changes = {
            "status": DeploymentStatus.INDEXED,
            "token": token,
            "expected_address": token.contract_address,
            "error": "",
        }
    if final:
        changes["final_at"] = timezone.now()
    return _update_unchanged(deployment, **changes) if changes else 0


def _check_sale(chain: Chain, deployment: Deployment, *, now: int) -> int:
    """Fail a deployment after its sale has failed by the newest block's time; undo that after a reorg."""
    presale = chain.read_presale(int(deployment.presale_id or 0), contract=deployment.to_address)
    if presale is None:
        # This node has no block with its start: the attempt watcher handles that.
        return 0
    failure = presale.failure(unix_time=now)
    if not failure:
        return (
            _update_unchanged(deployment, status=DeploymentStatus.MINED, error="")
            if deployment.status == DeploymentStatus.FAILED
            else 0
        )
    changes: dict[str, Any] = {}
    if deployment.status != DeploymentStatus.FAILED:
        changes = {"status": DeploymentStatus.FAILED, "error": failure}
    if presale.is_over(unix_time=now):
        changes["final_at"] = timezone.now()
    return _update_unchanged(deployment, **changes) if changes else 0


def _update_unchanged(deployment: Deployment, **changes: Any) -> int:
    """Update the deployment, unless a concurrent process changed it."""
    unchanged = Deployment.objects.filter(
        pk=deployment.pk, status=deployment.status, presale_id=deployment.presale_id, final_at__isnull=True
    )
    return unchanged.update_and_touch(**changes)

"""Response bodies for the deploy and airdrop endpoints."""

from collections.abc import Iterable
from urllib.parse import quote

from django.conf import settings

from tokens.deploying import responses
from tokens.deploying.airdrop_proofs import AirdropProof
from tokens.deploying.sending import presales
from tokens.deploying.token_airdrops import ClaimableEntry, TokenAirdrop
from tokens.models import DeploymentStatus, SavedTree
from tokens.models.deployment import Deployment


def accepted_body(deployment: Deployment) -> responses.DeployAnswer:
    """Return the body for a stored deployment; replays get the same one, later progress is in the status."""
    return {
        "success": True,
        "message": "Token deployment enqueued",
        "expectedAddress": _expected_address(deployment),
        "requestKey": deployment.request_key,
        "chainId": deployment.chain_id,
        "status": DeploymentStatus.ENQUEUED.value,
        "statusUrl": status_url(deployment),
    }


def dry_run_body(deployment: Deployment) -> responses.DeployAnswer:
    """Return a dry run's body: the deployment as it would be stored, or is."""
    return {
        "success": True,
        "message": "Token deployment simulated",
        "dryRun": True,
        "expectedAddress": _expected_address(deployment),
        "requestKey": deployment.request_key,
        "chainId": deployment.chain_id,
        "gas": deployment.gas,
        "config": deployment.config,
    }


def status_body(deployment: Deployment) -> responses.DeployStatusAnswer:
    """Return a deployment's status."""
    return {
        "requestKey": deployment.request_key,
        "status": deployment.status,
        "txHash": deployment.tx_hash or None,
        "address": _address(deployment),
        "error": deployment.error or None,
        "attempts": deployment.attempts,
        "updatedAt": deployment.updated_at,
    }


def claim_body(proofs: Iterable[AirdropProof]) -> responses.AirdropClaimAnswer:
    """Return proofs for a claim."""
    return {
        "proofs": [
            {"proof": list(each.proof), "entry": {"account": each.account, "amount": str(each.amount)}}
            for each in proofs
        ]
    }


def airdrops_body(airdrops: Iterable[TokenAirdrop], claimable: Iterable[ClaimableEntry]) -> responses.AirdropsAnswer:
    """Return a token's airdrops, and the amounts of an account's entries."""
    return {
        "claims": [str(entry.amount) for entry in claimable],
        "airdrops": [
            {"merkleRoot": airdrop.root, "amount": str(airdrop.amount), "entries": airdrop.entries}
            for airdrop in airdrops
        ],
    }


def saved_airdrop_body(tree: SavedTree) -> responses.SavedAirdrop:
    """Return a saved airdrop."""
    return {
        "id": tree.pk,
        "merkleRoot": tree.root,
        "amount": str(int(tree.amount)),
        "entries": tree.entry_count,
        "createdAt": tree.created_at,
    }


def status_url(deployment: Deployment) -> str:
    """Return the status URL. A key may hold any visible character, including a slash."""
    return f"{settings.SITE_URL}/api/tokens/deploy/status/{quote(deployment.request_key, safe='')}"


def _expected_address(deployment: Deployment) -> str | None:
    """Return the expected address; always None for a presale, so that a deployment has one response for ever."""
    return None if presales.is_presale(deployment) else deployment.expected_address


def _address(deployment: Deployment) -> str | None:
    """Return the token's address once it is in a block; a presale's token comes with the launch that ends it."""
    if deployment.status not in (DeploymentStatus.MINED, DeploymentStatus.INDEXED):
        return None
    return deployment.token.contract_address if deployment.token else deployment.expected_address or None

"""What partners are told of their orders."""

from typing import Any
from urllib.parse import quote

from django.conf import settings

from tokens.deploying.sending import presales
from tokens.models.deployment import Deployment

_Status = Deployment.Status


def accepted(deployment: Deployment) -> dict[str, Any]:
    """What an order is answered with, now and whenever it is repeated: what became of it is the status's to tell."""
    return {
        "success": True,
        "message": "Token deployment enqueued",
        "expectedAddress": _expected_address(deployment),
        "requestKey": deployment.request_key,
        "chainId": deployment.chain_id,
        "status": _Status.ENQUEUED.value,
        "statusUrl": status_url(deployment),
    }


def rehearsed(deployment: Deployment) -> dict[str, Any]:
    """What a dry run is answered with: the order as it would be stored, or is."""
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


def status(deployment: Deployment) -> dict[str, Any]:
    """How far an order is."""
    return {
        "requestKey": deployment.request_key,
        "status": deployment.status,
        "txHash": deployment.tx_hash or None,
        "address": _address(deployment),
        "error": deployment.error or None,
        "attempts": deployment.attempts,
        "updatedAt": deployment.updated_at,
    }


def status_url(deployment: Deployment) -> str:
    """Where the status is. A key may hold any visible character, a slash as well."""
    return f"{settings.SITE_URL}/api/tokens/deploy/status/{quote(deployment.request_key, safe='')}"


def _expected_address(deployment: Deployment) -> str | None:
    """Of a presale there is none, and none is told when its launch has come: an order has one answer for ever."""
    return None if presales.is_presale(deployment) else deployment.expected_address


def _address(deployment: Deployment) -> str | None:
    """The token's address once it is on the chain; a presale's token comes with the launch that ends it."""
    if deployment.status not in (_Status.MINED, _Status.INDEXED):
        return None
    return deployment.token.contract_address if deployment.token else deployment.expected_address or None

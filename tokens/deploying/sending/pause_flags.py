"""The operators' switch of a chain: while it is off, no order is taken there and none is signed."""

from tokens.models.deployment import DeploySwitch


def is_paused(chain_id: int) -> bool:
    """Whether operators have paused deployments on the chain; without a row they go on."""
    return DeploySwitch.objects.filter(chain_id=chain_id, paused=True).exists()

"""How much gas a transaction of ours may use."""

# EIP-7825: no transaction may have more gas than this.
_MOST_GAS = 16_777_216


def with_reserve(estimate: int) -> int:
    """A fifth more than was estimated, as the launchpad's SDK reserves: the chain moves on before it is sent."""
    reserved = estimate * 6 // 5
    # Where a chain knows no such bound, an estimate may be beyond it.
    return reserved if estimate > _MOST_GAS else min(reserved, _MOST_GAS)

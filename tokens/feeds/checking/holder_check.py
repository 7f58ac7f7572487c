"""Comparison of an explorer's holders with the balances that the token's contract returns."""

from dataclasses import dataclass, field

from tokens.chains.evm.evm_chain import Chain
from tokens.feeds.feed_pairs import FeedAsset
from tokens.feeds.token_holders import read_holders

_COMPARED = 50


@dataclass
class HolderComparison:
    """Result of a check. `differences` are sentences; `held` is in smallest units, on the chain."""

    block: int
    total: int
    compared: int
    held: int
    supply: int | None
    differences: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Return the counts and the supply share; a missing holder makes the share too small."""
        share = f", which have {self.held / self.supply:.2%} of the supply" if self.supply else ""
        return (
            f"block {self.block}: {self.compared} of {self.total} holders compared{share}, "
            f"{len(self.differences)} differ"
        )


def compare_holders(chain: Chain, asset: FeedAsset) -> HolderComparison:
    """Compare the first 50 holders of an asset with the node's newest block.

    The explorer is read first: a balance that changes between both reads differs. Raises NodeUnavailableError, and
    the explorer's RetryableError or PermanentError.
    """
    listed = read_holders(chain.info, asset.address, page=0, page_size=_COMPARED)
    balances = chain.read_token_balances(asset.address, [account for account, _ in listed.holders])
    differences = [
        f"{account}: the explorer has {amount}, and the chain {balances.amounts[account]}"
        for account, amount in listed.holders
        if balances.amounts[account] != amount
    ]
    return HolderComparison(
        block=balances.block_number,
        total=listed.total,
        compared=len(listed.holders),
        held=sum(amount or 0 for amount in balances.amounts.values()),
        supply=asset.supply,
        differences=differences,
    )

"""Responses of the endpoints for liquidity and fees."""

from datetime import datetime
from typing import Annotated, TypedDict

from config.parsing.response_types import Wei
from tokens.chains.addresses import AddressOrMint
from tokens.chains.token_fees import Conversion


class RewardsAnswer(TypedDict):
    """Estimate at market prices."""

    userRewards: Annotated[float, "USD, without the part of the launchpad's team."]


class LpInfoAnswer(TypedDict):
    """Liquidity locked by a launch. Unknown values are null."""

    poolAddress: Annotated[str | None, "20 bytes up to generation v3.1, the 32-byte pool id for v4."]
    lockerAddress: str | None
    lpNftId: Annotated[str | None, "For v4, whose locker holds up to seven with consecutive ids, the first."]
    amountDepositedIntoLP: Annotated[Wei | None, "Wei: the supply without the amounts for vault, airdrop and presale."]
    totalSupply: Annotated[Wei | None, "Wei."]
    percentLocked: Annotated[str | None, "Percent of the supply, such as 100 or 67.5, rounded down."]
    token_name: str
    token_symbol: str


class ClaimInfoAnswer(TypedDict):
    """Contract and NFT for claiming a token's fees."""

    lockerAddress: str | None
    lpNftId: str | None
    contract_address: str
    type: Annotated[str, "Label of the generation, such as clanker_v2."]


class ClaimsPage(TypedDict):
    """Position of the page among all claims."""

    limit: int
    offset: int
    hasMore: Annotated[bool, "Whether there are claims after this page."]


class ClaimedFeesAnswer(TypedDict):
    """Fees paid to a recipient in one currency."""

    tokenAddress: str
    feeRecipient: str
    chainId: int
    totalClaimed: Annotated[Wei, "Over all claims, in the currency's smallest unit."]
    claimCount: int
    txHashes: Annotated[list[str], "One per claim of this page, newest first."]
    pagination: ClaimsPage


class CurrencyFeesJson(TypedDict):
    """Uncollected fees in one of the pool's two currencies."""

    currency: Annotated[AddressOrMint, "The ERC-20 that is paid; on Solana the mint."]
    symbol: str | None
    decimals: int
    harvested: Annotated[
        Wei,
        "Collected from the pool into the fee locker, and claimable by its owner. The fee locker has one balance per"
        " owner and currency: that of the paired currency comes from all of the owner's tokens. Always 0 for v0 to"
        " v3.1, whose lockers pay at once, and on Solana, where a claim empties the pool itself.",
    ]
    pending: Annotated[
        Wei | None,
        "Still in the pool: the payout of a collection in the next block, with the locker's rounding; 0 before"
        " `collectableFrom`, and where the collection would revert; on Solana the fees booked in the bonding curve's"
        " pool. A graduated curve keeps its unclaimed fees; those of the next pool are not counted. Null if the amount"
        " depends on a swap that no node simulates, or if the locker does not reveal the recipient.",
    ]


class RecipientFeesJson(TypedDict):
    """Uncollected fees of one recipient."""

    recipient: Annotated[AddressOrMint | None, "Null for a share whose recipient the locker does not reveal."]
    fees: list[CurrencyFeesJson]


class UncollectedFeesAnswer(TypedDict):
    """Amounts in the smallest unit, all as of one block (on Solana: slot)."""

    tokenAddress: AddressOrMint
    chainId: int
    blockNumber: Annotated[int, "The amounts are as of the end of this block."]
    fees: Annotated[
        list[CurrencyFeesJson],
        "Total of all recipients, or of the requested one, in the pool's sequence of currencies; on Solana the token,"
        " then its paired token.",
    ]
    recipients: Annotated[
        list[RecipientFeesJson],
        "Recipients of a collection now, for v0 to v3.1 including the launchpad's team; on Solana the pool's creator"
        " and the fee claimer of its config, listed once if they are equal; or the requested recipient.",
    ]
    conversion: Annotated[
        Conversion,
        "For recipients of v4 the collection may swap fees into one currency. none: no pending fees would be swapped."
        " simulated: a node has simulated the collection. unknown: no node could simulate it, and the proceeds of the"
        " swaps are null.",
    ]
    collectableFrom: Annotated[
        datetime | None,
        "In the first minutes of a v4 pool its MEV module may block swaps, and the locker collects nothing: pending"
        " fees are 0 until this time at the latest. Null if a collection pays now.",
    ]

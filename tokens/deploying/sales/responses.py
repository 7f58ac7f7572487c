"""Responses of the endpoints for presales and their allow-lists."""

from datetime import datetime
from typing import Annotated, TypedDict

from config.parsing.response_types import Keywords, Wei
from tokens.chains.addresses import Address
from tokens.deploying.responses import EntryCount, NextBefore
from tokens.deploying.sales.presale_search import STATES


class ShownPresale(TypedDict):
    """A presale as of up to 15 seconds ago; amounts in wei of the native coin, durations in seconds."""

    presaleId: int
    chainId: int
    contract: Address
    status: Annotated[int, "The contract's own number, 1 to 5."]
    state: Annotated[
        str,
        Keywords(enum=list(STATES)),
        "By the status and the time: the contract records the end of a sale only on its next call.",
    ]
    name: str
    symbol: str
    image: str
    tokenAdmin: Address
    owner: Address
    allowlist: Annotated[Address | None, "Contract; null if all accounts may buy."]
    minEthGoal: Wei
    maxEthGoal: Wei
    ethRaised: Wei
    endTime: Annotated[int, "Unix seconds."]
    launchUntil: Annotated[int | None, "Unix seconds; null if the contract reports none."]
    lockupDuration: int
    vestingDuration: int
    tokenAddress: Annotated[Address | None, "The launched token."]


class Presales(TypedDict):
    presales: list[ShownPresale]
    totalCount: Annotated[int, "Presales of the contract, or those that match the filters; up to a minute old."]
    oldestSearched: Annotated[
        int | None, "Oldest presaleId that the filters cover; older presales are not read. Null without filters."
    ]


class AllowedBuyer(TypedDict):
    """A buyer of a presale."""

    address: Address
    allowedAmountWei: Annotated[Wei, "The most that the buyer may pay."]


class PresaleAllowlistJson(TypedDict):
    presaleId: int
    chainId: int
    merkleRoot: Annotated[str | None, "Null if all accounts may buy."]
    allocations: Annotated[list[AllowedBuyer], "At most 10,000; empty if all accounts may buy."]


class AllowlistProofAnswer(TypedDict):
    """Whether an account may buy, and the proof that the contract requires."""

    isAllowed: bool
    proof: Annotated[list[str], "Hashes of 32 bytes, from the leaf up; empty if none is required."]
    encodedProof: Annotated[
        str | None,
        "Argument `proof` of `buyIntoPresaleWithProof`: amount and hashes as ABI-encoded bytes. Null if none is"
        " required.",
    ]
    allowedAmountWei: Annotated[Wei, "The most that the account may pay."]


class SavedAllowlist(TypedDict):
    """An allow-list that a partner has posted."""

    id: int
    merkleRoot: Annotated[str, "Its 32 bytes are the `allowlistInitializationData` of `startPresale`."]
    entries: EntryCount
    createdAt: datetime


class SavedAllowlistAnswer(SavedAllowlist):
    """The posted allow-list."""

    success: bool


class SavedAllowlists(TypedDict):
    data: list[SavedAllowlist]
    cursor: NextBefore


class DeletedAllowlist(TypedDict):
    success: bool

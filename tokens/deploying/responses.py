"""Responses of the deploy and airdrop endpoints."""

from datetime import datetime
from typing import Annotated, Any, NotRequired, TypedDict

from config.parsing.response_types import Keywords, Wei
from tokens.chains.addresses import Address
from tokens.models import DeploymentStatus

Total = Annotated[Wei, "Total of all entries."]
EntryCount = Annotated[int, "Number of entries."]
NextBefore = Annotated[int | None, "`before` of the next page; null on the last."]


class TokenAirdropJson(TypedDict):
    """An airdrop of a token."""

    merkleRoot: str
    amount: Total
    entries: EntryCount


class AirdropsAnswer(TypedDict):
    """A token's airdrops whose entries this service has, and the amounts that an account may claim."""

    claims: Annotated[list[Wei], "Wei of each entry of claimerAddress over time, including past claims."]
    airdrops: list[TokenAirdropJson]


class SavedAirdrop(TypedDict):
    """An airdrop that a partner has saved."""

    id: int
    merkleRoot: str
    amount: Total
    entries: EntryCount
    createdAt: datetime


class SavedAirdropAnswer(SavedAirdrop):
    """The saved airdrop."""

    success: bool


class SavedAirdrops(TypedDict):
    data: list[SavedAirdrop]
    cursor: NextBefore


class DeletedAirdrop(TypedDict):
    success: bool


class AirdropEntryJson(TypedDict):
    """Entry of an account."""

    account: str
    amount: Annotated[Wei, "Total that the account may claim over time, including past claims."]


class AirdropProofJson(TypedDict):
    """Arguments of the airdrop contract's `claim`, besides the token."""

    proof: Annotated[list[str], "Hashes of 32 bytes, from the leaf up; empty if the account has the whole airdrop."]
    entry: AirdropEntryJson


class AirdropClaimAnswer(TypedDict):
    """Proofs; empty if this service has no entries for the token's airdrop, or none for the account."""

    proofs: list[AirdropProofJson]


class Allocations(TypedDict):
    allocations: list[AirdropEntryJson]
    cursor: Annotated[str | None, "Null on the last page."]


class DeployAnswer(TypedDict):
    """Stored deployment; with `dryRun`, the deployment as it would be stored, with its configuration and gas."""

    success: bool
    message: str
    dryRun: NotRequired[Annotated[bool, "Only in dry runs: true. Nothing was stored or sent."]]
    expectedAddress: Annotated[
        Address | None, "Address of the token by CREATE2. Null for a presale, whose launch comes later."
    ]
    requestKey: str
    chainId: int
    status: NotRequired[
        Annotated[
            str,
            Keywords(enum=[DeploymentStatus.ENQUEUED.value]),
            "Status when the deployment was stored, also in later responses for its key. Not in dry runs.",
        ]
    ]
    statusUrl: NotRequired[Annotated[str, Keywords(format="uri"), "URL of the status. Not in dry runs."]]
    gas: NotRequired[Annotated[int, "Only in dry runs: gas limit of the transaction, a fifth above the estimate."]]
    config: NotRequired[Annotated[dict[str, Any], "Only in dry runs: the configuration with all defaults."]]


class DeployStatusAnswer(TypedDict):
    """Status of a deployment."""

    requestKey: str
    status: Annotated[
        str,
        Keywords(enum=DeploymentStatus.values),
        "enqueued; submitted to the chain; mined in a block; indexed by this service; or failed, which is final unless"
        " an operator retries it. A reorg resets it to submitted. A presale stays mined until the launch that ends it"
        " is indexed.",
    ]
    txHash: Annotated[
        str | None, "Mined transaction, or the newest one sent, which may be replaced by one with a higher fee."
    ]
    address: Annotated[Address | None, "Address of the token, once it is in a block."]
    error: Annotated[str | None, "Last error, or the reason to wait."]
    attempts: Annotated[int, "Number of attempts, each with its own nonce."]
    updatedAt: datetime

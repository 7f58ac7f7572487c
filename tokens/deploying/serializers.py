"""Queries and responses for the deploy and airdrop endpoints."""

from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from config.api.fields import WeiField, WholeNumberField
from tokens.installation.chain_fields import AddressField, EvmAddressField
from tokens.models import DeploymentStatus

MAX_ALLOCATIONS = 1_000
_AIRDROP = "airdrop"


class AirdropClaimQuery(serializers.Serializer[Any]):
    """Query parameters for an airdrop claim."""

    tokenAddress = EvmAddressField(lacking=_AIRDROP, help_text="Token of the airdrop; not a Solana mint.")
    claimerAddress = EvmAddressField(lacking=_AIRDROP, help_text="Account with an entry in the airdrop.")


class AirdropsQuery(serializers.Serializer[Any]):
    """Query parameters for a token's airdrops."""

    tokenAddress = EvmAddressField(lacking=_AIRDROP, help_text="Token of the airdrops; not a Solana mint.")
    claimerAddress = EvmAddressField(
        lacking=_AIRDROP, required=False, help_text="Account of `claims`, which is empty without one."
    )


class AllocationsQuery(serializers.Serializer[Any]):
    """Query parameters for a token's allocations."""

    tokenAddress = EvmAddressField(lacking=_AIRDROP, help_text="Token of the airdrops; not a Solana mint.")
    limit = WholeNumberField(min_value=1, max_value=MAX_ALLOCATIONS, default=MAX_ALLOCATIONS)
    cursor = serializers.CharField(required=False, help_text="Opaque cursor of the previous response.")


class SavedAirdropsQuery(serializers.Serializer[Any]):
    """Query parameters for a partner's saved airdrops."""

    limit = WholeNumberField(min_value=1, max_value=100, default=50)
    before = WholeNumberField(
        min_value=1, max_value=2**63 - 1, required=False, help_text="Id; that of the next page is `cursor`."
    )


class TokenAirdropSerializer(serializers.Serializer[Any]):
    """An airdrop of a token."""

    merkleRoot = serializers.CharField(source="root")
    amount = WeiField(help_text="Total of all entries.")
    entries = serializers.IntegerField(help_text="Number of entries.")


class AirdropsAnswer(serializers.Serializer[Any]):
    """A token's airdrops whose entries this service has, and the amounts that an account may claim."""

    claims = serializers.ListField(
        child=WeiField(), help_text="Wei of each entry of claimerAddress over time, including past claims."
    )
    airdrops = TokenAirdropSerializer(many=True)


class SavedAirdropSerializer(serializers.Serializer[Any]):
    """An airdrop that a partner has saved."""

    id = serializers.IntegerField()
    merkleRoot = serializers.CharField(source="root")
    amount = WeiField(help_text="Total of all entries.")
    entries = serializers.IntegerField(source="entry_count", help_text="Number of entries.")
    createdAt = serializers.DateTimeField(source="created_at")


class SavedAirdropAnswer(SavedAirdropSerializer):
    """The saved airdrop."""

    success = serializers.BooleanField(default=True)


class AirdropEntrySerializer(serializers.Serializer[Any]):
    """Entry of an account."""

    account = serializers.CharField()
    amount = WeiField(help_text="Total that the account may claim over time, including past claims.")


class AirdropProofSerializer(serializers.Serializer[Any]):
    """Arguments of the airdrop contract's `claim`, besides the token."""

    proof = serializers.ListField(
        child=serializers.CharField(),
        help_text="Hashes of 32 bytes, from the leaf up; empty if the account has the whole airdrop.",
    )
    entry = AirdropEntrySerializer(source="*")


class AirdropClaimAnswer(serializers.Serializer[Any]):
    """Proofs; empty if this service has no entries for the token's airdrop, or none for the account."""

    proofs = AirdropProofSerializer(many=True)


ALLOCATIONS_ANSWER = inline_serializer(
    "Allocations",
    {
        "allocations": AirdropEntrySerializer(many=True),
        "cursor": serializers.CharField(allow_null=True, help_text="Null on the last page."),
    },
)
SAVED_AIRDROPS_ANSWER = inline_serializer(
    "SavedAirdrops",
    {
        "data": SavedAirdropSerializer(many=True),
        "cursor": serializers.IntegerField(allow_null=True, help_text="`before` of the next page; null on the last."),
    },
)
DELETED_AIRDROP_ANSWER = inline_serializer("DeletedAirdrop", {"success": serializers.BooleanField()})


class DeployAnswer(serializers.Serializer[Any]):
    """Stored deployment; with `dryRun`, the deployment as it would be stored, with its configuration and gas."""

    success = serializers.BooleanField()
    message = serializers.CharField()
    dryRun = serializers.BooleanField(required=False, help_text="Only in dry runs: true. Nothing was stored or sent.")
    expectedAddress = AddressField(
        allow_null=True,
        help_text="Address of the token by CREATE2. Null for a presale, whose launch comes later.",
    )
    requestKey = serializers.CharField()
    chainId = serializers.IntegerField()
    status = serializers.ChoiceField(
        choices=[DeploymentStatus.ENQUEUED.value],
        required=False,
        help_text="Status when the deployment was stored, also in later responses for its key. Not in dry runs.",
    )
    statusUrl = serializers.URLField(required=False, help_text="URL of the status. Not in dry runs.")
    gas = serializers.IntegerField(
        required=False, help_text="Only in dry runs: gas limit of the transaction, a fifth above the estimate."
    )
    config = serializers.DictField(required=False, help_text="Only in dry runs: the configuration with all defaults.")


class DeployStatusAnswer(serializers.Serializer[Any]):
    """Status of a deployment."""

    requestKey = serializers.CharField()
    status = serializers.ChoiceField(
        choices=DeploymentStatus.choices,
        help_text="enqueued; submitted to the chain; mined in a block; indexed by this service; or failed, which is "
        "final unless an operator retries it. A reorg resets it to submitted. A presale stays mined until the launch "
        "that ends it is indexed.",
    )
    txHash = serializers.CharField(
        allow_null=True,
        help_text="Mined transaction, or the newest one sent, which may be replaced by one with a higher fee.",
    )
    address = AddressField(allow_null=True, help_text="Address of the token, once it is in a block.")
    error = serializers.CharField(allow_null=True, help_text="Last error, or the reason to wait.")
    attempts = serializers.IntegerField(help_text="Number of attempts, each with its own nonce.")
    updatedAt = serializers.DateTimeField()

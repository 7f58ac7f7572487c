"""Request and response serializers of the deploy and airdrop endpoints, for the OpenAPI description.

`launch_request` validates and parses the deploy body. Durations are in days, fees and shares in percent, unless stated
otherwise.
"""

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field, inline_serializer
from rest_framework import serializers

from config.api.fields import BoundedListField, WeiField, WholeNumberField
from tokens.deploying.rules.airdrop_entries import MAX_ENTRIES
from tokens.deploying.rules.supply_shares import MAX_ALLOWED, MAX_REWARDS
from tokens.indexing.metadata import MAX_LINKS
from tokens.installation.chain_fields import AddressField, EvmAddressField
from tokens.models import DeploymentStatus

MAX_ALLOCATIONS = 1_000
REQUEST_KEY_PATTERN = "^[!-~]{32}$"

_PAGE = {
    "type": "object",
    "required": ["platform", "url"],
    "additionalProperties": False,
    "properties": {"platform": {"type": "string"}, "url": {"type": "string"}},
}


@extend_schema_field({"oneOf": [{"type": "string"}, _PAGE]})
class SocialPageField(serializers.JSONField):
    """A page of the project: its URL, or an object that also names the platform."""


class SocialPagesField(BoundedListField):
    """Pages of the project."""

    def __init__(self) -> None:
        text = "http or https URLs, or objects that also name the platform."
        super().__init__(child=SocialPageField(), required=False, max_length=MAX_LINKS, help_text=text)


class AuditUrlsField(BoundedListField):
    """Reports of audits."""

    def __init__(self) -> None:
        text = "http, https or ipfs URLs."
        super().__init__(child=serializers.URLField(), required=False, max_length=MAX_LINKS, help_text=text)


class TokenShape(serializers.Serializer[Any]):
    """Name, symbol, admin and metadata of the token."""

    name = serializers.CharField()
    symbol = serializers.CharField()
    tokenAdmin = AddressField(help_text="Account that may change the token's image and metadata.")
    image = serializers.CharField(required=False, help_text="An http, https or ipfs URL.")
    description = serializers.CharField(required=False)
    socialMediaUrls = SocialPagesField()
    auditUrls = AuditUrlsField()
    requestKey = serializers.RegexField(
        REQUEST_KEY_PATTERN, help_text="Idempotency key: 32 visible ASCII characters of your choice."
    )


class RewardShape(serializers.Serializer[Any]):
    """Share of the liquidity's fees."""

    admin = AddressField(help_text="Account that may change the recipient.")
    recipient = AddressField()
    allocation = serializers.FloatField(help_text="Percent; those of all rewards sum to exactly 100.")
    rewardsToken = serializers.ChoiceField(choices=["Both", "Clanker", "Paired"], default="Both")


class PoolShape(serializers.Serializer[Any]):
    """Pool of the token."""

    type = serializers.ChoiceField(choices=["standard", "project"], default="standard")
    pairedToken = serializers.CharField(default="WETH", help_text="An address, or WETH.")
    initialMarketCap = serializers.FloatField(default=10, help_text="In whole units of the paired token, above 0.")


class FeesShape(serializers.Serializer[Any]):
    """Fees of the pool, in percent. Static fees have the first two fields, dynamic fees all others."""

    type = serializers.ChoiceField(choices=["static", "dynamic"], default="static")
    clankerFee = serializers.FloatField(min_value=0, max_value=5, required=False, help_text="Default 1.")
    pairedFee = serializers.FloatField(min_value=0, max_value=5, required=False, help_text="Default 1.")
    baseFee = serializers.FloatField(min_value=0.25, max_value=5, required=False)
    maxLpFee = serializers.FloatField(
        min_value=0.25, max_value=5, required=False, help_text="Older clients send it as `maxFee`."
    )
    referenceTickFilterPeriod = serializers.IntegerField(required=False, help_text="Seconds.")
    resetPeriod = serializers.IntegerField(required=False, help_text="Seconds.")
    resetTickFilter = serializers.IntegerField(required=False, help_text="Ticks.")
    feeControlNumerator = serializers.IntegerField(required=False)
    decayFilterBps = serializers.IntegerField(required=False, help_text="Bps.")


class VaultShape(serializers.Serializer[Any]):
    """Locked part of the supply."""

    percentage = serializers.FloatField(min_value=0, max_value=90)
    lockupDuration = serializers.FloatField(min_value=7, help_text="Days.")
    vestingDuration = serializers.FloatField(default=0, help_text="Days, after the lockup.")
    recipient = AddressField(required=False, help_text="Default: the token's admin.")


@extend_schema_field({"oneOf": [{"type": "string", "pattern": "^[0-9]+$"}, {"type": "integer", "minimum": 1}]})
class DroppedAmountField(serializers.JSONField):
    """Amount in either notation."""


class AirdropEntryShape(serializers.Serializer[Any]):
    """Amount that one account may claim."""

    account = AddressField()
    amount = DroppedAmountField(
        help_text="Wei as a text of digits, or whole tokens as a JSON number; all entries in the same unit."
    )


class AirdropShape(serializers.Serializer[Any]):
    """Part of the supply, 0.25 to 90 percent in total, that accounts may claim."""

    entries = BoundedListField(
        child=AirdropEntryShape(), min_length=1, max_length=MAX_ENTRIES, help_text="Each account once."
    )
    lockupDuration = serializers.FloatField(min_value=1, help_text="Days.")
    vestingDuration = serializers.FloatField(default=0, help_text="Days, after the lockup.")


class PresaleShape(serializers.Serializer[Any]):
    """Sale before the launch, if the chain has a presale contract that this service may use."""

    minEthGoal = serializers.FloatField(help_text="ETH.")
    maxEthGoal = serializers.FloatField(help_text="ETH.")
    presaleDuration = serializers.IntegerField(min_value=60, help_text="Seconds.")
    recipient = AddressField(required=False, help_text="Default: the token's admin.")
    lockupDuration = serializers.FloatField(min_value=7, default=7, help_text="Days.")
    vestingDuration = serializers.FloatField(default=0, help_text="Days, after the lockup.")
    presaleSupplyBps = serializers.IntegerField(min_value=1, max_value=9000, default=5000, help_text="Bps.")
    allowlist = BoundedListField(
        child=AddressField(),
        required=False,
        min_length=1,
        max_length=MAX_ALLOWED,
        help_text="Accounts that may buy, each once; default: all.",
    )


class DevBuyShape(serializers.Serializer[Any]):
    """Purchase within the launch, paid by this service, if an operator allows the key to spend on the chain."""

    ethAmount = serializers.FloatField(help_text="ETH, above 0.")
    recipient = AddressField(required=False, help_text="Default: the token's admin.")


class ContextShape(serializers.Serializer[Any]):
    """Origin of the request for the token."""

    interface = serializers.CharField(required=False)
    platform = serializers.CharField(required=False)
    messageId = serializers.CharField(required=False)
    id = serializers.CharField(required=False)


# Not a class: a serializer has another attribute `context`.
DEPLOY_BODY = inline_serializer(
    "DeployBody",
    {
        "token": TokenShape(),
        "rewards": BoundedListField(
            child=RewardShape(),
            required=False,
            min_length=1,
            max_length=MAX_REWARDS,
            help_text="Default: all to the token's admin.",
        ),
        "pool": PoolShape(required=False),
        "fees": FeesShape(required=False),
        "vault": VaultShape(required=False, help_text="With airdrop and presale at most 90 percent of the supply."),
        "airdrop": AirdropShape(required=False),
        "presale": PresaleShape(required=False),
        "devBuy": DevBuyShape(required=False),
        "context": ContextShape(required=False),
        "chainId": serializers.IntegerField(required=False, help_text="Default: the registry's first chain."),
        "dryRun": serializers.BooleanField(
            default=False, help_text="Validate and simulate, and return the whole configuration; nothing is sent."
        ),
    },
)


_AIRDROP = "airdrop"


class AirdropClaimQuery(serializers.Serializer[Any]):
    """Query parameters of an airdrop claim."""

    tokenAddress = EvmAddressField(lacking=_AIRDROP, help_text="Token of the airdrop; not a Solana mint.")
    claimerAddress = EvmAddressField(lacking=_AIRDROP, help_text="Account with an entry in the airdrop.")


class AirdropsQuery(serializers.Serializer[Any]):
    """Query parameters of a token's airdrops."""

    tokenAddress = EvmAddressField(lacking=_AIRDROP, help_text="Token of the airdrops; not a Solana mint.")
    claimerAddress = EvmAddressField(
        lacking=_AIRDROP, required=False, help_text="Account of `claims`, which is empty without one."
    )


class AllocationsQuery(serializers.Serializer[Any]):
    """Query parameters of a token's allocations."""

    tokenAddress = EvmAddressField(lacking=_AIRDROP, help_text="Token of the airdrops; not a Solana mint.")
    limit = WholeNumberField(min_value=1, max_value=MAX_ALLOCATIONS, default=MAX_ALLOCATIONS)
    cursor = serializers.CharField(required=False, help_text="Opaque cursor of the previous response.")


class SavedAirdropsQuery(serializers.Serializer[Any]):
    """Query parameters of a partner's saved airdrops."""

    limit = WholeNumberField(min_value=1, max_value=100, default=50)
    before = WholeNumberField(
        min_value=1, max_value=2**63 - 1, required=False, help_text="Id; that of the next page is `cursor`."
    )


class TreeShape(serializers.Serializer[Any]):
    """The `dump()` of OpenZeppelin's StandardMerkleTree. Only its values are read: the hashes are computed again."""

    format = serializers.ChoiceField(["standard-v1"])
    leafEncoding = serializers.ListField(child=serializers.CharField(), help_text="address and uint256.")
    tree = serializers.ListField(
        child=serializers.CharField(), min_length=1, help_text="The first one is the root, and verified."
    )
    values = BoundedListField(
        child=serializers.DictField(),
        min_length=1,
        max_length=MAX_ENTRIES,
        help_text="Objects with `value`, a list of an account and its wei in a text.",
    )


class AirdropOptionsShape(serializers.Serializer[Any]):
    """What an airdrop may have beside its entries."""

    merkleRoot = serializers.CharField(required=False, help_text="Verified: the root of the entries.")
    tokenAddress = AddressField(
        required=False, help_text="Verified if the token is indexed: its airdrop has this root."
    )
    enqueue = serializers.BooleanField(required=False, help_text="Ignored: older clients send it.")
    delaySeconds = serializers.IntegerField(required=False, help_text="Ignored: older clients send it.")


class AirdropEntriesBody(AirdropOptionsShape):
    """Entries of an airdrop to save."""

    entries = BoundedListField(
        child=AirdropEntryShape(), min_length=1, max_length=MAX_ENTRIES, help_text="Each account once."
    )


class AirdropTreeBody(AirdropOptionsShape):
    """Dump of an airdrop's tree, as older clients send it."""

    tree = TreeShape()


AIRDROP_BODY = PolymorphicProxySerializer(
    component_name="AirdropBody", serializers=[AirdropEntriesBody, AirdropTreeBody], resource_type_field_name=None
)


class TokenAirdropSerializer(serializers.Serializer[Any]):
    """An airdrop of a token."""

    merkleRoot = serializers.CharField(source="root")
    amount = WeiField(help_text="Total of all entries.")
    entries = serializers.IntegerField(help_text="Number of entries.")


class AirdropsAnswer(serializers.Serializer[Any]):
    """A token's airdrops of which this service has the entries, and what an account may claim of them."""

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
    """Proofs; empty if this service has no entries of the token's airdrop, or none of the account."""

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

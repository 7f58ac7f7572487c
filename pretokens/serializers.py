"""Request body and responses of pretokens for the OpenAPI description; `pretokens.body` has the rules."""

from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from config.api.fields import BoundedListField
from pretokens.models import MAX_KEYWORD, PretokenState
from tokens.deploying.rules.supply_shares import MAX_REWARDS
from tokens.deploying.serializers import AirdropShape, AuditUrlsField, ContextShape, SocialPagesField, VaultShape
from tokens.installation.chain_fields import AddressField


class PretokenAdminShape(serializers.Serializer[Any]):
    """A share of the liquidity's fees, and the account that may change its recipient."""

    admin = AddressField()
    recipient = AddressField()
    bps = serializers.IntegerField(min_value=1, max_value=10_000, help_text="The sum over all admins is exactly 10000.")


class PretokenMetadataShape(serializers.Serializer[Any]):
    """Metadata of the token, beside its name."""

    description = serializers.CharField(
        required=False, help_text="The same as token_settings.description, if that is set."
    )
    socialMediaUrls = SocialPagesField()
    auditUrls = AuditUrlsField()


class TokenSettingsShape(serializers.Serializer[Any]):
    """The token to launch. The first of the admins is the token's admin; all of them share the fees."""

    name = serializers.CharField()
    symbol = serializers.CharField()
    image_url = serializers.CharField(required=False, help_text="An http, https or ipfs URL.")
    description = serializers.CharField(required=False)
    admins = BoundedListField(child=PretokenAdminShape(), min_length=1, max_length=MAX_REWARDS)
    paired_token = serializers.CharField(required=False, help_text="An address, or WETH, which is the default.")
    pool_config_type = serializers.ChoiceField(
        choices=["standard", "project"], required=False, help_text="Default: standard."
    )
    starting_market_cap = serializers.FloatField(
        required=False, help_text="In whole units of the paired token, above 0; default 10."
    )
    fee_config_type = serializers.ChoiceField(
        choices=["static", "dynamic"],
        required=False,
        help_text="Fees of a deployment with this type and no other fee fields. Default: static, 1 percent each.",
    )
    metadata = PretokenMetadataShape(required=False)
    social_context = ContextShape(required=False)


class PretokenShape(serializers.Serializer[Any]):
    """A token configuration stored under a keyword; the rules are those of a deployment."""

    keyword = serializers.CharField(
        max_length=MAX_KEYWORD,
        help_text="Unique among your pending pretokens, ignoring case.",
    )
    chain_id = serializers.IntegerField()
    token_settings = TokenSettingsShape()
    vault_settings = VaultShape(required=False, help_text="Same as a deployment's vault.")
    airdrop = AirdropShape(required=False, help_text="Same as a deployment's airdrop.")


class PendingPretokenShape(PretokenShape):
    """A pending pretoken: its body without null keys, and its state."""

    id = serializers.UUIDField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    status = serializers.ChoiceField(choices=[PretokenState.PENDING.value])


CREATED = inline_serializer("PretokenCreated", {"success": serializers.BooleanField(), "id": serializers.UUIDField()})
PENDING = inline_serializer("PendingPretokens", {"pendingPretokens": PendingPretokenShape(many=True)})
DELETED = inline_serializer("PretokenDeleted", {"success": serializers.BooleanField()})

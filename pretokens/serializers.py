"""The body of a pretoken and the answers about them, as they are described; `pretokens.body` has the rules."""

from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from config.api.fields import AddressField
from pretokens.models import MAX_KEYWORD, State
from tokens.deploying.serializers import AirdropShape, ContextShape, SocialPageField, VaultShape


class PretokenAdminShape(serializers.Serializer[Any]):
    """A share of the liquidity's fees, and who may change where it goes."""

    admin = AddressField()
    recipient = AddressField()
    bps = serializers.IntegerField(min_value=1, max_value=10_000, help_text="Those of all sum to exactly 10000.")


class PretokenMetadataShape(serializers.Serializer[Any]):
    """What the token says of itself, beside its name."""

    description = serializers.CharField(required=False, help_text="If token_settings has one, too, the same.")
    socialMediaUrls = serializers.ListField(child=SocialPageField(), required=False)
    auditUrls = serializers.ListField(child=serializers.CharField(), required=False, help_text="http, https or ipfs.")


class TokenSettingsShape(serializers.Serializer[Any]):
    """What is to be launched. The first of the admins is the token's admin; they all get the fees' shares."""

    name = serializers.CharField()
    symbol = serializers.CharField()
    image_url = serializers.CharField(required=False, help_text="An http, https or ipfs URL.")
    description = serializers.CharField(required=False)
    admins = PretokenAdminShape(many=True, help_text="1 to 7.")
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
        help_text="Fees as a deployment has them that says no more of them than this. Default: static, 1 percent each.",
    )
    metadata = PretokenMetadataShape(required=False)
    social_context = ContextShape(required=False)


class PretokenShape(serializers.Serializer[Any]):
    """A configuration that waits under a keyword; the rules are those of a deployment."""

    keyword = serializers.CharField(
        max_length=MAX_KEYWORD,
        help_text="Another one than your other pending pretokens have; upper and lower case are the same.",
    )
    chain_id = serializers.IntegerField()
    token_settings = TokenSettingsShape()
    vault_settings = VaultShape(required=False, help_text="As a deployment's vault.")
    airdrop = AirdropShape(required=False, help_text="As a deployment's.")


class PendingPretokenShape(PretokenShape):
    """A pending pretoken: the body that made it, without the keys that were null, and what became of it."""

    id = serializers.UUIDField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    status = serializers.ChoiceField(choices=[State.PENDING.value])


CREATED = inline_serializer("PretokenCreated", {"success": serializers.BooleanField(), "id": serializers.UUIDField()})
PENDING = inline_serializer("PendingPretokens", {"pendingPretokens": PendingPretokenShape(many=True)})
DELETED = inline_serializer("PretokenDeleted", {"success": serializers.BooleanField()})

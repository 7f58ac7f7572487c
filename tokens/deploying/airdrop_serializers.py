"""Parameters and answer of GET /api/airdrops/claim."""

from typing import Any

from rest_framework import serializers

from config.api.fields import WeiField
from tokens.installation.chain_fields import EvmAddressField

_AIRDROP = "airdrop"


class AirdropClaimQuery(serializers.Serializer[Any]):
    """Whose part in which token's airdrop."""

    tokenAddress = EvmAddressField(lacking=_AIRDROP, help_text="The token that is given away; no mint of Solana.")
    claimerAddress = EvmAddressField(lacking=_AIRDROP, help_text="Who was given a part of it.")


class AirdropEntrySerializer(serializers.Serializer[Any]):
    """What an account was given."""

    account = serializers.CharField()
    amount = WeiField(help_text="All that it may claim over time, what it has claimed before included.")


class AirdropProofSerializer(serializers.Serializer[Any]):
    """What `claim` of the airdrop contract takes, besides the token."""

    proof = serializers.ListField(
        child=serializers.CharField(),
        help_text="Hashes of 32 bytes, from the leaf up; none where the account has all of the airdrop.",
    )
    entry = AirdropEntrySerializer(source="*")


class AirdropClaimAnswer(serializers.Serializer[Any]):
    """None where the token was not launched through this service, or the account has no part in its airdrop."""

    proofs = AirdropProofSerializer(many=True)

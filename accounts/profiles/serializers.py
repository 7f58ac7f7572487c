"""Serializers of users' profiles: query parameters, and responses for the OpenAPI description."""

from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from accounts.models.profiles import MAX_FID
from accounts.profiles.social_responses import MAX_NAME
from config.api.fields import MAX_FIDS, FidsField, ShapedField, TextField, WholeNumberField
from tokens.chains.addresses import ADDRESS_OR_MINT_RULE, ADDRESS_OR_MINT_SHAPE, parse_address


class ProfileAddressField(ShapedField):
    """Address that a user has verified: EVM in any case, or base58 of Solana."""

    rule = ADDRESS_OR_MINT_RULE
    shape = ADDRESS_OR_MINT_SHAPE

    def parse(self, text: str) -> str:
        """Return the address in stored form. Raises ValueError."""
        return parse_address(text, allow_mint=True)


class UserByFidQuery(serializers.Serializer[Any]):
    """Query parameters of a user by FID."""

    fid = WholeNumberField(min_value=1, max_value=MAX_FID, help_text="FID.")


class UserByAddressQuery(serializers.Serializer[Any]):
    """Query parameters of a user by address."""

    address = ProfileAddressField(trim_whitespace=False, help_text="Verified address. Base58 is case-sensitive.")


class UserByNameQuery(serializers.Serializer[Any]):
    """Query parameters of a user by name."""

    name = TextField(longest=MAX_NAME, help_text="Whole user name in any case, with or without an @ before it.")


class UsersByFidsQuery(serializers.Serializer[Any]):
    """Query parameters of several users."""

    fids = FidsField(trim_whitespace=False, help_text=f"FIDs, at most {MAX_FIDS}, by comma.")


class _BioShape(serializers.Serializer[Any]):
    """Text about the user."""

    text = serializers.CharField(allow_null=True)


class _AboutShape(serializers.Serializer[Any]):
    """Same as bio, where the social protocol's provider has it."""

    bio = _BioShape()


class _VerifiedShape(serializers.Serializer[Any]):
    """Same as verifiedAddresses, by kind of chain."""

    eth_addresses = serializers.ListField(child=serializers.CharField())
    sol_addresses = serializers.ListField(child=serializers.CharField())


class PublicUserSerializer(serializers.Serializer[Any]):
    """A user of the social protocol, as last fetched from its provider; unknown texts are null."""

    fid = serializers.IntegerField()
    username = serializers.CharField(allow_null=True)
    displayName = serializers.CharField(allow_null=True)
    display_name = serializers.CharField(allow_null=True, help_text="Same as displayName.")
    pfpUrl = serializers.CharField(allow_null=True, help_text="Picture, http or https.")
    pfp_url = serializers.CharField(allow_null=True, help_text="Same as pfpUrl.")
    bio = serializers.CharField(allow_null=True)
    verifiedAddresses = serializers.ListField(
        child=serializers.CharField(), help_text="Addresses that the user has proven to own, EIP-55 before base58."
    )
    profile = _AboutShape()
    verifications = serializers.ListField(child=serializers.CharField(), help_text="The verified EVM addresses.")
    verified_addresses = _VerifiedShape()
    fetchedAt = serializers.DateTimeField(help_text="Time of the provider's response.")


# Response body, used only for the OpenAPI description.
USERS_ANSWER = inline_serializer("PublicUsers", {"users": PublicUserSerializer(many=True)})

"""Query parameters of users' profiles."""

from typing import Any

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

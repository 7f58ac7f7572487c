"""Serializers for the registry's contracts: query parameters and responses."""

from typing import Any

from rest_framework import serializers

from config.api.fields import ChainIdField
from tokens.chains.registry.entry_rules import ROLES, SOLANA_ROLES
from tokens.installation.chain_fields import AddressField

_ROLES = (*ROLES, *SOLANA_ROLES)


class FactoriesQuery(serializers.Serializer[Any]):
    """Query parameters for the factories."""

    chainId = ChainIdField(required=False, help_text="Chain id. Default: all chains.")


class ContractsQuery(FactoriesQuery):
    """Query parameters for the contracts."""

    role = serializers.ChoiceField(
        _ROLES,
        required=False,
        error_messages={"invalid_choice": f"must be one of {', '.join(_ROLES)}"},
        help_text="Default: all roles.",
    )


class ContractEventsShape(serializers.Serializer[Any]):
    """Topics of a contract's events."""

    tokenCreated = serializers.CharField(
        required=False, help_text="Only for a generation's factories: topic0 of their launches."
    )
    launches = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Only for factories: topic0 of each launch event."
    )


class ContractSerializer(serializers.Serializer[Any]):
    """A launchpad's contract; on Solana an account."""

    name = serializers.CharField(help_text="Type and role, for display.")
    chainId = serializers.IntegerField(source="chain_id")
    chain = serializers.CharField(help_text="Name of the chain.")
    indexed = serializers.BooleanField(help_text="Whether this service reads the chain for this launchpad.")
    address = AddressField(allow_mint=True)
    role = serializers.ChoiceField(_ROLES)
    launchpad = serializers.CharField(allow_null=True, help_text="Its name; null where several generations share it.")
    launchpadTitle = serializers.CharField(source="launchpad_title", allow_null=True)
    generation = serializers.CharField(
        allow_null=True, help_text="Null if several generations share it, and for declared launchpads."
    )
    version = serializers.CharField(allow_null=True, help_text="The launchpad's number for the generation.")
    type = serializers.CharField(allow_null=True, help_text="The `type` of tokens that it launches.")
    events = ContractEventsShape()

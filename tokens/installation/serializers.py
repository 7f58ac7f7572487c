"""Query parameters for the registry's contracts."""

from typing import Any

from rest_framework import serializers

from config.api.fields import ChainIdField
from tokens.chains.registry.entry_rules import ROLES, SOLANA_ROLES

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

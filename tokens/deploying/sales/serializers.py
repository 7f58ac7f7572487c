"""Query parameters for presales and their allow-lists."""

from typing import Any

from rest_framework import serializers

from config.api.fields import WholeNumberField
from tokens.deploying.sales.presale_search import SEARCHED, STATES
from tokens.installation.chain_fields import EvmAddressField, EvmChainField

_PRESALE = "presale"
# The contract's ids are 256-bit numbers from 1 on; no chain comes near this.
_LAST_ID = 2**53 - 1


class PresalesQuery(serializers.Serializer[Any]):
    """Query parameters for a presale list."""

    chainId = EvmChainField(lacking=_PRESALE, help_text="A chain with a presale contract.")
    sort = serializers.ChoiceField(
        ["desc", "asc"], default="desc", error_messages={"invalid_choice": "must be desc or asc"}
    )
    limit = WholeNumberField(min_value=1, max_value=100, default=20)
    offset = WholeNumberField(min_value=0, max_value=1_000_000, default=0)
    state = serializers.ChoiceField(
        STATES,
        required=False,
        error_messages={"invalid_choice": f"must be {', '.join(STATES[:-1])} or {STATES[-1]}"},
        help_text=f"Filters cover the newest {SEARCHED:,} presales of the contract, as of up to a minute ago.",
    )
    owner = EvmAddressField(lacking=_PRESALE, required=False, help_text="Filter: owner of the sale.")
    tokenAdmin = EvmAddressField(lacking=_PRESALE, required=False, help_text="Filter: admin of the token.")


class AllowlistQuery(serializers.Serializer[Any]):
    """Query parameters for a presale's allow-list."""

    chainId = EvmChainField(lacking=_PRESALE, help_text="Chain id.")
    presaleId = WholeNumberField(min_value=1, max_value=_LAST_ID)


class AllowlistProofQuery(AllowlistQuery):
    """Query parameters for a buyer's proof."""

    buyerAddress = EvmAddressField(lacking=_PRESALE)

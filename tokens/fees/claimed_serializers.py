"""Parameters and answer of GET /api/get-claimed-fees."""

from typing import Any

from rest_framework import serializers

from config.api.fields import WeiField, WholeNumberField

# Far more claims than anybody makes.
MAX_OFFSET = 1_000_000


class ClaimedFeesQuery(serializers.Serializer[Any]):
    """Chain and page."""

    chainId = WholeNumberField(
        min_value=1,
        max_value=2**63 - 1,
        required=False,
        help_text="Default: the registry's first chain, 8453; for a mint Solana.",
    )
    limit = WholeNumberField(min_value=1, max_value=100, default=50)
    offset = WholeNumberField(min_value=0, max_value=MAX_OFFSET, default=0)


class ClaimsPage(serializers.Serializer[Any]):
    """Where the page is among all claims."""

    limit = serializers.IntegerField()
    offset = serializers.IntegerField()
    hasMore = serializers.BooleanField(help_text="Whether there are claims after this page.")


class ClaimedFeesAnswer(serializers.Serializer[Any]):
    """What was paid to a recipient in one currency."""

    tokenAddress = serializers.CharField()
    feeRecipient = serializers.CharField()
    chainId = serializers.IntegerField()
    totalClaimed = WeiField(help_text="Over all claims, in the currency's smallest unit.")
    claimCount = serializers.IntegerField()
    txHashes = serializers.ListField(
        child=serializers.CharField(), help_text="Of the claims of this page, newest first, one for each."
    )
    pagination = ClaimsPage()

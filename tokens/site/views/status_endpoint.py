"""Endpoint of the chains' states, as the page `/status` shows them."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from config.api.replica_reads import from_replica
from config.api.views import QueryView
from config.web.response_headers import public_cache_control
from tokens.site.chain_reports import ChainProgress, read_chain_reports


class ChainStatusSerializer(serializers.Serializer[Any]):
    """State of a followed chain."""

    chainId = serializers.IntegerField(source="chain_id")
    name = serializers.CharField()
    state = serializers.ChoiceField(
        [progress.value for progress in ChainProgress],
        source="progress",
        help_text="current; starting: before the first block; behind: by a minute or more; halted: no blocks are read,"
        " because final ones were replaced.",
    )
    block = serializers.IntegerField(allow_null=True, help_text="Newest block that is read; on Solana the slot.")
    blockAt = serializers.DateTimeField(source="block_at", allow_null=True, help_text="Time of that block.")
    verifiedBlock = serializers.IntegerField(
        source="verified",
        allow_null=True,
        help_text="Every block up to this one was read a second time, from another provider or with a proof by its"
        " header, and compared. Blocks that one provider returned twice are not verified.",
    )
    hasTrades = serializers.BooleanField(
        source="counts_trades", help_text="Whether trades and candles come from the chain's own blocks."
    )
    haltedSince = serializers.DateTimeField(
        source="halted_since", allow_null=True, help_text="Beginning of a halt that goes on; null also if unknown."
    )


class StatusSerializer(serializers.Serializer[Any]):
    """States of all chains."""

    chains = ChainStatusSerializer(many=True)


class StatusView(QueryView):
    """States of the followed chains."""

    cache_control = public_cache_control(5)

    @extend_schema(operation_id="getStatus", responses={200: StatusSerializer})
    @from_replica
    def get(self, request: Request) -> Response:
        """List the followed chains with their newest blocks and states, by name."""
        return Response(StatusSerializer({"chains": read_chain_reports(timezone.now())}).data)

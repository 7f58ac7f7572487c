"""Endpoint of the chains' states, as the page `/status` shows them."""

from datetime import datetime
from typing import Annotated, TypedDict

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.api.replica_reads import from_replica
from config.api.views import QueryView
from config.parsing.response_types import Keywords
from config.web.response_headers import public_cache_control
from tokens.site.chain_reports import ChainProgress, ChainReport, read_chain_reports


class ChainStatus(TypedDict):
    """State of a followed chain."""

    chainId: int
    name: str
    state: Annotated[
        str,
        Keywords(enum=[progress.value for progress in ChainProgress]),
        "current; starting: before the first block; behind: by a minute or more; halted: no blocks are read, because"
        " final ones were replaced.",
    ]
    block: Annotated[int | None, "Newest block that is read; on Solana the slot."]
    blockAt: Annotated[datetime | None, "Time of that block."]
    verifiedBlock: Annotated[
        int | None,
        "Every block up to this one was read a second time, from another provider or with a proof by its header, and"
        " compared. Blocks that one provider returned twice are not verified.",
    ]
    hasTrades: Annotated[bool, "Whether trades and candles come from the chain's own blocks."]
    haltedSince: Annotated[datetime | None, "Beginning of a halt that goes on; null also if unknown."]


class Status(TypedDict):
    """States of all chains."""

    chains: list[ChainStatus]


class StatusView(QueryView):
    """States of the followed chains."""

    cache_control = public_cache_control(5)

    @extend_schema(operation_id="getStatus", responses={200: Status})
    @from_replica
    def get(self, request: Request) -> Response:
        """List the followed chains with their newest blocks and states, by name."""
        return Response(Status(chains=list(map(_describe, read_chain_reports(timezone.now())))))


def _describe(chain: ChainReport) -> ChainStatus:
    return {
        "chainId": chain.chain_id,
        "name": chain.name,
        "state": chain.progress,
        "block": chain.block,
        "blockAt": chain.block_at,
        "verifiedBlock": chain.verified,
        "hasTrades": chain.counts_trades,
        "haltedSince": chain.halted_since,
    }

"""What was launched, what became of it, what it is worth, and which transactions were asked about."""

from tokens.models.event import CHANGES, FeeClaim, LaunchFacts, TokenEvent
from tokens.models.following import ChainHead, Coverage, CoverageAlarm, FollowedBlock
from tokens.models.index_request import IndexRequest
from tokens.models.market import Market, MarketPoint
from tokens.models.search_entry import SearchEntry
from tokens.models.token import ADDRESS_LENGTH, Token

__all__ = [
    "ADDRESS_LENGTH",
    "CHANGES",
    "ChainHead",
    "Coverage",
    "CoverageAlarm",
    "FeeClaim",
    "FollowedBlock",
    "IndexRequest",
    "LaunchFacts",
    "Market",
    "MarketPoint",
    "SearchEntry",
    "Token",
    "TokenEvent",
]

"""What was launched and is to be launched, what became of it, what it is worth, and what was asked about."""

from tokens.models.deployment import (
    AirdropEntry,
    AirdropTree,
    DeployAttempt,
    Deployment,
    DeployQuota,
    DeploySwitch,
    DeployWallet,
    SignedTransaction,
)
from tokens.models.event import CHANGES, FeeClaim, LaunchFacts, TokenEvent
from tokens.models.followed_account import FollowedAccount, ListedSignature
from tokens.models.followed_chain import ChainHead, Coverage, CoverageAlarm, FollowedBlock
from tokens.models.index_request import IndexRequest
from tokens.models.market import Market, MarketPoint
from tokens.models.saved_token import SavedState, SavedToken
from tokens.models.search_entry import SearchEntry
from tokens.models.token import ADDRESS_LENGTH, Token
from tokens.models.token_document import TokenDocument

__all__ = [
    "ADDRESS_LENGTH",
    "AirdropEntry",
    "AirdropTree",
    "CHANGES",
    "ChainHead",
    "Coverage",
    "CoverageAlarm",
    "DeployAttempt",
    "DeployQuota",
    "DeploySwitch",
    "DeployWallet",
    "Deployment",
    "FeeClaim",
    "FollowedAccount",
    "FollowedBlock",
    "IndexRequest",
    "LaunchFacts",
    "ListedSignature",
    "Market",
    "MarketPoint",
    "SavedState",
    "SavedToken",
    "SearchEntry",
    "SignedTransaction",
    "Token",
    "TokenDocument",
    "TokenEvent",
]

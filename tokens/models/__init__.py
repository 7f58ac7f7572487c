"""Models for launches, their events, chain progress, market data, index requests and deployments."""

from tokens.models.candle import Candle, MinuteCandle
from tokens.models.deployment import (
    AttemptState,
    BroadcastErrorCode,
    DeployAttempt,
    Deployment,
    DeploymentStatus,
    DeployQuota,
    DeploySwitch,
    DeployWallet,
    SignedTransaction,
    SpendingLimit,
    TransactionPurpose,
    WalletAlert,
)
from tokens.models.event import CHANGE_KINDS, FeeClaim, LaunchFacts, StoredState, TokenEvent, TokenPool
from tokens.models.fee_sum import ALL_BLOCKS, AccountClaimSum, ClaimSum, CollectionSum, FeeSumProgress
from tokens.models.followed_account import FollowedAccount, ListedSignature
from tokens.models.followed_chain import ChainHead, Coverage, CoverageAlarm, FollowedBlock
from tokens.models.index_request import IndexRequest, IndexRequestStatus
from tokens.models.market import BondingCurve, Market, ProviderRefresh
from tokens.models.merkle_tree import AirdropEntry, AirdropTree, SavedTree, SavedTreeEntry, TreeKind
from tokens.models.rolling_sum import RecentTrader, RollingClock, RollingSum
from tokens.models.saved_token import SavedState, SavedToken
from tokens.models.search_entry import SearchEntry
from tokens.models.token import ADDRESS_LENGTH, Token
from tokens.models.token_document import DocumentStatus, TokenDocument
from tokens.models.trade import PoolBacklog, PoolLiquidityChange, PoolTrade, ReferencePrice
from tokens.models.upload import StorageKind, Upload, UploadKind

__all__ = [
    "ADDRESS_LENGTH",
    "ALL_BLOCKS",
    "AccountClaimSum",
    "AirdropEntry",
    "AirdropTree",
    "AttemptState",
    "BondingCurve",
    "BroadcastErrorCode",
    "CHANGE_KINDS",
    "Candle",
    "ChainHead",
    "ClaimSum",
    "CollectionSum",
    "Coverage",
    "CoverageAlarm",
    "DeployAttempt",
    "DeployQuota",
    "DeploySwitch",
    "DeployWallet",
    "Deployment",
    "DeploymentStatus",
    "DocumentStatus",
    "FeeClaim",
    "FeeSumProgress",
    "FollowedAccount",
    "FollowedBlock",
    "IndexRequest",
    "IndexRequestStatus",
    "LaunchFacts",
    "ListedSignature",
    "Market",
    "MinuteCandle",
    "PoolBacklog",
    "PoolLiquidityChange",
    "ProviderRefresh",
    "RecentTrader",
    "ReferencePrice",
    "RollingClock",
    "RollingSum",
    "SavedState",
    "SavedToken",
    "SavedTree",
    "SavedTreeEntry",
    "SearchEntry",
    "SignedTransaction",
    "SpendingLimit",
    "StorageKind",
    "StoredState",
    "Token",
    "TokenDocument",
    "TokenEvent",
    "TokenPool",
    "PoolTrade",
    "TransactionPurpose",
    "TreeKind",
    "Upload",
    "UploadKind",
    "WalletAlert",
]

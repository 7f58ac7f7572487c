"""Response of the endpoint for facts about a launch."""

from typing import Annotated, Literal, TypedDict

from config.parsing.response_types import Keywords, Timestamp, Wei
from tokens.integrity.bundle_detection import BUNDLE_KINDS
from tokens.integrity.dev_accounts import DEV_ROLES
from tokens.integrity.unknown_facts import UnknownFact

Percent = Annotated[float | None, "Percent of the supply; null if the supply is unknown."]
Net = Annotated[
    str,
    Keywords(pattern="^-?[0-9]+$"),
    "Bought and received less sold, in the token's smallest unit. Negative if more was sold: transfers brought it.",
]
IsDev = Annotated[bool, "Whether it is one of the dev accounts."]
Balance = Annotated[Wei | None, "On the chain as of `balancesBlock`; null if unknown, as always on Solana."]


class LogPlaceJson(TypedDict):
    """Place of a log."""

    txHash: Annotated[str, "On Solana the signature."]
    block: Annotated[int, "On Solana the slot."]
    logIndex: Annotated[int, "Index of the log in its block."]


class LaunchPlaceJson(TypedDict):
    """Place and block time of the launch."""

    txHash: Annotated[str, "On Solana the signature."]
    block: Annotated[int, "On Solana the slot."]
    logIndex: Annotated[int, "Index of the log in its block; on Solana of the instruction in its transaction."]
    at: Timestamp


class LaunchTradeJson(LogPlaceJson):
    """A trade of the token."""

    account: Annotated[
        str | None,
        "Sender of the transaction, or recipient of the launch's own purchase. Null if only the log was read.",
    ]
    isDev: IsDev
    side: Literal["buy", "sell"]
    amount: Annotated[Wei, "What the pool paid or received, in the token's smallest unit."]
    percent: Percent
    at: Annotated[Timestamp, "Block time."]


class LaunchShare(TypedDict):
    """An amount with its share of the supply."""

    amount: Net
    percent: Percent


class HoldingJson(LaunchShare):
    """What an account has bought and sold, with its first trades."""

    bought: Wei
    sold: Wei
    received: Annotated[
        Wei | None,
        "Fees and airdrop that were claimed for a dev account; 0 for others, and at launch. Null for a launchpad whose"
        " claims are not read.",
    ]
    trades: Annotated[int, "Number of its trades."]
    transactions: Annotated[list[LaunchTradeJson], "The first 5 of its trades."]


class LaunchHolder(HoldingJson):
    """An account with a large net purchase."""

    account: str
    isDev: IsDev
    balance: Balance


class DevAccountJson(TypedDict):
    """An account behind the launch."""

    account: str
    roles: list[Annotated[str, Keywords(enum=list(DEV_ROLES))]]
    atLaunch: HoldingJson
    now: HoldingJson
    balance: Balance


class Purchases(TypedDict):
    """Purchases with their sum."""

    buyers: Annotated[int, "Different accounts; purchases of unknown ones count for none."]
    count: Annotated[int, "Purchases."]
    amount: Annotated[Wei, "Sum, in the token's smallest unit."]
    percent: Percent
    purchases: Annotated[list[LaunchTradeJson], "The first 25, of a bundle the first 10."]


class BundleJson(Purchases):
    """Purchases of one transaction, or of transactions that are next to one another in a block."""

    kinds: list[Annotated[str, Keywords(enum=list(BUNDLE_KINDS))]]
    block: Annotated[int, "On Solana the slot."]


class VaultClaimed(TypedDict):
    """What left the launch's vault."""

    amount: Annotated[Wei, "In the token's smallest unit."]
    percent: Percent
    transactions: Annotated[list[LogPlaceJson], "The newest 5."]


class IntegrityTrades(TypedDict):
    counted: Annotated[int, "Trades that the report counts, without conversions of fees."]
    isComplete: Annotated[bool, "False if the token has more than the first 5,000 trades."]
    lastBlock: Annotated[int | None, "Block of the last one; null without any."]
    lastAt: Timestamp | None


class IntegrityDev(TypedDict):
    accounts: list[DevAccountJson]
    atLaunch: Annotated[LaunchShare, "Sum of the accounts."]
    now: Annotated[LaunchShare, "Sum of the accounts after all counted trades."]
    vaultClaimed: Annotated[VaultClaimed | None, "Null for a launchpad whose claims are not read."]


class IntegrityBundles(TypedDict):
    count: Annotated[int, "Bundles."]
    purchases: Annotated[int, "Purchases in them."]
    amount: Annotated[Wei, "Sum of the purchases, in the token's smallest unit."]
    percent: Percent
    list: Annotated[list[BundleJson], "The first 10."]


class IntegrityHolders(TypedDict):
    atLaunch: Annotated[list[LaunchHolder], "The ten largest after `seconds`."]
    now: Annotated[list[LaunchHolder], "The ten largest after all counted trades."]


class IntegrityUnboughtSales(TypedDict):
    accounts: Annotated[int, "Accounts that sold more than they bought or claimed."]
    amount: Annotated[Wei, "How much more: at least this was transferred to them."]
    percent: Percent


class Integrity(TypedDict):
    chainId: int
    address: str
    supply: Annotated[Wei | None, "In the token's smallest unit."]
    launch: LaunchPlaceJson
    seconds: Annotated[int, "Seconds after the launch that count as launch."]
    trades: IntegrityTrades
    dev: IntegrityDev
    firstBlock: Annotated[Purchases, "Purchases in the block of the launch."]
    firstSeconds: Annotated[Purchases, "Purchases of `seconds` after the launch, its block included."]
    bundles: IntegrityBundles
    holders: IntegrityHolders
    soldWithoutPurchase: IntegrityUnboughtSales
    balancesBlock: Annotated[int | None, "Null if no balance is known."]
    unknown: list[UnknownFact]

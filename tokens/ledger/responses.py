"""Responses of the endpoints for creators."""

from datetime import datetime
from typing import Annotated, TypedDict

from accounts.models.profiles import MAX_FID
from accounts.profiles.responses import RelatedUser
from config.parsing.response_types import Day, Keywords, Wei
from tokens.catalogue.responses import Cursor, TokenRecord
from tokens.ledger.earned_fees import CHANGES_READ
from tokens.ledger.fee_ledger import NOT_SUMMED, POOLED_CURRENCY, TOO_MANY_RECIPIENTS
from tokens.ledger.launch_outcomes import (
    CURVE_UNKNOWN,
    NO_CURVE,
    NO_LIQUIDITY,
    NO_OWN_TRADES,
    NO_PRICE,
    NO_TRADES,
)
from tokens.ledger.stored_blocks import HISTORY_NOT_READ
from tokens.ledger.waiting_fees import (
    CHAIN_UNAVAILABLE,
    CONVERSION_UNKNOWN,
    NODE_UNAVAILABLE,
    NOT_READ,
    NOT_REQUESTED,
    RECIPIENT_UNKNOWN,
    TOKENS_READ,
    UNREADABLE,
)

_TRADE_REASONS = [NO_OWN_TRADES, HISTORY_NOT_READ, NO_TRADES, NO_PRICE]


class LedgerCreator(TypedDict):
    """The creator of the path."""

    key: Annotated[str, "The FID in digits, or the address as displayed."]
    fid: Annotated[int | None, Keywords(maximum=MAX_FID, format="int64")]
    address: str | None
    user: Annotated[RelatedUser | None, "Social profile of the FID; null if none was fetched."]


class LedgerTotals(TypedDict):
    """Numbers of the newest 1,000 launches."""

    launches: Annotated[int, "1,001 stands for more than 1,000."]
    isComplete: Annotated[bool, "Whether all launches are counted."]
    firstLaunchAt: Annotated[datetime | None, "Null unless isComplete."]
    lastLaunchAt: datetime | None
    stillTraded: Annotated[int, "Launches with a trade in the last 7 days."]
    graduated: Annotated[int, "Launches that left their bonding curve."]
    withWarnings: Annotated[int, "Launches with a warning of their own."]
    volume24h: Annotated[float | None, "USD, in the pool's amounts, without protocol fees and conversions."]


class LedgerAmount(TypedDict):
    """An amount, or why it is unknown."""

    amount: Annotated[Wei | None, "In the smallest unit of the currency."]
    reason: Annotated[
        str | None,
        Keywords(enum=[HISTORY_NOT_READ, NOT_SUMMED, TOO_MANY_RECIPIENTS, POOLED_CURRENCY, None]),
        f"Why the amount is null. {HISTORY_NOT_READ}: not all blocks since the launch are stored. {NOT_SUMMED}: after"
        f" an upgrade, older events are still added to the sums. {TOO_MANY_RECIPIENTS}: the token's recipients changed"
        f" more than {CHANGES_READ:,} times. {POOLED_CURRENCY}: the fee locker of v4 pays the paired token for all"
        " tokens of a recipient together; `claimed` of the creator has the sum.",
    ]


class ClaimDay(TypedDict):
    """Claims of a day, in UTC."""

    day: Day
    claimed: Wei | None


class LedgerDay(TypedDict):
    """Amounts of a day with fees, in UTC."""

    day: Day
    earned: Wei | None
    claimed: Wei | None


class WaitingFeesJson(TypedDict):
    """Fees that wait for a claim, as of one block; on Solana of one slot."""

    harvested: Annotated[
        Wei | None, "In the fee locker. Of the paired token it is the recipient's balance from all of its v4 tokens."
    ]
    pending: Annotated[Wei | None, "Still in the pool."]
    blockNumber: int | None
    reason: Annotated[
        str | None,
        Keywords(
            enum=[
                *(NOT_REQUESTED, NOT_READ, CHAIN_UNAVAILABLE, NODE_UNAVAILABLE, UNREADABLE),
                *(RECIPIENT_UNKNOWN, CONVERSION_UNKNOWN, None),
            ]
        ),
        f"Why an amount is null. {NOT_REQUESTED}: without includeWaiting. {NOT_READ}: not among the first"
        f" {TOKENS_READ} tokens. {CHAIN_UNAVAILABLE}: this service has no node of the chain."
        f" {NODE_UNAVAILABLE}: no node responded in time. {UNREADABLE}: the contracts are of an unknown kind."
        f" {RECIPIENT_UNKNOWN}: a collection now would not pay this recipient. {CONVERSION_UNKNOWN}: a collection would"
        " swap, which no node simulated.",
    ]


class PayeeFeesJson(TypedDict):
    """Fees of one recipient in one of the token's two currencies."""

    recipient: str
    currency: Annotated[str, "The paired token, or the token itself."]
    symbol: str | None
    decimals: int | None
    earned: Annotated[
        LedgerAmount,
        "Collected from the pool for the recipient so far, without payments of a v4 pool's MEV module.",
    ]
    claimed: Annotated[LedgerAmount, "Paid to the recipient so far."]
    waiting: WaitingFeesJson
    days: Annotated[list[LedgerDay], "Newest first, without days that have no fees."]


class OutcomeJson(TypedDict):
    """What became of a launch. Amounts are in USD."""

    ageSeconds: int
    graduated: Annotated[bool | None, "Whether the token left its bonding curve."]
    graduatedReason: Annotated[str | None, Keywords(enum=[NO_CURVE, CURVE_UNKNOWN, None]), "Why the value is null."]
    graduatedAt: datetime | None
    curveProgress: Annotated[float | None, "Percent of the bonding curve; null without one, and while unknown."]
    marketCap: Annotated[float | None, "As that of the token."]
    peakMarketCap: Annotated[
        float | None,
        "The highest price of all days times the supply, of those prices that the pool's liquidity supports.",
    ]
    peakMarketCapReason: Annotated[
        str | None,
        Keywords(enum=[*_TRADE_REASONS, NO_LIQUIDITY, None]),
        f"Why the peak is null. {NO_OWN_TRADES}: a provider has the chain's market data. {HISTORY_NOT_READ}:"
        f" not all trades since the launch are stored. {NO_TRADES}: there was none. {NO_PRICE}: a trade has no price in"
        f" USD. {NO_LIQUIDITY}: the pool holds too little at each of the prices.",
    ]
    volume24h: Annotated[float | None, "In the pool's amounts, without protocol fees and conversions."]
    volume: Annotated[float | None, "Since the launch, in the pool's amounts, without protocol fees and conversions."]
    volumeReason: Annotated[str | None, Keywords(enum=[*_TRADE_REASONS, None]), "Why the value is null."]
    lastTradeAt: datetime | None
    stillTraded: Annotated[bool, "Whether the token had a trade in the last 7 days."]


class LedgerEntry(TypedDict):
    """A token with what became of it, and with its fees."""

    token: TokenRecord
    outcome: OutcomeJson
    fees: Annotated[
        list[PayeeFeesJson],
        "Per recipient and currency; empty before the first payment if the launch names no recipient.",
    ]


class WalletClaimsJson(TypedDict):
    """Fees that a wallet has claimed on a chain in one quote token, or in the chain's coin, for all tokens together."""

    chainId: int
    currency: Annotated[str, "Address of the quote token; zero for the chain's coin."]
    symbol: str
    decimals: int
    claimed: LedgerAmount
    days: Annotated[list[ClaimDay], "Newest first, without days that have no claim."]


class CreatorLedger(TypedDict):
    """Launches of a creator, and tokens that pay fees to its wallet."""

    creator: LedgerCreator
    totals: LedgerTotals
    claimed: Annotated[list[WalletClaimsJson], "Empty for a FID, of which not all wallets are known."]
    launches: Annotated[list[LedgerEntry], "Tokens that the creator launched, newest first."]
    cursor: Annotated[str | None, "Of launches; null on the last page."]
    recipientOf: Annotated[
        list[LedgerEntry],
        "Tokens of any creator with this wallet as a current recipient of fees, or whose declared launchpad has paid"
        " fees to it, newest first, with its fees only. Empty for a FID.",
    ]
    recipientCursor: Annotated[str | None, "Of recipientOf; null on the last page."]


class CreatorAnswer(TypedDict):
    data: CreatorLedger


class FoundCreator(LedgerCreator):
    """A creator with listed launches."""

    launches: Annotated[int, "Listed launches; 1,001 stands for more than 1,000."]


class CreatorSearchAnswer(TypedDict):
    data: Annotated[list[FoundCreator], "May have fewer entries than `limit`."]
    cursor: Cursor

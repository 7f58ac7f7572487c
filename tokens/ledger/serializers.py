"""Parameters and responses of the endpoints for creators."""

from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from accounts.models.profiles import MAX_FID
from config.api.fields import FlagField, TextField, WholeNumberField
from tokens.catalogue.list_parameters import PageQuery
from tokens.catalogue.serializers import NullableNumber, NullableText, RelatedUserSerializer, TokenRecordSerializer
from tokens.chains.addresses import ADDRESS_OR_MINT_SHAPE
from tokens.ledger.creator_search import MAX_QUERY_LENGTH
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

CREATOR_SHAPE = {"type": "string", "pattern": f"{ADDRESS_OR_MINT_SHAPE['pattern']}|^[1-9][0-9]{{0,18}}$"}
_TRADE_REASONS = (NO_OWN_TRADES, HISTORY_NOT_READ, NO_TRADES, NO_PRICE)
_DIGITS = r"^[0-9]+$"


def _reason(*codes: str, help_text: str = "Why the value is null.") -> serializers.ChoiceField:
    return serializers.ChoiceField(codes, allow_null=True, help_text=help_text)


def _maybe_wei(help_text: str = "") -> serializers.RegexField:
    return serializers.RegexField(_DIGITS, allow_null=True, help_text=help_text)


class CreatorQuery(PageQuery):
    """Pages, days and chain reads of a creator's ledger."""

    recipientCursor = serializers.CharField(
        required=False, help_text="Opaque recipientCursor of the previous response, of the list recipientOf."
    )
    limit = WholeNumberField(
        min_value=0, max_value=10, default=10, help_text="Entries of each list. With 0 only the totals."
    )
    days = WholeNumberField(
        min_value=0, max_value=90, default=7, help_text="Days of amounts by day, up to today in UTC."
    )
    includeWaiting = FlagField(
        default=False,
        help_text=f"Read the fees that wait for a claim from the chain, of the first {TOKENS_READ} tokens.",
    )


class CreatorSearchQuery(PageQuery):
    """Text and page of a search of creators."""

    q = TextField(
        longest=MAX_QUERY_LENGTH,
        help_text="Beginning of a user name in any case (of a display name, if there is no user name), a whole address"
        " or a FID.",
    )
    limit = WholeNumberField(min_value=1, max_value=50, default=10)


class LedgerCreatorSerializer(serializers.Serializer[Any]):
    """The creator of the path."""

    key = serializers.CharField(help_text="The FID in digits, or the address as displayed.")
    fid = serializers.IntegerField(allow_null=True, max_value=MAX_FID)
    address = NullableText()
    user = RelatedUserSerializer(allow_null=True, help_text="Social profile of the FID; null if none was fetched.")


class LedgerTotalsSerializer(serializers.Serializer[Any]):
    """Numbers of the newest 1,000 launches."""

    launches = serializers.IntegerField(help_text="1,001 stands for more than 1,000.")
    isComplete = serializers.BooleanField(help_text="Whether all launches are counted.")
    firstLaunchAt = serializers.DateTimeField(allow_null=True, help_text="Null unless isComplete.")
    lastLaunchAt = serializers.DateTimeField(allow_null=True)
    stillTraded = serializers.IntegerField(help_text="Launches with a trade in the last 7 days.")
    graduated = serializers.IntegerField(help_text="Launches that left their bonding curve.")
    withWarnings = serializers.IntegerField(help_text="Launches with a warning of their own.")
    volume24h = NullableNumber(help_text="USD, in the pool's amounts, without protocol fees and conversions.")


class LedgerAmountSerializer(serializers.Serializer[Any]):
    """An amount, or why it is unknown."""

    amount = _maybe_wei("In the smallest unit of the currency.")
    reason = _reason(
        HISTORY_NOT_READ,
        NOT_SUMMED,
        TOO_MANY_RECIPIENTS,
        POOLED_CURRENCY,
        help_text=f"Why the amount is null. {HISTORY_NOT_READ}: not all blocks since the launch are stored."
        f" {NOT_SUMMED}: after an upgrade, older events are still added to the sums. {TOO_MANY_RECIPIENTS}: the"
        f" token's recipients changed more than {CHANGES_READ:,} times. {POOLED_CURRENCY}: the fee locker of v4 pays"
        " the paired token for all tokens of a recipient together; `claimed` of the creator has the sum.",
    )


class LedgerDaySerializer(serializers.Serializer[Any]):
    """Amounts of a day with fees, in UTC."""

    day = serializers.DateField()
    earned = _maybe_wei()
    claimed = _maybe_wei()


class WaitingFeesSerializer(serializers.Serializer[Any]):
    """Fees that wait for a claim, as of one block; on Solana of one slot."""

    harvested = _maybe_wei(
        "In the fee locker. Of the paired token it is the recipient's balance from all of its v4 tokens."
    )
    pending = _maybe_wei("Still in the pool.")
    blockNumber = serializers.IntegerField(allow_null=True)
    reason = _reason(
        NOT_REQUESTED,
        NOT_READ,
        CHAIN_UNAVAILABLE,
        NODE_UNAVAILABLE,
        UNREADABLE,
        RECIPIENT_UNKNOWN,
        CONVERSION_UNKNOWN,
        help_text=f"Why an amount is null. {NOT_REQUESTED}: without includeWaiting. {NOT_READ}: not among the first"
        f" {TOKENS_READ} tokens. {CHAIN_UNAVAILABLE}: this service has no node of the chain."
        f" {NODE_UNAVAILABLE}: no node responded in time. {UNREADABLE}: the contracts are of an unknown kind."
        f" {RECIPIENT_UNKNOWN}: a collection now would not pay this recipient. {CONVERSION_UNKNOWN}: a collection would"
        " swap, which no node simulated.",
    )


class PayeeFeesSerializer(serializers.Serializer[Any]):
    """Fees of one recipient in one of the token's two currencies."""

    recipient = serializers.CharField()
    currency = serializers.CharField(help_text="The paired token, or the token itself.")
    symbol = NullableText()
    decimals = serializers.IntegerField(allow_null=True)
    earned = LedgerAmountSerializer(
        help_text="Collected from the pool for the recipient so far, without payments of a v4 pool's MEV module."
    )
    claimed = LedgerAmountSerializer(help_text="Paid to the recipient so far.")
    waiting = WaitingFeesSerializer()
    days = LedgerDaySerializer(many=True, help_text="Newest first, without days that have no fees.")


class OutcomeSerializer(serializers.Serializer[Any]):
    """What became of a launch. Amounts are in USD."""

    ageSeconds = serializers.IntegerField()
    graduated = serializers.BooleanField(allow_null=True, help_text="Whether the token left its bonding curve.")
    graduatedReason = _reason(NO_CURVE, CURVE_UNKNOWN)
    graduatedAt = serializers.DateTimeField(allow_null=True)
    curveProgress = NullableNumber(help_text="Percent of the bonding curve; null without one, and while unknown.")
    marketCap = NullableNumber(help_text="As that of the token.")
    peakMarketCap = NullableNumber(
        help_text="The highest price of all days times the supply, of those prices that the pool's liquidity supports."
    )
    peakMarketCapReason = _reason(
        *_TRADE_REASONS,
        NO_LIQUIDITY,
        help_text=f"Why the peak is null. {NO_OWN_TRADES}: a provider has the chain's market data. {HISTORY_NOT_READ}:"
        f" not all trades since the launch are stored. {NO_TRADES}: there was none. {NO_PRICE}: a trade has no price in"
        f" USD. {NO_LIQUIDITY}: the pool holds too little at each of the prices.",
    )
    volume24h = NullableNumber(help_text="In the pool's amounts, without protocol fees and conversions.")
    volume = NullableNumber(help_text="Since the launch, in the pool's amounts, without protocol fees and conversions.")
    volumeReason = _reason(*_TRADE_REASONS)
    lastTradeAt = serializers.DateTimeField(allow_null=True)
    stillTraded = serializers.BooleanField(help_text="Whether the token had a trade in the last 7 days.")


class LedgerEntrySerializer(serializers.Serializer[Any]):
    """A token with what became of it, and with its fees."""

    token = TokenRecordSerializer()
    outcome = OutcomeSerializer()
    fees = PayeeFeesSerializer(
        many=True,
        help_text="Per recipient and currency; empty before the first payment if the launch names no recipient.",
    )


class ClaimDaySerializer(serializers.Serializer[Any]):
    """Claims of a day, in UTC."""

    day = serializers.DateField()
    claimed = _maybe_wei()


class WalletClaimsSerializer(serializers.Serializer[Any]):
    """Fees that a wallet has claimed in one quote token of a chain, for all tokens together."""

    chainId = serializers.IntegerField()
    currency = serializers.CharField()
    symbol = serializers.CharField()
    decimals = serializers.IntegerField()
    claimed = LedgerAmountSerializer()
    days = ClaimDaySerializer(many=True, help_text="Newest first, without days that have no claim.")


class CreatorLedgerSerializer(serializers.Serializer[Any]):
    """Launches of a creator, and tokens that pay fees to its wallet."""

    creator = LedgerCreatorSerializer()
    totals = LedgerTotalsSerializer()
    claimed = WalletClaimsSerializer(many=True, help_text="Empty for a FID, of which not all wallets are known.")
    launches = LedgerEntrySerializer(many=True, help_text="Tokens that the creator launched, newest first.")
    cursor = serializers.CharField(allow_null=True, help_text="Of launches; null on the last page.")
    recipientOf = LedgerEntrySerializer(
        many=True,
        help_text="Tokens of any creator with this wallet as a current recipient of fees, newest first, with its fees"
        " only. Empty for a FID.",
    )
    recipientCursor = serializers.CharField(allow_null=True, help_text="Of recipientOf; null on the last page.")


class FoundCreatorSerializer(LedgerCreatorSerializer):
    """A creator with listed launches."""

    launches = serializers.IntegerField(help_text="Listed launches; 1,001 stands for more than 1,000.")


CREATOR_SEARCH_ANSWER = inline_serializer(
    "CreatorSearchAnswer",
    {
        "data": FoundCreatorSerializer(many=True, help_text="May have fewer entries than `limit`."),
        "cursor": serializers.CharField(allow_null=True, help_text="Null on the last page."),
    },
)
CREATOR_ANSWER = inline_serializer("CreatorAnswer", {"data": CreatorLedgerSerializer()})

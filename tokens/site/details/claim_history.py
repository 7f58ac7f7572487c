"""A token's stored claims: paid fees, and the amounts that the vault and the airdrop have released."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from tokens.chains.addresses import ZERO_ADDRESS, address_key
from tokens.chains.evm.generations.event_decoding import EventKind
from tokens.installation.installed_registry import registry
from tokens.models import FeeClaim, Token, TokenEvent
from tokens.site.details.drawn_chart import quote_decimals

_NATIVE_DECIMALS = 18
# How many of the newest events a page reads.
EVENTS_READ = 500
# How many of the newest events are searched for a recipient's claim.
EVENTS_SEARCHED = 10_000
_KINDS = (
    EventKind.FEES_COLLECTED,
    EventKind.FEES_CLAIMED,
    EventKind.VAULT_CLAIMED,
    EventKind.AIRDROP_CLAIMED,
)


@dataclass(frozen=True, kw_only=True)
class PaidFees:
    """Fees that were paid in one currency: its symbol, and the amount in whole units; None if decimals are unknown."""

    symbol: str
    amount: Decimal | None
    count: int


@dataclass(frozen=True, kw_only=True)
class ClaimHistory:
    """A token's claims so far. `is_cut` if there are more events than were read, so that totals are lower bounds."""

    paid: Sequence[PaidFees] = ()
    last_paid_at: datetime | None = None
    vault_claimed: Decimal = Decimal(0)
    airdrop_claimed: Decimal = Decimal(0)
    airdrop_claimers: int = 0
    is_cut: bool = False


def read_claims(token: Token) -> ClaimHistory:
    """Return the claims among a token's newest events. Two queries; one if no fees were paid."""
    events = list(
        TokenEvent.objects.filter(token=token, kind__in=_KINDS)
        .order_by("-block_number", "-log_index")
        .values_list("pk", "kind", "at", "arguments")[:EVENTS_READ]
    )
    paid = [(pk, paid_at) for pk, kind, paid_at, _ in events if kind == EventKind.FEES_CLAIMED]
    vault = [int(values["amount"]) for _, kind, _, values in events if kind == EventKind.VAULT_CLAIMED]
    airdrop = _claimed_by_account(values for _, kind, _, values in events if kind == EventKind.AIRDROP_CLAIMED)
    return ClaimHistory(
        paid=_paid_fees(token, [pk for pk, _ in paid]) if paid else (),
        last_paid_at=paid[0][1] if paid else None,
        vault_claimed=Decimal(sum(vault)).scaleb(-token.decimals),
        airdrop_claimed=Decimal(sum(airdrop.values())).scaleb(-token.decimals),
        airdrop_claimers=len(airdrop),
        is_cut=len(events) == EVENTS_READ,
    )


def read_claimed_airdrop(token: Token, *, account: str) -> Decimal | None:
    """Return the tokens that an account has claimed from the airdrop, by the newest stored events. At most two queries.

    None if these have no such claim, but older events may have one.
    """
    newest = TokenEvent.objects.filter(token=token).order_by("-block_number", "-log_index").values("pk")
    claims = TokenEvent.objects.filter(
        pk__in=newest[:EVENTS_SEARCHED], kind=EventKind.AIRDROP_CLAIMED, arguments__user=account
    )
    claimed = _claimed_by_account(claims.values_list("arguments", flat=True)).get(account)
    if claimed is None and newest[EVENTS_SEARCHED : EVENTS_SEARCHED + 1].exists():
        return None
    return Decimal(claimed or 0).scaleb(-token.decimals)


def _claimed_by_account(events: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Return each account's total. An event has the account's total so far."""
    totals: defaultdict[str, int] = defaultdict(int)
    for values in events:
        totals[values["user"]] = max(totals[values["user"]], int(values["totalUserAmountClaimed"]))
    return totals


def _paid_fees(token: Token, event_ids: Sequence[int]) -> list[PaidFees]:
    totals: dict[str, list[Decimal]] = {}
    for currency, amount in FeeClaim.objects.filter(event_id__in=event_ids).values_list("currency", "amount"):
        totals.setdefault(currency, []).append(amount)
    chain = registry().chain(token.chain_id)
    currencies = {
        ZERO_ADDRESS: (chain.native, _NATIVE_DECIMALS),
        token.contract_address: (token.symbol, token.decimals),
        token.paired_token: (token.pair, quote_decimals(token)),
    }
    quotes = chain.quote_tokens
    fees = []
    for currency, amounts in sorted(totals.items(), key=lambda item: item[0] != token.contract_address):
        quote = quotes.get(address_key(currency))
        symbol, decimals = currencies.get(currency) or (quote and (quote.symbol, quote.decimals)) or (currency, None)
        whole = None if decimals is None else sum(amounts, Decimal(0)).scaleb(-decimals)
        fees.append(PaidFees(symbol=symbol or currency, amount=whole, count=len(amounts)))
    return fees

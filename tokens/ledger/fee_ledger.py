"""Fees of tokens per recipient and currency: earned and claimed by stored events, by day.

A v4 pool's fees are collected into a fee locker, which pays each owner per currency, for all its tokens together.
Earlier lockers, and Solana's program, pay in the collection itself: what is earned is claimed.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

from django.conf import settings

from tokens.chains.evm.generations.event_decoding import EventKind
from tokens.fees.liquidity import has_lp_nft
from tokens.following.coverage import covers_events
from tokens.indexing.event_sources import pool_currencies
from tokens.ledger.event_history import HISTORY_NOT_READ, FeeHistory, first_blocks, read_fee_histories
from tokens.ledger.fee_claims import DailyAmounts, FeeAccount, read_account_claims
from tokens.models import FeeClaim, Token
from tokens.models.expressions import equals_any

# Reasons of unknown amounts.
TOO_MANY_EVENTS = "too_many_events"
POOLED_CURRENCY = "pooled_currency"


class Payee(NamedTuple):
    """A recipient of a token's fees in one currency; addresses are in stored form."""

    recipient: str
    currency: str


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownAmounts:
    """Amounts by day, and why their total is unknown; an empty reason if it is known."""

    amounts: DailyAmounts
    reason: str = ""

    @property
    def total(self) -> int | None:
        """Return the sum; None for a reason."""
        return None if self.reason else self.amounts.total

    @property
    def has_days(self) -> bool:
        """Return whether days are known: those that were read in full, although older ones were not read."""
        return self.reason in ("", TOO_MANY_EVENTS)

    def on(self, day: date) -> int | None:
        """Return the amount of a day; None if it is unknown."""
        return self.amounts.on(day) if self.has_days else None


@dataclass(frozen=True, kw_only=True, slots=True)
class PayeeFees:
    """What a payee of a token has earned and claimed so far."""

    payee: Payee
    symbol: str
    # None where the currency reports none.
    decimals: int | None
    earned: KnownAmounts
    claimed: KnownAmounts


@dataclass(kw_only=True, slots=True)
class _Sums:
    """Sums of a token's events by payee."""

    earned: dict[Payee, DailyAmounts] = field(default_factory=dict)
    claimed: dict[Payee, DailyAmounts] = field(default_factory=dict)


def read_token_fees(tokens: Sequence[Token]) -> dict[int, list[PayeeFees]]:
    """Return token id -> fees of all its recipients. Requires `launch`; at most seven queries."""
    histories = read_fee_histories([token.pk for token in tokens])
    since = first_blocks({token.chain_id for token in tokens}, covers_events)
    paid = _read_payments(histories[token.pk] for token in tokens if not _pays_by_owner(token))
    sums = {token.pk: _add_up(token, histories[token.pk], paid) for token in tokens}
    accounts = {token.pk: _own_accounts(token, sums[token.pk]) for token in tokens if _pays_by_owner(token)}
    claims = read_account_claims({account for of_token in accounts.values() for account in of_token})
    for token in tokens:
        for account in accounts.get(token.pk, ()):
            sums[token.pk].claimed[Payee(account.recipient, account.currency)] = claims[account]
    return {
        token.pk: [
            _describe(token, payee, sums[token.pk], histories[token.pk], since.get(token.chain_id))
            for payee in _payees(token, sums[token.pk])
        ]
        for token in tokens
    }


def current_recipients(token: Token) -> list[str]:
    """Return the recipients of the token's shares of fees, in their order; empty if the launch names none."""
    return [each["recipient"] for each in (token.extensions["fees"] or {}).get("recipients") or ()]


def _pays_by_owner(token: Token) -> bool:
    """Return whether a fee locker pays the token's recipients per currency, as in v4."""
    return token.chain_id != settings.SOLANA_CHAIN_ID and not has_lp_nft(token)


def _read_payments(histories: Iterable[FeeHistory]) -> dict[int, list[tuple[Payee, int]]]:
    """Return event id -> payees and amounts of the events that paid; one query, none without such events."""
    ids = [event.event_id for history in histories for event in history.events if event.kind == EventKind.FEES_CLAIMED]
    found: dict[int, list[tuple[Payee, int]]] = {}
    if ids:
        claims = FeeClaim.objects.filter(equals_any("event_id", ids, array="bigint[]"))
        for event_id, recipient, currency, amount in claims.values_list("event_id", "recipient", "currency", "amount"):
            found.setdefault(event_id, []).append((Payee(recipient, currency), int(amount)))
    return found


def _add_up(token: Token, history: FeeHistory, paid: Mapping[int, Sequence[tuple[Payee, int]]]) -> _Sums:
    """Return the sums of a token's events, of which each belongs to the recipients at its time."""
    sums = _Sums()
    recipients = current_recipients(token)
    pays_by_owner = _pays_by_owner(token)
    for event in history.events:
        if event.kind == EventKind.REWARD_RECIPIENT_UPDATED:
            share = int(event.arguments["rewardIndex"])
            if share < len(recipients):
                # Newest first: all events that follow are older than the change.
                recipients[share] = event.arguments["oldRecipient"]
        elif event.kind == EventKind.FEES_COLLECTED:
            for payee, amount in _collected(token, recipients, event.arguments):
                sums.earned.setdefault(payee, DailyAmounts()).add(event.day, amount)
        elif not pays_by_owner:
            for payee, amount in paid.get(event.event_id, ()):
                sums.earned.setdefault(payee, DailyAmounts()).add(event.day, amount)
    return sums


def _collected(token: Token, recipients: Sequence[str], values: Mapping[str, Any]) -> Iterator[tuple[Payee, int]]:
    """Yield the parts of a collection of v4, in which each list has an amount for each share."""
    for place, currency in enumerate(pool_currencies(token)):
        for recipient, amount in zip(recipients, values[f"rewards{place}"], strict=False):
            if int(amount):
                yield Payee(recipient, currency), int(amount)


def _own_accounts(token: Token, sums: _Sums) -> list[FeeAccount]:
    """Return the recipients' accounts in the token itself, which no other token pays."""
    recipients = {payee.recipient for payee in sums.earned} | set(current_recipients(token))
    return [FeeAccount(token.chain_id, recipient, token.contract_address) for recipient in sorted(recipients)]


def _payees(token: Token, sums: _Sums) -> Collection[Payee]:
    """Return the payees, current recipients first, each with the paired token before the token itself."""
    currencies = (token.paired_token, token.contract_address)
    recipients = dict.fromkeys([*current_recipients(token), *(payee.recipient for payee in sums.earned)])
    return [Payee(recipient, currency) for recipient in recipients for currency in currencies]


def _describe(token: Token, payee: Payee, sums: _Sums, history: FeeHistory, since: int | None) -> PayeeFees:
    is_own = payee.currency == token.contract_address
    is_read = since is not None and since <= token.block_number
    reason = "" if is_read else HISTORY_NOT_READ
    earned = sums.earned.get(payee, DailyAmounts())
    earned = DailyAmounts(earned.days, is_cut=history.is_cut)
    claimed = sums.claimed.get(payee, DailyAmounts())
    claimed_reason = reason
    if not _pays_by_owner(token):
        claimed = earned
    elif not is_own:
        claimed_reason = POOLED_CURRENCY
    return PayeeFees(
        payee=payee,
        symbol=token.symbol if is_own else token.pair,
        decimals=token.decimals if is_own else _pair_decimals(token),
        earned=_known(earned, reason),
        claimed=_known(claimed, claimed_reason),
    )


def _known(amounts: DailyAmounts, reason: str) -> KnownAmounts:
    return KnownAmounts(amounts=amounts, reason=reason or (TOO_MANY_EVENTS if amounts.is_cut else ""))


def _pair_decimals(token: Token) -> int | None:
    launch = getattr(token, "launch", None)
    decimals = ((launch and launch.facts.get("pool")) or {}).get("pair_decimals")
    return None if decimals is None else int(decimals)

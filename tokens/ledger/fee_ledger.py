"""Token fees per recipient and currency, by day: earned and claimed, from stored events.

A v4 pool's fees are collected into a fee locker, which pays each owner per currency, for all its tokens together.
Earlier lockers, and Solana's program, pay in the collection itself: earned fees are claimed fees. Declared launchpads
have claims only.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from tokens.chains.addresses import ZERO_ADDRESS, address_key, parse_address
from tokens.chains.registry.chains import ChainInfo, QuoteToken
from tokens.fees.fee_sums import summed_chains
from tokens.following.coverage import covers_events
from tokens.installation.installed_registry import registry
from tokens.ledger.earned_fees import EarnedFees, Payee, current_recipients, pays_by_owner, read_earned
from tokens.ledger.fee_claims import DailyAmounts, FeeAccount, read_account_claims
from tokens.ledger.stored_blocks import HISTORY_NOT_READ, first_blocks
from tokens.models import Token

# Reasons for unknown amounts.
NOT_SUMMED = "not_summed"
TOO_MANY_RECIPIENTS = "too_many_recipients"
POOLED_CURRENCY = "pooled_currency"


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownAmounts:
    """An amount with its days, or the reason why it is unknown; the reason is empty if it is known."""

    amounts: DailyAmounts
    reason: str = ""

    @property
    def total(self) -> int | None:
        """Return the sum; None if unknown."""
        return None if self.reason else self.amounts.total

    @property
    def days(self) -> Iterable[date]:
        """Return the days with an amount; no days if unknown."""
        return () if self.reason else self.amounts.days

    def on(self, day: date) -> int | None:
        """Return a day's amount, for a day since the first one that was read; None if unknown."""
        return None if self.reason else self.amounts.days.get(day, 0)


_NATIVE_DECIMALS = 18
_POOLED = KnownAmounts(amounts=DailyAmounts(), reason=POOLED_CURRENCY)


@dataclass(frozen=True, kw_only=True, slots=True)
class PayeeFees:
    """A payee's fees from one token: earned and claimed so far."""

    payee: Payee
    symbol: str
    # None if the currency reports no decimals.
    decimals: int | None
    earned: KnownAmounts
    claimed: KnownAmounts


class WalletClaims(NamedTuple):
    """Fees that a wallet has claimed in one quote token, or in the chain's coin."""

    account: FeeAccount
    quote: QuoteToken
    claimed: KnownAmounts


def read_wallet_claims(address: str, first_day: date) -> list[WalletClaims]:
    """Return a wallet's claims in the coins and quote tokens of all chains, without zeros; two queries.

    Without an address there are none: no list has all wallets that a user owns.
    """
    chains = registry().chains.values() if address else ()
    quotes = {
        FeeAccount(chain.chain_id, address, parse_address(quote.address, allow_mint=True)): quote
        for chain in chains
        for quote in (*_coins(chain), *chain.quote_tokens.values())
    }
    summed = summed_chains({account.chain_id for account in quotes})
    claims = {
        account: KnownAmounts(amounts=amounts, reason="" if account.chain_id in summed else NOT_SUMMED)
        for account, amounts in read_account_claims(quotes, first_day).items()
    }
    return [
        WalletClaims(account, quotes[account], claimed) for account, claimed in claims.items() if claimed.total != 0
    ]


def _coins(chain: ChainInfo) -> Iterator[QuoteToken]:
    """Yield the chain's coin, in which launchpads pay; on Solana the quote tokens have it."""
    if not chain.is_solana:
        yield QuoteToken(address=ZERO_ADDRESS, symbol=chain.native, decimals=_NATIVE_DECIMALS)


def read_token_fees(tokens: Sequence[Token], first_day: date) -> dict[int, list[PayeeFees]]:
    """Return token id -> all its recipients' fees. Requires `launch`; at most seven queries."""
    chain_ids = {token.chain_id for token in tokens}
    since, summed = first_blocks(chain_ids, covers_events), summed_chains(chain_ids)
    earned = read_earned(tokens, first_day)
    accounts = {token.pk: _own_accounts(token, earned[token.pk]) for token in tokens if pays_by_owner(token)}
    claims = read_account_claims({account for of_token in accounts.values() for account in of_token}, first_day)
    fees = {}
    for token in tokens:
        first_block = since.get(token.chain_id)
        reason = "" if token.chain_id in summed else NOT_SUMMED
        if first_block is None or first_block > token.block_number:
            reason = HISTORY_NOT_READ
        claimed = {account.recipient: claims[account] for account in accounts.get(token.pk, ())}
        fees[token.pk] = [
            _describe(token, payee, earned[token.pk], claimed, reason) for payee in _payees(token, earned[token.pk])
        ]
    return fees


def _own_accounts(token: Token, earned: EarnedFees) -> list[FeeAccount]:
    """Return the recipients' accounts whose currency is the token itself."""
    recipients = {payee.recipient for payee in earned.amounts} | set(current_recipients(token))
    return [FeeAccount(token.chain_id, recipient, token.contract_address) for recipient in sorted(recipients)]


def _payees(token: Token, earned: EarnedFees) -> Collection[Payee]:
    """Return the payees: current recipients first, and for each the paired token before the token itself."""
    currencies = (token.paired_token, token.contract_address)
    former = sorted({payee.recipient for payee in earned.amounts})
    recipients = dict.fromkeys([*current_recipients(token), *former])
    # A launchpad may exchange fees for a currency that is not in the pool.
    others = sorted(payee for payee in earned.amounts if payee.currency not in currencies)
    return [*(Payee(recipient, currency) for recipient in recipients for currency in currencies), *others]


def _describe(token: Token, payee: Payee, fees: EarnedFees, claims: dict[str, DailyAmounts], reason: str) -> PayeeFees:
    """Return a payee's fees. `claims` has recipients' claims in the token itself, if a fee locker pays them."""
    is_own = payee.currency == token.contract_address
    amounts = fees.amounts.get(payee, DailyAmounts())
    earned = KnownAmounts(amounts=amounts, reason=reason or (TOO_MANY_RECIPIENTS if fees.is_cut else ""))
    claimed = earned
    if pays_by_owner(token):
        own = claims.get(payee.recipient, DailyAmounts())
        claimed = KnownAmounts(amounts=own, reason=reason) if is_own else _POOLED
    symbol, decimals = _currency_of(token, payee.currency)
    return PayeeFees(
        payee=payee,
        symbol=symbol,
        decimals=decimals,
        earned=earned,
        claimed=claimed,
    )


def _currency_of(token: Token, currency: str) -> tuple[str, int | None]:
    """Return symbol and decimals for a token's fee currency."""
    if currency == token.contract_address:
        return token.symbol, token.decimals
    if currency == token.paired_token:
        return token.pair, _pair_decimals(token)
    quote = registry().chain(token.chain_id).quote_tokens.get(address_key(currency))
    return (quote.symbol, quote.decimals) if quote else (currency, None)


def _pair_decimals(token: Token) -> int | None:
    launch = getattr(token, "launch", None)
    decimals = ((launch and launch.facts.get("pool")) or {}).get("pair_decimals")
    return None if decimals is None else int(decimals)

"""A token's uncollected fees, in pool and fee locker: chain reads joined with the token's row."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings

from tokens.chains.errors import FeesUnavailableError
from tokens.chains.token_fees import Conversion, Currency, FeeShare, TokenFees, sum_shares
from tokens.fees import responses
from tokens.fees.liquidity import has_lp_nft
from tokens.installation.installed_chains import installed_chain, installed_solana
from tokens.models import Token


@dataclass(frozen=True, kw_only=True)
class CurrencyFees:
    """Uncollected fees in one currency, in its smallest unit; `pending` is None if unknown."""

    currency: Currency
    harvested: int
    pending: int | None


@dataclass(frozen=True, kw_only=True)
class RecipientFees:
    """One recipient's uncollected fees; `recipient` is None if the chain does not reveal it."""

    recipient: str | None
    fees: Sequence[CurrencyFees]


@dataclass(frozen=True, kw_only=True)
class UncollectedReport:
    """Uncollected fees as of a block: in total, and per recipient.

    Until `collectable_from` a collection pays nothing; None if it pays now.
    """

    block_number: int
    fees: Sequence[CurrencyFees]
    recipients: Sequence[RecipientFees]
    conversion: Conversion
    collectable_from: datetime | None


def read_uncollected(token: Token, *, recipient: str | None) -> UncollectedReport:
    """Return uncollected fees for all recipients, or for one address, which may be a former recipient.

    Raises UnsupportedChainError, NodeUnavailableError, and FeesUnavailableError; its subclass UnknownContractError if
    the registry lacks a required contract.
    """
    fees = _read(token, recipient=recipient)
    if {currency.address for currency in fees.currencies} != {token.contract_address, token.paired_token}:
        raise FeesUnavailableError(f"the position is not in the pool of {token}")
    until = fees.collectable_from
    shares = fees.shares if recipient is None else (_share_of(recipient, fees),)
    return UncollectedReport(
        block_number=fees.block_number,
        fees=_by_currency(fees, sum_shares(shares)),
        recipients=[RecipientFees(recipient=share.recipient, fees=_by_currency(fees, share)) for share in shares],
        conversion=fees.conversion,
        collectable_from=None if until is None else datetime.fromtimestamp(until, UTC),
    )


def describe_report(token: Token, report: UncollectedReport) -> responses.UncollectedFeesAnswer:
    """Return the response body for a token's report."""
    return {
        "tokenAddress": token.contract_address,
        "chainId": token.chain_id,
        "blockNumber": report.block_number,
        "fees": _describe_fees(report.fees),
        "recipients": [
            {"recipient": share.recipient, "fees": _describe_fees(share.fees)} for share in report.recipients
        ],
        "conversion": report.conversion,
        "collectableFrom": report.collectable_from,
    }


def _describe_fees(fees: Sequence[CurrencyFees]) -> list[responses.CurrencyFeesJson]:
    return [
        {
            "currency": fee.currency.address,
            "symbol": fee.currency.symbol,
            "decimals": fee.currency.decimals,
            "harvested": str(fee.harvested),
            "pending": None if fee.pending is None else str(fee.pending),
        }
        for fee in fees
    ]


def _read(token: Token, *, recipient: str | None) -> TokenFees:
    if token.chain_id == settings.SOLANA_CHAIN_ID:
        if not token.pool_address:
            raise FeesUnavailableError(f"the pool of {token} is unknown")
        return installed_solana().read_pool_fees(token.pool_address)
    chain = installed_chain(token.chain_id)
    if has_lp_nft(token):
        recipients = (token.extensions["fees"] or {}).get("recipients") or ()
        launched_for = [(share["recipient"], share["bps"]) for share in recipients]
        if not token.position_id:
            raise FeesUnavailableError(f"the LP NFT of {token} is unknown")
        return chain.read_v3_fees(int(token.position_id), launched_for=launched_for)
    if not token.locker_address:
        raise FeesUnavailableError(f"the locker of {token} is unknown")
    return chain.read_v4_fees(token.contract_address, locker=token.locker_address, owner=recipient)


def _share_of(recipient: str, fees: TokenFees) -> FeeShare:
    """Return an address's share: zero if it has none, unknown if a share with an unknown recipient exists."""
    unassigned = None
    for share in fees.shares:
        if share.recipient == recipient:
            return share
        if share.recipient is None:
            unassigned = share
    zeros = (0,) * len(fees.currencies)
    pending = tuple(None if amount else 0 for amount in unassigned.pending) if unassigned else zeros
    return FeeShare(recipient=recipient, harvested=zeros, pending=pending)


def _by_currency(fees: TokenFees, share: FeeShare) -> list[CurrencyFees]:
    return [
        CurrencyFees(currency=currency, harvested=harvested, pending=pending)
        for currency, harvested, pending in zip(fees.currencies, share.harvested, share.pending, strict=True)
    ]

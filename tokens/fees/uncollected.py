"""A token's uncollected fees, in both layers: chain reads joined with the token's row."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from tokens.chains.token_fees import Conversion, Currency, FeeShare, TokenFees, total
from tokens.chains.types import FeesUnreadable
from tokens.fees.liquidity import has_lp_nft
from tokens.installation.installed_chains import installed_chain, installed_solana
from tokens.models import Token


@dataclass(frozen=True, kw_only=True)
class CurrencyFees:
    """What waits in one currency, in its smallest unit; `pending` is None where nobody knows."""

    currency: Currency
    harvested: int
    pending: int | None


@dataclass(frozen=True, kw_only=True)
class RecipientFees:
    """What waits for one; `recipient` is None where the chain does not tell who that is."""

    recipient: str | None
    fees: Sequence[CurrencyFees]


@dataclass(frozen=True, kw_only=True)
class Uncollected:
    """What waits after a block: for everybody together, and for each."""

    block_number: int
    fees: Sequence[CurrencyFees]
    recipients: Sequence[RecipientFees]
    conversion: Conversion


def read_uncollected(token: Token, *, recipient: str | None) -> Uncollected:
    """What waits for a token's recipients, or for one address alone, whether it is one of them or was.

    Raises UnsupportedChain, NodeUnavailable, and FeesUnreadable, as ContractUnknown where the registry lacks what
    would have to be asked.
    """
    found = _read(token, recipient=recipient)
    if {currency.address for currency in found.currencies} != {token.contract_address, token.paired_token}:
        raise FeesUnreadable(f"the position is not of the pool of {token}")
    shares = found.shares if recipient is None else (_share_of(recipient, found),)
    return Uncollected(
        block_number=found.block_number,
        fees=_by_currency(found, total(shares)),
        recipients=[RecipientFees(recipient=share.recipient, fees=_by_currency(found, share)) for share in shares],
        conversion=found.conversion,
    )


def _read(token: Token, *, recipient: str | None) -> TokenFees:
    if token.chain_id == settings.SOLANA_CHAIN_ID:
        if not token.pool_address:
            raise FeesUnreadable(f"the pool of {token} is not known")
        return installed_solana().read_pool_fees(token.pool_address)
    chain = installed_chain(token.chain_id)
    if has_lp_nft(token):
        recipients = (token.extensions["fees"] or {}).get("recipients") or ()
        launched_for = [(each["recipient"], each["bps"]) for each in recipients]
        if not token.position_id:
            raise FeesUnreadable(f"the LP NFT of {token} is not known")
        return chain.read_v3_fees(int(token.position_id), launched_for=launched_for)
    if not token.locker_address:
        raise FeesUnreadable(f"the locker of {token} is not known")
    return chain.read_v4_fees(token.contract_address, locker=token.locker_address, owner=recipient)


def _share_of(recipient: str, found: TokenFees) -> FeeShare:
    """Nothing, for somebody who gets nothing; unknown, where it can't be told of everybody who gets a part."""
    nobodys = None
    for share in found.shares:
        if share.recipient == recipient:
            return share
        if share.recipient is None:
            nobodys = share
    nothing = (0,) * len(found.currencies)
    pending = tuple(None if amount else 0 for amount in nobodys.pending) if nobodys else nothing
    return FeeShare(recipient=recipient, harvested=nothing, pending=pending)


def _by_currency(found: TokenFees, share: FeeShare) -> list[CurrencyFees]:
    return [
        CurrencyFees(currency=currency, harvested=harvested, pending=pending)
        for currency, harvested, pending in zip(found.currencies, share.harvested, share.pending, strict=True)
    ]

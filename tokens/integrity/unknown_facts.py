"""Facts that a launch report can't contain, each with its reason: a token's history is more than stored trades."""

from collections.abc import Iterable
from typing import Annotated, TypedDict

from django.conf import settings
from django.utils import timezone

from config.parsing.response_types import Keywords
from tokens.following.coverage import covers_trades
from tokens.installation.installed_registry import registry
from tokens.installation.market_sources import has_own_trades
from tokens.models import Coverage, FollowedAccount, FollowedBlock, Token
from tokens.trades.retention import trades_from

# Fact -> reason. The facts are part of the API.
UNKNOWN_REASONS = {
    "transfers": "Transfers between accounts are not stored. An account may have received or sent tokens besides its"
    " trades, and a purchase may have been sent to another account than the sender of its transaction.",
    "funders": "Transfers of the chain's coin are not stored: it is unknown which buyers one account has funded.",
    "transactionPlaces": "The place in the block is not stored of the launch's transaction, or of another one of the"
    " opening. Such a transaction counts as the neighbour of none.",
    "launchTrades": "The block of the launch was not read for trades, so the first trades may be missing.",
    "expiredTrades": "Trades of the time of the launch are no longer stored. What is counted begins later.",
    "laterTrades": "The token has more trades than are read. The later ones are in no sum.",
    "traders": "Of some trades only the log was read, without the sender. They count for no account.",
    "claims": "The token has more events than are read. Earlier claims of fees, airdrop and vault are in no sum.",
    "launchpadClaims": "Claims of this launchpad's fees, airdrops and vaults do not count here.",
    "vaultRecipients": "The vault's events do not name the account that was paid, so these tokens count for none.",
    "supply": "The supply of the token is unknown, so there are no shares of it.",
    "balances": "The chain's nodes returned no balances now.",
    "solanaBalances": "Balances of token accounts on Solana are not read.",
}


class UnknownFact(TypedDict):
    """A fact that the report can't contain."""

    fact: Annotated[str, Keywords(enum=list(UNKNOWN_REASONS))]
    reason: str


def describe_unknown(facts: Iterable[str]) -> list[UnknownFact]:
    """Return these facts with their reasons, sorted as UNKNOWN_REASONS."""
    unknown = set(facts)
    return [{"fact": fact, "reason": reason} for fact, reason in UNKNOWN_REASONS.items() if fact in unknown]


def is_launch_covered(token: Token) -> bool:
    """Return whether the launch's block was read for trades. One query, none on chains without own trades."""
    chain = registry().chains.get(token.chain_id)
    if chain is None or not has_own_trades(token.chain_id):
        return False
    if token.chain_id == settings.SOLANA_CHAIN_ID:
        return _is_read_on_solana(token)
    if not token.confirmed:
        # The live follower has written the block; coverage has only final blocks.
        window = FollowedBlock.objects.filter(chain_id=token.chain_id, number=token.block_number)
        return window.filter(hash=token.block_hash).exists()
    rows = Coverage.objects.filter(
        chain_id=token.chain_id, first_block__lte=token.block_number, followed_to__gte=token.block_number
    )
    return any(covers_trades(row, chain) for row in rows)


def is_launch_expired(token: Token) -> bool:
    """Return whether trades from the launch's week are no longer stored, by TRADE_DAYS."""
    oldest = trades_from(timezone.now())
    return oldest is not None and token.deployed_at < oldest


def _is_read_on_solana(token: Token) -> bool:
    """Return whether an account that the launch names has its signatures read since the launch's slot."""
    config = token.launch.facts.get("curve_config") if hasattr(token, "launch") else None
    accounts = [account for account in (config, token.requestor_address) if account]
    return FollowedAccount.objects.filter(
        chain_id=token.chain_id,
        address__in=accounts,
        first_slot__lte=token.block_number,
        complete_to__gte=token.block_number,
    ).exists()

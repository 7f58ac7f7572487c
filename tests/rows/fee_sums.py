"""Daily fee sums: as stored, and counted anew from all events and claims, in plain Python."""

from collections import defaultdict
from datetime import UTC, date
from typing import Any, NamedTuple

from tokens.chains.pool_types import chain_position
from tokens.chains.registry.chains import load_registry
from tokens.fees.fee_sums import fill_next_blocks
from tokens.models import AccountClaimSum, ClaimSum, CollectionSum, FeeClaim, Token, TokenEvent

Sums = dict[tuple[Any, ...], int]


class FeeSums(NamedTuple):
    """The three tables' rows by their keys, without zero rows."""

    collections: Sums
    claims: Sums
    accounts: Sums


def sum_all_chains() -> None:
    """Complete the sums for all registry chains."""
    for chain_id in load_registry().chains:
        sum_chain(chain_id)


def sum_chain(chain_id: int) -> None:
    """Complete a chain's sums."""
    while not fill_next_blocks(chain_id):
        pass


def stored_sums(**of_token: int) -> FeeSums:
    """Return the tables' rows, for all chains or for `chain_id`."""
    tokens = Token.objects.filter(**of_token)
    collections = CollectionSum.objects.filter(token__in=tokens).values_list(
        "token_id", "day", "since", "share", "place", "amount"
    )
    claims = ClaimSum.objects.filter(token__in=tokens).values_list("token_id", "day", "recipient", "currency", "amount")
    accounts = AccountClaimSum.objects.filter(**of_token).values_list(
        "chain_id", "recipient", "currency", "day", "amount"
    )
    return FeeSums(
        *({tuple(key): int(amount) for *key, amount in rows if amount} for rows in (collections, claims, accounts))
    )


def counted_sums(**of_token: int) -> FeeSums:
    """Return what the tables should have, for all chains or for `chain_id`."""
    collections: Sums = defaultdict(int)
    # (token, day) -> the last recipient change's position.
    changed: dict[tuple[Any, date], int] = {}
    for event in TokenEvent.objects.filter(**of_token).exclude(token=None).order_by("block_number", "log_index"):
        of_day = event.token_id, event.at.astimezone(UTC).date()
        if event.kind == "reward_recipient_updated":
            changed[of_day] = chain_position(event.block_number, event.log_index)
        elif event.kind == "fees_collected":
            for place in (0, 1):
                for share, amount in enumerate(event.arguments[f"rewards{place}"]):
                    collections[*of_day, changed.get(of_day, 0), share, place] += int(amount)
    claims: Sums = defaultdict(int)
    accounts: Sums = defaultdict(int)
    for claim in FeeClaim.objects.filter(**of_token).select_related("event"):
        day = claim.at.astimezone(UTC).date()
        accounts[claim.chain_id, claim.recipient, claim.currency, day] += int(claim.amount)
        is_own = claim.event.kind == "fees_claimed" and "token" not in claim.event.arguments
        if claim.event.token_id and is_own:
            claims[claim.event.token_id, day, claim.recipient, claim.currency] += int(claim.amount)
    return FeeSums(
        *({key: amount for key, amount in sums.items() if amount} for sums in (collections, claims, accounts))
    )

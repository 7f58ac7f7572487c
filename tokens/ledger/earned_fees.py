"""Fees that recipients have earned by day, from sums that are stored with their events' blocks.

An amount belongs to the recipient at its time. Since v4 recipients change, v4 sums name the share instead. A change
divides its day's sum, so that no event is read.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

from django.conf import settings

from config.postgresql.bulk_load import array_literal
from config.postgresql.replica import read_connection
from tokens.fees.liquidity import has_lp_nft
from tokens.indexing.event_sources import pool_currencies
from tokens.installation.installed_launchpads import is_declared
from tokens.ledger.fee_claims import DailyAmounts
from tokens.models import Token

# The most recipient changes read per token, and payees per response: any recipient can change its share again.
CHANGES_READ = 1_000
# The most rows (one per payee and day) that are read per token, if its locker pays in the collection.
_CLAIM_ROWS = 20_000

# A day and a chain position are compared as one number. The next change names the share's former recipient, who had
# it until then. Without a later change the recipient is NULL, the current one.
_COLLECTED = """
WITH change AS MATERIALIZED (
    SELECT newest.*, count(*) OVER (PARTITION BY token_id) > %(changes)s AS is_cut
    FROM unnest(%(ids)s::bigint[]) AS wanted CROSS JOIN LATERAL (
        SELECT token_id, (arguments ->> 'rewardIndex')::numeric AS share, arguments ->> 'oldRecipient' AS former,
            ((at AT TIME ZONE 'UTC')::date - DATE '1970-01-01') * 2::numeric ^ 64
                + (block_number << 20 | log_index) AS key
        FROM tokens_tokenevent WHERE token_id = wanted AND kind = 'reward_recipient_updated'
        ORDER BY block_number DESC, log_index DESC LIMIT %(changes)s + 1
    ) AS newest
), timeline AS (
    SELECT token_id, share, array_agg(key ORDER BY key) AS keys, array_agg(former ORDER BY key) AS formers
    FROM change GROUP BY token_id, share
)
SELECT stored.token_id, stored.share, place, CASE WHEN day >= %(first_day)s THEN day END,
    formers[width_bucket((day - DATE '1970-01-01') * 2::numeric ^ 64 + since, keys) + 1], sum(amount)
FROM tokens_collectionsum AS stored
LEFT JOIN timeline ON timeline.token_id = stored.token_id AND timeline.share = stored.share
WHERE stored.token_id = ANY(%(ids)s::bigint[])
    AND NOT EXISTS (SELECT FROM change WHERE change.token_id = stored.token_id AND is_cut)
GROUP BY 1, 2, 3, 4, 5 HAVING sum(amount) <> 0
UNION ALL
SELECT DISTINCT token_id, NULL::integer, NULL::smallint, NULL::date, NULL, NULL::numeric FROM change WHERE is_cut
"""
_PAID = """
SELECT token_id, recipient, currency, CASE WHEN day >= %(first_day)s THEN day END, sum(amount), count(*)
FROM unnest(%(ids)s::bigint[]) AS wanted CROSS JOIN LATERAL (
    SELECT * FROM tokens_claimsum WHERE token_id = wanted AND amount <> 0 ORDER BY day DESC LIMIT %(rows)s + 1
) AS newest
GROUP BY 1, 2, 3, 4
"""


class Payee(NamedTuple):
    """A recipient of a token's fees in one currency; addresses are in stored form."""

    recipient: str
    currency: str


@dataclass(slots=True)
class EarnedFees:
    """A token's fees by payee. `is_cut`: more changes or payees exist than are read, so amounts are unknown."""

    amounts: dict[Payee, DailyAmounts] = field(default_factory=dict)
    is_cut: bool = False

    def add(self, payee: Payee, day: date | None, amount: int) -> None:
        """Add a payee's amount, unless there are too many payees."""
        if payee not in self.amounts and len(self.amounts) == CHANGES_READ:
            self.is_cut = True
        else:
            self.amounts.setdefault(payee, DailyAmounts()).add(day, amount)


def pays_by_owner(token: Token) -> bool:
    """Return whether a fee locker pays the token's recipients per currency, as in v4."""
    is_paid_at_once = token.chain_id == settings.SOLANA_CHAIN_ID or is_declared(token.generation)
    return not is_paid_at_once and not has_lp_nft(token)


def current_recipients(token: Token) -> list[str]:
    """Return the token's fee recipients by share index; empty if the launch names none."""
    return [share["recipient"] for share in (token.extensions["fees"] or {}).get("recipients") or ()]


def read_earned(tokens: Sequence[Token], first_day: date) -> dict[int, EarnedFees]:
    """Return token id -> fees that its recipients have earned, by day since `first_day`; at most two queries."""
    earned = {token.pk: EarnedFees() for token in tokens}
    of_lockers = {token.pk: token for token in tokens if pays_by_owner(token)}
    for token_id, share, currency_index, day, former, amount in _read(_COLLECTED, of_lockers, first_day):
        recipients = current_recipients(of_lockers[token_id])
        if share is None:
            earned[token_id].is_cut = True
        elif share < len(recipients):
            payee = Payee(former or recipients[share], pool_currencies(of_lockers[token_id])[currency_index])
            earned[token_id].add(payee, day, int(amount))
    rows = dict.fromkeys(earned, 0)
    for token_id, recipient, currency, day, amount, count in _read(_PAID, rows.keys() - of_lockers, first_day):
        earned[token_id].add(Payee(recipient, currency), day, int(amount))
        rows[token_id] += count
        earned[token_id].is_cut |= rows[token_id] > _CLAIM_ROWS
    return earned


def _read(statement: str, token_ids: Iterable[int], first_day: date) -> list[tuple[Any, ...]]:
    ids = sorted(token_ids)
    if not ids:
        return []
    parameters = {"ids": array_literal(ids), "first_day": first_day, "changes": CHANGES_READ, "rows": _CLAIM_ROWS}
    with read_connection().cursor() as cursor:
        cursor.execute(statement, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows

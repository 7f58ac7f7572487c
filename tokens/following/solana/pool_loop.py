"""The loop over Solana's pools that finds claims by creators, which name no account of the launchpad.

A pool stores how much of its fees was ever claimed. If that exceeds the stored claims, the pool's own transactions are
listed and read as those of a config are. So a claim costs the reading of its pool's trades, and a pool without one a
hundredth of a call.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.conf import settings
from django.db.models import Sum

from config.http.errors import RetryableError
from tokens.chains.solana.solana_chain import SolanaChain
from tokens.following.coverage import ProgressConflictError
from tokens.following.leader_loops import LeaderSession
from tokens.following.solana import followed_accounts
from tokens.following.solana.account_loop import AccountRounds
from tokens.installation.installed_chains import installed_solana
from tokens.models import FeeClaim, Token

logger = logging.getLogger(__name__)

# The name of this loop among the failures.
POOLS = "claims"

# The most accounts in one call to a node.
_AT_ONCE = 100
# The number of times that a pool is read for the same claimed total: its transactions may be listed late.
_TRIES = 3
_LONGEST_PAUSE = 10.0
# Seconds between two such calls.
_PAUSE = 0.25
# The most pages or batches of one pool before the next pool has its turn.
_STEPS = 50

# Of the base mint, and of the quote.
_Amounts = tuple[int, int]


def watch_pool_claims(session: LeaderSession) -> None:
    """Compare the claimed amounts of all pools and find the missing claims, again and again, until the session ends."""
    watch = PoolClaimWatch(installed_solana())
    while not session.ended.is_set():
        try:
            has_more = watch.run_once(session)
            session.failures.clear(POOLS)
        except ProgressConflictError as error:
            # Another process has taken over; the leader lock decides that.
            logger.info("%s", error)
            has_more = False
        except RetryableError as error:
            session.ended.wait(session.failures.record(POOLS, error, max_delay=_LONGEST_PAUSE))
            continue
        if not has_more:
            session.ended.wait(settings.FOLLOW_CLAIMS_SECONDS)


@dataclass
class PoolClaimWatch:
    """A walk through the pools of tokens that resumes where it was interrupted."""

    chain: SolanaChain
    _behind: int = field(default=0, init=False)
    # Pool -> the last reported total beyond the stored claims, and how many times the pool was read for it.
    _tried: dict[str, tuple[_Amounts, int]] = field(default_factory=dict, init=False)

    def run_once(self, session: LeaderSession) -> bool:
        """Walk through the pools once, from where the last walk was interrupted.

        Return whether some are still to be read. Raises NodeUnavailableError, ProgressConflictError.
        """
        has_more = False
        launched = Token.objects.launched_on(self.chain.info.chain_id).exclude(pool_address="").order_by("pk")
        columns = launched.only("contract_address", "paired_token", "pool_address", "block_number", "tx_hash")
        while tokens := list(columns.filter(pk__gt=self._behind)[:_AT_ONCE]):
            # The account loop uses the same nodes.
            if self._behind and session.ended.wait(_PAUSE):
                return False
            for token, claimed in self._find_claimed(tokens):
                if session.ended.is_set():
                    return False
                has_more |= not self._try(token, claimed, session)
            self._behind = tokens[-1].pk
        self._behind = 0
        return has_more

    def _find_claimed(self, tokens: list[Token]) -> Iterable[tuple[Token, _Amounts]]:
        """Yield the tokens of pools that report more claimed than is stored, with the total."""
        claimed = self.chain.read_claimed_fees([token.pool_address for token in tokens])
        known = _known_claims(tokens)
        for token in tokens:
            reported = claimed.get(token.pool_address)
            if reported is None:
                continue
            ours = known[token.pk, token.contract_address], known[token.pk, token.paired_token]
            is_more = any(now > then for now, then in zip(reported, ours, strict=True))
            if is_more and self._tried.get(token.pool_address, (None, 0)) != (reported, _TRIES):
                yield token, reported

    def _try(self, token: Token, claimed: _Amounts, session: LeaderSession) -> bool:
        """Read a pool as `_read` does. A pool that fails waits for the next walk, and delays no other."""
        part = f"pool {token.pool_address}"
        try:
            is_through = self._read(token, claimed, session)
        except RetryableError as error:
            session.failures.record(part, error, max_delay=_LONGEST_PAUSE)
            return True
        session.failures.clear(part)
        return is_through

    def _read(self, token: Token, claimed: _Amounts, session: LeaderSession) -> bool:
        """List and read the pool's transactions. Return whether its newest one was reached within the step limit."""
        pool = token.pool_address
        launched_at, launch = token.block_number, token.tx_hash
        account = followed_accounts.open_account(pool, self.chain.info, first_slot=launched_at, first=launch)
        rounds, head = AccountRounds(self.chain), self.chain.read_head()
        for _ in range(_STEPS):
            if session.ended.is_set():
                return False
            if not rounds.advance(account, head=head):
                break
        else:
            return False
        before, times = self._tried.get(pool, (claimed, 0))
        self._tried[pool] = claimed, times + 1 if before == claimed else 1
        logger.info("chain=%s pool=%s was read for fee claims", account.chain_id, pool)
        return True


def _known_claims(tokens: Iterable[Token]) -> defaultdict[tuple[int, str], int]:
    """Return (token id, mint) -> the sum of stored claims."""
    rows = FeeClaim.objects.filter(event__token__in=tokens).order_by().values_list("event__token", "currency")
    known = defaultdict[tuple[int, str], int](int)
    for token_id, currency, amount in rows.annotate(total=Sum("amount")):
        known[token_id or 0, currency] = int(amount)
    return known

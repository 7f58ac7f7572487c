"""Claims of pools' fees by their creators, which name no account of the launchpad, found until the turn ends.

A pool tells how much of its fees was ever claimed. Where that is more than the claims that are known, the transactions
of the pool itself are listed and read as those of a config are: so a claim costs the reading of its pool's trades, and
a pool without one a hundredth of a call.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.conf import settings
from django.db.models import Sum

from config.http.json_client import Retryable
from tokens.chains.solana.solana_chain import SolanaChain
from tokens.following.coverage import Overtaken
from tokens.following.leader_loops import Term
from tokens.following.solana import followed_accounts
from tokens.following.solana.account_loop import Rounds
from tokens.installation.installed_chains import installed_solana
from tokens.models import FeeClaim, Token

logger = logging.getLogger(__name__)

# What troubles call this loop.
POOLS = "claims"

# The most accounts of which nodes tell in one call.
_AT_ONCE = 100
# So many times a pool is read for what it says was claimed: its transactions may be listed late.
_TRIES = 3
_LONGEST_PAUSE = 10.0
# Seconds between two such calls.
_PAUSE = 0.25
# So many pages are listed, or batches read, of one pool before it is the next one's turn.
_STEPS = 50

# Of the base mint, and of the quote.
_Amounts = tuple[int, int]


def watch_pools(term: Term) -> None:
    """Ask all pools how much was claimed, and find the claims, again and again, until the turn ends."""
    watch = PoolWatch(installed_solana())
    while not term.ended.is_set():
        try:
            has_more = watch.take(term)
            term.troubles.clear(POOLS)
        except Overtaken as error:
            # Whoever else leads the chain by now will be told by the lock.
            logger.info("%s", error)
            has_more = False
        except Retryable as error:
            term.ended.wait(term.troubles.note(POOLS, error, longest_pause=_LONGEST_PAUSE))
            continue
        if not has_more:
            term.ended.wait(settings.FOLLOW_CLAIMS_SECONDS)


@dataclass
class PoolWatch:
    """A walk through the pools of tokens, which goes on where it was hindered."""

    chain: SolanaChain
    _behind: int = field(default=0, init=False)
    # Pool -> what it last said was claimed beyond what is known, and how many times it was read for that.
    _tried: dict[str, tuple[_Amounts, int]] = field(default_factory=dict, init=False)

    def take(self, term: Term) -> bool:
        """Go through the pools once, from where the last walk was hindered; says whether some are still to be read.

        Raises NodeUnavailable, Overtaken.
        """
        has_more = False
        launched = Token.objects.launched_on(self.chain.info.chain_id).exclude(pool_address="").order_by("pk")
        columns = launched.only("contract_address", "paired_token", "pool_address", "block_number", "tx_hash")
        while tokens := list(columns.filter(pk__gt=self._behind)[:_AT_ONCE]):
            # Whoever follows accounts asks the same nodes.
            if self._behind and term.ended.wait(_PAUSE):
                return False
            for token, claimed in self._find_claimed(tokens):
                if term.ended.is_set():
                    return False
                has_more |= not self._try(token, claimed, term)
            self._behind = tokens[-1].pk
        self._behind = 0
        return has_more

    def _find_claimed(self, tokens: list[Token]) -> Iterable[tuple[Token, _Amounts]]:
        """The tokens of whose pools more was claimed than is known, and how much in all."""
        claimed = self.chain.read_claimed([token.pool_address for token in tokens])
        known = _known_claims(tokens)
        for token in tokens:
            told = claimed.get(token.pool_address)
            if told is None:
                continue
            ours = known[token.pk, token.contract_address], known[token.pk, token.paired_token]
            is_more = any(now > then for now, then in zip(told, ours, strict=True))
            if is_more and self._tried.get(token.pool_address, (None, 0)) != (told, _TRIES):
                yield token, told

    def _try(self, token: Token, claimed: _Amounts, term: Term) -> bool:
        """As `_read`; a pool with which something goes wrong waits for the next walk, and holds up no other."""
        part = f"pool {token.pool_address}"
        try:
            is_through = self._read(token, claimed, term)
        except Retryable as error:
            term.troubles.note(part, error, longest_pause=_LONGEST_PAUSE)
            return True
        term.troubles.clear(part)
        return is_through

    def _read(self, token: Token, claimed: _Amounts, term: Term) -> bool:
        """List and read the pool's transactions; whether that came to the newest one within its turn."""
        pool = token.pool_address
        launched_at, launch = token.block_number, token.tx_hash
        account = followed_accounts.open_account(pool, self.chain.info, first_slot=launched_at, first=launch)
        rounds, head = Rounds(self.chain), self.chain.read_head()
        for _ in range(_STEPS):
            if term.ended.is_set():
                return False
            if not rounds.advance(account, head=head):
                break
        else:
            return False
        before, times = self._tried.get(pool, (claimed, 0))
        self._tried[pool] = claimed, times + 1 if before == claimed else 1
        logger.info("chain=%s pool=%s was read for claims of its fees", account.chain_id, pool)
        return True


def _known_claims(tokens: Iterable[Token]) -> defaultdict[tuple[int, str], int]:
    """(token id, mint) -> what is known to have been claimed of it."""
    rows = FeeClaim.objects.filter(event__token__in=tokens).order_by().values_list("event__token", "currency")
    known = defaultdict[tuple[int, str], int](int)
    for token_id, currency, amount in rows.annotate(total=Sum("amount")):
        known[token_id or 0, currency] = int(amount)
    return known

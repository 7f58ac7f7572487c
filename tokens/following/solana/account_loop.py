"""Solana's accounts, followed until the turn ends: each listed and read in its turn, and how far all are is noted."""

import logging
import time
from dataclasses import dataclass, field

from django.conf import settings

from config.http.json_client import Retryable
from tokens.chains.solana.solana_chain import SolanaChain
from tokens.following import chain_heads
from tokens.following.coverage import Overtaken
from tokens.following.leader_loops import Term
from tokens.following.solana import followed_accounts
from tokens.following.solana.account_listing import list_page
from tokens.following.solana.signature_reading import Read, read_some
from tokens.installation.installed_chains import installed_solana
from tokens.models import FollowedAccount

logger = logging.getLogger(__name__)

# What troubles call this loop.
ACCOUNTS = "accounts"

# Seconds between two lines about an account that has much to be read.
_LINE_EVERY = 10.0


def follow_accounts(term: Term) -> None:
    """List and read the accounts of the registry, again and again, until the turn ends."""
    rounds = Rounds(installed_solana())
    while not term.ended.is_set():
        try:
            busy = rounds.take(term)
            term.troubles.clear(ACCOUNTS)
        except Retryable as error:
            term.ended.wait(term.troubles.note(ACCOUNTS, error, longest_pause=settings.FOLLOW_POLL_SECONDS))
            continue
        if not busy:
            term.ended.wait(settings.FOLLOW_POLL_SECONDS)


@dataclass
class Rounds:
    """What is done over and over: one step for each account, so that one with a long past holds up no other."""

    chain: SolanaChain
    _pace: "_Pace" = field(default_factory=lambda: _Pace(), init=False)

    def take(self, term: Term) -> bool:
        """Take a step for each account, and note how far they are; says whether some have more to do at once.

        Where a step fails, only its account waits. Raises NodeUnavailable where there is no newest slot to be had.
        """
        head = self.chain.read_head()
        rows = followed_accounts.open_accounts(self.chain.info)
        busy = False
        for account in rows:
            if term.ended.is_set():
                break
            busy |= self._step(account, term, head=head)
        chain_heads.store_slots(self.chain.info, head=head, followed=followed_accounts.followed_to(rows))
        return busy

    def _step(self, account: FollowedAccount, term: Term, *, head: int) -> bool:
        part = f"account {account.address}"
        try:
            has_more = self.advance(account, head=head)
        except Overtaken as error:
            # Whoever else leads the chain by now will be told by the lock.
            logger.info("%s", error)
            account.refresh_from_db()
            return False
        except Retryable as error:
            # The next round comes after the pause between two anyway.
            term.troubles.note(part, error, longest_pause=settings.FOLLOW_POLL_SECONDS)
            account.refresh_from_db()
            return False
        # A first page says nothing of those behind it, which may be what is wrong each time.
        if account.listed or not has_more:
            term.troubles.clear(part)
        return has_more

    def advance(self, account: FollowedAccount, *, head: int) -> bool:
        """List one page, or read what is listed; says whether more is to be done before the account is up to date.

        Raises Overtaken, Retryable.
        """
        if not account.listed:
            list_page(account, chain=self.chain, head=head)
            if not account.listed:
                return True
        if followed_accounts.unread(account).exists():
            self._pace.begin(account)
            self._pace.note(account, read_some(account, chain=self.chain))
            if followed_accounts.unread(account).exists():
                return True
        self._pace.end(account)
        followed_accounts.complete(account)
        return False


@dataclass
class _Pace:
    """How fast accounts are read, for the log."""

    _begun: dict[int, float] = field(default_factory=dict, init=False)
    _said: dict[int, float] = field(default_factory=dict, init=False)
    _read: dict[int, Read] = field(default_factory=dict, init=False)

    def begin(self, account: FollowedAccount) -> None:
        """The account is about to be read, or goes on."""
        now = self._begun.setdefault(account.pk, time.monotonic())
        self._said.setdefault(account.pk, now)

    def note(self, account: FollowedAccount, read: Read) -> None:
        """So much was read since the last time."""
        before = self._read.get(account.pk, Read(transactions=0, launches=0))
        self._read[account.pk] = Read(
            transactions=before.transactions + read.transactions, launches=before.launches + read.launches
        )
        if time.monotonic() - self._said[account.pk] >= _LINE_EVERY:
            self._say(account)

    def end(self, account: FollowedAccount) -> None:
        """The account is up to date."""
        read = self._read.get(account.pk)
        if read and read.launches:
            self._say(account)
        for kept in (self._begun, self._said, self._read):
            kept.pop(account.pk, None)

    def _say(self, account: FollowedAccount) -> None:
        now = self._said[account.pk] = time.monotonic()
        read, seconds = self._read[account.pk], max(now - self._begun[account.pk], 0.001)
        logger.info(
            "chain=%s account=%s transactions=%s launches=%s transactions_per_second=%.0f",
            account.chain_id,
            account.address,
            read.transactions,
            read.launches,
            read.transactions / seconds,
        )

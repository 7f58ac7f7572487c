"""The loop over Solana's followed accounts: it lists and reads each in turn, and stores their common progress."""

import logging
import time
from dataclasses import dataclass, field

from django.conf import settings

from config.http.errors import RetryableError
from config.http.request_ids import begin_request
from tokens.chains.solana.solana_chain import SolanaChain
from tokens.following.coverage import ProgressConflictError
from tokens.following.leader_loops import LeaderSession
from tokens.following.solana import followed_accounts
from tokens.following.solana.account_listing import list_signature_page
from tokens.following.solana.signature_reading import ReadCounts, read_listed
from tokens.installation.installed_chains import installed_solana
from tokens.models import FollowedAccount

logger = logging.getLogger(__name__)

# The name of this loop among the failures.
ACCOUNTS = "accounts"

# Seconds between two log lines about an account with a long history.
_LOG_INTERVAL_SECONDS = 10.0


def follow_accounts(session: LeaderSession) -> None:
    """List and read the registry's accounts, again and again, until the session ends."""
    rounds = AccountRounds(installed_solana())
    while not session.ended.is_set():
        begin_request()
        try:
            busy = rounds.run_once(session)
            session.failures.clear(ACCOUNTS)
        except RetryableError as error:
            session.ended.wait(session.failures.record(ACCOUNTS, error, max_delay=settings.FOLLOW_POLL_SECONDS))
            continue
        if not busy:
            session.ended.wait(settings.FOLLOW_POLL_SECONDS)


@dataclass
class AccountRounds:
    """Rounds with one step per account, so that an account with a long history delays no other."""

    chain: SolanaChain
    _rate: "_ReadRate" = field(default_factory=lambda: _ReadRate(), init=False)

    def run_once(self, session: LeaderSession) -> bool:
        """Take a step for each account and store their progress. Return whether some have more to do at once.

        A failed step delays only its account. Raises NodeUnavailableError without a newest slot.
        """
        head = self.chain.read_head()
        rows = followed_accounts.open_accounts(self.chain.info)
        busy = False
        for account in rows:
            if session.ended.is_set():
                break
            busy |= self._step(account, session, head=head)
        followed_accounts.store_slot_head(self.chain.info, head=head, followed=followed_accounts.followed_slot(rows))
        return busy

    def _step(self, account: FollowedAccount, session: LeaderSession, *, head: int) -> bool:
        name = f"account {account.address}"
        try:
            has_more = self.advance(account, head=head)
        except ProgressConflictError as error:
            # Another process has taken over; the leader lock decides that.
            logger.info("%s", error)
            account.refresh_from_db()
            return False
        except RetryableError as error:
            # The next round comes after a delay anyway.
            session.failures.record(name, error, max_delay=settings.FOLLOW_POLL_SECONDS)
            account.refresh_from_db()
            return False
        # The first page proves nothing about later pages, one of which may fail each time.
        if account.listed or not has_more:
            session.failures.clear(name)
        return has_more

    def advance(self, account: FollowedAccount, *, head: int) -> bool:
        """List one page, or read listed transactions. Return whether the account needs further steps to be up to date.

        Raises ProgressConflictError, RetryableError.
        """
        if not account.listed:
            list_signature_page(account, chain=self.chain, head=head)
            if not account.listed:
                return True
        if followed_accounts.unread_signatures(account).exists():
            self._rate.begin(account)
            self._rate.record(account, read_listed(account, chain=self.chain))
            if followed_accounts.unread_signatures(account).exists():
                return True
        self._rate.end(account)
        followed_accounts.complete_listing(account)
        return False


@dataclass
class _ReadRate:
    """The rate at which accounts are read, for the log."""

    _begun: dict[int, float] = field(default_factory=dict, init=False)
    _logged_at: dict[int, float] = field(default_factory=dict, init=False)
    _read: dict[int, ReadCounts] = field(default_factory=dict, init=False)

    def begin(self, account: FollowedAccount) -> None:
        """Start or continue to measure an account."""
        now = self._begun.setdefault(account.pk, time.monotonic())
        self._logged_at.setdefault(account.pk, now)

    def record(self, account: FollowedAccount, read: ReadCounts) -> None:
        """Record the counts since the last call."""
        before = self._read.get(account.pk, ReadCounts(transactions=0, launches=0, trades=0))
        self._read[account.pk] = ReadCounts(
            transactions=before.transactions + read.transactions,
            launches=before.launches + read.launches,
            trades=before.trades + read.trades,
        )
        if time.monotonic() - self._logged_at[account.pk] >= _LOG_INTERVAL_SECONDS:
            self._log(account)

    def end(self, account: FollowedAccount) -> None:
        """End the measurement: the account is up to date."""
        read = self._read.get(account.pk)
        if read and read.launches:
            self._log(account)
        for state in (self._begun, self._logged_at, self._read):
            state.pop(account.pk, None)

    def _log(self, account: FollowedAccount) -> None:
        now = self._logged_at[account.pk] = time.monotonic()
        read, seconds = self._read[account.pk], max(now - self._begun[account.pk], 0.001)
        logger.info(
            "chain=%s account=%s transactions=%s launches=%s trades=%s transactions_per_second=%.0f",
            account.chain_id,
            account.address,
            read.transactions,
            read.launches,
            read.trades,
            read.transactions / seconds,
        )

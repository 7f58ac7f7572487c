"""The loop over Solana's pools: it finds transactions that name no launchpad account, and reads curves.

These transactions are creators' claims, and swaps in pools with a foreign config but a launchpad's creator. A pool
account stores its price and all fees ever claimed. If more fees were claimed than are stored, or the price differs from
the last trade's, the pool's own transactions are listed and read like a config's. So a claim costs reading its pool's
trades, and a pool without a claim costs a hundredth of a call.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from django.conf import settings
from django.db.models import OuterRef, Subquery, Sum

from config.http.errors import RetryableError
from config.http.request_ids import begin_request
from tokens.chains.solana.bonding_curve_fees import PoolTotals
from tokens.chains.solana.solana_chain import SolanaChain
from tokens.following.coverage import ProgressConflictError
from tokens.following.leader_loops import LeaderSession
from tokens.following.solana import followed_accounts
from tokens.following.solana.account_loop import AccountRounds
from tokens.following.solana.curve_reading import store_curves, store_progress
from tokens.installation.installed_chains import installed_solana
from tokens.installation.market_sources import has_own_trades
from tokens.models import Candle, FeeClaim, Token
from tokens.models.candle import DAY
from tokens.trades.pool_prices import pool_price
from tokens.trades.pool_tokens import PoolToken, find_pool_tokens

logger = logging.getLogger(__name__)

# The name of this loop among the failures.
POOLS = "claims"
_CURVES = "curves"

# The most accounts in one call to a node.
_AT_ONCE = 100
# How many times a pool is read for the same totals: its transactions may be listed late.
_TRIES = 3
_LONGEST_PAUSE = 10.0
# Seconds between two such calls.
_PAUSE = 0.25
# The most pages or batches that are read for one pool before the next pool has its turn.
_STEPS = 50


def watch_pools(session: LeaderSession) -> None:
    """Compare all pools with stored rows and read missing transactions, again and again, until the session ends."""
    watch = PoolWatch(installed_solana())
    while not session.ended.is_set():
        begin_request()
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
class PoolWatch:
    """A walk through the tokens' pools that resumes where it was interrupted."""

    chain: SolanaChain
    _behind: int = field(default=0, init=False)
    # Whether the walk could not read some curves.
    _lacks_curves: bool = field(default=False, init=False)
    # Pool -> the last reported totals beyond the stored ones, and how many times the pool was read for them.
    _tried: dict[str, tuple[PoolTotals, int]] = field(default_factory=dict, init=False)

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
            reported = self.chain.read_pool_totals([token.pool_address for token in tokens])
            self._update_curves(tokens, reported, session)
            for token, totals in self._find_unread(tokens, reported):
                if session.ended.is_set():
                    return False
                has_more |= not self._try(token, totals, session)
            self._behind = tokens[-1].pk
        if not self._lacks_curves:
            session.failures.clear(_CURVES)
        self._behind, self._lacks_curves = 0, False
        return has_more

    def _update_curves(
        self, tokens: Iterable[Token], reported: Mapping[str, PoolTotals], session: LeaderSession
    ) -> None:
        """Store curves and progress where trades are followed. The next walk retries curves that can't be read."""
        if not has_own_trades(self.chain.info.chain_id):
            return
        pools = {token.pk: reported[token.pool_address] for token in tokens if token.pool_address in reported}
        try:
            store_curves(self.chain, pools)
        except RetryableError as error:
            self._lacks_curves = True
            session.failures.record(_CURVES, error, max_delay=_LONGEST_PAUSE)
        store_progress(self.chain, pools)

    def _find_unread(
        self, tokens: list[Token], reported: Mapping[str, PoolTotals]
    ) -> Iterable[tuple[Token, PoolTotals]]:
        """Yield tokens whose pools have claims or trades that are not stored, with the pools' totals."""
        claims = _stored_claims(tokens)
        traded = self._find_traded(tokens, reported)
        for token in tokens:
            totals = reported.get(token.pool_address)
            if totals is None:
                continue
            ours = claims[token.pk, token.contract_address], claims[token.pk, token.paired_token]
            is_more = any(now > then for now, then in zip(totals.claimed, ours, strict=True))
            if (is_more or token.pk in traded) and self._tried.get(token.pool_address, (None, 0)) != (totals, _TRIES):
                yield token, totals

    def _find_traded(self, tokens: Iterable[Token], reported: Mapping[str, PoolTotals]) -> set[int]:
        """Return tokens whose price differs from their last trade's, in pools without a followed config."""
        info = self.chain.info
        configs = info.addresses("launch_config")
        pools = {pool for pool, totals in reported.items() if totals.config not in configs}
        if not pools or not has_own_trades(info.chain_id):
            return set()
        last_prices = _last_prices(tokens)
        return {
            token.token_id
            for pool, token in find_pool_tokens(info, pools).items()
            if (price := _price(reported[pool], token)) is not None and price != last_prices.get(token.token_id)
        }

    def _try(self, token: Token, totals: PoolTotals, session: LeaderSession) -> bool:
        """Read a pool as `_read` does. A pool that fails waits for the next walk, and delays no other."""
        name = f"pool {token.pool_address}"
        try:
            is_through = self._read(token, totals, session)
        except RetryableError as error:
            session.failures.record(name, error, max_delay=_LONGEST_PAUSE)
            return True
        session.failures.clear(name)
        return is_through

    def _read(self, token: Token, totals: PoolTotals, session: LeaderSession) -> bool:
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
        before, times = self._tried.get(pool, (totals, 0))
        self._tried[pool] = totals, times + 1 if before == totals else 1
        logger.info("chain=%s pool=%s was read", account.chain_id, pool)
        return True


def _stored_claims(tokens: Iterable[Token]) -> defaultdict[tuple[int, str], int]:
    """Return (token id, mint) -> the sum of stored claims."""
    rows = FeeClaim.objects.filter(event__token__in=tokens).order_by().values_list("event__token", "currency")
    claims = defaultdict[tuple[int, str], int](int)
    for token_id, currency, amount in rows.annotate(total=Sum("amount")):
        claims[token_id or 0, currency] = int(amount)
    return claims


def _last_prices(tokens: Iterable[Token]) -> dict[int, Decimal | None]:
    """Return token id -> the price after its last trade. Daily candles have it even after trades are dropped."""
    days = Candle.objects.filter(token_id=OuterRef("pk"), seconds=DAY).order_by("-at")
    rows = Token.objects.filter(pk__in=[token.pk for token in tokens])
    return dict(rows.annotate(close=Subquery(days.values("close")[:1])).values_list("pk", "close"))


def _price(totals: PoolTotals, token: PoolToken) -> Decimal | None:
    if totals.sqrt_price is None or token.quote_decimals is None:
        return None
    return pool_price(
        totals.sqrt_price, decimals=token.decimals, quote_decimals=token.quote_decimals, is_currency0=True
    )

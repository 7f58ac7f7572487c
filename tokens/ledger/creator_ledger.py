"""Creator ledger: two pages, launches and tokens that pay the wallet, both with outcomes and fees."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from config.cursors import Cursor, LegacyCursor
from tokens.catalogue.list_plan import fetch_list
from tokens.catalogue.listing import ListSort, PageKey, PageRequest, TokenPage
from tokens.catalogue.records import Extras
from tokens.catalogue.responses import TokenRecord
from tokens.catalogue.selections import Selection, declared_generations
from tokens.ledger import responses
from tokens.ledger.creator_facts import read_totals, read_user, select_launches
from tokens.ledger.creators import Creator
from tokens.ledger.fee_ledger import KnownAmounts, PayeeFees, read_token_fees, read_wallet_claims
from tokens.ledger.launch_outcomes import LaunchOutcome, read_outcomes
from tokens.ledger.waiting_fees import WaitingReport, read_waiting
from tokens.models import Token

_SORT = ListSort()
_WITH_MARKET = Extras(market=True)
_COLUMNS = (
    *("chain_id", "contract_address", "symbol", "decimals", "supply", "pair", "paired_token", "generation"),
    *("position_id", "locker_address", "pool_address", "block_number", "deployed_at", "extensions"),
    *("launch__facts", "market__market_cap", "market__volume_24h", "market__tx_count_24h", "market__last_trade_at"),
    *("market__graduated_at", "market__curve_progress"),
)


@dataclass(frozen=True, kw_only=True)
class LedgerRequest:
    """Pages, days and chain reads for a ledger."""

    limit: int
    # Days with daily amounts, up to today in UTC.
    days: int
    includes_waiting: bool
    # The previous page's last row; None is the first page.
    launch_cursor: Cursor | LegacyCursor | None
    recipient_cursor: Cursor | LegacyCursor | None

    def first_day(self, now: datetime) -> date:
        """Return the first day with daily amounts; tomorrow if `days` is 0."""
        return (now - timedelta(days=self.days - 1)).date()


def parse_ledger_cursor(text: str | None) -> Cursor | LegacyCursor | None:
    """Return the position before a page, for either list. Raises CursorError."""
    return _SORT.parse_cursor(text)


def read_ledger(creator: Creator, request: LedgerRequest, now: datetime) -> responses.CreatorLedger:
    """Return the ledger in at most 20 queries. Waiting fees add a few shared node reads."""
    launches = _read_page(select_launches(creator), request.limit, request.launch_cursor)
    # No list has all wallets that a user owns.
    received = TokenPage([], None)
    if creator.address:
        received = _read_received(creator.address, request)
    reader = _EntryReader(request, launches, received, now=now)
    return {
        "creator": _describe_creator(creator),
        "totals": _describe_totals(creator, now),
        "claimed": _describe_claims(creator, request.first_day(now)),
        "launches": reader.entries(launches, recipient=""),
        "cursor": launches.cursor,
        "recipientOf": reader.entries(received, recipient=creator.address),
        "recipientCursor": received.cursor,
    }


def _read_received(address: str, request: LedgerRequest) -> TokenPage:
    """Return the page of tokens that name a wallet as fee recipient, or whose declared launchpad has paid it.

    One statement for both would read all tokens of a treasury before the first page.
    """
    limit, cursor = request.limit, request.recipient_cursor
    named = _read_page(Selection(fee_recipient=address), limit, cursor)
    paying = _read_page(Selection(paid_account=address), limit, cursor) if declared_generations() else None
    if not paying or not paying.records:
        return named
    record_by_id = {record["id"]: record for record in (*named.records, *paying.records)}
    keys = [PageKey(row_id, datetime.fromisoformat(record["deployed_at"])) for row_id, record in record_by_id.items()]
    keys.sort(key=lambda key: (key.value, key.row_id), reverse=True)
    has_more = len(keys) > limit or named.cursor or paying.cursor
    next_cursor = _SORT.build_cursor(keys[limit - 1]) if has_more else None
    return TokenPage([record_by_id[key.row_id] for key in keys[:limit]], next_cursor)


def _read_page(selection: Selection, limit: int, cursor: Cursor | LegacyCursor | None) -> TokenPage:
    page, _ = fetch_list(selection, _SORT, PageRequest(limit, cursor=cursor), _WITH_MARKET)
    return page


class _EntryReader:
    """Outcomes and fees for the tokens on both lists, read once together."""

    def __init__(self, request: LedgerRequest, *pages: TokenPage, now: datetime) -> None:
        ids = {record["id"] for page in pages for record in page.records}
        tokens = Token.objects.filter(pk__in=ids).select_related("launch", "market").only(*_COLUMNS)
        self._tokens: Mapping[int, Token] = {token.pk: token for token in tokens} if ids else {}
        # Sorted as on the lists: only the first tokens are read from the chain.
        ordered = [self._tokens[pk] for page in pages for pk in _ids(page) if pk in self._tokens]
        unique = list(dict.fromkeys(ordered))
        self._outcomes: Mapping[int, LaunchOutcome] = read_outcomes(unique, now) if unique else {}
        self._waiting: Mapping[int, WaitingReport] = read_waiting(unique, is_requested=request.includes_waiting)
        fees = read_token_fees(unique, request.first_day(now)) if unique else {}
        self._fees: Mapping[int, list[PayeeFees]] = fees

    def entries(self, page: TokenPage, *, recipient: str) -> list[responses.LedgerEntry]:
        """Return a page's entries; with a recipient, only that recipient's fees."""
        return [
            {
                "token": record,
                "outcome": _describe_outcome(self._outcomes[record["id"]]),
                "fees": [
                    _describe_fees(fees, self._waiting[record["id"]])
                    for fees in self._fees[record["id"]]
                    if recipient in ("", fees.payee.recipient)
                ],
            }
            for record in _known(page.records, self._tokens)
        ]


def _ids(page: TokenPage) -> Iterable[int]:
    return (record["id"] for record in page.records)


def _known(records: Iterable[TokenRecord], tokens: Mapping[int, Token]) -> Iterable[TokenRecord]:
    # A token may be hidden between two queries, but no row is deleted.
    return (record for record in records if record["id"] in tokens)


def _describe_creator(creator: Creator) -> responses.LedgerCreator:
    return {
        "key": creator.key,
        "fid": creator.fid,
        "address": creator.address or None,
        "user": read_user(creator),
    }


def _describe_totals(creator: Creator, now: datetime) -> responses.LedgerTotals:
    totals = read_totals(creator, now)
    return {
        "launches": totals.count,
        "isComplete": totals.is_complete,
        "firstLaunchAt": totals.first_at,
        "lastLaunchAt": totals.last_at,
        "stillTraded": totals.traded,
        "graduated": totals.graduated,
        "withWarnings": totals.warned,
        "volume24h": totals.volume_24h,
    }


def _describe_claims(creator: Creator, first_day: date) -> list[responses.WalletClaimsJson]:
    return [
        {
            "chainId": account.chain_id,
            "currency": account.currency,
            "symbol": quote.symbol,
            "decimals": quote.decimals,
            "claimed": _amount(claimed),
            "days": [
                {"day": day.isoformat(), "claimed": _digits(claimed.on(day))}
                for day in sorted(claimed.days, reverse=True)
            ],
        }
        for account, quote, claimed in read_wallet_claims(creator.address, first_day)
    ]


def _describe_outcome(outcome: LaunchOutcome) -> responses.OutcomeJson:
    return {
        "ageSeconds": int(outcome.age.total_seconds()),
        "graduated": outcome.is_graduated,
        "graduatedReason": outcome.graduation_reason or None,
        "graduatedAt": outcome.graduated_at,
        "curveProgress": outcome.curve_progress,
        "marketCap": outcome.market_cap,
        "peakMarketCap": outcome.peak_market_cap,
        "peakMarketCapReason": outcome.peak_reason or None,
        "volume24h": outcome.volume_24h,
        "volume": outcome.volume,
        "volumeReason": outcome.volume_reason or None,
        "lastTradeAt": outcome.last_trade_at,
        "stillTraded": outcome.is_still_traded,
    }


def _describe_fees(fees: PayeeFees, report: WaitingReport) -> responses.PayeeFeesJson:
    waiting = report.of(fees.payee)
    return {
        "recipient": fees.payee.recipient,
        "currency": fees.payee.currency,
        "symbol": fees.symbol or None,
        "decimals": fees.decimals,
        "earned": _amount(fees.earned),
        "claimed": _amount(fees.claimed),
        "waiting": {
            "harvested": _digits(waiting.harvested),
            "pending": _digits(waiting.pending),
            "blockNumber": waiting.block_number,
            "reason": waiting.reason or None,
        },
        "days": [
            {
                "day": day.isoformat(),
                "earned": _digits(fees.earned.on(day)),
                "claimed": _digits(fees.claimed.on(day)),
            }
            for day in sorted({*fees.earned.days, *fees.claimed.days}, reverse=True)
        ],
    }


def _amount(known: KnownAmounts) -> responses.LedgerAmount:
    return {"amount": _digits(known.total), "reason": known.reason or None}


def _digits(amount: int | None) -> str | None:
    return None if amount is None else str(amount)

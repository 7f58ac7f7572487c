"""Each followed chain's state in words for visitors, without nodes and their errors."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Min, OuterRef, Subquery
from django.utils.translation import gettext, ngettext

from config.site.formats import join_parts
from tokens.following.chain_status import ChainState, chain_state, with_progress
from tokens.installation import installed_registry
from tokens.installation.installed_registry import provider_networks
from tokens.installation.market_sources import has_own_trades
from tokens.models import ChainHead, Coverage, CoverageAlarm

# A shorter lag is not shown: blocks take seconds, and nodes report them later.
_SHOWN_LAG_SECONDS = 60
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


class ChainProgress(StrEnum):
    """Chain state, the worst last."""

    CURRENT = "current"
    STARTING = "starting"
    BEHIND = "behind"
    HALTED = "halted"


class HaltPeriod(NamedTuple):
    """When a halt began and ended; None while it goes on."""

    began_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class ChainReport:
    """A chain's facts on the status page. None is unknown."""

    chain_id: int
    name: str
    progress: ChainProgress
    # The state in words, with the lag.
    state: str
    # The newest block whose launches are read, and its time.
    block: int | None
    block_at: datetime | None
    # Every followed block up to this one was read a second time, from another provider or with a proof.
    verified: int | None
    # Above these, up to this one, blocks were only read again from the same provider; None if there are none.
    repeated: int | None
    # Chains that are read at finality have no second reading.
    is_final_only: bool
    counts_trades: bool
    market_source: str
    # When a halt began that is not over; None also if that is unknown.
    halted_since: datetime | None
    # The last incident: a corrected verification or a halt, whichever is later.
    alarm: CoverageAlarm | None
    halt: HaltPeriod | None


def read_chain_reports(now: datetime) -> list[ChainReport]:
    """Return the reports for all chains with a node that were ever followed, by name, in two queries."""
    followed = ChainHead.objects.filter(chain_id__in=list(settings.RPC_URLS))
    live = Coverage.objects.filter(chain_id=OuterRef("chain_id"), last_block=None).order_by().values("chain_id")
    first = Subquery(live.annotate(lowest=Min("first_block")).values("lowest"))
    heads = list(with_progress(followed).annotate(first_block=first))
    # A header that proves nothing about its block is no incident.
    wrong = CoverageAlarm.objects.exclude(missing=0, invented=0, corrected=0, kept=0)
    newest = wrong.order_by("chain_id", "-raised_at", "-id").distinct("chain_id")
    alarms = {alarm.chain_id: alarm for alarm in newest.filter(chain_id__in=[head.chain_id for head in heads])}
    reports = [_build_report(head, chain_state(head, now), alarms.get(head.chain_id)) for head in heads]
    return sorted(reports, key=lambda report: (report.name.lower(), report.chain_id))


def overall_state(reports: list[ChainReport], *, are_tasks_late: bool) -> tuple[ChainProgress, str]:
    """Return the chains' worst state, and a sentence about all chains.

    Chains that are up to date do not hide late background tasks: deployments are not watched then.
    """
    worst = max((report.progress for report in reports), key=list(ChainProgress).index, default=ChainProgress.STARTING)
    if worst is ChainProgress.CURRENT and are_tasks_late:
        return ChainProgress.BEHIND, gettext("Launches are read, but background tasks are late: other data may be old.")
    names = join_parts(report.name for report in reports if report.progress is worst)
    sentences = {
        ChainProgress.CURRENT: gettext("All chains are up to date."),
        ChainProgress.STARTING: gettext("Waiting for the first blocks of %(names)s."),
        ChainProgress.BEHIND: gettext("Some lists are late: %(names)s."),
        ChainProgress.HALTED: gettext("New launches are not read at the moment: %(names)s."),
    }
    return worst, sentences[worst] % {"names": names} if reports else gettext("No chain is followed yet.")


def _build_report(head: Any, state: ChainState, alarm: CoverageAlarm | None) -> ChainReport:
    chain_id = state.chain_id
    progress = _progress(state)
    # Before the first verification it is the block before the first one.
    is_known = head.halted_at and (head.resumed_at or state.is_halted)
    halt = HaltPeriod(head.halted_at, head.resumed_at) if is_known else None
    is_halt_later = halt and (halt.ended_at is None or alarm is None or alarm.raised_at < halt.ended_at)
    is_verified = state.verified is not None and state.verified >= head.first_block
    return ChainReport(
        chain_id=chain_id,
        name=installed_registry.chain_name(chain_id),
        progress=progress,
        state=_state_in_words(progress, state.lag_seconds),
        block=state.followed,
        block_at=_block_time(head),
        verified=state.verified if is_verified else None,
        repeated=state.repeated if state.repeated is not None and state.repeated >= head.first_block else None,
        is_final_only=chain_id == settings.SOLANA_CHAIN_ID,
        counts_trades=has_own_trades(chain_id),
        market_source=_market_source(chain_id),
        halted_since=head.halted_at if state.is_halted else None,
        alarm=None if is_halt_later else alarm,
        halt=halt if is_halt_later else None,
    )


def _progress(state: ChainState) -> ChainProgress:
    if state.is_halted:
        return ChainProgress.HALTED
    if state.lag_seconds is None:
        return ChainProgress.STARTING
    return ChainProgress.BEHIND if state.is_late or state.lag_seconds >= _SHOWN_LAG_SECONDS else ChainProgress.CURRENT


def _block_time(head: Any) -> datetime | None:
    if head.followed is None:
        return None
    block_time: datetime | None = head.head_at if head.followed >= head.head else head.written_at
    return block_time


def _state_in_words(progress: ChainProgress, lag_seconds: float | None) -> str:
    if progress is ChainProgress.BEHIND:
        return _lag_in_words(int(lag_seconds or 0))
    return {
        ChainProgress.CURRENT: gettext("Up to date"),
        ChainProgress.STARTING: gettext("Waiting for the first block"),
        ChainProgress.HALTED: gettext("Halted"),
    }[progress]


def _lag_in_words(seconds: int) -> str:
    if seconds >= 2 * _DAY:
        number = seconds // _DAY
        text = ngettext("Behind by %(number)d day", "Behind by %(number)d days", number)
    elif seconds >= 2 * _HOUR:
        number = seconds // _HOUR
        text = ngettext("Behind by %(number)d hour", "Behind by %(number)d hours", number)
    elif seconds >= _MINUTE:
        number = seconds // _MINUTE
        text = ngettext("Behind by %(number)d minute", "Behind by %(number)d minutes", number)
    else:
        number, text = seconds, ngettext("Behind by %(number)d second", "Behind by %(number)d seconds", seconds)
    return text % {"number": number}


def _market_source(chain_id: int) -> str:
    if has_own_trades(chain_id):
        return gettext("the chain's own trades")
    return gettext("an outside provider") if chain_id in provider_networks() else gettext("none")

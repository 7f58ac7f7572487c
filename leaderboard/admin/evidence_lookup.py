"""Lookup of the casts, texts, wallets, trades and people that a standing's evidence refers to.

Evidence has casts, texts and wallets as keys of 64 bits (`leaderboard.facts.short_keys`) to stay small. The facts of
the ranking's interval resolve them, as long as these are stored.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Exists, F, OuterRef, Window
from django.db.models.functions import RowNumber, TruncSecond

from accounts.models import SocialProfile
from leaderboard.facts.short_keys import cast_key, key_from_hex, key_to_hex, wallet_key
from leaderboard.models import Action, Interaction, Interval, Standing, Trade

# Carriers listed per text, the earliest ones.
MOST_CARRIERS = 12
# Keys of evidence that hold FIDs.
FIDS = frozenset(("fid", "actors"))


@dataclass(frozen=True)
class Carrier:
    """Reply or quote that carries a text: the first digits of its hash, its author, and the cast it is about."""

    hash_begins: str
    fid: int
    about: str


@dataclass(frozen=True)
class EvidenceNames:
    """Data by the keys of evidence; what is no longer among the facts is missing."""

    # Whole hashes.
    casts: Mapping[str, str]
    wallets: Mapping[str, str]
    # (Unix second, wallet's key, side) -> transactions.
    trades: Mapping[tuple[int, str, str], Sequence[str]]
    carriers: Mapping[str, Sequence[Carrier]]
    # FID -> user name.
    people: Mapping[int, str]
    # Chain of the traded token.
    chain_id: int | None


def look_up_names(standing: Standing) -> EvidenceNames:
    """Find the data that a standing's evidence refers to."""
    named: dict[str, set[Any]] = defaultdict(set)
    for name, value in _values(standing.evidence):
        named[name].add(value)
    carriers = _carriers(standing, named["key"])
    casts = _casts(standing, {*named["cast"], *(each.about for found in carriers.values() for each in found)})
    trades = _trades(standing, named["at"]) if named["wallet"] else []
    transactions: dict[tuple[int, str, str], list[str]] = defaultdict(list)
    for trade in trades:
        side = "buy" if trade.is_buy else "sell"
        transactions[int(trade.at.timestamp()), key_to_hex(wallet_key(trade.wallet)), side].append(trade.tx_hash)
    fids = {value for name in FIDS for value in named[name]}
    fids |= {each.fid for found in carriers.values() for each in found}
    return EvidenceNames(
        casts=casts,
        wallets={key_to_hex(wallet_key(trade.wallet)): trade.wallet for trade in trades},
        trades=transactions,
        carriers=carriers,
        people=_people(fids),
        chain_id=standing.token_chain_id,
    )


def _values(found: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each single value at any depth, with the key of it or its list."""
    if isinstance(found, Mapping):
        for key, value in found.items():
            yield from _values(value, key)
    elif isinstance(found, list):
        for value in found:
            yield from _values(value, name)
    else:
        yield name, found


def _interval_filter(standing: Standing) -> dict[str, Any]:
    """Return the filter for the agent's facts in the ranking's interval."""
    # A fact counts by the second in which it happened.
    end = standing.snapshot.computed_at + timedelta(seconds=1)
    return {"agent": standing.agent_id, "at__gte": end - Interval(standing.snapshot.interval).length, "at__lt": end}


def _numbers(keys: set[Any]) -> Iterator[int]:
    for key in keys:
        with suppress(ValueError, TypeError):
            yield key_from_hex(key)


def _carriers(standing: Standing, texts: set[Any]) -> dict[str, list[Carrier]]:
    keys = list(_numbers(texts))
    if not keys:
        return {}
    # Interactions with unknown casts do not count.
    known = Action.objects.filter(agent=OuterRef("agent"), cast_key=OuterRef("cast_key"))
    with_text = Interaction.objects.filter(Exists(known), **_interval_filter(standing), text_key__in=keys)
    place = Window(RowNumber(), partition_by=F("text_key"), order_by=("at", "key"))
    found: dict[str, list[Carrier]] = defaultdict(list)
    for interaction in with_text.annotate(place=place).filter(place__lte=MOST_CARRIERS).order_by("place"):
        found[key_to_hex(interaction.text_key)].append(
            Carrier(key_to_hex(interaction.message_key), interaction.actor_fid, key_to_hex(interaction.cast_key))
        )
    return found


def _casts(standing: Standing, keys: set[Any]) -> dict[str, str]:
    """Return casts of the agent, also from before the interval."""
    rows = Action.objects.filter(agent=standing.agent_id, cast_key__in=list(_numbers(keys)))
    return {key_to_hex(cast_key(cast_hash)): cast_hash for cast_hash in rows.values_list("cast_hash", flat=True)}


def _trades(standing: Standing, seconds: set[Any]) -> list[Trade]:
    rows = Trade.objects.filter(**_interval_filter(standing)).annotate(second=TruncSecond("at"))
    return list(rows.filter(second__in=[datetime.fromtimestamp(second, UTC) for second in seconds]).order_by("at"))


def _people(fids: set[Any]) -> dict[int, str]:
    rows = SocialProfile.objects.filter(fid__in=[fid for fid in fids if isinstance(fid, int)]).exclude(username="")
    return dict(rows.values_list("fid", "username"))

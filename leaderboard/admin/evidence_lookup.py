"""What the short names in a standing's evidence stand for: casts, texts, wallets, trades and people.

Evidence names casts, texts and wallets by keys of 64 bits (`leaderboard.facts.short_keys`), so that it stays small. They are found
again among the facts of the ranking's interval, as long as these are kept.
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
from leaderboard.facts.short_keys import cast_key, hex_of, key_of, wallet_key
from leaderboard.models import Action, Interaction, Interval, Standing, Trade

# Of the casts that carry one text, the first so many are named.
MOST_CARRIERS = 12
# By these evidence names FIDs.
FIDS = frozenset(("fid", "actors"))


@dataclass(frozen=True)
class Carrier:
    """A reply or quote that carries a text: the beginning of its hash, who wrote it, and the hash that it is about."""

    hash_begins: str
    fid: int
    about: str


@dataclass(frozen=True)
class Names:
    """By keys, as evidence has them; what is not among the facts any more is missing."""

    # Whole hashes.
    casts: Mapping[str, str]
    wallets: Mapping[str, str]
    # By second (Unix), wallet's key and side: transactions.
    trades: Mapping[tuple[int, str, str], Sequence[str]]
    carriers: Mapping[str, Sequence[Carrier]]
    # FID -> user name.
    people: Mapping[int, str]
    # Of the token that is traded.
    chain_id: int | None


def look_up(standing: Standing) -> Names:
    """Find what a standing's evidence names."""
    named: dict[str, set[Any]] = defaultdict(set)
    for name, value in _values(standing.evidence):
        named[name].add(value)
    carriers = _carriers(standing, named["key"])
    casts = _casts(standing, {*named["cast"], *(each.about for found in carriers.values() for each in found)})
    trades = _trades(standing, named["at"]) if named["wallet"] else []
    transactions: dict[tuple[int, str, str], list[str]] = defaultdict(list)
    for trade in trades:
        side = "buy" if trade.is_buy else "sell"
        transactions[int(trade.at.timestamp()), hex_of(wallet_key(trade.wallet)), side].append(trade.tx_hash)
    fids = {value for name in FIDS for value in named[name]}
    fids |= {each.fid for found in carriers.values() for each in found}
    return Names(
        casts=casts,
        wallets={hex_of(wallet_key(trade.wallet)): trade.wallet for trade in trades},
        trades=transactions,
        carriers=carriers,
        people=_people(fids),
        chain_id=standing.token_chain_id,
    )


def _values(found: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Each single value, however deep, with the key that it or its list stands under."""
    if isinstance(found, Mapping):
        for key, value in found.items():
            yield from _values(value, key)
    elif isinstance(found, list):
        for value in found:
            yield from _values(value, name)
    else:
        yield name, found


def _window(standing: Standing) -> dict[str, Any]:
    """The facts of the agent that the ranking counted."""
    # A fact counts by the second in which it happened.
    end = standing.snapshot.computed_at + timedelta(seconds=1)
    return {"agent": standing.agent_id, "at__gte": end - Interval(standing.snapshot.interval).length, "at__lt": end}


def _numbers(keys: set[Any]) -> Iterator[int]:
    for key in keys:
        with suppress(ValueError, TypeError):
            yield key_of(key)


def _carriers(standing: Standing, texts: set[Any]) -> dict[str, list[Carrier]]:
    keys = list(_numbers(texts))
    if not keys:
        return {}
    # Those with a cast that nobody knows don't count.
    known = Action.objects.filter(agent=OuterRef("agent"), cast_key=OuterRef("cast_key"))
    said = Interaction.objects.filter(Exists(known), **_window(standing), text_key__in=keys)
    place = Window(RowNumber(), partition_by=F("text_key"), order_by=("at", "key"))
    found: dict[str, list[Carrier]] = defaultdict(list)
    for one in said.annotate(place=place).filter(place__lte=MOST_CARRIERS).order_by("place"):
        found[hex_of(one.text_key)].append(Carrier(hex_of(one.message_key), one.actor_fid, hex_of(one.cast_key)))
    return found


def _casts(standing: Standing, keys: set[Any]) -> dict[str, str]:
    """Casts of the agent, also from before the interval."""
    rows = Action.objects.filter(agent=standing.agent_id, cast_key__in=list(_numbers(keys)))
    return {hex_of(cast_key(cast_hash)): cast_hash for cast_hash in rows.values_list("cast_hash", flat=True)}


def _trades(standing: Standing, seconds: set[Any]) -> list[Trade]:
    rows = Trade.objects.filter(**_window(standing)).annotate(second=TruncSecond("at"))
    return list(rows.filter(second__in=[datetime.fromtimestamp(second, UTC) for second in seconds]).order_by("at"))


def _people(fids: set[Any]) -> dict[int, str]:
    rows = SocialProfile.objects.filter(fid__in=[fid for fid in fids if isinstance(fid, int)]).exclude(username="")
    return dict(rows.values_list("fid", "username"))

"""Casts, people, agents, wallets and trades of evidence as texts that lead to where they can be looked at.

Pages of Farcaster's client: https://docs.farcaster.xyz/reference/farcaster/intent-urls
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from leaderboard.admin.evidence_lookup import Carrier, Names
from tokens.installation import installed_chains

_FARCASTER = "https://farcaster.xyz/~"
# Columns that evidence doesn't have, made of what its keys stand for.
_SAID, _TRANSACTIONS = "said", "transactions"


@dataclass(frozen=True, kw_only=True)
class Link:
    """A text, and the page that it leads to, if any; `is_outward` where that is not one of this site."""

    text: str
    page: str = ""
    is_outward: bool = False


def complete(row: Mapping[str, Any], names: Names) -> Mapping[str, Any]:
    """A row of evidence with the casts that carry its text, or the transactions that made its trade."""
    if "key" in row:
        return {**row, _SAID: list(names.carriers.get(row["key"], ()))}
    if row.keys() >= {"at", "wallet", "side"}:
        return {**row, _TRANSACTIONS: list(names.trades.get((row["at"], row["wallet"], row["side"]), ()))}
    return row


def links(column: str, value: Any, names: Names) -> tuple[Link, ...]:
    """What a value, or each of a list, leads to; empty for what is no name of anything."""
    make = _MAKERS.get(column)
    if make is None or value is None:
        return ()
    return tuple(make(one, names) for one in (value if isinstance(value, list) else [value]))


def _person(fid: Any, names: Names) -> Link:
    name = names.people.get(fid)
    return _outward(f"{fid} @{name}" if name else str(fid), f"{_FARCASTER}/profiles/{fid}")


def _agent(row_id: Any, names: Names) -> Link:
    return Link(text=str(row_id), page=reverse("admin:leaderboard_agent_change", args=[row_id]))


def _cast(named: Any, names: Names) -> Link:
    """By its key alone, or with how often it was answered so."""
    key, uses = (named.get("cast", ""), named.get("uses", 1)) if isinstance(named, Mapping) else (named, 1)
    cast_hash = names.casts.get(key)
    times = f" ({uses}×)" if uses > 1 else ""
    return _outward(f"{cast_hash or _beginning(key)}{times}", _conversation(cast_hash))


def _carrier(carrier: Carrier, names: Names) -> Link:
    """It is found below the cast that it is about: of its own hash only the beginning is known."""
    return _outward(
        f"{_beginning(carrier.hash_begins)} by {_person(carrier.fid, names).text}",
        _conversation(names.casts.get(carrier.about)),
    )


def _wallet(key: Any, names: Names) -> Link:
    address = names.wallets.get(key)
    if address is None:
        return Link(text=f"one with the key {key}")
    return _outward(address, names.chain_id and installed_chains.address_page(names.chain_id, address))


def _transaction(tx_hash: Any, names: Names) -> Link:
    return _outward(tx_hash, names.chain_id and installed_chains.transaction_page(names.chain_id, tx_hash))


def _beginning(key: Any) -> str:
    return f"0x{key}…"


def _conversation(cast_hash: str | None) -> str | None:
    return cast_hash and f"{_FARCASTER}/conversations/{cast_hash}"


def _outward(text: str, page: str | int | None) -> Link:
    return Link(text=text, page=str(page), is_outward=True) if page else Link(text=text)


_MAKERS = {
    "fid": _person,
    "actors": _person,
    "agent": _agent,
    "agents": _agent,
    "cast": _cast,
    "casts": _cast,
    "wallet": _wallet,
    _SAID: _carrier,
    _TRANSACTIONS: _transaction,
}

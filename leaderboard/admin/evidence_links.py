"""Links from evidence to casts, people, agents, wallets and transactions.

Pages of Farcaster's client: https://docs.farcaster.xyz/reference/farcaster/intent-urls
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from leaderboard.admin.evidence_lookup import Carrier, EvidenceNames
from tokens.installation import installed_registry

_FARCASTER = "https://farcaster.xyz/~"
# Columns that are added to evidence: the data behind its keys.
_CARRIERS, _TRANSACTIONS = "said", "transactions"


@dataclass(frozen=True, kw_only=True)
class Link:
    """Text with an optional link target; `is_outward` if the target is on another site."""

    text: str
    page: str = ""
    is_outward: bool = False


def complete_row(row: Mapping[str, Any], names: EvidenceNames) -> Mapping[str, Any]:
    """Add to a row of evidence the casts that carry its text, or the transactions of its trade."""
    if "key" in row:
        return {**row, _CARRIERS: list(names.carriers.get(row["key"], ()))}
    if row.keys() >= {"at", "wallet", "side"}:
        return {**row, _TRANSACTIONS: list(names.trades.get((row["at"], row["wallet"], row["side"]), ()))}
    return row


def build_links(column: str, value: Any, names: EvidenceNames) -> tuple[Link, ...]:
    """Return a link for a value, or for each entry of a list; empty for columns without links."""
    maker = _MAKERS.get(column)
    if maker is None or value is None:
        return ()
    return tuple(maker(one, names) for one in (value if isinstance(value, list) else [value]))


def _person(fid: Any, names: EvidenceNames) -> Link:
    name = names.people.get(fid)
    return _outward(f"{fid} @{name}" if name else str(fid), f"{_FARCASTER}/profiles/{fid}")


def _agent(row_id: Any, names: EvidenceNames) -> Link:
    return Link(text=str(row_id), page=reverse("admin:leaderboard_agent_change", args=[row_id]))


def _cast(named: Any, names: EvidenceNames) -> Link:
    """Link a cast, named by its key, with the number of copies if known."""
    key, uses = (named.get("cast", ""), named.get("uses", 1)) if isinstance(named, Mapping) else (named, 1)
    cast_hash = names.casts.get(key)
    times = f" ({uses}×)" if uses > 1 else ""
    return _outward(f"{cast_hash or _hash_prefix(key)}{times}", _conversation(cast_hash))


def _carrier(carrier: Carrier, names: EvidenceNames) -> Link:
    """Link the cast that the reply is about: only the beginning of the reply's own hash is known."""
    return _outward(
        f"{_hash_prefix(carrier.hash_begins)} by {_person(carrier.fid, names).text}",
        _conversation(names.casts.get(carrier.about)),
    )


def _wallet(key: Any, names: EvidenceNames) -> Link:
    address = names.wallets.get(key)
    if address is None:
        return Link(text=f"one with the key {key}")
    return _outward(address, names.chain_id and installed_registry.explorer_address_page(names.chain_id, address))


def _transaction(tx_hash: Any, names: EvidenceNames) -> Link:
    return _outward(tx_hash, names.chain_id and installed_registry.explorer_transaction_page(names.chain_id, tx_hash))


def _hash_prefix(key: Any) -> str:
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
    _CARRIERS: _carrier,
    _TRANSACTIONS: _transaction,
}

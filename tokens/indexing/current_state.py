"""A token's current columns, folded from its launch, its changes and its document. Pure.

Changes are applied in the chain's order, and none changes the launch's facts: columns are always folded from the
beginning. So the result does not depend on the sequence in which launch and changes are indexed, on repetitions, or on
reorgs. A change is an event, or the token's state after a block, which includes all earlier events.
"""

import copy
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from tokens.chains.evm.generations.event_decoding import EventKind
from tokens.chains.types import fee_currency
from tokens.indexing.metadata import cut_text, parse_metadata

Json = dict[str, Any]


class Change(NamedTuple):
    """A change with its position in the chain."""

    block_number: int
    log_index: float
    # An event's kind, with its stored arguments; None with a state's facts.
    kind: str | None
    values: Json

    @classmethod
    def by_state(cls, block_number: int, facts: Json) -> "Change":
        """Return the change that sets the state after a block."""
        return cls(block_number, math.inf, None, facts)


CURRENT_COLUMNS = (
    "admin", "name", "symbol", "img_url", "pool_address", "metadata", "description", "verified_on_chain", "extensions",
)  # fmt: skip


def current_columns(facts: Json, changes: Iterable[Change], *, extensions: Json, document: Json | None = None) -> Json:
    """Return CURRENT_COLUMNS with their values, from the launch's facts and its changes.

    Name, symbol and pool are absent if the facts lack them: an earlier version stored facts without them.

    `document` is the launch's parsed document (`indexing.documents.document_content`). It fills in values that the
    chain leaves empty. `extensions` are the token's; only fee recipients, airdrop root and airdrop admin are replaced.
    """
    state: Json = {
        "admin": facts["admin"],
        **{name: facts[name] for name in ("name", "symbol") if name in facts},
        **({"pool": (facts["pool"] or {}).get("address")} if "pool" in facts else {}),
        "next_pool": facts.get("next_pool"),
        "image": facts["image"],
        "metadata": facts["metadata"],
        "verified": False,
        "fee_recipients": copy.deepcopy(facts["fee_recipients"]),
        "airdrop": copy.copy(facts["airdrop"]) or {},
    }
    for _, _, kind, values in sorted(changes, key=lambda change: change[:2]):
        if kind is None:
            state |= copy.deepcopy(values)
        else:
            _apply(state, EventKind(kind), values)
    content = document or {}
    metadata = parse_metadata(state["metadata"])
    for name in ("description", "socialMediaUrls"):
        metadata[name] = metadata[name] or content.get(name) or metadata[name]
    return {
        "admin": state["admin"] or "",
        **{name: cut_text(state[name]) for name in ("name", "symbol") if name in state},
        **({"pool_address": state["pool"] or ""} if "pool" in state else {}),
        "img_url": cut_text(state["image"]) or content.get("img_url", ""),
        "metadata": metadata,
        "description": metadata["description"] or "",
        "verified_on_chain": state["verified"],
        "extensions": _extensions(extensions, state),
    }


def current_uri(facts: Json, changes: Iterable[Change]) -> str | None:
    """Return the token document's location, from the launch's facts and its changes."""
    updated = [change for change in changes if change.kind == EventKind.URI_UPDATED]
    if updated:
        uri: str = max(updated, key=lambda change: change[:2]).values["uri"]
        return uri
    return facts.get("uri")


def _apply(state: Json, kind: EventKind, values: Json) -> None:
    match kind:
        case EventKind.ADMIN_UPDATED:
            state["admin"] = values["newAdmin"]
        case EventKind.NAME_UPDATED:
            state["name"] = values["name"]
        case EventKind.SYMBOL_UPDATED:
            state["symbol"] = values["symbol"]
        case EventKind.POOL_CHANGED:
            state["pool"] = values["pool"] or state["next_pool"] or state["pool"]
        case EventKind.IMAGE_UPDATED:
            state["image"] = values["image"]
        case EventKind.METADATA_UPDATED:
            state["metadata"] = values["metadata"]
        case EventKind.VERIFIED:
            state["verified"] = True
        case EventKind.REWARD_RECIPIENT_UPDATED:
            _share(state, values)["recipient"] = values["newRecipient"]
        case EventKind.REWARD_ADMIN_UPDATED:
            _share(state, values)["admin"] = values["newAdmin"]
        case EventKind.FEE_PREFERENCE_UPDATED:
            _share(state, values)["token"] = fee_currency(int(values["newFeePreference"]))
        case EventKind.AIRDROP_ROOT_UPDATED:
            state["airdrop"]["merkle_root"] = values["newMerkleRoot"]
        case EventKind.AIRDROP_ADMIN_UPDATED:
            state["airdrop"]["admin"] = values["newAdmin"]


def _share(state: Json, values: Json) -> Json:
    """Return the fee share that an event changes. An index that the launch lacks gets a share that is dropped."""
    index, shares = int(values["rewardIndex"]), state["fee_recipients"]
    share: Json = shares[index] if index < len(shares) else {}
    return share


def _extensions(extensions: Json, state: Json) -> Json:
    fees, airdrop = extensions["fees"], extensions["airdrop"]
    if fees:
        shares = [
            share | {name: now[name] for name in ("admin", "recipient", "token")}
            for share, now in zip(fees["recipients"], state["fee_recipients"], strict=False)
        ]
        fees = fees | {"recipients": shares}
    if airdrop:
        airdrop = airdrop | {"merkleRoot": state["airdrop"]["merkle_root"], "admin": state["airdrop"]["admin"]}
    return extensions | {"fees": fees, "airdrop": airdrop}

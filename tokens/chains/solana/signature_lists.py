"""The newest finalised slot of Solana, and the transactions that name an account.

Shapes: https://solana.com/docs/rpc/http/getsignaturesforaddress
"""

import logging
from dataclasses import dataclass
from typing import Any

from config.http.json_client import Permanent, Retryable
from tokens.chains.base58 import is_signature
from tokens.chains.rpc.client import Call, RpcClient
from tokens.chains.rpc.quantities import read_list, read_object, read_whole
from tokens.chains.rpc.responses import refuse_failures, refuse_lacks
from tokens.chains.solana.transaction_reading import FINALIZED

logger = logging.getLogger(__name__)

# The most that nodes tell of at once.
MOST_LISTED = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class SignatureInfo:
    """A transaction that names an account, as a listing tells of it."""

    signature: str
    slot: int
    # Unix seconds; None where the node does not know.
    block_time: int | None
    # Whether it was undone: it holds nothing then.
    failed: bool


def read_head(rpc: RpcClient) -> int:
    """As `SolanaChain.read_head`."""

    def read(results: list[Any]) -> int:
        refuse_failures(results)
        return read_whole(results[0])

    return rpc.ask([("getSlot", (FINALIZED,))], read=read)


def list_signatures(
    rpc: RpcClient, account: str, *, before: str | None, min_slot: int, most: int = MOST_LISTED
) -> list[SignatureInfo]:
    """As `SolanaChain.list_signatures`."""

    def read(results: list[Any]) -> list[SignatureInfo]:
        return _read_answer(results, before=before)

    return rpc.ask([_call(account, before=before, min_slot=min_slot, most=most)], read=read)


def list_by_every_node(
    rpc: RpcClient, account: str, *, before: str | None, min_slot: int
) -> list[list[SignatureInfo] | None]:
    """As `SolanaChain.list_by_every_node`."""
    call = _call(account, before=before, min_slot=min_slot, most=MOST_LISTED)
    pages: list[list[SignatureInfo] | None] = []
    for results in rpc.ask_every([call]):
        try:
            pages.append(None if results is None else _read_answer(results, before=before))
        except (Retryable, Permanent) as error:
            logger.warning("chain %s: a node can't list %s: %s", rpc.chain_id, account, error)
            pages.append(None)
    return pages


def _call(account: str, *, before: str | None, min_slot: int, most: int) -> Call:
    options: dict[str, Any] = {**FINALIZED, "limit": most, "minContextSlot": min_slot}
    if before is not None:
        options["before"] = before
    return "getSignaturesForAddress", (account, options)


def _read_answer(results: list[Any], *, before: str | None) -> list[SignatureInfo]:
    refuse_lacks(results)
    refuse_failures(results)
    return _read_list(results[0], before=before)


def _read_list(answer: Any, *, before: str | None) -> list[SignatureInfo]:
    """Raises Retryable where it is no such list: half an answer would be a gap that nobody sees."""
    entries = read_list(answer, of="a listing")
    try:
        listed = [_read_entry(read_object(entry, of="a transaction")) for entry in entries]
    except (KeyError, TypeError) as error:
        raise Retryable(f"half a listing ({error!r:.100})") from error
    slots = [entry.slot for entry in listed]
    signatures = {entry.signature for entry in listed}
    if slots != sorted(slots, reverse=True) or len(signatures) != len(listed) or before in signatures:
        raise Retryable("a listing that is out of order")
    return listed


def _read_entry(entry: dict[str, Any]) -> SignatureInfo:
    if not is_signature(entry["signature"]):
        raise TypeError("a signature that is none")
    return SignatureInfo(
        signature=entry["signature"],
        slot=read_whole(entry["slot"]),
        block_time=None if entry.get("blockTime") is None else read_whole(entry["blockTime"]),
        failed=entry["err"] is not None,
    )

"""Solana's newest finalised slot, and lists of the transactions that name an account.

Schema: https://solana.com/docs/rpc/http/getsignaturesforaddress
"""

import logging
from dataclasses import dataclass
from typing import Any

from config.http.errors import PermanentError, RetryableError
from tokens.chains.addresses import is_solana_signature
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import BLOCK_LIMIT, parse_integer, parse_list, parse_object, validate_block_time
from tokens.chains.rpc.responses import Call, require_method_offered, require_results
from tokens.chains.solana.transaction_reading import FINALIZED

logger = logging.getLogger(__name__)

# The nodes' page size limit.
MAX_LISTED = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class SignatureInfo:
    """A transaction that names an account, as listed by a node."""

    signature: str
    slot: int
    # Unix seconds; None if the node does not have it.
    block_time: int | None
    # A failed transaction has no effects.
    failed: bool


def read_head(rpc: RpcClient) -> int:
    """Return the newest slot as `SolanaChain.read_head` does."""

    def parse(results: list[Any]) -> int:
        require_results(results)
        return parse_integer(results[0], below=BLOCK_LIMIT)

    return rpc.query([("getSlot", (FINALIZED,))], parse=parse)


def list_signatures(
    rpc: RpcClient, account: str, *, before: str | None, min_slot: int, limit: int = MAX_LISTED
) -> list[SignatureInfo]:
    """List signatures as `SolanaChain.list_signatures` does."""

    def parse(results: list[Any]) -> list[SignatureInfo]:
        return _read_answer(results, before=before)

    return rpc.query([_call(account, before=before, min_slot=min_slot, limit=limit)], parse=parse)


def list_signatures_by_node(
    rpc: RpcClient, account: str, *, before: str | None, min_slot: int
) -> list[list[SignatureInfo] | None]:
    """List signatures as `SolanaChain.list_signatures_by_node` does."""
    call = _call(account, before=before, min_slot=min_slot, limit=MAX_LISTED)
    pages: list[list[SignatureInfo] | None] = []
    for results in rpc.call_all([call]):
        try:
            pages.append(None if results is None else _read_answer(results, before=before))
        except (RetryableError, PermanentError) as error:
            logger.warning("chain %s: a node can't list %s: %s", rpc.chain_id, account, error)
            pages.append(None)
    return pages


def _call(account: str, *, before: str | None, min_slot: int, limit: int) -> Call:
    options: dict[str, Any] = {**FINALIZED, "limit": limit, "minContextSlot": min_slot}
    if before is not None:
        options["before"] = before
    return "getSignaturesForAddress", (account, options)


def _read_answer(results: list[Any], *, before: str | None) -> list[SignatureInfo]:
    require_method_offered(results)
    require_results(results)
    return _read_list(results[0], before=before)


def _read_list(result: Any, *, before: str | None) -> list[SignatureInfo]:
    """Parse a signature list. Raises RetryableError if it is invalid: a partial list would be an unnoticed gap."""
    entries = parse_list(result, of="a listing")
    try:
        listed = [_read_entry(parse_object(entry, of="a transaction")) for entry in entries]
    except (KeyError, TypeError) as error:
        raise RetryableError(f"incomplete listing ({error!r:.100})") from error
    slots = [entry.slot for entry in listed]
    signatures = {entry.signature for entry in listed}
    if slots != sorted(slots, reverse=True) or len(signatures) != len(listed) or before in signatures:
        raise RetryableError("listing out of order")
    return listed


def _read_entry(entry: dict[str, Any]) -> SignatureInfo:
    if not is_solana_signature(entry["signature"]):
        raise TypeError("invalid signature")
    return SignatureInfo(
        signature=entry["signature"],
        slot=(slot := parse_integer(entry["slot"], below=BLOCK_LIMIT)),
        block_time=None
        if entry.get("blockTime") is None
        else validate_block_time(parse_integer(entry["blockTime"]), block=slot),
        failed=entry["err"] is not None,
    )

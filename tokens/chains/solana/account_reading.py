"""Solana account reads (`getMultipleAccounts`)."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from config.http.errors import PermanentError, RetryableError
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import BLOCK_LIMIT, parse_integer
from tokens.chains.rpc.responses import Call, require_method_offered, require_results
from tokens.chains.solana.transaction_reading import FINALIZED

logger = logging.getLogger(__name__)

Found = TypeVar("Found")


def read_accounts(
    rpc: RpcClient, addresses: Sequence[str], *, read: Callable[[list[Any]], Found], slot: int = 0
) -> Found:
    """Fetch up to 100 accounts in one call and return `read(accounts)`; each account is a JSON-RPC object or None.

    As `read_accounts_at`. Raises NodeUnavailableError.
    """
    return read_accounts_at(rpc, addresses, read=read, slot=slot)[1]


def read_accounts_at(
    rpc: RpcClient, addresses: Sequence[str], *, read: Callable[[list[Any]], Found], slot: int = 0
) -> tuple[int, Found]:
    """Fetch accounts in one call and return the slot at which the node read them, and `read(accounts)`.

    Nodes that have not reached `slot` are skipped. If `read` raises MalformedResponseError, the node counts as faulty.
    Raises NodeUnavailableError.
    """

    def parse(results: list[Any]) -> tuple[int, Found]:
        return _read_results(results, addresses, read=read, slot=slot)

    return rpc.query([_call(addresses, slot=slot)], parse=parse)


def read_accounts_by_node(
    rpc: RpcClient, addresses: Sequence[str], *, read: Callable[[list[Any]], Found]
) -> list[Found | None]:
    """Fetch accounts as `read_accounts` does, but from each node, in the setting's order.

    None for a node without a valid response. Raises nothing.
    """
    values: list[Found | None] = []
    for results in rpc.call_all([_call(addresses, slot=0)]):
        try:
            values.append(None if results is None else _read_results(results, addresses, read=read, slot=0)[1])
        except (RetryableError, PermanentError) as error:
            logger.warning("chain %s: a node returns no accounts: %s", rpc.chain_id, error)
            values.append(None)
    return values


def _call(addresses: Sequence[str], *, slot: int) -> Call:
    options = {**FINALIZED, "encoding": "base64", "minContextSlot": slot}
    return "getMultipleAccounts", (list(addresses), options)


def _read_results(
    results: list[Any], addresses: Sequence[str], *, read: Callable[[list[Any]], Found], slot: int
) -> tuple[int, Found]:
    """Return the slot at which the node read, and `read(accounts)`. Raises RetryableError."""
    require_method_offered(results)
    require_results(results)
    try:
        (result,) = results
        accounts, node_slot = list(result["value"]), parse_integer(result["context"]["slot"], below=BLOCK_LIMIT)
        if len(accounts) != len(addresses) or node_slot < slot:
            raise RetryableError("accounts of an older slot, or not all of them")
        return node_slot, read(accounts)
    except (KeyError, TypeError) as error:
        raise RetryableError(f"incomplete response ({error!r:.100})") from error

"""Accounts of Solana as the nodes tell of them."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from config.http import Retryable
from tokens.chains.rpc import RpcClient
from tokens.chains.rpc_answers import refuse_failures, refuse_lacks
from tokens.chains.solana_reading import FINALIZED

Found = TypeVar("Found")


def read_accounts(
    rpc: RpcClient, addresses: Sequence[str], *, read: Callable[[list[Any]], Found], slot: int = 0
) -> Found:
    """What `read` makes of up to 100 accounts, each an object of JSON-RPC or None, by one node at one moment.

    Nodes that have not come to the slot are passed over, and where `read` raises Malformed, the node counts as out
    of order. Raises NodeUnavailable.
    """
    options = {**FINALIZED, "encoding": "base64", "minContextSlot": slot}

    def read_results(results: list[Any]) -> Found:
        refuse_lacks(results)
        refuse_failures(results)
        try:
            (answer,) = results
            accounts = list(answer["value"])
            if len(accounts) != len(addresses) or answer["context"]["slot"] < slot:
                raise Retryable("accounts of another time, or not all of them")
            return read(accounts)
        except (KeyError, TypeError) as error:
            raise Retryable(f"half an answer ({error!r:.100})") from error

    return rpc.ask([("getMultipleAccounts", (list(addresses), options))], read=read_results)

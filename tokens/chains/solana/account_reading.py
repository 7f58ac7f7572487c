"""Accounts of Solana as the nodes tell of them."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from config.http.json_client import Retryable
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import read_whole
from tokens.chains.rpc.responses import refuse_failures, refuse_lacks
from tokens.chains.solana.transaction_reading import FINALIZED

Found = TypeVar("Found")


def read_accounts(
    rpc: RpcClient, addresses: Sequence[str], *, read: Callable[[list[Any]], Found], slot: int = 0
) -> Found:
    """What `read` makes of up to 100 accounts, each an object of JSON-RPC or None, by one node at one moment.

    As `read_accounts_at`. Raises NodeUnavailable.
    """
    return read_accounts_at(rpc, addresses, read=read, slot=slot)[1]


def read_accounts_at(
    rpc: RpcClient, addresses: Sequence[str], *, read: Callable[[list[Any]], Found], slot: int = 0
) -> tuple[int, Found]:
    """The slot at which the node looked, and what `read` makes of the accounts.

    Nodes that have not come to `slot` are passed over, and where `read` raises Malformed, the node counts as out
    of order. Raises NodeUnavailable.
    """
    options = {**FINALIZED, "encoding": "base64", "minContextSlot": slot}

    def read_results(results: list[Any]) -> tuple[int, Found]:
        refuse_lacks(results)
        refuse_failures(results)
        try:
            (answer,) = results
            accounts, seen = list(answer["value"]), read_whole(answer["context"]["slot"])
            if len(accounts) != len(addresses) or seen < slot:
                raise Retryable("accounts of another time, or not all of them")
            return seen, read(accounts)
        except (KeyError, TypeError) as error:
            raise Retryable(f"half an answer ({error!r:.100})") from error

    return rpc.ask([("getMultipleAccounts", (list(addresses), options))], read=read_results)

"""Account reads of Solana (`getMultipleAccounts`)."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from config.http.errors import RetryableError
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import parse_integer
from tokens.chains.rpc.responses import require_method_offered, require_results
from tokens.chains.solana.transaction_reading import FINALIZED

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
    options = {**FINALIZED, "encoding": "base64", "minContextSlot": slot}

    def read_results(results: list[Any]) -> tuple[int, Found]:
        require_method_offered(results)
        require_results(results)
        try:
            (result,) = results
            accounts, seen = list(result["value"]), parse_integer(result["context"]["slot"])
            if len(accounts) != len(addresses) or seen < slot:
                raise RetryableError("accounts of an older slot, or not all of them")
            return seen, read(accounts)
        except (KeyError, TypeError) as error:
            raise RetryableError(f"incomplete response ({error!r:.100})") from error

    return rpc.query([("getMultipleAccounts", (list(addresses), options))], parse=read_results)

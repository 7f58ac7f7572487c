"""Accounts and contract code, as of the newest block."""

from collections.abc import Sequence
from typing import Any

from config.http.errors import RetryableError
from tokens.chains.abi import codec
from tokens.chains.addresses import checksum_address
from tokens.chains.evm.eth_calls import ViewCall, call_views
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import NONCE_LIMIT, parse_amount, parse_block_number, parse_data, parse_quantity
from tokens.chains.rpc.responses import Call, require_results
from tokens.chains.transaction_types import AccountState

_TOKEN = codec.load_abi("token")
_DECIMALS = _TOKEN.function("decimals")
_BALANCE = _TOKEN.function("balanceOf")
# Code prefix of an account that executes another address's code; the address follows (EIP-7702).
_DELEGATED = "0xef0100"


def read_accounts(rpc: RpcClient, addresses: Sequence[str]) -> dict[str, AccountState]:
    """Implement `Chain.read_accounts`."""

    def calls(address: str) -> list[Call]:
        return [("eth_getTransactionCount", (address, "latest")), ("eth_getBalance", (address, "latest"))]

    def parse(address: str, results: list[Any]) -> AccountState:
        nonce, balance = results
        return AccountState(nonce=parse_quantity(nonce, below=NONCE_LIMIT), balance=parse_amount(balance))

    return rpc.query_each(addresses, calls=calls, parse=parse)


def read_delegates(rpc: RpcClient, addresses: Sequence[str]) -> dict[str, str]:
    """Implement `Chain.read_delegates`."""

    def calls(address: str) -> list[Call]:
        return [("eth_getCode", (address, "latest"))]

    def parse(_address: str, results: list[Any]) -> str | None:
        code = parse_data(results[0])
        is_delegated = code.startswith(_DELEGATED) and len(code) == len(_DELEGATED) + 40
        return checksum_address("0x" + code.removeprefix(_DELEGATED)) if is_delegated else None

    return rpc.query_each(addresses, calls=calls, parse=parse)


def has_code(rpc: RpcClient, address: str, *, since: int) -> bool:
    """Implement `Chain.has_code`."""

    def parse(results: list[Any]) -> bool:
        require_results(results)
        head, code = results
        if parse_block_number(head) < since:
            raise RetryableError(f"it is behind: it lacks block {since}")
        return parse_data(code) != "0x"

    return rpc.query([("eth_blockNumber", ()), ("eth_getCode", (address, "latest"))], parse=parse)


def read_decimals(rpc: RpcClient, address: str) -> int | None:
    """Implement `Chain.read_decimals`."""
    (answer,) = call_views(rpc, [ViewCall(contract=address, function=_DECIMALS)])
    return None if answer is None else int(answer["decimals"])


def read_token_balances(rpc: RpcClient, token: str, accounts: Sequence[str], *, block: int) -> dict[str, int | None]:
    """Return account -> ERC-20 balance after a block; None where the contract reports none.

    Raises NodeUnavailableError.
    """
    views = [ViewCall(contract=token, function=_BALANCE, arguments=(account,)) for account in accounts]
    answers = call_views(rpc, views, block=block)
    balances = (None if answer is None else int(answer["balance"]) for answer in answers)
    return dict(zip(accounts, balances, strict=True))

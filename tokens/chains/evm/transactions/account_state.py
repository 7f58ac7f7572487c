"""Accounts, gas prices and contract code, as of the newest block."""

from collections.abc import Sequence
from typing import Any

from config.http.errors import RetryableError
from tokens.chains.abi import codec
from tokens.chains.evm.eth_calls import ViewCall, call_views
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import parse_amount, parse_data, parse_object, parse_quantity
from tokens.chains.rpc.responses import Call, CallFailure, RejectionKind, require_results
from tokens.chains.transaction_types import AccountState, FeeQuote

# No chain's base fee grows by more than an eighth from one block to the next (EIP-1559).
_GROWTH = 8

_DECIMALS = codec.load_abi("token").function("decimals")


def read_accounts(rpc: RpcClient, addresses: Sequence[str]) -> dict[str, AccountState]:
    """Implement `Chain.read_accounts`."""

    def calls(address: str) -> list[Call]:
        return [("eth_getTransactionCount", (address, "latest")), ("eth_getBalance", (address, "latest"))]

    def parse(address: str, results: list[Any]) -> AccountState:
        nonce, balance = results
        return AccountState(nonce=parse_quantity(nonce), balance=parse_amount(balance))

    return rpc.query_each(addresses, calls=calls, parse=parse)


def read_fees(rpc: RpcClient) -> FeeQuote:
    """Implement `Chain.read_fees`."""
    calls = [
        ("eth_getBlockByNumber", ("latest", False)),
        ("eth_gasPrice", ()),
        ("eth_maxPriorityFeePerGas", ()),
    ]
    return rpc.query(calls, parse=_read_fees)


def _read_fees(results: list[Any]) -> FeeQuote:
    block, price, tip = results
    require_results([block, price])
    base_fee = parse_quantity(parse_object(block, of="a block").get("baseFeePerGas"))
    if isinstance(tip, CallFailure) and tip.kind is RejectionKind.METHOD:
        # The usual price of legacy transactions includes the tip.
        priority_fee = max(0, parse_quantity(price) - base_fee)
    else:
        require_results([tip])
        priority_fee = parse_quantity(tip)
    return FeeQuote(base_fee=base_fee + -(-base_fee // _GROWTH), priority_fee=priority_fee)


def has_code(rpc: RpcClient, address: str, *, since: int) -> bool:
    """Implement `Chain.has_code`."""

    def parse(results: list[Any]) -> bool:
        require_results(results)
        head, code = results
        if parse_quantity(head) < since:
            raise RetryableError(f"it is behind: it lacks block {since}")
        return parse_data(code) != "0x"

    return rpc.query([("eth_blockNumber", ()), ("eth_getCode", (address, "latest"))], parse=parse)


def read_decimals(rpc: RpcClient, address: str) -> int | None:
    """Implement `Chain.read_decimals`."""
    (answer,) = call_views(rpc, [ViewCall(contract=address, function=_DECIMALS)])
    return None if answer is None else int(answer["decimals"])

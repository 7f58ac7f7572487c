"""What nodes tell of accounts and of the price of gas, as of the newest block."""

from collections.abc import Sequence
from typing import Any

from config.http.json_client import Retryable
from tokens.chains.abi import codec
from tokens.chains.evm.eth_calls import Question, ask
from tokens.chains.rpc.client import Call, CallFailed, RpcClient
from tokens.chains.rpc.quantities import read_amount, read_data, read_number, read_object
from tokens.chains.rpc.responses import Refusal, refuse_failures
from tokens.chains.transaction_types import Account, FeeQuote

# No chain's base fee grows by more than an eighth from one block to the next (EIP-1559).
_GROWTH = 8

_DECIMALS = codec.load("token").function("decimals")


def read_accounts(rpc: RpcClient, addresses: Sequence[str]) -> dict[str, Account]:
    """As `Chain.read_accounts`."""
    found: dict[str, Account] = {}
    # Two calls for each, so that both are of one node.
    size = max(1, rpc.batch_size // 2)
    for start in range(0, len(addresses), size):
        found |= _read_part(rpc, addresses[start : start + size])
    return found


def _read_part(rpc: RpcClient, addresses: Sequence[str]) -> dict[str, Account]:
    def read(results: list[Any]) -> dict[str, Account]:
        refuse_failures(results)
        told = zip(addresses, results[::2], results[1::2], strict=True)
        return {
            address: Account(nonce=read_number(nonce), balance=read_amount(balance)) for address, nonce, balance in told
        }

    calls: list[Call] = []
    for address in addresses:
        calls += [("eth_getTransactionCount", (address, "latest")), ("eth_getBalance", (address, "latest"))]
    return rpc.ask(calls, read=read)


def read_fees(rpc: RpcClient) -> FeeQuote:
    """As `Chain.read_fees`."""
    calls = [
        ("eth_getBlockByNumber", ("latest", False)),
        ("eth_gasPrice", ()),
        ("eth_maxPriorityFeePerGas", ()),
    ]
    return rpc.ask(calls, read=_read_fees)


def _read_fees(results: list[Any]) -> FeeQuote:
    block, price, tip = results
    refuse_failures([block, price])
    base_fee = read_number(read_object(block, of="a block").get("baseFeePerGas"))
    if isinstance(tip, CallFailed) and tip.kind is Refusal.METHOD:
        # What transactions of the old kind usually pay holds the tip.
        priority_fee = max(0, read_number(price) - base_fee)
    else:
        refuse_failures([tip])
        priority_fee = read_number(tip)
    return FeeQuote(base_fee=base_fee + -(-base_fee // _GROWTH), priority_fee=priority_fee)


def has_code(rpc: RpcClient, address: str, *, since: int) -> bool:
    """As `Chain.has_code`."""

    def read(results: list[Any]) -> bool:
        refuse_failures(results)
        head, code = results
        if read_number(head) < since:
            raise Retryable(f"it is behind: it lacks block {since}")
        return read_data(code) != "0x"

    return rpc.ask([("eth_blockNumber", ()), ("eth_getCode", (address, "latest"))], read=read)


def read_decimals(rpc: RpcClient, address: str) -> int | None:
    """As `Chain.read_decimals`."""
    (answer,) = ask(rpc, [Question(contract=address, function=_DECIMALS)])
    return None if answer is None else int(answer["decimals"])

"""Reader for presale and allow-list contracts: the sale that a transaction started, a sale's state and its buyers.

Source: both contracts' ABIs in the launchpad's SDK. The rules are as the development chain's contracts implement them.
"""

from collections.abc import Sequence
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.errors import NodeUnavailableError
from tokens.chains.evm.eth_calls import ViewCall, call_views
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import MalformedResponseError, parse_data, parse_object
from tokens.chains.rpc.responses import require_results
from tokens.chains.types import AllowlistOnChain, Presale, PresaleTermsOnChain

# event PresaleStarted(uint256 presaleId, address allowlist, DeploymentConfig deploymentConfig, uint256 minEthGoal,
#   uint256 maxEthGoal, uint256 presaleDuration, address presaleOwner, uint256 lockupDuration, uint256 vestingDuration,
#   uint256 clankerFeeBps), with nothing indexed
_STARTED = "0xe53d265ea556350f237d779bd5e2a9704f68fe6205116877aa7d8330564947be"

_ABI = codec.load_abi("presale")
_STATE = _ABI.function("presaleState")
_BUFFER = _ABI.function("DEPLOYMENT_BAD_BUFFER")
_ALLOWLISTS = codec.load_abi("presale_allowlist").function("allowlists")
# Exclusive limit for ids, which begin at 1.
_BEYOND = 2**24
# Number of newest sales that are searched for a salt.
_SEARCHED = 256


def encode_allowlist_proof(most: int, hashes: Sequence[str]) -> str:
    """Return the argument `proof` of `buyIntoPresaleWithProof` as 0x-prefixed hex: the buyer's most wei, and hashes."""
    words = tuple(bytes.fromhex(each.removeprefix("0x")) for each in hashes)
    return "0x" + codec.encode_values(["(uint256,bytes32[])"], [(most, words)]).hex()


def read_started_presale(rpc: RpcClient, tx_hash: str, *, contract: str) -> int | None:
    """Implement `Chain.read_started_presale`."""

    def parse(results: list[Any]) -> int | None:
        require_results(results)
        return None if results[0] is None else _started_id(results[0], contract=contract)

    return rpc.query([("eth_getTransactionReceipt", (tx_hash,))], parse=parse)


def _started_id(receipt: object, *, contract: str) -> int | None:
    logs = parse_object(receipt, of="a receipt").get("logs")
    for entry in logs if isinstance(logs, list) else ():
        log = parse_object(entry, of="a log")
        topics = log.get("topics")
        if (
            str(log.get("address")).lower() == contract.lower()
            and isinstance(topics, list)
            and topics[:1] == [_STARTED]
        ):
            data = bytes.fromhex(parse_data(log.get("data"))[2:])
            if len(data) < 32:
                raise MalformedResponseError("a start of a presale without its id")
            return int.from_bytes(data[:32])
    return None


def read_presale(rpc: RpcClient, presale_id: int, *, contract: str) -> Presale | None:
    """Implement `Chain.read_presale`."""
    presales = read_presales(rpc, [presale_id], contract=contract)
    return presales[0].sale if presales else None


def read_presales(rpc: RpcClient, presale_ids: Sequence[int], *, contract: str) -> list[PresaleTermsOnChain]:
    """Implement `Chain.read_presales`."""
    calls = [_state_call(contract, presale_id) for presale_id in presale_ids]
    *sales, buffer = call_views(rpc, [*calls, ViewCall(contract=contract, function=_BUFFER, trusted=True)])
    seconds = next(iter(buffer.values())) if buffer else None
    return [
        _terms(presale_id, sale, buffer=seconds)
        for presale_id, sale in zip(presale_ids, sales, strict=True)
        if sale is not None and sale["status"]
    ]


def read_allowlist(rpc: RpcClient, presale_id: int, *, contract: str, allowlist: str) -> AllowlistOnChain | None:
    """Implement `Chain.read_allowlist`."""
    allowlist_call = ViewCall(contract=allowlist, function=_ALLOWLISTS, arguments=(presale_id,), trusted=True)
    sale, buyers = call_views(rpc, [_state_call(contract, presale_id), allowlist_call])
    if sale is None or not sale["status"]:
        return None
    sale_allowlist = _set_address(sale["allowlist"])
    if sale_allowlist is None:
        return AllowlistOnChain(root=None, max_goal=sale["maxEthGoal"])
    if sale_allowlist != allowlist or buyers is None:
        return None
    return AllowlistOnChain(root=buyers["merkleRoot"] if buyers["enabled"] else None, max_goal=sale["maxEthGoal"])


def _terms(presale_id: int, sale: dict[str, Any], *, buffer: int | None) -> PresaleTermsOnChain:
    token = sale["deploymentConfig"]["tokenConfig"]
    return PresaleTermsOnChain(
        sale=Presale(
            presale_id=presale_id,
            status=sale["status"],
            salt=_salt(sale),
            raised=sale["ethRaised"],
            min_goal=sale["minEthGoal"],
            ends_at=sale["endTime"],
            launches_until=None if buffer is None else sale["endTime"] + buffer,
        ),
        name=token["name"],
        symbol=token["symbol"],
        image=token["image"],
        admin=token["tokenAdmin"],
        owner=sale["presaleOwner"],
        allowlist=_set_address(sale["allowlist"]),
        max_goal=sale["maxEthGoal"],
        lockup=sale["lockupDuration"],
        vesting=sale["vestingDuration"],
        token=_set_address(sale["deployedToken"]),
    )


def _set_address(address: str) -> str | None:
    return address if int(address, 16) else None


def find_presale(rpc: RpcClient, salt: str, *, contract: str) -> int | None:
    """Implement `Chain.find_presale`."""
    newest = count_presales(rpc, contract=contract)
    oldest = max(1, newest - _SEARCHED + 1)
    for first in range(newest, oldest - 1, -rpc.batch_size):
        ids = range(first, max(first - rpc.batch_size, oldest - 1), -1)
        for presale_id, sale in zip(
            ids, call_views(rpc, [_state_call(contract, number) for number in ids]), strict=True
        ):
            if sale and sale["status"] and _salt(sale) == salt:
                return presale_id
    return None


def count_presales(rpc: RpcClient, *, contract: str) -> int:
    """Implement `Chain.count_presales`; ids are consecutive from 1, so that it is the highest id."""
    highest, limit = 0, _BEYOND
    while limit - highest > 1:
        # One batch per round; each round narrows the ids to one step between two queried ids.
        step = max(1, (limit - highest) // rpc.batch_size)
        ids = range(highest + step, limit, step)
        results = call_views(rpc, [_state_call(contract, number) for number in ids])
        if None in results:
            raise NodeUnavailableError("a presale contract that does not report its sales")
        existing = [number for number, sale in zip(ids, results, strict=True) if sale and sale["status"]]
        highest = existing[-1] if existing else highest
        limit = min(highest + step, _BEYOND)
    return highest


def _state_call(contract: str, presale_id: int) -> ViewCall:
    return ViewCall(contract=contract, function=_STATE, arguments=(presale_id,), trusted=True)


def _salt(sale: dict[str, Any]) -> str:
    salt: str = sale["deploymentConfig"]["tokenConfig"]["salt"]
    return salt

"""A node's responses about LP positions and lockers beyond the recording, and recorded claims' payouts."""

from dataclasses import dataclass
from typing import Any

import eth_abi
from eth_utils.crypto import keccak

from tests.nodes.launch_builder import POSITION_MANAGER, ZERO
from tests.nodes.log_encoding import call
from tests.nodes.recorded_node import Node
from tests.nodes.recordings import recorded_chain

_COLLECT = "collect((uint256,address,uint128,uint128))"
_POSITION = ["uint96", "address", "address", "address", "uint24", "int24", "int24", "uint128", *["uint256"] * 4]

_CLAIMED_FEES = "ClaimedFees(address,address,address,uint256,uint256,uint256,uint256)"
_CLAIMED_REWARDS = "ClaimedRewards(address,address,address,uint256,uint256,uint256,uint256)"
_CLAIMED_REWARDS_OF_V31 = (
    "ClaimedRewards(uint256,address,address,address,address,address,uint256,uint256,uint256,uint256,uint256,uint256)"
)


def answer(node: Node, contract: str, calldata: str, kinds: list[str], *values: Any) -> None:
    """Have the node return these values for a call."""
    node.views[(contract.lower(), calldata)] = {"result": "0x" + eth_abi.encode(kinds, values).hex()}


def position(node: Node, number: int, *, owner: str, currencies: tuple[str, str]) -> None:
    """Have the node return an LP NFT's data."""
    answer(node, POSITION_MANAGER, call("ownerOf(uint256)", number), ["address"], owner)
    values = (0, ZERO, *currencies, 10_000, -230_400, 887_200, 10**24, 0, 0, 0, 0)
    answer(node, POSITION_MANAGER, call("positions(uint256)", number), _POSITION, *values)


def collects(node: Node, number: int, *, owner: str, amounts: tuple[int, int]) -> None:
    """Have `collect` pay these amounts to the owner."""
    calldata = call(_COLLECT, (number, owner, 2**128 - 1, 2**128 - 1))
    answer(node, POSITION_MANAGER, calldata, ["uint256", "uint256"], *amounts)


def decimals(node: Node, currency: str, places: int) -> None:
    """Have a currency return its decimals."""
    answer(node, currency, call("decimals()"), ["uint8"], places)


def team_percent(node: Node, locker: str, percent: int, *, accessor: str) -> None:
    """Have a locker return the team's percentage, by a name that lockers have for it."""
    answer(node, locker, call(f"{accessor}()"), ["uint256"], percent)


def team_exception(node: Node, locker: str, number: int, *, recipient: str, percent: int, accessor: str) -> None:
    """Have a locker return its owner's override for one position."""
    calldata = call(f"{accessor}(uint256)", number)
    answer(node, locker, calldata, ["address", "uint256", "uint256"], recipient, percent, number)


@dataclass(frozen=True)
class Claim:
    """A recorded claim's payout in each pool currency: the total, and the recipients' part."""

    locker: str
    collected: tuple[int, int]
    users: tuple[int, int]


def recorded_claim(locker: str) -> Claim:
    """Return the only recorded claim from a v0 to v3.1 locker."""
    (claim,) = (claim for claim in _recorded_claims() if claim.locker == locker.lower())
    return claim


def _recorded_claims() -> list[Claim]:
    logs = [log for receipt in recorded_chain()["receipts"].values() for log in receipt["logs"]]
    return [claim for log in logs if (claim := _read_claim(log))]


def _read_claim(log: Any) -> Claim | None:
    data = bytes.fromhex(log["data"][2:])
    words = eth_abi.decode(["uint256"] * (len(data) // 32), data)
    if log["topics"][0] in (_topic(_CLAIMED_FEES), _topic(_CLAIMED_REWARDS)):
        # The last two are called totalAmount1 and totalAmount0, and are swapped.
        return Claim(log["address"], collected=(words[2], words[3]), users=(words[0], words[1]))
    if log["topics"][0] == _topic(_CLAIMED_REWARDS_OF_V31):
        creator, interface, team = words[3:5], words[5:7], words[7:9]
        users = (creator[0] + interface[0], creator[1] + interface[1])
        return Claim(log["address"], collected=(users[0] + team[0], users[1] + team[1]), users=users)
    return None


def _topic(signature: str) -> str:
    return "0x" + keccak(text=signature).hex()

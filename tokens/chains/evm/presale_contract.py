"""What a presale contract tells of its sales: which one a transaction started, and how one of them goes.

Source: the ABI of the presale contract in the launchpad's SDK; its rules as the development chain's contract has them.
"""

from dataclasses import dataclass
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.evm.eth_calls import Question, ask
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import Malformed, read_data, read_object
from tokens.chains.rpc.responses import refuse_failures
from tokens.chains.types import NodeUnavailable

# event PresaleStarted(uint256 presaleId, address allowlist, DeploymentConfig deploymentConfig, uint256 minEthGoal,
#   uint256 maxEthGoal, uint256 presaleDuration, address presaleOwner, uint256 lockupDuration, uint256 vestingDuration,
#   uint256 clankerFeeBps), with nothing indexed
_STARTED = "0xe53d265ea556350f237d779bd5e2a9704f68fe6205116877aa7d8330564947be"

_ABI = codec.load("presale")
_STATE = _ABI.function("presaleState")
_BUFFER = _ABI.function("DEPLOYMENT_BAD_BUFFER")
# Of the contract's enumeration PresaleStatus.
_ACTIVE, _FAILED, _CLAIMABLE = 1, 4, 5
# The ids begin at 1; no contract comes near to this one.
_BEYOND = 2**24
# How many of the newest sales are looked through for one's salt.
_SEARCHED = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class Presale:
    """A sale as of the newest block; times are Unix seconds, amounts wei of the native coin."""

    presale_id: int
    status: int
    # 0x-prefixed hex; another one once the sale was ended.
    salt: str
    raised: int
    min_goal: int
    ends_at: int
    # Until when a launch may come of it; None where the contract does not tell.
    launches_until: int | None

    def failure(self, *, at: int) -> str:
        """Why no launch can come of it any more, in words for the partner; empty where one can, or has.

        The contract notes it only when somebody calls it, so that the time (Unix seconds) counts as well.
        """
        if self.status == _CLAIMABLE:
            return ""
        if self.status == _FAILED:
            return "the presale has failed"
        if self.status == _ACTIVE and at >= self.ends_at and self.raised < self.min_goal:
            return "the presale has failed: it ended below its minEthGoal"
        return "the presale has failed: nobody launched its token in time" if self.is_over(at=at) else ""

    def is_over(self, *, at: int) -> bool:
        """Whether its time is over at all events."""
        return self.launches_until is not None and at > self.launches_until


def read_started(rpc: RpcClient, tx_hash: str, *, contract: str) -> int | None:
    """As `Chain.read_started_presale`."""

    def read(results: list[Any]) -> int | None:
        refuse_failures(results)
        return None if results[0] is None else _started_id(results[0], contract=contract)

    return rpc.ask([("eth_getTransactionReceipt", (tx_hash,))], read=read)


def _started_id(receipt: object, *, contract: str) -> int | None:
    logs = read_object(receipt, of="a receipt").get("logs")
    for entry in logs if isinstance(logs, list) else ():
        log = read_object(entry, of="a log")
        topics = log.get("topics")
        if (
            str(log.get("address")).lower() == contract.lower()
            and isinstance(topics, list)
            and topics[:1] == [_STARTED]
        ):
            data = bytes.fromhex(read_data(log.get("data"))[2:])
            if len(data) < 32:
                raise Malformed("a start of a presale without its id")
            return int.from_bytes(data[:32])
    return None


def read_presale(rpc: RpcClient, presale_id: int, *, contract: str) -> Presale | None:
    """As `Chain.read_presale`."""
    told, buffer = ask(rpc, [_question(contract, presale_id), Question(contract=contract, function=_BUFFER)])
    if told is None or not told["status"]:
        return None
    return Presale(
        presale_id=presale_id,
        status=told["status"],
        salt=_salt(told),
        raised=told["ethRaised"],
        min_goal=told["minEthGoal"],
        ends_at=told["endTime"],
        launches_until=told["endTime"] + next(iter(buffer.values())) if buffer else None,
    )


def find_presale(rpc: RpcClient, salt: str, *, contract: str) -> int | None:
    """As `Chain.find_presale`."""
    newest = _newest_id(rpc, contract)
    oldest = max(1, newest - _SEARCHED + 1)
    for first in range(newest, oldest - 1, -rpc.batch_size):
        ids = range(first, max(first - rpc.batch_size, oldest - 1), -1)
        for presale_id, told in zip(ids, ask(rpc, [_question(contract, number) for number in ids]), strict=True):
            if told and told["status"] and _salt(told) == salt:
                return presale_id
    return None


def _newest_id(rpc: RpcClient, contract: str) -> int:
    """The highest id of the contract's sales, which have all ids from 1 on; 0 where there is none."""
    known, unknown = 0, _BEYOND
    while unknown - known > 1:
        # Many at once: each round leaves a part as small as their number says.
        step = max(1, (unknown - known) // rpc.batch_size)
        ids = range(known + step, unknown, step)
        answers = ask(rpc, [_question(contract, number) for number in ids])
        if None in answers:
            raise NodeUnavailable("a presale contract that does not tell of its sales")
        there = [number for number, told in zip(ids, answers, strict=True) if told and told["status"]]
        known, unknown = (there[-1], there[-1] + step) if there else (known, known + step)
        unknown = min(unknown, _BEYOND)
    return known


def _question(contract: str, presale_id: int) -> Question:
    return Question(contract=contract, function=_STATE, arguments=(presale_id,))


def _salt(told: dict[str, Any]) -> str:
    salt: str = told["deploymentConfig"]["tokenConfig"]["salt"]
    return salt

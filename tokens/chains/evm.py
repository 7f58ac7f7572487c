"""An EVM chain: reading launches from its nodes, and asking them for what the receipt leaves out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tokens.chains import abi, lockers, v3_fees, v4_fees
from tokens.chains.abi import Function
from tokens.chains.base import (
    ContractUnknown,
    Launch,
    NodeRefused,
    NodeUnavailable,
    Pool,
    TransactionFacts,
    TransactionNotFound,
    UncollectedFees,
)
from tokens.chains.decoding import decode_transaction
from tokens.chains.eth_calls import Question, ask_back_then
from tokens.chains.registry import ChainInfo
from tokens.chains.rpc import Call, RpcClient
from tokens.chains.token_fees import TokenFees

_TOKEN = abi.load("token")

# The token's accessors by generation family: v3.1 and v4 name the image `imageUrl`, v1 to v3.0 `image`.
_IMAGES = (_TOKEN.function("imageUrl"), _TOKEN.function("image"))


@dataclass(frozen=True, kw_only=True)
class EvmChain:
    """One EVM chain: its facts from the registry and its nodes."""

    info: ChainInfo
    rpc: RpcClient

    def read_transaction(self, tx_hash: str) -> TransactionFacts:
        """The launches of one transaction, and its logs that may be events of tokens.

        Raises TransactionNotFound, LaunchNotFound, LogUndecodable, NodeUnavailable.
        """
        transaction, receipt, block = self._read_mined(tx_hash)
        facts = decode_transaction(self.info, transaction=transaction, receipt=receipt, block=block)
        return replace(facts, launches=tuple(self._complete(launch) for launch in facts.launches))

    def read_head(self) -> int:
        """The number of the newest block. Raises NodeUnavailable."""
        try:
            return int(self.rpc.call("eth_blockNumber"), 16)
        except (NodeRefused, TypeError, ValueError) as error:
            raise NodeUnavailable(f"chain {self.info.chain_id} does not tell its newest block") from error

    def read_block_hashes(self, numbers: Sequence[int]) -> dict[int, str]:
        """Block number -> its hash on the chain as it is now, without those that the node lacks.

        Raises NodeUnavailable.
        """
        wanted = sorted(set(numbers))
        blocks = self._objects([("eth_getBlockByNumber", (hex(number), False)) for number in wanted])
        found = {number: block for number, block in zip(wanted, blocks, strict=True) if block}
        for number, block in found.items():
            # What is written is unwound by these hashes, so that no other block's may slip in.
            if block.get("number") != hex(number) or not isinstance(block.get("hash"), str):
                raise NodeUnavailable(f"chain {self.info.chain_id}: another block than the one asked for")
        return {number: block["hash"] for number, block in found.items()}

    def read_uncollected_fees(self, position_id: int) -> UncollectedFees:
        """What waits in the pool for an LP NFT of generation v0 to v3.1, at the newest block.

        Raises NodeUnavailable, FeesUnreadable.
        """
        return lockers.read_uncollected_fees(self.rpc, manager=self._v3_manager(), position_id=position_id)

    def read_v3_fees(self, position_id: int, *, launched_for: Sequence[tuple[str, int]]) -> TokenFees:
        """As in `Chain`. Raises NodeUnavailable, FeesUnreadable."""
        return v3_fees.read_v3_fees(
            self.rpc,
            manager=self._v3_manager(),
            position_id=position_id,
            block=self.read_head(),
            launched_for=launched_for,
        )

    def read_v4_fees(self, token: str, *, locker: str, owner: str | None) -> TokenFees:
        """As in `Chain`. Raises NodeUnavailable, FeesUnreadable."""
        return v4_fees.read_v4_fees(
            self.rpc, info=self.info, block=self.read_head(), token=token, locker=locker, owner=owner
        )

    def _v3_manager(self) -> str:
        if self.info.v3_position_manager is None:
            raise ContractUnknown("v3_position_manager")
        return self.info.v3_position_manager

    def _read_mined(self, tx_hash: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """The transaction, its receipt and its block, which must tell of one and the same block.

        No single answer is trusted: behind one URL there may be several nodes, on different forks or lagging.
        """
        transaction, receipt = self._objects(
            [("eth_getTransactionByHash", (tx_hash,)), ("eth_getTransactionReceipt", (tx_hash,))]
        )
        if receipt is None or transaction is None or transaction.get("blockHash") is None:
            raise TransactionNotFound(f"chain {self.info.chain_id} does not know the transaction, or has not mined it")
        (block,) = self._objects([("eth_getBlockByNumber", (receipt.get("blockNumber"), False))])
        try:
            agreed = _agree(tx_hash, transaction, receipt, block)
        except (AttributeError, KeyError, TypeError) as error:
            raise NodeUnavailable(f"chain {self.info.chain_id}: half an answer ({error!r:.100})") from error
        if not agreed:
            raise NodeUnavailable(f"chain {self.info.chain_id}: transaction, receipt and block don't agree")
        return transaction, receipt, block

    def _objects(self, calls: list[Call]) -> list[Any]:
        answers = self.rpc.require(calls)
        for answer in answers:
            if answer is not None and not isinstance(answer, dict):
                raise NodeUnavailable(f"chain {self.info.chain_id} answered with something that is no object")
        return answers

    def _complete(self, launch: Launch) -> Launch:
        """Ask the node for what neither receipt nor calldata told; what it cannot answer stays None.

        Asked as of the launch's block: later changes are events, which are folded over the launch.
        """
        wanted: list[tuple[str, str, Function]] = []
        if launch.supply is None:
            wanted.append(("supply", launch.token, _TOKEN.function("totalSupply")))
        if launch.image is None:
            wanted += [("image", launch.token, function) for function in _IMAGES]
        if launch.metadata is None:
            wanted.append(("metadata", launch.token, _TOKEN.function("metadata")))
        if launch.context is None:
            wanted.append(("context", launch.token, _TOKEN.function("context")))
        if launch.pool and launch.pool.pair_symbol is None:
            wanted.append(("pair_symbol", launch.pool.paired_token, _TOKEN.function("symbol")))
            wanted.append(("pair_decimals", launch.pool.paired_token, _TOKEN.function("decimals")))
        found = self._call_views(wanted, block=launch.block_number)
        return replace(
            launch,
            supply=found.get("supply", launch.supply),
            image=found.get("image", launch.image),
            metadata=found.get("metadata", launch.metadata),
            context=found.get("context", launch.context),
            pool=_with_pair(launch.pool, found),
        )

    def _call_views(self, wanted: list[tuple[str, str, Function]], *, block: int) -> dict[str, Any]:
        """Name -> value of the views that answered, as of the block; for a name asked twice the first answer counts."""
        questions = [Question(contract=address, function=function) for _, address, function in wanted]
        found: dict[str, Any] = {}
        for (name, _, _), values in zip(wanted, ask_back_then(self.rpc, questions, block=block), strict=True):
            if values:
                found.setdefault(name, *values.values())
        return found


def _agree(tx_hash: str, transaction: dict[str, Any], receipt: dict[str, Any], block: dict[str, Any] | None) -> bool:
    """Whether all three tell of this transaction in the same block."""
    if block is None:
        return False
    hashes = {transaction["hash"], receipt["transactionHash"], *(log["transactionHash"] for log in receipt["logs"])}
    blocks = {transaction["blockHash"], receipt["blockHash"], block["hash"]}
    blocks |= {log["blockHash"] for log in receipt["logs"]}
    numbers = {transaction["blockNumber"], receipt["blockNumber"], block["number"]}
    return hashes == {tx_hash} and len(blocks) == 1 and len(numbers) == 1 and tx_hash in block["transactions"]


def _with_pair(pool: Pool | None, found: dict[str, Any]) -> Pool | None:
    if pool is None or pool.pair_symbol is not None:
        return pool
    return replace(pool, pair_symbol=found.get("pair_symbol"), pair_decimals=found.get("pair_decimals"))

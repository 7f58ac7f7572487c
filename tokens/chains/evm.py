"""An EVM chain: reading launches from its nodes, and asking them for what the receipt leaves out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokens.chains import lockers, transactions, v3_fees, v4_fees
from tokens.chains.base import (
    ContractUnknown,
    NodeRefused,
    NodeUnavailable,
    TransactionFacts,
    UncollectedFees,
)
from tokens.chains.registry import ChainInfo
from tokens.chains.rpc import Call, RpcClient
from tokens.chains.token_fees import TokenFees


@dataclass(frozen=True, kw_only=True)
class EvmChain:
    """One EVM chain: its facts from the registry and its nodes."""

    info: ChainInfo
    rpc: RpcClient

    def read_transaction(self, tx_hash: str) -> TransactionFacts:
        """The launches of one transaction, and its logs that may be events of tokens.

        Raises TransactionNotFound, LaunchNotFound, LogUndecodable, NodeUnavailable.
        """
        return transactions.read_transaction(self.rpc, self.info, tx_hash)

    def read_transactions(self, tx_hashes: Sequence[str]) -> list[TransactionFacts]:
        """As in `Chain`. Raises TransactionNotFound, NodeUnavailable."""
        return transactions.read_transactions(self.rpc, self.info, tx_hashes)

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

    def _objects(self, calls: list[Call]) -> list[Any]:
        answers = self.rpc.require(calls)
        for answer in answers:
            if answer is not None and not isinstance(answer, dict):
                raise NodeUnavailable(f"chain {self.info.chain_id} answered with something that is no object")
        return answers

"""An EVM chain: reading launches from its nodes, and asking them for what the receipt leaves out."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from tokens.chains import (
    accounts,
    broadcasting,
    headers,
    lockers,
    log_filters,
    outcomes,
    presales,
    rehearsal,
    transactions,
    v3_fees,
    v4_fees,
)
from tokens.chains.base import (
    ContractUnknown,
    NodeRefused,
    NodeUnavailable,
    TransactionFacts,
)
from tokens.chains.blocks import BlockHeader, Reading
from tokens.chains.launch_config import ContractCall
from tokens.chains.log_ranges import RangeSize
from tokens.chains.log_reading import LogReader
from tokens.chains.presales import Presale
from tokens.chains.registry import ChainInfo
from tokens.chains.rpc import RpcClient
from tokens.chains.sending import Account, FeeQuote, Outcome, Sent, Simulation
from tokens.chains.token_fees import TokenFees, UncollectedFees


@dataclass(frozen=True, kw_only=True)
class EvmChain:
    """One EVM chain: its facts from the registry and its nodes."""

    info: ChainInfo
    rpc: RpcClient
    # Adapts to what the nodes take, for all threads that read the chain.
    ranges: RangeSize = field(default_factory=lambda: RangeSize(2_000, longest=20_000))

    def read_transaction(self, tx_hash: str) -> TransactionFacts:
        """The launches of one transaction, and its logs that may be events of tokens.

        Raises TransactionNotFound, LaunchNotFound, LogUndecodable, NodeUnavailable.
        """
        return transactions.read_transaction(self.rpc, self.info, tx_hash)

    def read_head(self) -> int:
        """The number of the newest block. Raises NodeUnavailable."""
        try:
            return int(self.rpc.call("eth_blockNumber"), 16)
        except (NodeRefused, TypeError, ValueError) as error:
            raise NodeUnavailable(f"chain {self.info.chain_id} does not tell its newest block") from error

    def read_newest(self) -> BlockHeader:
        """As in `Chain`. Raises NodeUnavailable."""
        return headers.read_newest(self.rpc)

    def read_highest(self) -> int | None:
        """As in `Chain`."""
        return headers.read_highest(self.rpc)

    def read_headers(self, numbers: Collection[int]) -> dict[int, BlockHeader]:
        """As in `Chain`. Raises NodeUnavailable."""
        return headers.read_headers(self.rpc, numbers)

    def range_blocks(self) -> int:
        """As in `Chain`."""
        return self.ranges.blocks

    def read_range(self, first: int, last: int, *, addresses: Collection[str] | None = None) -> Reading:
        """As in `Chain`. Raises NodeUnavailable."""
        return self._logs().read_range(first, last, addresses=addresses)

    def read_blocks(self, headers: Sequence[BlockHeader]) -> Reading:
        """As in `Chain`. Raises NodeUnavailable, BlockGone."""
        return self._logs().read_blocks(headers)

    def read_receipts(self, headers: Sequence[BlockHeader]) -> Reading:
        """As in `Chain`. Raises NodeUnavailable, BlockGone."""
        return self._logs().read_receipts(headers)

    def may_hold(self, header: BlockHeader) -> bool | None:
        """As in `Chain`."""
        return log_filters.may_hold(self.info, header)

    def count_nodes_with(self, header: BlockHeader) -> tuple[int, int]:
        """As in `Chain`."""
        return headers.count_nodes_with(self.rpc, header)

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

    def simulate(self, call: ContractCall, *, sender: str) -> Simulation:
        """As in `Chain`. Raises WouldRevert, SenderTooPoor, NodeUnavailable."""
        return rehearsal.simulate(self.rpc, call, sender=sender)

    def explain(self, call: ContractCall, *, sender: str, block: int, gas: int) -> str:
        """As in `Chain`."""
        return rehearsal.explain(self.rpc, call, sender=sender, block=block, gas=gas)

    def read_accounts(self, addresses: Sequence[str]) -> dict[str, Account]:
        """As in `Chain`. Raises NodeUnavailable."""
        return accounts.read_accounts(self.rpc, addresses)

    def read_fees(self) -> FeeQuote:
        """As in `Chain`. Raises NodeUnavailable."""
        return accounts.read_fees(self.rpc)

    def read_outcomes(self, tx_hashes: Sequence[str]) -> dict[str, Outcome]:
        """As in `Chain`. Raises NodeUnavailable."""
        return outcomes.read_outcomes(self.rpc, tx_hashes)

    def find_outcomes(self, tx_hashes: Sequence[str]) -> dict[str, Outcome]:
        """As in `Chain`. Raises NodeUnavailable."""
        return outcomes.find_outcomes(self.rpc, tx_hashes)

    def broadcast(self, raws: Sequence[bytes]) -> list[Sent]:
        """As in `Chain`."""
        return broadcasting.broadcast(self.rpc, raws)

    def has_code(self, address: str, *, since: int = 0) -> bool:
        """As in `Chain`. Raises NodeUnavailable."""
        return accounts.has_code(self.rpc, address, since=since)

    def read_decimals(self, address: str) -> int | None:
        """As in `Chain`. Raises NodeUnavailable."""
        return accounts.read_decimals(self.rpc, address)

    def read_started_presale(self, tx_hash: str, *, contract: str) -> int | None:
        """As in `Chain`. Raises NodeUnavailable."""
        return presales.read_started(self.rpc, tx_hash, contract=contract)

    def read_presale(self, presale_id: int, *, contract: str) -> Presale | None:
        """As in `Chain`. Raises NodeUnavailable."""
        return presales.read_presale(self.rpc, presale_id, contract=contract)

    def find_presale(self, salt: str, *, contract: str) -> int | None:
        """As in `Chain`. Raises NodeUnavailable."""
        return presales.find_presale(self.rpc, salt, contract=contract)

    def _v3_manager(self) -> str:
        if self.info.v3_position_manager is None:
            raise ContractUnknown("v3_position_manager")
        return self.info.v3_position_manager

    def _logs(self) -> LogReader:
        return LogReader(chain=self.info, rpc=self.rpc, ranges=self.ranges)

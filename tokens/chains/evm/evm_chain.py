"""An EVM chain: one method per read or write, each delegated to the module of its subject."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from tokens.chains.errors import UnknownContractError
from tokens.chains.evm import headers, presale_contract
from tokens.chains.evm.generations.v0_to_v3_1 import locker_fees, position_fees
from tokens.chains.evm.generations.v4 import pool_fees
from tokens.chains.evm.logs import log_filters
from tokens.chains.evm.logs.log_reading import LogReader
from tokens.chains.evm.transactions import account_state, broadcast, dry_run, outcomes, transaction_receipts
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.block_ranges import RangeSize
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import parse_quantity
from tokens.chains.token_fees import TokenFees, UncollectedFees
from tokens.chains.transaction_types import (
    AccountState,
    BroadcastResult,
    ContractCall,
    FeeQuote,
    Simulation,
    TransactionOutcome,
)
from tokens.chains.types import BlockHeader, Presale, RangeFacts, TransactionFacts


@dataclass(frozen=True, kw_only=True)
class EvmChain:
    """An EVM chain: its registry entry and its nodes. The methods implement `Chain`."""

    info: ChainInfo
    rpc: RpcClient
    # Adapts to the nodes' limits; shared by all threads that read the chain.
    ranges: RangeSize = field(default_factory=lambda: RangeSize(2_000, longest=20_000))

    def read_transaction(self, tx_hash: str) -> TransactionFacts:
        """Implement `Chain`."""
        return transaction_receipts.read_transaction(self.rpc, self.info, tx_hash)

    def read_head(self) -> int:
        """Implement `Chain`. Raises NodeUnavailableError."""
        return self.rpc.query([("eth_blockNumber", ())], parse=lambda results: parse_quantity(results[0]))

    def read_newest_header(self) -> BlockHeader:
        """Implement `Chain`. Raises NodeUnavailableError."""
        return headers.read_newest_header(self.rpc)

    def read_highest_head(self) -> int | None:
        """Implement `Chain`."""
        return headers.read_highest_head(self.rpc)

    def read_headers(self, numbers: Collection[int]) -> dict[int, BlockHeader]:
        """Implement `Chain`. Raises NodeUnavailableError."""
        return headers.read_headers(self.rpc, numbers)

    def range_blocks(self) -> int:
        """Implement `Chain`."""
        return self.ranges.blocks

    def read_range(
        self, first: int, last: int, *, addresses: Collection[str] | None = None, without: Collection[int] = ()
    ) -> RangeFacts:
        """Implement `Chain`. Raises NodeUnavailableError."""
        return self._logs().read_range(first, last, addresses=addresses, without=without)

    def read_blocks(self, headers: Sequence[BlockHeader]) -> RangeFacts:
        """Implement `Chain`. Raises NodeUnavailableError, BlockNotCanonicalError."""
        return self._logs().read_blocks(headers)

    def read_receipts(self, headers: Sequence[BlockHeader]) -> RangeFacts:
        """Implement `Chain`. Raises NodeUnavailableError, BlockNotCanonicalError."""
        return self._logs().read_receipts(headers)

    def may_contain_events(self, header: BlockHeader) -> bool | None:
        """Implement `Chain`."""
        return log_filters.may_contain_events(self.info, header)

    def count_nodes_with(self, header: BlockHeader) -> tuple[int, int]:
        """Implement `Chain`."""
        return headers.count_nodes_with(self.rpc, header)

    def read_uncollected_fees(self, position_id: int) -> UncollectedFees:
        """Implement `Chain`. Raises NodeUnavailableError, FeesUnavailableError."""
        return position_fees.read_uncollected_fees(self.rpc, manager=self._v3_manager(), position_id=position_id)

    def read_v3_fees(self, position_id: int, *, launched_for: Sequence[tuple[str, int]]) -> TokenFees:
        """Implement `Chain`. Raises NodeUnavailableError, FeesUnavailableError."""
        return locker_fees.read_v3_fees(
            self.rpc,
            manager=self._v3_manager(),
            position_id=position_id,
            block=self.read_head(),
            launched_for=launched_for,
        )

    def read_v4_fees(self, token: str, *, locker: str, owner: str | None) -> TokenFees:
        """Implement `Chain`. Raises NodeUnavailableError, FeesUnavailableError."""
        return pool_fees.read_v4_fees(
            self.rpc, info=self.info, block=self.read_head(), token=token, locker=locker, owner=owner
        )

    def simulate(self, call: ContractCall, *, sender: str) -> Simulation:
        """Implement `Chain`. Raises WouldRevertError, SenderBalanceTooLowError, NodeUnavailableError."""
        return dry_run.simulate_call(self.rpc, call, sender=sender)

    def explain_revert(self, call: ContractCall, *, sender: str, block: int, gas: int) -> str:
        """Implement `Chain`."""
        return dry_run.explain_revert(self.rpc, call, sender=sender, block=block, gas=gas)

    def read_accounts(self, addresses: Sequence[str]) -> dict[str, AccountState]:
        """Implement `Chain`. Raises NodeUnavailableError."""
        return account_state.read_accounts(self.rpc, addresses)

    def read_fees(self) -> FeeQuote:
        """Implement `Chain`. Raises NodeUnavailableError."""
        return account_state.read_fees(self.rpc)

    def read_outcomes(self, tx_hashes: Sequence[str]) -> dict[str, TransactionOutcome]:
        """Implement `Chain`. Raises NodeUnavailableError."""
        return outcomes.read_outcomes(self.rpc, tx_hashes)

    def find_outcomes(self, tx_hashes: Sequence[str]) -> dict[str, TransactionOutcome]:
        """Implement `Chain`. Raises NodeUnavailableError."""
        return outcomes.find_outcomes(self.rpc, tx_hashes)

    def broadcast(self, raws: Sequence[bytes]) -> list[BroadcastResult]:
        """Implement `Chain`."""
        return broadcast.broadcast_transactions(self.rpc, raws)

    def has_code(self, address: str, *, since: int = 0) -> bool:
        """Implement `Chain`. Raises NodeUnavailableError."""
        return account_state.has_code(self.rpc, address, since=since)

    def read_decimals(self, address: str) -> int | None:
        """Implement `Chain`. Raises NodeUnavailableError."""
        return account_state.read_decimals(self.rpc, address)

    def read_started_presale(self, tx_hash: str, *, contract: str) -> int | None:
        """Implement `Chain`. Raises NodeUnavailableError."""
        return presale_contract.read_started_presale(self.rpc, tx_hash, contract=contract)

    def read_presale(self, presale_id: int, *, contract: str) -> Presale | None:
        """Implement `Chain`. Raises NodeUnavailableError."""
        return presale_contract.read_presale(self.rpc, presale_id, contract=contract)

    def find_presale(self, salt: str, *, contract: str) -> int | None:
        """Implement `Chain`. Raises NodeUnavailableError."""
        return presale_contract.find_presale(self.rpc, salt, contract=contract)

    def _v3_manager(self) -> str:
        if self.info.v3_position_manager is None:
            raise UnknownContractError("v3_position_manager")
        return self.info.v3_position_manager

    def _logs(self) -> LogReader:
        return LogReader(chain=self.info, rpc=self.rpc, ranges=self.ranges)

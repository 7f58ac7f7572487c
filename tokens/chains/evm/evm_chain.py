"""An EVM chain: reading launches from its nodes, and asking them for what the receipt leaves out."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from tokens.chains.evm import headers, presale_contract
from tokens.chains.evm.generations.v0_to_v3_1 import locker_fees, position_fees
from tokens.chains.evm.generations.v4 import pool_fees
from tokens.chains.evm.logs import log_filters
from tokens.chains.evm.logs.log_reading import LogReader
from tokens.chains.evm.presale_contract import Presale
from tokens.chains.evm.transactions import account_state, dry_run, outcomes, transaction_receipts
from tokens.chains.evm.transactions import broadcast as broadcasting
from tokens.chains.launching.launch_config import ContractCall
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.block_ranges import RangeSize
from tokens.chains.rpc.client import RpcClient
from tokens.chains.token_fees import TokenFees, UncollectedFees
from tokens.chains.transaction_types import Account, FeeQuote, Outcome, Sent, Simulation
from tokens.chains.types import BlockHeader, ContractUnknown, NodeRefused, NodeUnavailable, Reading, TransactionFacts


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
        return transaction_receipts.read_transaction(self.rpc, self.info, tx_hash)

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
        return position_fees.read_uncollected_fees(self.rpc, manager=self._v3_manager(), position_id=position_id)

    def read_v3_fees(self, position_id: int, *, launched_for: Sequence[tuple[str, int]]) -> TokenFees:
        """As in `Chain`. Raises NodeUnavailable, FeesUnreadable."""
        return locker_fees.read_v3_fees(
            self.rpc,
            manager=self._v3_manager(),
            position_id=position_id,
            block=self.read_head(),
            launched_for=launched_for,
        )

    def read_v4_fees(self, token: str, *, locker: str, owner: str | None) -> TokenFees:
        """As in `Chain`. Raises NodeUnavailable, FeesUnreadable."""
        return pool_fees.read_v4_fees(
            self.rpc, info=self.info, block=self.read_head(), token=token, locker=locker, owner=owner
        )

    def simulate(self, call: ContractCall, *, sender: str) -> Simulation:
        """As in `Chain`. Raises WouldRevert, SenderTooPoor, NodeUnavailable."""
        return dry_run.simulate(self.rpc, call, sender=sender)

    def explain(self, call: ContractCall, *, sender: str, block: int, gas: int) -> str:
        """As in `Chain`."""
        return dry_run.explain(self.rpc, call, sender=sender, block=block, gas=gas)

    def read_accounts(self, addresses: Sequence[str]) -> dict[str, Account]:
        """As in `Chain`. Raises NodeUnavailable."""
        return account_state.read_accounts(self.rpc, addresses)

    def read_fees(self) -> FeeQuote:
        """As in `Chain`. Raises NodeUnavailable."""
        return account_state.read_fees(self.rpc)

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
        return account_state.has_code(self.rpc, address, since=since)

    def read_decimals(self, address: str) -> int | None:
        """As in `Chain`. Raises NodeUnavailable."""
        return account_state.read_decimals(self.rpc, address)

    def read_started_presale(self, tx_hash: str, *, contract: str) -> int | None:
        """As in `Chain`. Raises NodeUnavailable."""
        return presale_contract.read_started(self.rpc, tx_hash, contract=contract)

    def read_presale(self, presale_id: int, *, contract: str) -> Presale | None:
        """As in `Chain`. Raises NodeUnavailable."""
        return presale_contract.read_presale(self.rpc, presale_id, contract=contract)

    def find_presale(self, salt: str, *, contract: str) -> int | None:
        """As in `Chain`. Raises NodeUnavailable."""
        return presale_contract.find_presale(self.rpc, salt, contract=contract)

    def _v3_manager(self) -> str:
        if self.info.v3_position_manager is None:
            raise ContractUnknown("v3_position_manager")
        return self.info.v3_position_manager

    def _logs(self) -> LogReader:
        return LogReader(chain=self.info, rpc=self.rpc, ranges=self.ranges)

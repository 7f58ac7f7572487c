"""An EVM chain: one method per read or write; each delegates to the module for its subject."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from tokens.chains.errors import UnknownContractError
from tokens.chains.evm import headers, presale_contract
from tokens.chains.evm.generations.v0_to_v3_1 import locker_fees, position_fees
from tokens.chains.evm.generations.v4 import pool_fees
from tokens.chains.evm.logs import launch_search, log_filters
from tokens.chains.evm.logs.log_reading import LogReader
from tokens.chains.evm.logs.receipt_reading import ReceiptReader
from tokens.chains.evm.swapping import swap_offers
from tokens.chains.evm.swapping.swap_offers import SwapOffer
from tokens.chains.evm.swapping.swap_quotes import SwapTerms
from tokens.chains.evm.transactions import (
    account_state,
    broadcast,
    call_simulation,
    dry_run,
    gas_prices,
    outcomes,
    transaction_receipts,
)
from tokens.chains.evm.transactions.call_simulation import SimulatedCalls
from tokens.chains.evm.unsigned_calls import UnsignedCall
from tokens.chains.pool_types import PoolSelection
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.block_ranges import RangeSize
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import parse_block_number
from tokens.chains.token_fees import TokenFees, UncollectedFees
from tokens.chains.transaction_types import (
    AccountState,
    BroadcastResult,
    ContractCall,
    FeeQuote,
    Simulation,
    TransactionOutcome,
)
from tokens.chains.types import (
    AllowlistOnChain,
    BlockHeader,
    Presale,
    PresaleTermsOnChain,
    RangeFacts,
    TokenBalances,
    TransactionFacts,
)


@dataclass(frozen=True, kw_only=True)
class Chain:
    """An EVM chain: its registry entry and its nodes."""

    info: ChainInfo
    rpc: RpcClient
    # Adapts to the nodes' limits; shared by all threads that read the chain.
    ranges: RangeSize = field(default_factory=lambda: RangeSize(2_000, longest=20_000))

    def read_transaction(self, tx_hash: str) -> TransactionFacts:
        """Return one transaction's launches, and its logs that may be token events.

        Raises TransactionNotFoundError, LaunchNotFoundError, LogDecodingError, NodeUnavailableError.
        """
        return transaction_receipts.read_transaction(self.rpc, self.info, tx_hash)

    def read_with_state(self, tx_hash: str) -> TransactionFacts:
        """Return one transaction as `read_transaction` does, with the launched tokens' current state.

        This needs one more request. Where no node returns the state, it is None, and a warning is logged. Raises as
        `read_transaction`.
        """
        return transaction_receipts.read_transaction(self.rpc, self.info, tx_hash, with_state=True)

    def read_head(self) -> int:
        """Return the newest block's number. Raises NodeUnavailableError."""
        return self.rpc.query([("eth_blockNumber", ())], parse=lambda results: parse_block_number(results[0]))

    def read_newest_header(self) -> BlockHeader:
        """Return the newest block from the first node that responds. Raises NodeUnavailableError."""
        return headers.read_newest_header(self.rpc)

    def read_highest_head(self) -> int | None:
        """Return the highest head number among all nodes; None where none responds.

        Calls each node once, except slow ones. Raises nothing.
        """
        return headers.read_highest_head(self.rpc)

    def read_headers(self, numbers: Collection[int]) -> dict[int, BlockHeader]:
        """Return block number -> current canonical block, without those that the node lacks.

        Raises NodeUnavailableError.
        """
        return headers.read_headers(self.rpc, numbers)

    def range_blocks(self) -> int:
        """Return how many blocks nodes accept in one log range, as observed so far."""
        return self.ranges.blocks

    def read_range(
        self,
        first: int,
        last: int,
        *,
        addresses: Collection[str] | None = None,
        without: Collection[int] = (),
        pools: PoolSelection | None = None,
    ) -> RangeFacts:
        """Return launches, token events and pool activity in the blocks `first` to `last`.

        Reads log ranges as long as nodes accept. `addresses` are registry contracts, in lower case, to filter by; None
        is all. Logs from tokens and from their own lockers are always included. The blocks `without` are left out.
        Without `pools`, no pool logs are read. A swap's trader is None. Raises NodeUnavailableError, also where nodes
        lack the last block.
        """
        return self._logs(pools).read_range(first, last, addresses=addresses, without=without)

    def read_blocks(self, headers: Sequence[BlockHeader], *, pools: PoolSelection | None = None) -> RangeFacts:
        """Return the result of `read_range` for exactly these blocks, in order.

        Swaps have their trader, except in more than RANGE_QUERY_MIN_BLOCKS consecutive blocks: those are one range.
        Raises NodeUnavailableError, BlockNotCanonicalError.
        """
        return self._logs(pools).read_blocks(headers)

    def read_receipts(self, headers: Sequence[BlockHeader], *, pools: PoolSelection | None = None) -> RangeFacts:
        """Return the same facts as `read_blocks`, from all receipts in the blocks; swaps have their trader.

        A node's receipts count if they match the headers' bloom filters or receipt roots. Blocks for which no node's
        receipts match are in `unproven`. Raises NodeUnavailableError, BlockNotCanonicalError.
        """
        return ReceiptReader(chain=self.info, rpc=self.rpc, pools=pools).read_receipts(headers)

    def may_contain_events(self, header: BlockHeader, *, pools: PoolSelection | None = None) -> bool | None:
        """Return whether the block's bloom filter allows relevant logs: False is certain, True is possible.

        None is a filter with too many bits to decide. Some chains leave their filters empty. Logs from `pools` count,
        unless all pools of their kind are selected: most of those are foreign.
        """
        return log_filters.may_contain_events(self.info, header, pools)

    def count_nodes_with(self, header: BlockHeader) -> tuple[int, int]:
        """Return how many nodes have this very block at its number, and how many have another one.

        An unreachable, slow or lagging node counts for neither. Raises nothing.
        """
        return headers.count_nodes_with(self.rpc, header)

    def read_times_by_provider(self, blocks: Sequence[BlockHeader]) -> dict[int, list[int]]:
        """Return block number -> the Unix seconds that each provider returns for these very blocks. Raises nothing."""
        return headers.read_times_by_provider(self.rpc, blocks)

    def find_launch(self, token: str) -> str | None:
        """Return the hash of the transaction in which a registry factory launched the token; None if none did.

        At most 25 requests on a chain of any length: its code shows the block in which the token was created. Where no
        node has the old states, one request searches the logs of all blocks, which finds tokens from v3.1 on and which
        many nodes refuse. Raises NodeUnavailableError.
        """
        return launch_search.find_launch(self.rpc, self.info, token)

    def read_uncollected_fees(self, position_id: int) -> UncollectedFees:
        """Return the fees accrued in the pool for a v0 to v3.1 LP NFT, at the newest block.

        Raises NodeUnavailableError, FeesUnavailableError.
        """
        manager = self._v3_manager()
        return position_fees.read_uncollected_fees(self.rpc, info=self.info, manager=manager, position_id=position_id)

    def read_v3_fees(self, position_id: int, *, launched_for: Sequence[tuple[str, int]]) -> TokenFees:
        """Return a v0 to v3.1 LP NFT's uncollected fees per recipient, after the newest block.

        Nothing is collected. `launched_for` are recipients and bps from the launch, for lockers that report none.
        Raises NodeUnavailableError, FeesUnavailableError.
        """
        return locker_fees.read_v3_fees(
            self.rpc,
            info=self.info,
            manager=self._v3_manager(),
            position_id=position_id,
            block=self.read_head(),
            launched_for=launched_for,
        )

    def read_v4_fees(self, token: str, *, locker: str, owner: str | None) -> TokenFees:
        """Return a v4 token's uncollected fees per recipient, after the newest block; `owner` is always included.

        Raises NodeUnavailableError, FeesUnavailableError.
        """
        return pool_fees.read_v4_fees(
            self.rpc, info=self.info, block=self.read_head(), token=token, locker=locker, owner=owner
        )

    def simulate(self, call: ContractCall, *, sender: str) -> Simulation:
        """Simulate the call on top of the newest block with this sender, without signing or sending anything.

        Raises WouldRevertError with the decoded contract error, SenderBalanceTooLowError where the balance is below the
        call's value, NodeUnavailableError.
        """
        return dry_run.simulate_call(self.rpc, call, sender=sender)

    def simulate_calls(self, calls: Sequence[UnsignedCall], *, sender: str) -> SimulatedCalls:
        """Simulate a wallet's calls in sequence on top of the newest block; the wallet needs no coins for gas.

        Two requests, the second one to nodes that offer `eth_simulateV1`. Raises CallWouldRevertError with the decoded
        contract error, SenderBalanceTooLowError where the balance is below the calls' values, NodeUnavailableError.
        """
        return call_simulation.simulate_calls(self.rpc, calls, sender=sender)

    def offer_swap(self, terms: SwapTerms, *, payer: str) -> SwapOffer:
        """Return a swap by the chain's own quoter, with the calls that keep its quote, and their simulation.

        Four requests or less. Raises SwapUnavailableError where the pool can't serve the terms, or where the calls
        would do anything else than the quote states; UnknownContractError where the registry lacks a contract;
        CallWouldRevertError, SenderBalanceTooLowError, NodeUnavailableError.
        """
        return swap_offers.offer_swap(self.rpc, self.info, terms, payer=payer)

    def explain_revert(self, call: ContractCall, *, sender: str, block: int, gas: int) -> str:
        """Return why the call with this sender and gas limit was reverted in a block; empty where unknown.

        Replays the call on the states before and after the block, which many nodes prune after some minutes. Earlier
        transactions in the same block may change the result. Raises nothing.
        """
        return dry_run.explain_revert(self.rpc, call, sender=sender, block=block, gas=gas)

    def read_accounts(self, addresses: Sequence[str]) -> dict[str, AccountState]:
        """Return address, as given -> next nonce and balance at the newest block. Raises NodeUnavailableError."""
        return account_state.read_accounts(self.rpc, addresses)

    def read_delegates(self, addresses: Sequence[str]) -> dict[str, str]:
        """Return address -> the contract (EIP-55) whose code the account executes by EIP-7702.

        The result lacks accounts that execute no other code. Raises NodeUnavailableError.
        """
        return account_state.read_delegates(self.rpc, addresses)

    def read_fees(self) -> FeeQuote:
        """Return the current gas price from all nodes, with a capped tip. Raises NodeUnavailableError."""
        return gas_prices.read_fees(self.rpc, tip_cap=self.info.priority_fee_cap)

    def read_outcomes(self, tx_hashes: Sequence[str]) -> dict[str, TransactionOutcome]:
        """Return hash -> outcome for each transaction for which the node has a receipt.

        Raises NodeUnavailableError.
        """
        return outcomes.read_outcomes(self.rpc, tx_hashes)

    def find_outcomes(self, tx_hashes: Sequence[str]) -> dict[str, TransactionOutcome]:
        """Return outcomes as `read_outcomes` does, from every node that is not slow: for transactions that seem lost.

        Raises NodeUnavailableError where none of these nodes responds.
        """
        return outcomes.find_outcomes(self.rpc, tx_hashes)

    def broadcast(self, raws: Sequence[bytes]) -> list[BroadcastResult]:
        """Send signed transactions to every node and return one result per transaction, in order. Raises nothing."""
        return broadcast.broadcast_transactions(self.rpc, raws)

    def has_code(self, address: str, *, since: int = 0) -> bool:
        """Return whether a contract exists at the address, by the newest block on a node that has block `since`.

        Raises NodeUnavailableError.
        """
        return account_state.has_code(self.rpc, address, since=since)

    def read_decimals(self, address: str) -> int | None:
        """Return an ERC-20's decimals, None where the contract reports none. Raises NodeUnavailableError."""
        return account_state.read_decimals(self.rpc, address)

    def read_token_balances(self, token: str, accounts: Sequence[str]) -> TokenBalances:
        """Return ERC-20 balances after the newest block. Raises NodeUnavailableError."""
        block = self.read_head()
        amounts = account_state.read_token_balances(self.rpc, token, accounts, block=block)
        return TokenBalances(block_number=block, amounts=amounts)

    def read_started_presale(self, tx_hash: str, *, contract: str) -> int | None:
        """Return the id of the presale that a transaction started in the presale contract.

        None where it started none or is not mined yet. Raises NodeUnavailableError.
        """
        return presale_contract.read_started_presale(self.rpc, tx_hash, contract=contract)

    def read_presale(self, presale_id: int, *, contract: str) -> Presale | None:
        """Return the contract's presale at the newest block; None where the id does not exist.

        Raises NodeUnavailableError.
        """
        return presale_contract.read_presale(self.rpc, presale_id, contract=contract)

    def count_presales(self, *, contract: str) -> int:
        """Return how many presales the contract has had; their ids are consecutive from 1.

        This takes several requests with many calls each. Raises NodeUnavailableError.
        """
        return presale_contract.count_presales(self.rpc, contract=contract)

    def read_presales(self, presale_ids: Sequence[int], *, contract: str) -> list[PresaleTermsOnChain]:
        """Return the contract's presales with their terms at the newest block, without unknown ids.

        Raises NodeUnavailableError.
        """
        return presale_contract.read_presales(self.rpc, presale_ids, contract=contract)

    def read_allowlist(self, presale_id: int, *, contract: str, allowlist: str) -> AllowlistOnChain | None:
        """Return a presale's allow-list from the contract `allowlist`; `contract` has the presale.

        None where the id does not exist, or its presale has another allow-list contract. One request. The presale's
        owner may replace the root, or disable the list. Raises NodeUnavailableError.
        """
        return presale_contract.read_allowlist(self.rpc, presale_id, contract=contract, allowlist=allowlist)

    def find_presale(self, salt: str, *, contract: str) -> int | None:
        """Return the id of the newest presale with this salt (0x-prefixed hex) among the contract's last 256.

        An ended presale has another salt. Raises NodeUnavailableError.
        """
        return presale_contract.find_presale(self.rpc, salt, contract=contract)

    def _v3_manager(self) -> str:
        if self.info.v3_position_manager is None:
            raise UnknownContractError("v3_position_manager")
        return self.info.v3_position_manager

    def _logs(self, pools: PoolSelection | None) -> LogReader:
        return LogReader(chain=self.info, rpc=self.rpc, ranges=self.ranges, pools=pools)

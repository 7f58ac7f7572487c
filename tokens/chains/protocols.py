"""The protocols of a chain: what the service asks of each, and what of EVM chains alone."""

from collections.abc import Collection, Sequence
from typing import Protocol

from tokens.chains.evm.presale_contract import Presale
from tokens.chains.launching.launch_config import ContractCall
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.token_fees import TokenFees, UncollectedFees
from tokens.chains.transaction_types import Account, FeeQuote, Outcome, Sent, Simulation
from tokens.chains.types import BlockHeader, Reading, TransactionFacts


class LaunchChain(Protocol):
    """What the service asks of a chain, whatever its kind."""

    @property
    def info(self) -> ChainInfo:
        """What the registry knows of the chain."""
        ...

    def read_transaction(self, tx_hash: str) -> TransactionFacts:
        """The launches of one transaction, and its logs that may be events of tokens.

        Raises TransactionNotFound, LaunchNotFound, LogUndecodable, NodeUnavailable.
        """
        ...

    def read_head(self) -> int:
        """The number of the newest block. Raises NodeUnavailable."""
        ...

    def read_headers(self, numbers: Collection[int]) -> dict[int, BlockHeader]:
        """Block number -> the block on the chain as it is now, without those that the node lacks.

        Raises NodeUnavailable.
        """
        ...


class Chain(LaunchChain, Protocol):
    """What the service asks of an EVM chain besides."""

    def read_newest(self) -> BlockHeader:
        """The newest block of the first node that answers. Raises NodeUnavailable."""
        ...

    def read_highest(self) -> int | None:
        """The highest of the numbers that all nodes give their newest blocks; None where none answers.

        Each is asked once, but for one that hung lately. Raises nothing.
        """
        ...

    def range_blocks(self) -> int:
        """How many blocks nodes take in one range of logs, as far as is known; it changes with their answers."""
        ...

    def read_range(self, first: int, last: int, *, addresses: Collection[str] | None = None) -> Reading:
        """What the blocks from the first to the last hold for us, by ranges of logs as long as nodes take them.

        `addresses` are contracts of the registry, in lower case, whose logs are wanted; None is all. What tokens and
        their own lockers emit is read in any case. Raises NodeUnavailable, also where the nodes lack the last block.
        """
        ...

    def read_blocks(self, headers: Sequence[BlockHeader]) -> Reading:
        """What exactly these blocks, in their order, hold for us. Raises NodeUnavailable, and BlockGone."""
        ...

    def read_receipts(self, headers: Sequence[BlockHeader]) -> Reading:
        """As `read_blocks`, from all receipts of the blocks, whose logs must make the headers' bloom filters.

        Raises NodeUnavailable, and BlockGone.
        """
        ...

    def may_hold(self, header: BlockHeader) -> bool | None:
        """Whether the block may hold something for us, by its bloom filter: False is surely nothing, True is maybe.

        None is a filter too full to tell. It is as true as the filter: some chains leave theirs empty.
        """
        ...

    def count_nodes_with(self, header: BlockHeader) -> tuple[int, int]:
        """How many of all nodes have this very block at its number, and how many another one.

        A node that is out of reach, hung lately, or has not come to the number, counts for neither. Raises nothing.
        """
        ...

    def read_uncollected_fees(self, position_id: int) -> UncollectedFees:
        """What waits in the pool for an LP NFT of generation v0 to v3.1, at the newest block.

        Raises NodeUnavailable, FeesUnreadable.
        """
        ...

    def read_v3_fees(self, position_id: int, *, launched_for: Sequence[tuple[str, int]]) -> TokenFees:
        """What waits for whom of an LP NFT of generation v0 to v3.1, after the newest block; nothing is harvested.

        `launched_for` are recipients and bps as the launch told them: good where the locker tells none.
        Raises NodeUnavailable, FeesUnreadable.
        """
        ...

    def read_v4_fees(self, token: str, *, locker: str, owner: str | None) -> TokenFees:
        """What waits for whom of a token of generation v4, after the newest block, and for `owner` in any case.

        Raises NodeUnavailable, FeesUnreadable.
        """
        ...

    def simulate(self, call: ContractCall, *, sender: str) -> Simulation:
        """What the call would do on top of the newest block, sent by this account; nothing is signed or sent.

        Raises WouldRevert, with the contract's error in words; SenderTooPoor where the account has less than the
        call's value; NodeUnavailable.
        """
        ...

    def explain(self, call: ContractCall, *, sender: str, block: int, gas: int) -> str:
        """Why the call, sent by this account with this limit of gas, was reverted in a block; empty where unknown.

        It is called again on the block before and on the block itself, whose states many nodes drop after some
        minutes; what came before it within its own block may make a difference. Raises nothing.
        """
        ...

    def read_accounts(self, addresses: Sequence[str]) -> dict[str, Account]:
        """Address, as given -> its next nonce and its balance as of the newest block. Raises NodeUnavailable."""
        ...

    def read_fees(self) -> FeeQuote:
        """What gas costs now. Raises NodeUnavailable."""
        ...

    def read_outcomes(self, tx_hashes: Sequence[str]) -> dict[str, Outcome]:
        """Hash -> what became of the transaction, without those of which the node has no receipt.

        Raises NodeUnavailable.
        """
        ...

    def find_outcomes(self, tx_hashes: Sequence[str]) -> dict[str, Outcome]:
        """As `read_outcomes`, by every node that does not hang: for transactions that seem lost.

        Raises NodeUnavailable where not one of them answers.
        """
        ...

    def broadcast(self, raws: Sequence[bytes]) -> list[Sent]:
        """Hand signed transactions to every node; what came of each, in their order. Raises nothing."""
        ...

    def has_code(self, address: str, *, since: int = 0) -> bool:
        """Whether there is a contract at the address, as of the newest block of a node that has block `since`.

        Raises NodeUnavailable.
        """
        ...

    def read_decimals(self, address: str) -> int | None:
        """The decimals of an ERC-20, None where the address does not tell any. Raises NodeUnavailable."""
        ...

    def read_started_presale(self, tx_hash: str, *, contract: str) -> int | None:
        """The id of the sale that a transaction started at the presale contract; None where it started none, or is
        not mined as far as the node knows. Raises NodeUnavailable.
        """
        ...

    def read_presale(self, presale_id: int, *, contract: str) -> Presale | None:
        """A sale of the presale contract as of the newest block; None where it tells of none with the id.

        Raises NodeUnavailable.
        """
        ...

    def find_presale(self, salt: str, *, contract: str) -> int | None:
        """The id of the newest sale that was started with this salt (0x-prefixed hex), of the contract's last 256.

        One that has been ended has another salt. Raises NodeUnavailable.
        """
        ...

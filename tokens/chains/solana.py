"""Solana: launches of Meteora's Dynamic Bonding Curve by signature, and the signatures of followed accounts."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tokens.chains.base import TransactionFacts
from tokens.chains.blocks import BlockHeader
from tokens.chains.registry import ChainInfo
from tokens.chains.rpc import RpcClient
from tokens.chains.rpc_exchange import Identity


def genesis_of(info: ChainInfo) -> Identity:
    """By what a node of this network is told from those of the others."""
    return Identity(method="getGenesisHash", answer=info.genesis_hash or "")


@dataclass(frozen=True, kw_only=True, slots=True)
class SignatureInfo:
    """A transaction that names an account, as a listing tells of it."""

    signature: str
    slot: int
    # Unix seconds; None where the node does not know.
    block_time: int | None
    # Whether it was undone: it holds nothing then.
    failed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolFees:
    """Trading fees that wait in a pool, by whom they belong to; mint -> its smallest units."""

    creator: str
    creator_amounts: dict[str, int]
    # Who may claim the launchpad's part: the config's fee claimer.
    partner: str
    partner_amounts: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class SolanaChain:
    """Solana with its nodes; all that is read is finalised."""

    info: ChainInfo
    rpc: RpcClient

    def read_transaction(self, signature: str) -> TransactionFacts:
        """The launches and claims of one transaction.

        Raises TransactionNotFound, LaunchNotFound, LogUndecodable, NodeUnavailable.
        """
        raise NotImplementedError

    def read_transactions(self, signatures: Sequence[str]) -> dict[str, TransactionFacts]:
        """Signature -> what its transaction holds, without those that hold nothing for us.

        Raises TransactionNotFound where the nodes lack one of them, LogUndecodable, NodeUnavailable.
        """
        raise NotImplementedError

    def read_head(self) -> int:
        """The newest finalised slot. Raises NodeUnavailable."""
        raise NotImplementedError

    def read_headers(self, numbers: Collection[int]) -> dict[int, BlockHeader]:
        """None: what is finalised needs no second look at its block."""
        raise NotImplementedError

    def list_signatures(
        self, account: str, *, before: str | None = None, until: str | None = None, min_slot: int = 0
    ) -> list[SignatureInfo]:
        """Up to 1,000 finalised transactions that name an account, newest first.

        They are older than `before` and newer than `until`, where these are given; nodes that have not come to
        `min_slot` are passed over. Raises NodeUnavailable.
        """
        raise NotImplementedError

    def read_pool_fees(self, pool: str) -> PoolFees:
        """What waits in a pool for its creator and the launchpad. Raises NodeUnavailable, FeesUnreadable."""
        raise NotImplementedError

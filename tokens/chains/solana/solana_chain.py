"""Solana: launches of Meteora's Dynamic Bonding Curve by signature, and the signatures of followed accounts."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.batch import Identity
from tokens.chains.rpc.block_ranges import RangeSize
from tokens.chains.rpc.client import RpcClient
from tokens.chains.solana.bonding_curve_fees import read_claimed, read_pool_fees
from tokens.chains.solana.launch_decoding import decode, facts_of
from tokens.chains.solana.mints import read_mints
from tokens.chains.solana.signature_lists import (
    MOST_LISTED,
    SignatureInfo,
    list_by_every_node,
    list_signatures,
    read_head,
)
from tokens.chains.solana.transaction_forms import SolanaTransaction
from tokens.chains.solana.transaction_reading import read_ledger
from tokens.chains.token_fees import TokenFees
from tokens.chains.types import BlockHeader, LaunchNotFound, LogUndecodable, TransactionFacts

__all__ = ["ANSWER_BYTES", "MOST_LISTED", "SignatureInfo", "SolanaChain", "genesis_of"]

# No answer is read beyond this. One transaction has no more than 3 MiB in both forms: 64 instructions, each of 10 KiB
# and 255 accounts.
ANSWER_BYTES = 16 * 1024 * 1024
# More transactions than any request has room for.
_PORTION = 1_000


def genesis_of(info: ChainInfo) -> Identity:
    """By what a node of this network is told from those of the others."""
    return Identity(method="getGenesisHash", answer=info.genesis_hash or "")


@dataclass(frozen=True, kw_only=True)
class SolanaChain:
    """Solana with its nodes; all that is read is finalised."""

    info: ChainInfo
    rpc: RpcClient
    # How many transactions are asked for at once.
    portion: RangeSize = field(default_factory=lambda: RangeSize(_PORTION, longest=_PORTION))

    def read_transaction(self, signature: str) -> TransactionFacts:
        """The launches and claims of one transaction.

        Raises TransactionNotFound, LaunchNotFound, LogUndecodable, NodeUnavailable.
        """
        (decoded,) = (decode(self.info, transaction) for transaction in self._read([signature]))
        return facts_of(self.info, decoded, mints=read_mints(self.rpc, self.info, [decoded]))

    def read_transactions(self, signatures: Sequence[str]) -> dict[str, TransactionFacts]:
        """Signature -> what its transaction holds, without those that hold nothing for us.

        Raises TransactionNotFound where the nodes lack one of them, LogUndecodable where one can't be decoded, and
        NodeUnavailable.
        """
        found = {}
        for transaction in self._read(list(dict.fromkeys(signatures))):
            with suppress(LaunchNotFound):
                found[transaction.signature] = decode(self.info, transaction)
        mints = read_mints(self.rpc, self.info, list(found.values()))
        return {signature: facts_of(self.info, decoded, mints=mints) for signature, decoded in found.items()}

    def _read(self, signatures: Sequence[str]) -> Iterator[SolanaTransaction]:
        """The transactions, in order, a portion at a time. Raises as `read_transactions`."""
        for _, transaction in read_ledger(self.rpc, signatures, portion=self.portion):
            if transaction is None:
                raise LogUndecodable("the transaction is of a version that is not known")
            yield transaction

    def read_head(self) -> int:
        """The newest finalised slot. Raises NodeUnavailable."""
        return read_head(self.rpc)

    def read_headers(self, numbers: Collection[int]) -> dict[int, BlockHeader]:
        """None: what is finalised needs no second look at its block."""
        return {}

    def list_signatures(
        self,
        account: str,
        *,
        before: str | None = None,
        min_slot: int = 0,
        most: int = MOST_LISTED,
    ) -> list[SignatureInfo]:
        """Up to `most` finalised transactions that name an account, newest first.

        They are older than `before`, where that is given; nodes that have not come to `min_slot` are passed over.
        Raises NodeUnavailable.
        """
        return list_signatures(self.rpc, account, before=before, min_slot=min_slot, most=most)

    def list_by_every_node(
        self, account: str, *, before: str | None = None, min_slot: int = 0
    ) -> list[list[SignatureInfo] | None]:
        """As `list_signatures`, by each node in the setting's order; None where one gives no such list.

        Raises nothing.
        """
        return list_by_every_node(self.rpc, account, before=before, min_slot=min_slot)

    def read_pool_fees(self, pool: str) -> TokenFees:
        """What trading fees wait in a pool for its creator, and for whom its config lets claim the launchpad's part.

        A pool that has graduated keeps what was not claimed of its curve's fees, and earns none. Raises
        NodeUnavailable, FeesUnreadable.
        """
        return read_pool_fees(self.rpc, self.info, pool)

    def read_claimed(self, pools: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Pool -> what its creator and the launchpad have ever claimed together, of the base mint and of the quote.

        In smallest units, of up to 100 pools; one without an account that tells is left out. Raises NodeUnavailable.
        """
        return read_claimed(self.rpc, self.info, pools)

"""Solana: launches and swaps in Meteora's Dynamic Bonding Curve by signature, and followed accounts' signatures."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from tokens.chains.errors import LaunchNotFoundError, LogDecodingError
from tokens.chains.pool_types import Swap
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.batch import ChainIdentity
from tokens.chains.rpc.block_ranges import RangeSize
from tokens.chains.rpc.client import RpcClient
from tokens.chains.solana.bonding_curve_fees import PoolTotals, read_pool_fees, read_pool_totals
from tokens.chains.solana.bonding_curve_swaps import decode_swaps
from tokens.chains.solana.curve_configs import CurveConfig, read_curve_configs
from tokens.chains.solana.launch_decoding import build_facts, decode_launches
from tokens.chains.solana.mints import fetch_launch_mints
from tokens.chains.solana.signature_lists import (
    MAX_LISTED,
    SignatureInfo,
    list_signatures,
    list_signatures_by_node,
    read_head,
)
from tokens.chains.solana.slot_places import place_swaps
from tokens.chains.solana.transaction_forms import SolanaTransaction
from tokens.chains.solana.transaction_reading import fetch_transactions
from tokens.chains.token_fees import TokenFees
from tokens.chains.types import BlockHeader, TransactionFacts

__all__ = ["MAX_RESPONSE_BYTES", "MAX_LISTED", "SignatureInfo", "SolanaChain", "network_identity"]

# Maximum bytes in a node's response. One transaction takes at most 3 MiB in both encodings: 64 instructions, each with
# 10 KiB and 255 accounts.
MAX_RESPONSE_BYTES = 16 * 1024 * 1024
# More transactions than fit into any batch.
_MAX_BATCH = 1_000


def network_identity(info: ChainInfo) -> ChainIdentity:
    """Return the call that identifies a node's network."""
    return ChainIdentity(method="getGenesisHash", answer=info.genesis_hash or "")


@dataclass(frozen=True, kw_only=True)
class SolanaChain:
    """Solana client; every read is finalised."""

    info: ChainInfo
    rpc: RpcClient
    # Transactions per batch.
    range_size: RangeSize = field(default_factory=lambda: RangeSize(_MAX_BATCH, longest=_MAX_BATCH))

    def read_transaction(self, signature: str) -> TransactionFacts:
        """Fetch and decode one transaction's launches and claims.

        Raises TransactionNotFoundError, LaunchNotFoundError, LogDecodingError, NodeUnavailableError.
        """
        (decoded,) = (decode_launches(self.info, transaction) for transaction in self._read([signature]))
        return build_facts(self.info, decoded, mints=fetch_launch_mints(self.rpc, self.info, [decoded]))

    def read_with_state(self, signature: str) -> TransactionFacts:
        """Return one transaction as `read_transaction`: no followed event changes a launch on Solana."""
        return self.read_transaction(signature)

    def read_transactions(self, signatures: Sequence[str]) -> dict[str, TransactionFacts]:
        """Return signature -> facts, without the transactions that contain neither launches nor claims.

        Raises TransactionNotFoundError if the nodes lack one of them, LogDecodingError if one can't be decoded, and
        NodeUnavailableError.
        """
        return self._decode(self._read(list(dict.fromkeys(signatures))))

    def read_with_swaps(self, signatures: Sequence[str]) -> tuple[dict[str, TransactionFacts], list[Swap]]:
        """Return the `read_transactions` result, and the transactions' swaps in any launchpad's pools.

        Raises as `read_transactions`.
        """
        swaps: list[Swap] = []
        places: dict[str, int | None] = {}

        def read() -> Iterator[SolanaTransaction]:
            for transaction in self._read(list(dict.fromkeys(signatures))):
                swaps.extend(decode_swaps(self.info, transaction))
                places[transaction.signature] = transaction.tx_index
                yield transaction

        facts = self._decode(read())
        return facts, place_swaps(self.rpc, swaps, places)

    def _decode(self, transactions: Iterable[SolanaTransaction]) -> dict[str, TransactionFacts]:
        launches = {}
        for transaction in transactions:
            with suppress(LaunchNotFoundError):
                launches[transaction.signature] = decode_launches(self.info, transaction)
        mints = fetch_launch_mints(self.rpc, self.info, list(launches.values()))
        return {signature: build_facts(self.info, decoded, mints=mints) for signature, decoded in launches.items()}

    def _read(self, signatures: Sequence[str]) -> Iterator[SolanaTransaction]:
        """Fetch the transactions in order, in batches. Raises as `read_transactions`."""
        for _, transaction in fetch_transactions(self.rpc, signatures, range_size=self.range_size):
            if transaction is None:
                raise LogDecodingError("the transaction's version is not supported")
            yield transaction

    def read_head(self) -> int:
        """Return the newest finalised slot. Raises NodeUnavailableError."""
        return read_head(self.rpc)

    def read_headers(self, numbers: Collection[int]) -> dict[int, BlockHeader]:
        """Return nothing: a finalised block needs no second check."""
        return {}

    def list_signatures(
        self,
        account: str,
        *,
        before: str | None = None,
        min_slot: int = 0,
        limit: int = MAX_LISTED,
    ) -> list[SignatureInfo]:
        """Return up to `limit` finalised transactions that name an account, newest first.

        With `before`, only older ones. Nodes that have not reached `min_slot` are skipped. Raises NodeUnavailableError.
        """
        return list_signatures(self.rpc, account, before=before, min_slot=min_slot, limit=limit)

    def list_signatures_by_node(
        self, account: str, *, before: str | None = None, min_slot: int = 0
    ) -> list[list[SignatureInfo] | None]:
        """List signatures by each node, in the setting's order; None for a node without a valid list.

        Raises nothing.
        """
        return list_signatures_by_node(self.rpc, account, before=before, min_slot=min_slot)

    def read_pool_fees(self, pool: str) -> TokenFees:
        """Return a pool's unclaimed trading fees, for its creator and its config's fee claimer (the launchpad).

        A graduated pool keeps its curve's unclaimed fees and earns no more. Raises NodeUnavailableError,
        FeesUnavailableError.
        """
        return read_pool_fees(self.rpc, self.info, pool)

    def read_pool_totals(self, pools: Sequence[str]) -> dict[str, PoolTotals]:
        """Return pool -> the fees ever claimed by creator and launchpad together, the price, and the curve's end.

        For up to 100 pools; a pool without a valid account is omitted. Raises NodeUnavailableError.
        """
        return read_pool_totals(self.rpc, self.info, pools)

    def read_curve_configs(self, configs: Sequence[str]) -> dict[str, CurveConfig]:
        """Return config -> its curve's terms, for up to 100 configs, if two nodes agree on them.

        With one node in the setting, its response counts. A config without a valid account, or on which nodes differ,
        is omitted. Raises NodeUnavailableError if too few nodes respond.
        """
        return read_curve_configs(self.rpc, self.info, configs)

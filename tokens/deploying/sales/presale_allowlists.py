"""Presale allow-lists, and their buyers' proofs.

They are found by the root that the allow-list contract has for the presale: its owner may replace or disable it. The
entries come from the deployment that has started the presale, or are posted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from config.processes.concurrency_limits import node_slot
from config.redis.single_flight import CacheTimes, fetch_shared
from tokens.chains.evm.presale_contract import encode_allowlist_proof
from tokens.chains.launching.merkle import NODE_BYTES, MerkleTree, build_tree, proof_positions
from tokens.chains.rpc.client import query_deadline
from tokens.deploying.airdrop_proofs import read_proof
from tokens.deploying.rules import supply_shares
from tokens.deploying.sales.presale_list import listed_contract
from tokens.deploying.sales.responses import AllowlistProofAnswer
from tokens.installation.installed_chains import installed_chain
from tokens.installation.installed_registry import registry
from tokens.models import Deployment, SavedTree, SavedTreeEntry

# Timeout for the one request that reads a presale's root.
_SECONDS = 10.0
# A presale's owner may replace the root.
_ROOT_TIMES = CacheTimes(fresh=15.0, ttl=3_600.0, wait_timeout=_SECONDS, lock_ttl=30.0)


class PresaleAllowlist(Protocol):
    """A presale's only buyers; `root` is None if all accounts may buy."""

    @property
    def root(self) -> str | None:
        """Return the root that the allow-list contract has, as 0x-prefixed hex."""

    def buyers(self) -> list[tuple[str, int]]:
        """Return (EIP-55 address, most wei) pairs; empty if all accounts may buy."""

    def prove_buyer(self, buyer: str) -> AllowlistProofAnswer:
        """Return whether a buyer (EIP-55) may buy, with the proof from leaf to root."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenSale:
    """A presale in which all accounts may buy, up to `most` wei."""

    most: int
    root: None = None

    def buyers(self) -> list[tuple[str, int]]:
        """Return no buyer."""
        return []

    def prove_buyer(self, buyer: str) -> AllowlistProofAnswer:
        """Return that every account may buy."""
        return _proof_body(is_allowed=True, most=self.most)


@dataclass(frozen=True, kw_only=True, slots=True)
class DeployedAllowlist:
    """The allow-list for a presale that this service has started: entries with one amount, and their tree."""

    entries: tuple[tuple[str, int], ...]
    tree: MerkleTree

    @property
    def root(self) -> str:
        """Return the tree's root."""
        return self.tree.root

    def buyers(self) -> list[tuple[str, int]]:
        """Return the entries in the deployment's sequence."""
        return list(self.entries)

    def prove_buyer(self, buyer: str) -> AllowlistProofAnswer:
        """Return an account's proof, from the tree."""
        for position, (account, most) in zip(self.tree.positions, self.entries, strict=True):
            if account == buyer:
                nodes, positions = self.tree.nodes, proof_positions(position)
                proof = ["0x" + nodes[index * NODE_BYTES : (index + 1) * NODE_BYTES].hex() for index in positions]
                return _listed_buyer(most, proof)
        return _proof_body(is_allowed=False, most=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class PostedAllowlist:
    """A saved tree with the root that the chain has for a presale."""

    tree_id: int
    root: str

    def buyers(self) -> list[tuple[str, int]]:
        """Return the entries by address. One query."""
        rows = SavedTreeEntry.objects.filter(tree=self.tree_id).order_by("account").values_list("account", "amount")
        return [(account, int(amount)) for account, amount in rows]

    def prove_buyer(self, buyer: str) -> AllowlistProofAnswer:
        """Return an account's proof, from the stored nodes. One query or two."""
        entry = SavedTreeEntry.objects.filter(tree=self.tree_id, account=buyer).first()
        if entry is None:
            return _proof_body(is_allowed=False, most=0)
        proof = read_proof(SavedTree, self.tree_id, position=entry.position)
        return _listed_buyer(int(entry.amount), proof)


def _listed_buyer(most: int, proof: Sequence[str]) -> AllowlistProofAnswer:
    return _proof_body(is_allowed=True, most=most, proof=proof, encoded=encode_allowlist_proof(most, proof))


def _proof_body(
    *, is_allowed: bool, most: int, proof: Sequence[str] = (), encoded: str | None = None
) -> AllowlistProofAnswer:
    return {"isAllowed": is_allowed, "proof": list(proof), "encodedProof": encoded, "allowedAmountWei": str(most)}


def find_allowlist(chain_id: int, presale_id: int) -> PresaleAllowlist | None:
    """Return a presale's allow-list, by the root that the chain has for it.

    None if there is no such presale, or no known entries have its root. Raises NoPresalesError, UnsupportedChainError,
    NodeUnavailableError, and as `fetch_shared`.
    """
    root_and_goal = _read_shared(chain_id, presale_id)
    if root_and_goal is None:
        return None
    root, max_goal = root_and_goal
    if root is None:
        return OpenSale(most=int(max_goal))
    return _find_started(chain_id, presale_id, root=root) or _find_posted(root)


def _find_started(chain_id: int, presale_id: int, *, root: str) -> DeployedAllowlist | None:
    """Return the allow-list in the deployment that has started a presale; None if the root was replaced since."""
    started = Deployment.objects.filter(chain_id=chain_id, presale_id=presale_id).order_by("pk")
    lists = map(_read_deployed, started.values_list("pk", flat=True))
    return next((each for each in lists if each is not None and each.root == root), None)


# A tree with 10,000 buyers takes 0.1 s to hash, and 2 MB. A deployment's config does not change.
@lru_cache(maxsize=16)
def _read_deployed(deployment_id: int) -> DeployedAllowlist | None:
    """Return the allow-list for a deployment's presale; None if it has none."""
    config: Any = Deployment.objects.values_list("config__presale", flat=True).get(pk=deployment_id)
    terms = supply_shares.presale(config) if config else None
    if terms is None or not terms.allowlist:
        return None
    entries = tuple((account, terms.max_goal) for account in terms.allowlist)
    return DeployedAllowlist(entries=entries, tree=build_tree(entries))


def _find_posted(root: str) -> PostedAllowlist | None:
    # Several keys may have saved the same entries.
    tree_id = SavedTree.objects.filter(root=root).order_by("pk").values_list("pk", flat=True).first()
    return None if tree_id is None else PostedAllowlist(tree_id=tree_id, root=root)


def _read_shared(chain_id: int, presale_id: int) -> tuple[str | None, str] | None:
    """Return a presale's root and upper goal from the cache or its chain; None for an unknown presale.

    None as well if the chain has no allow-list contract. Raises NoPresalesError, UnsupportedChainError,
    NodeUnavailableError, and as `fetch_shared`.
    """
    contract, chain = listed_contract(chain_id).address, installed_chain(chain_id)
    allowlist = registry().chains[chain_id].deploying("presale_allowlist")
    if allowlist is None:
        return None

    def fetch() -> tuple[str | None, str] | None:
        with node_slot(), query_deadline(_SECONDS):
            on_chain = chain.read_allowlist(presale_id, contract=contract, allowlist=allowlist.address)
        # Wei exceed JSON's numbers.
        return None if on_chain is None else (on_chain.root, str(on_chain.max_goal))

    root_and_goal: tuple[str | None, str] | None = fetch_shared(
        f"presale-roots:1:{chain_id}:{contract}:{presale_id}", fetch, times=_ROOT_TIMES
    ).value
    return root_and_goal

"""Allow-lists of presales that this service has started, and the proofs of their buyers."""

from dataclasses import dataclass
from typing import Any

from tokens.chains.launching.merkle import NODE_BYTES, MerkleTree, build_tree, proof_positions
from tokens.deploying.rules import supply_shares
from tokens.models import Deployment


@dataclass(frozen=True, kw_only=True, slots=True)
class PresaleAllowlist:
    """The only buyers of a presale (EIP-55), each of whom may pay up to `most` wei; empty if all accounts may buy."""

    buyers: tuple[str, ...]
    most: int

    def tree(self) -> MerkleTree:
        """Return the tree whose root the allow-list contract has. Raises ValueError without buyers."""
        return build_tree([(buyer, self.most) for buyer in self.buyers])


@dataclass(frozen=True, kw_only=True, slots=True)
class BuyerProof:
    """Whether an account may buy, up to how many wei, and the hashes that the contract requires as a proof."""

    is_allowed: bool
    most: int
    proof: tuple[str, ...] = ()


def find_allowlist(chain_id: int, presale_id: int) -> PresaleAllowlist | None:
    """Return the allow-list of a presale; None if this service did not start it. One query."""
    started = Deployment.objects.filter(chain_id=chain_id, presale_id=presale_id).order_by("pk")
    config: Any = started.values_list("config__presale", flat=True).first()
    if not config:
        return None
    terms = supply_shares.presale(config)
    return PresaleAllowlist(buyers=terms.allowlist, most=terms.max_goal)


def prove_buyer(allowlist: PresaleAllowlist, *, buyer: str) -> BuyerProof:
    """Return whether a buyer (EIP-55) may buy, with the proof from leaf to root."""
    if not allowlist.buyers:
        return BuyerProof(is_allowed=True, most=allowlist.most)
    if buyer not in allowlist.buyers:
        return BuyerProof(is_allowed=False, most=0)
    tree = allowlist.tree()
    places = proof_positions(tree.positions[allowlist.buyers.index(buyer)])
    proof = tuple("0x" + tree.nodes[place * NODE_BYTES : (place + 1) * NODE_BYTES].hex() for place in places)
    return BuyerProof(is_allowed=True, most=allowlist.most, proof=proof)

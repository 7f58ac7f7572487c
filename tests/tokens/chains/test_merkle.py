"""tokens/chains/launching/merkle.py: airdrop trees against OpenZeppelin's package and the development chain's."""

import pytest

from development.devchain.airdrop_tree import merkle_proof, merkle_root
from tests.rows.airdrop_entries import build_by_peer, sample_entries
from tokens.chains.launching.merkle import NODE_BYTES, build_tree, proof_positions

# The root for sample_entries(100_000) by @openzeppelin/merkle-tree 1.0.8, which takes twelve seconds for it; the
# benchmark `airdrop_proofs` runs both.
LARGE_ROOT = "0x8e9450a56ae77562712789c7790edaef829c8d90aa9b4c2c1fe31ea5cc7f5600"

ONE = ("0x70997970C51812dc3A010C7d01b50e0d17dc79C8", 1)


def proof_in(tree, index):
    """Return the proof for the entry with this number, as hex."""
    places = proof_positions(tree.positions[index])
    return ["0x" + tree.nodes[place * NODE_BYTES :][:NODE_BYTES].hex() for place in places]


def test_there_is_no_tree_of_nothing():
    with pytest.raises(ValueError, match="needs an entry"):
        build_tree([])


@pytest.mark.parametrize("amount", [-1, 2**256])
def test_an_amount_is_a_uint256(amount):
    with pytest.raises(OverflowError):
        build_tree([(ONE[0], amount)])


def test_roots_and_proofs_are_those_of_the_package():
    lists = [sample_entries(count) for count in (1, 2, 3, 4, 7, 100)]
    # Amounts at both ends, which no sample has.
    lists.append([(ONE[0], 2**256 - 1), ("0x" + "00" * 20, 0)])
    for entries, theirs in zip(lists, build_by_peer(lists), strict=True):
        tree = build_tree(entries)
        assert tree.root == theirs.root
        assert [proof_in(tree, index) for index in range(len(entries))] == theirs.proofs


@pytest.mark.slow
def test_the_root_of_a_hundred_thousand_entries_is_that_of_the_package():
    tree = build_tree(sample_entries(100_000))
    assert tree.root == LARGE_ROOT
    assert len(tree.nodes) == (2 * 100_000 - 1) * NODE_BYTES


def test_the_only_entry_is_the_root_and_needs_no_proof():
    tree = build_tree([ONE])
    assert ("0x" + tree.nodes.hex(), tree.positions) == (tree.root, (0,))
    assert proof_positions(0) == ()


def test_the_root_does_not_depend_on_order_nor_case():
    entries = sample_entries(9)
    shuffled = [(account.lower(), amount) for account, amount in reversed(entries)]
    tree, other = build_tree(entries), build_tree(shuffled)
    assert (tree.root, tree.nodes) == (other.root, other.nodes)
    assert other.positions == tuple(reversed(tree.positions))


def test_entries_that_are_alike_have_a_leaf_each():
    tree = build_tree([ONE, ONE, ("0x" + "11" * 20, 5)])
    assert len(set(tree.positions)) == 3
    assert proof_in(tree, 0) != [] != proof_in(tree, 1)


@pytest.mark.parametrize("count", [1, 2, 5, 64, 65])
def test_the_development_chain_builds_the_same_by_itself(count):
    entries = sample_entries(count)
    tree = build_tree(entries)
    assert tree.root == "0x" + merkle_root(entries).hex()
    for index, entry in enumerate(entries):
        assert proof_in(tree, index) == ["0x" + node.hex() for node in merkle_proof(entries, entry)]

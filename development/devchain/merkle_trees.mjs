// Builds trees with OpenZeppelin's own package, so that ours can be held against them.
//
//   node merkle_trees.mjs < LISTS > TREES      LISTS is JSON: lists of [account, amount in wei as text]
//
// For each list a JSON line: {root, proofs: one for each entry in the order of the list, seconds that the tree took}.
// With --roots, without the proofs.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { StandardMerkleTree } from "@openzeppelin/merkle-tree";

const { values } = parseArgs({ options: { roots: { type: "boolean", default: false } } });
for (const entries of JSON.parse(readFileSync(0, "utf8"))) {
  const started = performance.now();
  const tree = StandardMerkleTree.of(entries, ["address", "uint256"]);
  const seconds = (performance.now() - started) / 1000;
  const proofs = values.roots ? undefined : entries.map((_, index) => tree.getProof(index));
  console.log(JSON.stringify({ root: tree.root, proofs, seconds }));
}
